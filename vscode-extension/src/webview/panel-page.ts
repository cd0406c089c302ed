/** The chat panel's page: wires the list, the composer and the messages of the extension host together. */

import type { FromPanel, PanelAction, RememberedItems, Surroundings, ToPanel } from '../panel';
import { Composer } from './composer';
import { button, h, icon, t } from './dom';
import { Log } from './log';
import { codeLabels } from './markdown';
import { applyDialog, applyEvent, applyHunks, applyOutcome, applyResolved, newTurn, restoredTurn, type Turn } from './model';

/** Builds the page in the document's body; `post` reaches the extension host. Gives what takes it down again. */
export function mountPanel(post: (message: FromPanel) => void): () => void {
  const listening = new AbortController();
  const options = { signal: listening.signal };
  codeLabels.copy = t('Copy');
  codeLabels.insert = t('Insert at Cursor');
  codeLabels.code = t('code');

  const banner = h('div', { class: 'banner', role: 'status', hidden: true });
  const scroller = h('main', { class: 'log', role: 'log', 'aria-label': t('Conversation'), 'aria-live': 'off', tabindex: 0 });
  const welcome = h('section', { class: 'welcome' });
  const chip = h('button', { type: 'button', class: 'new-chip', hidden: true }, t('new'), icon('arrow-down'));
  const announcer = h('div', { class: 'visually-hidden', 'aria-live': 'polite' });
  scroller.append(welcome);
  const log = new Log(scroller, chip, post);
  const composer = new Composer(post);
  document.body.append(banner, h('div', { class: 'middle' }, scroller, chip), composer.element, announcer);

  let surroundings: Surroundings | undefined;

  /** Draws what depends on the whole conversation. */
  function refresh(): void {
    composer.activity(log.all);
    drawWelcome();
  }

  const handlers: { [K in ToPanel['type']]: (message: Extract<ToPanel, { type: K }>) => void } = {
    reset(message) {
      const turns = message.turns.map(restoredTurn);
      for (const dialog of message.pending) {
        const turn = turns.find((item) => item.sent.key === dialog.key) ?? turns[turns.length - 1];
        if (turn) applyDialog(turn, dialog);
      }
      log.reset(turns);
      if (message.reveal) log.reveal(message.reveal);
      composer.restore(message.sent, message.draft);
    },
    surroundings({ value }) {
      surroundings = value;
      composer.surroundings(value);
      drawBanner(value);
    },
    turn({ turn }) {
      log.add(newTurn(turn));
    },
    events({ items }) {
      const changed = new Set<Turn>();
      const now = Date.now();
      for (const { key, event } of items) {
        const turn = log.find(key);
        if (!turn) continue;
        turn.startedAt ??= now;
        applyEvent(turn, event, now);
        changed.add(turn);
      }
      log.update(changed, now);
    },
    outcome({ key, outcome, turnId }) {
      const turn = log.find(key);
      if (!turn) return;
      applyOutcome(turn, outcome, turnId);
      log.update([turn]);
      announce(outcome.kind === 'error' ? outcome.error.message : t('The answer is complete.'));
    },
    removed({ key }) {
      log.remove(key);
    },
    dialog({ dialog }) {
      const turn = log.find(dialog.key) ?? log.all[log.all.length - 1];
      if (!turn) return;
      applyDialog(turn, dialog);
      log.update([turn]);
      announce(dialog.kind === 'approve' ? dialog.params.title : t('A question for you'));
    },
    resolved({ callId, text, answered }) {
      for (const turn of log.all) applyResolved(turn, callId, text, answered);
      log.update(log.all);
    },
    hunks({ callId, accepted, rejected }) {
      for (const turn of log.all) applyHunks(turn, callId, accepted, rejected);
      log.update(log.all);
    },
    notice({ level, text, memory }) {
      const line = h('div', { class: 'notice', 'data-level': level }, icon(memory ? 'lightbulb' : level), ' ');
      line.append(...(memory ? rememberedParts(text, memory) : [text]));
      log.note(line);
    },
    completions({ id, items }) {
      composer.complete(id, items);
    },
    compose({ text, mode }) {
      composer.compose(text, mode);
    },
  };

  /** The words open what was remembered; the button takes it back. */
  function rememberedParts(text: string, { ids, undoToken }: RememberedItems): (Node | string)[] {
    const open = ids.length ? button(text, 'link', () => post({ type: 'memory', ids })) : text;
    if (!undoToken) return [open];
    const undo = button(t('Undo'), 'link', () => {
      post({ type: 'undoMemory', token: undoToken });
      undo.disabled = true;
    });
    return [open, ' · ', undo];
  }

  window.addEventListener('message', listen, options);

  function listen(event: MessageEvent<ToPanel>): void {
    const handle = handlers[event.data.type] as ((message: ToPanel) => void) | undefined;
    handle?.(event.data);
    refresh();
  }

  function announce(text: string): void {
    announcer.textContent = text;
  }

  /** One line above the conversation for what concerns all of it: trust, and a server that is not there. */
  function drawBanner(value: Surroundings): void {
    const act = (label: string, action: PanelAction) => button(label, 'link', () => post({ type: 'action', action }));
    const { engine } = value;
    const parts: (Node | string)[] = [];
    if (engine.state === 'failed') {
      const again = engine.missingPython ? act(t('Try Again'), 'restart') : act(t('Restart'), 'restart');
      parts.push(icon('error'), h('span', {}, engine.message), again, act(t('Show Log'), 'showLog'));
      if (engine.missingPython) parts.push(act(t('Open Settings'), 'openSettings'));
    } else if (engine.state === 'starting' && engine.detail) {
      parts.push(icon('loading codicon-modifier-spin'), h('span', {}, engine.detail));
    } else if (!value.trusted) {
      const words = t('This folder is not trusted: its instruction files are read as data, and nothing runs.');
      parts.push(icon('shield'), h('span', {}, words), act(t('Manage Trust'), 'manageTrust'));
    }
    banner.hidden = parts.length === 0;
    banner.dataset.kind = engine.state === 'failed' ? 'error' : 'info';
    banner.replaceChildren(...parts);
  }

  /** What an empty conversation says: what can be asked, and who answers when that is worth knowing. */
  function drawWelcome(): void {
    welcome.hidden = log.all.length > 0;
    if (welcome.hidden) return;
    const lines: HTMLElement[] = [
      h('div', { class: 'welcome-mark' }, icon('sparkle')),
      h('h2', {}, t('Ask about this workspace')),
      h('p', {}, t('Chat answers, Agent also runs tools, Coder also edits your files. Every edit is shown before it is applied.')),
    ];
    if (surroundings && surroundings.engine.state === 'ready') {
      if (!surroundings.model) lines.push(keyOffer(t('No model is set up yet.')));
      else if (surroundings.provider === 'local') {
        lines.push(keyOffer(t('A small model on this machine answers ({0}): it works offline, and it is often wrong.', surroundings.model)));
      }
    }
    welcome.replaceChildren(...lines);
  }

  function keyOffer(words: string): HTMLElement {
    const act = (label: string, style: 'primary' | 'secondary', action: PanelAction) =>
      button(label, style, () => post({ type: 'action', action }));
    const actions = h('div', { class: 'actions' }, act(t('Add a Key…'), 'primary', 'addKey'), act(t('Use Ollama…'), 'secondary', 'useOllama'));
    return h('div', { class: 'card' }, h('p', {}, words), actions);
  }

  document.addEventListener('click', (event) => {
    const target = event.target as Element;
    const code = target.closest<HTMLElement>('[data-code]');
    if (code) {
      const text = code.closest('figure')?.querySelector('code')?.textContent ?? '';
      if (code.dataset.code === 'copy') confirmCopy(code, text);
      else post({ type: 'insert', text });
      return;
    }
    const link = target.closest('a');
    if (!link) return;
    event.preventDefault();
    const line = Number(link.dataset.line);
    post({ type: 'link', href: link.getAttribute('href') ?? '', ...(line ? { line } : {}) });
  }, options);

  function confirmCopy(control: HTMLElement, text: string): void {
    post({ type: 'copy', text });
    control.replaceChildren(icon('check'));
    announce(t('Copied'));
    setTimeout(() => control.replaceChildren(icon('copy')), 1500);
  }

  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !event.defaultPrevented && event.target !== composer.box) {
      if (log.all.some((turn) => turn.state === 'running')) post({ type: 'stop' });
      composer.box.focus();
    }
  }, options);

  const clock = setInterval(() => log.tick(Date.now()), 1000);
  refresh();
  post({ type: 'ready' });
  return () => {
    clearInterval(clock);
    listening.abort();
  };
}
