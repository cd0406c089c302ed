/** The Context view's page: the prompt as bars, and the checkpoints below them. */

import type { Bar, ContextState, FromContext, ToContext } from '../views/context-state';
import { h, t } from './dom';

/** Builds the page; `post` reaches the extension host. Gives what takes it down again. */
export function mountContext(post: (message: FromContext) => void): () => void {
  const listening = new AbortController();
  const root = h('main', { class: 'context', 'aria-label': t('Context') });
  document.body.append(root);
  window.addEventListener(
    'message',
    ({ data }: MessageEvent<ToContext>) => {
      if (data.type !== 'state') return;
      // A redraw must not take the focus from what the user is on.
      const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.key : undefined;
      root.replaceChildren(...draw(data.state, post));
      if (focused) [...root.querySelectorAll<HTMLElement>('[data-key]')].find((element) => element.dataset.key === focused)?.focus();
    },
    { signal: listening.signal },
  );
  post({ type: 'ready' });
  return () => {
    listening.abort();
    root.remove();
  };
}

function draw(state: ContextState, post: (message: FromContext) => void): HTMLElement[] {
  if (state.problem !== undefined) {
    const choose = h('button', { type: 'button', class: 'secondary' }, t('Switch Model'));
    choose.addEventListener('click', () => post({ type: 'switchModel' }));
    return [h('p', { role: 'status' }, state.problem), choose];
  }
  return [total(state), bars(state, post), attached(state, post), history(state, post)];
}

function total(state: ContextState): HTMLElement {
  const share = state.window ? Math.min(1, state.tokens / state.window) : 0;
  const cached = state.bars.reduce((sum, bar) => sum + bar.cached, 0);
  const cachedPercent = state.tokens ? Math.round((100 * cached) / state.tokens) : 0;
  const words = state.window
    ? t('{0} of {1} tokens ({2} %)', number(state.tokens), number(state.window), percent(share))
    : t('{0} tokens', number(state.tokens));
  const meter = h('div', { class: 'bar total', role: 'meter', 'aria-valuemin': 0, 'aria-valuemax': state.window || state.tokens, 'aria-valuenow': state.tokens, 'aria-label': words });
  meter.append(filled('used', share));
  const cost = state.costUsd === undefined ? '' : ` · ${t('{0} spent', `$${state.costUsd.toFixed(4)}`)}`;
  const counted = state.counted === undefined ? '' : ` · ${t('{0} as the provider counts', number(state.counted))}`;
  return h('section', { class: 'summary' }, h('p', {}, h('strong', {}, words)), meter, h('p', { class: 'quiet' }, `${state.model} · ${t('{0} % can be read from cache', cachedPercent)}${cost}${counted}`));
}

function bars(state: ContextState, post: (message: FromContext) => void): HTMLElement {
  const most = Math.max(1, ...state.bars.map((bar) => bar.tokens));
  const list = h('ul', { class: 'bars', 'aria-label': t('Sections of the prompt') });
  for (const bar of state.bars) {
    const open = h(
      'button',
      { type: 'button', class: 'section', 'data-key': bar.id, title: t('Show the exact text'), 'aria-label': spoken(bar) },
      h('span', { class: 'name' }, name(bar)),
      h('span', { class: 'tokens' }, number(bar.tokens)),
      strip(bar, most),
    );
    open.addEventListener('click', () => post({ type: 'open', id: bar.id }));
    list.append(h('li', {}, open));
  }
  return list;
}

function strip(bar: Bar, most: number): HTMLElement {
  return h('span', { class: 'bar', 'aria-hidden': 'true' }, filled('cached', bar.cached / most), filled('fresh', (bar.tokens - bar.cached) / most));
}

function attached(state: ContextState, post: (message: FromContext) => void): HTMLElement {
  const list = h('ul', {});
  const row = (title: string, words: string, ...buttons: HTMLElement[]) =>
    list.append(h('li', {}, h('span', { class: 'label', title }, title), h('span', { class: 'quiet' }, words), ...buttons));
  const button = (key: string, title: string, text: string, label: string, message: FromContext) => {
    const made = h('button', { type: 'button', class: 'secondary', 'data-key': `${key}:${title}`, 'aria-label': label }, text);
    made.addEventListener('click', () => post(message));
    return made;
  };
  for (const { name: title, tokens = 0, folded, fold, toldTokens } of state.attached) {
    const stands = fold ? t('{0} tokens, folded', number(tokens)) : folded ? t('{0} tokens, folded for space', number(tokens)) : t('{0} tokens', number(tokens));
    const words = toldTokens ? t('{0}; {1} in passages sent with questions', stands, number(toldTokens)) : stands;
    const turn = fold
      ? [button('fold', title, t('Unfold'), t('Unfold “{0}”', title), { type: 'fold', name: title, fold: false })]
      : folded
        ? []
        : [button('fold', title, t('Fold'), t('Fold “{0}” to a card; the model can still read it', title), { type: 'fold', name: title, fold: true })];
    row(title, words, ...turn, button('context', title, t('Detach'), t('Detach “{0}”', title), { type: 'detach', name: title }));
  }
  for (const title of state.pinned) row(title, t('pinned skill'), button('skill', title, t('Unpin'), t('Unpin “{0}”', title), { type: 'unpin', name: title }));
  for (const title of state.personas) row(title, t('persona'), button('persona', title, t('Detach'), t('Detach “{0}”', title), { type: 'dismiss', name: title }));
  const more = h('button', { type: 'button', class: 'secondary', 'data-key': 'attach' }, t('Attach Context…'));
  more.addEventListener('click', () => post({ type: 'attach' }));
  return h('section', { class: 'listed' }, h('h2', {}, t('Attached')), list, more);
}

function history(state: ContextState, post: (message: FromContext) => void): HTMLElement {
  const section = h('section', { class: 'listed' }, h('h2', {}, t('Checkpoints')));
  if (!state.checkpoints.length) section.append(h('p', { class: 'quiet' }, t('Each further message leaves one; from there you can go back.')));
  const list = h('ul', {});
  for (const point of state.checkpoints) {
    const back = h('button', { type: 'button', class: 'secondary', 'data-key': `point:${point.id}`, 'aria-label': t('Rewind to “{0}”', point.label) }, t('Rewind Here'));
    back.addEventListener('click', () => post({ type: 'rewind', id: point.id }));
    list.append(h('li', {}, h('span', { class: 'label', title: point.label }, point.label), h('span', { class: 'quiet' }, point.when), back));
  }
  if (state.checkpoints.length) section.append(list);
  return section;
}

/** A part of a bar; its width is set by script, which the page's policy allows and a style attribute is not. */
function filled(kind: 'used' | 'cached' | 'fresh', share: number): HTMLElement {
  const element = h('span', { class: kind });
  element.style.width = `${(100 * Math.max(0, share)).toFixed(2)}%`;
  return element;
}

function spoken(bar: Bar): string {
  const cached = bar.tokens ? Math.round((100 * bar.cached) / bar.tokens) : 0;
  return t('{0}: {1} tokens, {2} % cached', name(bar), number(bar.tokens), cached);
}

function name(bar: Bar): string {
  if (bar.id === 'conversation') return t('conversation');
  if (bar.id === 'turn') return t('turn context');
  return bar.name;
}

function number(value: number): string {
  return value.toLocaleString(document.documentElement.lang || undefined);
}

function percent(share: number): string {
  return share > 0 && share < 0.1 ? (100 * share).toFixed(1) : String(Math.round(100 * share));
}
