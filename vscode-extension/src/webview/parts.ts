/** How each part of a turn looks. A view is made once per part and updated in place, so nothing jumps while it streams. */

import type { FromPanel } from '../panel';
import type { ApproveParams, Hunk } from '../wire';
import { dialogView, isOnCard, optionButtons, wake } from './dialogs';
import { baseName, button, h, icon, t } from './dom';
import { editSize, type Part, type Turn } from './model';
import { StreamedMarkdown } from './stream';

export interface PartView {
  element: HTMLElement;
  update(part: Part, turn: Turn): void;
}

export type Post = (message: FromPanel) => void;

/** The view for a part. */
export function partView(part: Part, turn: Turn, post: Post): PartView {
  const view = create(part, post);
  view.update(part, turn);
  return view;
}

function create(part: Part, post: Post): PartView {
  switch (part.kind) {
    case 'text':
      return textView();
    case 'reasoning':
      return reasoningView();
    case 'tool':
      return toolView(post);
    case 'edit':
      return editView(post);
    case 'plan':
      return planView();
    case 'notice':
      return noticeView();
    case 'context':
      return contextView();
    case 'dialog':
      return dialogView(post);
  }
}

function textView(): PartView {
  const stream = new StreamedMarkdown();
  return {
    element: stream.element,
    update(part, turn) {
      if (part.kind !== 'text') return;
      const growing = turn.state === 'running' && turn.parts[turn.parts.length - 1] === part;
      stream.update(part.text, !growing);
    },
  };
}

function reasoningView(): PartView {
  const body = h('div', { class: 'reasoning-text' });
  const summary = h('summary', {}, icon('lightbulb'), ' ', t('Thinking'));
  const element = h('details', { class: 'reasoning' }, summary, body);
  return {
    element,
    update(part, turn) {
      if (part.kind !== 'reasoning') return;
      body.textContent = part.text;
      const growing = turn.state === 'running' && turn.parts[turn.parts.length - 1] === part;
      summary.lastChild!.textContent = growing ? t('Thinking…') : t('Thought');
    },
  };
}

const TOOL_ICONS: Record<string, string> = {
  read: 'file',
  edit: 'edit',
  delete: 'trash',
  move: 'file-symlink-file',
  search: 'search',
  execute: 'terminal',
  think: 'lightbulb',
  fetch: 'globe',
  other: 'tools',
};

function toolView(post: Post): PartView {
  const mark = h('span', { class: 'mark' });
  const label = h('span', { class: 'label' });
  const time = h('span', { class: 'time' });
  const body = h('div', { class: 'tool-body' });
  const element = h('details', { class: 'tool' }, h('summary', {}, mark, label, time), body);
  let filled = '';
  const fill = (part: Extract<Part, { kind: 'tool' }>) => {
    const state = `${part.status}:${part.output.length}`;
    if (!element.open || filled === state) return;
    filled = state;
    body.replaceChildren(...toolDetails(part, post));
  };
  let current: Extract<Part, { kind: 'tool' }> | undefined;
  element.addEventListener('toggle', () => current && fill(current));
  return {
    element,
    update(part, turn) {
      if (part.kind !== 'tool') return;
      current = part;
      // An edit's card says all that its row would, unless the call failed.
      const { callId } = part;
      element.hidden = part.status !== 'failed' && turn.parts.some((other) => other.kind === 'edit' && other.callId === callId);
      element.dataset.status = part.status;
      const name = part.status === 'running' ? 'loading codicon-modifier-spin' : statusIcon(part);
      mark.replaceChildren(icon(name));
      const word = { failed: t('failed'), denied: t('denied') }[part.status];
      label.textContent = part.label || part.name;
      time.textContent = word || (part.seconds === undefined ? '' : `${part.seconds.toFixed(1)} s`);
      fill(part);
    },
  };
}

function statusIcon(part: Extract<Part, { kind: 'tool' }>): string {
  if (part.status === 'failed') return 'error';
  if (part.status === 'denied') return 'circle-slash';
  return TOOL_ICONS[part.toolKind] ?? 'tools';
}

/** The whole input and output of a call, made only when the reader opens the row. */
function toolDetails(part: Extract<Part, { kind: 'tool' }>, post: Post): HTMLElement[] {
  const details: HTMLElement[] = [];
  if (part.locations.length) {
    const places = part.locations.map((place) =>
      button(placeName(place), 'link', () =>
        post({ type: 'link', href: place.uri, ...(place.range ? { line: place.range.start.line + 1 } : {}) }),
      ),
    );
    details.push(h('div', { class: 'places' }, ...places));
  }
  const input = part.input && Object.keys(part.input).length ? JSON.stringify(part.input, undefined, 2) : '';
  if (input) details.push(h('div', { class: 'caption' }, t('Input')), h('pre', { tabindex: 0 }, input));
  if (part.output) details.push(h('div', { class: 'caption' }, t('Output')), h('pre', { tabindex: 0 }, part.output));
  if (!details.length) details.push(h('div', { class: 'caption' }, t('Nothing more to show.')));
  return details;
}

function placeName(place: { uri: string; range?: { start: { line: number } } }): string {
  return place.range ? `${baseName(place.uri)}:${place.range.start.line + 1}` : baseName(place.uri);
}

function editView(post: Post): PartView {
  const file = h('button', { type: 'button', class: 'link file' });
  const counts = h('span', { class: 'counts' });
  const state = h('span', { class: 'state' });
  const warning = h('div', { class: 'warning', hidden: true });
  const preview = h('div', { class: 'diff', tabindex: 0, role: 'region', 'aria-label': t('Changes') });
  const actions = h('div', { class: 'actions' });
  const element = h('section', { class: 'card edit' }, h('header', {}, icon('edit'), file, counts, state), preview, warning, actions);
  let shown = '';
  let current: Extract<Part, { kind: 'edit' }> | undefined;
  file.addEventListener('click', () => {
    if (!current) return;
    if (current.status === 'proposed') post({ type: 'diff', callId: current.callId, uri: current.uri });
    else post({ type: 'link', href: current.uri, line: (current.hunks[0]?.range.start.line ?? 0) + 1 });
  });
  return {
    element,
    update(part, turn) {
      if (part.kind !== 'edit') return;
      current = part;
      const question = openApproval(turn, part.callId);
      const awaiting = question !== undefined;
      const key = JSON.stringify([part.status, part.hunks.length, part.reason, part.decided, awaiting, turn.turnId, turn.state]);
      if (key === shown) return;
      shown = key;
      element.dataset.status = part.status;
      file.textContent = baseName(part.uri);
      file.title = part.uri;
      const { added, removed } = editSize(part.hunks);
      counts.replaceChildren(h('span', { class: 'added' }, `+${added}`), ' ', h('span', { class: 'removed' }, `−${removed}`));
      state.textContent = editState(part, turn, awaiting);
      preview.replaceChildren(...part.hunks.flatMap((hunk, index) => hunkLines(hunk, part, index)));
      warning.hidden = !part.syntaxErrors.length && !part.reason;
      warning.replaceChildren(...warningLines(part));
      actions.replaceChildren(...editActions(part, turn, question, post));
      actions.hidden = actions.childElementCount === 0;
      if (part.status === 'proposed' && question && isOnCard(question)) wake(element);
    },
  };
}

function editState(part: Extract<Part, { kind: 'edit' }>, turn: Turn, awaiting: boolean): string {
  if (part.status === 'proposed') {
    const decided = part.decided.accepted.length + part.decided.rejected.length;
    if (decided) return t('{0} of {1} decided', decided, part.hunks.length);
    const settled = turn.parts.findLast((other) => other.kind === 'dialog' && other.dialog.params.callId === part.callId);
    return awaiting ? t('waiting for you') : ((settled?.kind === 'dialog' && settled.settled) || t('proposed'));
  }
  return { applied: t('applied'), rejected: t('rejected'), failed: t('not applied'), undone: t('undone') }[part.status] ?? part.status;
}

function warningLines(part: Extract<Part, { kind: 'edit' }>): HTMLElement[] {
  const lines = part.syntaxErrors.map((problem) =>
    h('div', {}, icon('warning'), ' ', t('Line {0}: {1}', problem.line + 1, problem.message)),
  );
  if (part.reason) lines.push(h('div', {}, icon(part.status === 'failed' ? 'error' : 'info'), ' ', part.reason));
  return lines;
}

/** The most lines of one hunk a card shows; the diff editor shows the rest. */
const PREVIEW_LINES = 40;

function hunkLines(hunk: Hunk, part: Extract<Part, { kind: 'edit' }>, index: number): HTMLElement[] {
  const lines: HTMLElement[] = [];
  const line = (sign: '+' | '−', text: string) =>
    h('div', { class: sign === '+' ? 'line added' : 'line removed' }, h('span', { class: 'sign' }, sign), text || ' ');
  const split = (text: string) => text.split(/\r\n|\r|\n/).slice(0, /[\r\n]$/.test(text) ? -1 : undefined);
  const all = [
    ...(hunk.oldText ? split(hunk.oldText).map((text) => line('−', text)) : []),
    ...(hunk.newText ? split(hunk.newText).map((text) => line('+', text)) : []),
  ];
  lines.push(...all.slice(0, PREVIEW_LINES));
  if (all.length > PREVIEW_LINES) lines.push(h('div', { class: 'line more' }, t('… {0} more lines', all.length - PREVIEW_LINES)));
  const verdict = part.decided.accepted.includes(hunk.id) ? 'accepted' : part.decided.rejected.includes(hunk.id) ? 'rejected' : '';
  const place = t('line {0}', hunk.range.start.line + 1);
  const word = verdict === 'accepted' ? ` · ${t('accepted')}` : verdict === 'rejected' ? ` · ${t('rejected')}` : '';
  const head = h('div', { class: `hunk-head ${verdict}` }, place + word);
  return index === 0 && !verdict && part.hunks.length === 1 ? lines : [head, ...lines];
}

function openApproval(turn: Turn, callId: string): ApproveParams | undefined {
  for (const part of turn.parts) {
    if (part.kind === 'dialog' && part.settled === undefined && part.dialog.kind === 'approve' && part.dialog.params.callId === callId) {
      return part.dialog.params;
    }
  }
  return undefined;
}

function editActions(part: Extract<Part, { kind: 'edit' }>, turn: Turn, question: ApproveParams | undefined, post: Post): HTMLElement[] {
  if (part.status === 'proposed' && question) {
    const openDiff = button(t('Open Diff'), 'secondary', () => post({ type: 'diff', callId: part.callId, uri: part.uri }));
    return isOnCard(question) ? [...optionButtons(question, post), openDiff] : [openDiff];
  }
  if (part.status === 'applied' && turn.turnId) {
    return [button(t('Undo'), 'secondary', () => post({ type: 'undo', turnId: turn.turnId, callId: part.callId }))];
  }
  return [];
}

function planView(): PartView {
  const list = h('ul', { class: 'plan', 'aria-label': t('Plan') });
  return {
    element: list,
    update(part) {
      if (part.kind !== 'plan') return;
      const marks: Record<string, string> = { completed: 'pass-filled', in_progress: 'circle-large-filled' };
      list.replaceChildren(
        ...part.entries.map((entry) =>
          h('li', { 'data-status': entry.status }, icon(marks[entry.status] ?? 'circle-large'), ' ', entry.text),
        ),
      );
    },
  };
}

function noticeView(): PartView {
  const element = h('div', { class: 'notice' });
  return {
    element,
    update(part) {
      if (part.kind !== 'notice') return;
      element.dataset.level = part.level;
      element.replaceChildren(icon(part.level), ' ', part.text);
    },
  };
}

function contextView(): PartView {
  const summary = h('summary', {});
  const list = h('ul', {});
  const element = h('details', { class: 'context' }, summary, list);
  return {
    element,
    update(part) {
      if (part.kind !== 'context') return;
      const words = part.groups.map(({ name, items: { length } }) => {
        if (name === 'rules') return length === 1 ? t('1 rule') : t('{0} rules', length);
        if (name === 'facts') return length === 1 ? t('1 memory') : t('{0} memories', length);
        if (name === 'skills') return length === 1 ? t('1 skill') : t('{0} skills', length);
        return length === 1 ? t('1 file') : t('{0} files', length);
      });
      summary.textContent = t('With {0}', words.join(' · '));
      list.replaceChildren(
        ...part.groups.flatMap((group) =>
          group.items.map((item) =>
            item.uri
              ? h('li', {}, h('a', { href: item.uri }, item.title || baseName(item.uri)))
              : h('li', {}, item.title || item.id),
          ),
        ),
      );
    },
  };
}
