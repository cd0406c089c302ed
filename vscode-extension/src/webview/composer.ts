/** Where the user writes: drafts, sent messages to recall, completion of `@` and `/`, what rides along, what waits. */

import type { Attachment, FromPanel, Surroundings } from '../panel';
import type { Completion, Mode } from '../wire';
import { h, icon, iconButton, t } from './dom';
import type { Turn } from './model';
import { Suggestions } from './suggestions';

type Post = (message: FromPanel) => void;

export class Composer {
  readonly element: HTMLElement;
  readonly box = h('textarea', {
    id: 'message',
    rows: 1,
    'aria-label': t('Message'),
    'aria-autocomplete': 'list',
    'aria-controls': 'suggestions',
    autocomplete: 'off',
    spellcheck: 'true',
  });
  private readonly queue = h('ul', { class: 'queue', 'aria-label': t('Waiting messages') });
  private readonly chips = h('div', { class: 'chips' });
  private readonly mode = h('select', { class: 'mode', 'aria-label': t('Mode'), title: t('Mode') });
  private readonly model = h('button', { type: 'button', class: 'flat model', title: t('Switch Model…') });
  private readonly meter = h('button', { type: 'button', class: 'flat meter' });
  private readonly send = iconButton('send', t('Send'), () => this.submit(false));
  private readonly stop = iconButton('debug-stop', t('Stop'), () => this.post({ type: 'stop' }));
  private readonly suggestions: Suggestions;
  /** The mode of the next message, until the extension knows of it: what it tells meanwhile is older. */
  private chosen: Mode | undefined;
  private sent: string[] = [];
  private recalled = -1;
  private busy = false;

  constructor(private readonly post: Post) {
    const words: Record<Mode, string> = { chat: t('Chat'), agent: t('Agent'), coder: t('Coder') };
    for (const mode of ['chat', 'agent', 'coder'] as const) this.mode.append(h('option', { value: mode }, words[mode]));
    this.suggestions = new Suggestions(this.box, (item, from, to) => this.take(item, from, to));
    this.send.classList.add('send');
    this.stop.classList.add('stop');
    this.stop.hidden = true;
    this.send.disabled = true;
    const attach = iconButton('add', t('Attach Files…'), () => post({ type: 'action', action: 'attach' }));
    const bar = h('div', { class: 'bar' }, attach, h('span', { class: 'pick' }, this.mode, icon('chevron-down')), this.model, this.meter, h('span', { class: 'gap' }), this.stop, this.send);
    const frame = h('div', { class: 'frame' }, this.chips, this.suggestions.element, this.box, bar);
    this.element = h('footer', { class: 'composer' }, this.queue, frame);
    this.listen();
    this.setPlaceholder();
  }

  /** Lists the earlier messages (oldest first) and restores what was being written. */
  restore(sent: string[], draft: string | undefined): void {
    this.sent = sent;
    if (draft !== undefined && this.box.value === '') this.setText(draft);
  }

  /** Puts a text into the box and the cursor behind it. */
  compose(text: string, mode?: Mode): void {
    if (mode) this.mode.value = this.chosen = mode;
    if (text) this.setText(text);
    this.box.focus();
  }

  /** Draws mode, model, context use and what rides along. */
  surroundings(value: Surroundings): void {
    if (this.chosen === value.mode) this.chosen = undefined;
    this.mode.value = this.chosen ?? value.mode;
    this.model.replaceChildren(h('span', { class: 'label' }, value.model || t('no model')), icon('chevron-down'));
    const share = value.window > 0 ? Math.round((100 * value.used) / value.window) : undefined;
    this.meter.hidden = share === undefined;
    this.meter.textContent = share === undefined ? '' : `${share} %`;
    const full = t('{0} of {1} tokens of the context window are used', value.used.toLocaleString(), value.window.toLocaleString());
    this.meter.title = full;
    this.meter.setAttribute('aria-label', full);
    this.chips.replaceChildren(...value.attachments.map((item) => this.chip(item)));
    this.chips.hidden = value.attachments.length === 0;
  }

  /** Shows whether something runs, and what waits behind it. */
  activity(turns: readonly Turn[]): void {
    this.busy = turns.some((turn) => turn.state === 'running' || turn.state === 'queued');
    this.stop.hidden = !this.busy;
    const waiting = turns.filter((turn) => turn.state === 'queued');
    this.queue.hidden = waiting.length === 0;
    this.queue.replaceChildren(
      ...waiting.map((turn) =>
        h(
          'li',
          {},
          icon('watch'),
          h('span', { class: 'label' }, turn.sent.text),
          iconButton('close', t('Remove from the queue'), () => this.post({ type: 'unqueue', key: turn.sent.key })),
        ),
      ),
    );
    this.setPlaceholder();
  }

  /** Offers completions that the server gave for request `id`. */
  complete(id: number, items: Completion[]): void {
    this.suggestions.show(id, items);
  }

  private setPlaceholder(): void {
    this.box.placeholder = this.busy
      ? t('Enter queues, Ctrl+Enter steers what runs')
      : t('Ask, @ for files and symbols, / for commands');
  }

  private chip(item: Attachment): HTMLElement {
    const glyph = { document: 'file', selection: 'list-selection', file: 'file' }[item.kind];
    const remove = iconButton('close', t('Remove {0}', item.label), () => this.post({ type: 'detach', id: item.id }));
    return h('span', { class: 'chip', title: item.title, 'data-kind': item.kind }, icon(glyph), item.label, remove);
  }

  private listen(): void {
    this.box.addEventListener('input', () => this.onInput());
    this.box.addEventListener('keydown', (event) => this.onKey(event));
    this.mode.addEventListener('change', () => {
      this.chosen = this.mode.value as Mode;
      this.post({ type: 'mode', mode: this.chosen });
    });
    this.model.addEventListener('click', () => this.post({ type: 'action', action: 'switchModel' }));
    this.meter.addEventListener('click', () => this.post({ type: 'action', action: 'showContext' }));
    this.element.addEventListener('dragover', (event) => event.preventDefault());
    this.element.addEventListener('drop', (event) => this.onDrop(event));
  }

  private onInput(): void {
    this.recalled = -1;
    this.grow();
    this.storeDraft();
    const offset = this.box.selectionStart;
    const id = this.suggestions.ask(this.box.value, offset);
    if (id !== undefined) this.post({ type: 'complete', id, text: this.box.value, offset });
  }

  private onKey(event: KeyboardEvent): void {
    // An input method's own Enter chooses a word; it must not send a half-written message.
    if (event.isComposing) return;
    if (this.suggestions.key(event)) return;
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.submit(event.ctrlKey || event.metaKey);
    } else if (event.key === 'Escape') {
      if (this.busy) this.post({ type: 'stop' });
    } else if (event.key === 'ArrowUp' && (this.box.value === '' || this.recalled >= 0)) {
      this.recall(event, this.recalled < 0 ? this.sent.length - 1 : this.recalled - 1);
    } else if (event.key === 'ArrowDown' && this.recalled >= 0) {
      this.recall(event, this.recalled + 1);
    }
  }

  private recall(event: KeyboardEvent, index: number): void {
    if (index < 0) return;
    event.preventDefault();
    const text = this.sent[index];
    this.setText(text ?? '');
    this.recalled = text === undefined ? -1 : index;
  }

  private submit(steer: boolean): void {
    const text = this.box.value.trim();
    if (!text) return;
    this.post({ type: 'send', text, mode: this.mode.value as Mode, steer: steer && this.busy });
    this.chosen = undefined;
    if (this.sent[this.sent.length - 1] !== text) this.sent.push(text);
    this.setText('');
  }

  private take(item: Completion, from: number, to: number): void {
    const { value } = this.box;
    const gap = /\s$/.test(item.insert) || /^\s/.test(value.slice(to)) ? '' : ' ';
    const before = value.slice(0, from) + item.insert + gap;
    this.box.value = before + value.slice(to);
    this.box.setSelectionRange(before.length, before.length);
    this.box.focus();
    this.grow();
    this.storeDraft();
  }

  private setText(text: string): void {
    this.box.value = text;
    this.recalled = -1;
    this.box.setSelectionRange(text.length, text.length);
    this.suggestions.hide();
    this.grow();
    this.storeDraft();
  }

  private grow(): void {
    this.box.style.height = 'auto';
    this.box.style.height = `${this.box.scrollHeight}px`;
    this.send.disabled = this.box.value.trim() === '';
  }

  /** At every change: a window may be reloaded at any moment. */
  private storeDraft(): void {
    this.post({ type: 'draft', text: this.box.value });
  }

  private onDrop(event: DragEvent): void {
    event.preventDefault();
    const list = event.dataTransfer?.getData('application/vnd.code.uri-list') || event.dataTransfer?.getData('text/uri-list') || '';
    const uris = list.split(/\r?\n/).filter((line) => line && !line.startsWith('#'));
    if (uris.length) this.post({ type: 'drop', uris });
  }
}
