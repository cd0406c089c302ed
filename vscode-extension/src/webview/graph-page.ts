/** The memory graph's page: a search, the picture, and what is known about the node in focus. */

import type { FromGraph, Graph, GraphNode, GraphState, NodeDetails, ToGraph } from '../views/graph-data';
import { button, h, t } from './dom';
import { kindClass, kindName, kindNames } from './graph-kinds';
import { Picture } from './graph-picture';

/** The most connections that are listed. */
const LISTED = 60;

export interface GraphPorts {
  /** Reaches the extension host. */
  post(message: FromGraph): void;
  /** Keeps what a reload of the window brings back. */
  keep(state: GraphState): void;
}

/** Builds the page as it was left; gives what takes it down again. */
export function mountGraph({ post, keep }: GraphPorts, state: GraphState = {}): () => void {
  const listening = new AbortController();
  const options = { signal: listening.signal };
  let graph: Graph = { nodes: [], edges: [] };
  let focused: GraphNode | undefined;
  let known: NodeDetails | undefined;
  const hidden = new Set(state.hidden);

  const search = h('input', { type: 'search', placeholder: t('Find a node'), 'aria-label': t('Find a node') });
  search.value = state.search ?? '';
  const count = h('span', { class: 'quiet', role: 'status' });
  const told = h('p', { class: 'told', role: 'status' });
  const notice = h('p', { class: 'notice', role: 'status', hidden: true });
  const details = h('aside', { class: 'details', 'aria-label': t('Node'), hidden: true });
  const legend = h('ul', { class: 'legend', 'aria-label': t('Kinds of nodes; a kind is shown or hidden') });
  const words = h('p', { class: 'words', role: 'status' }, t('Reading memory…'));
  const again = button(t('Try Again'), 'secondary', () => post({ type: 'ready' }));
  again.hidden = true;
  const empty = h('div', { class: 'empty' }, words, again);
  const picture = new Picture({ focus, open: (id) => post({ type: 'open', id }) });
  picture.hide(hidden);
  const zoom = (label: string, sign: string, work: () => void) => {
    const element = h('button', { type: 'button', title: label, 'aria-label': label }, sign);
    element.addEventListener('click', work, options);
    return element;
  };
  const bar = h(
    'header',
    {},
    search,
    zoom(t('Zoom In'), '+', () => picture.zoom(1.4)),
    zoom(t('Zoom Out'), '−', () => picture.zoom(1 / 1.4)),
    zoom(t('Fit'), '⤢', () => picture.fit()),
    count,
  );
  const root = h('main', { class: 'graph' }, bar, notice, h('div', { class: 'stage' }, picture.element, legend, empty, details), told);
  document.body.append(root);

  function remember(): void {
    keep({ ...(focused ? { focused: focused.id } : {}), search: search.value, hidden: [...hidden] });
  }

  function focus(id: string | undefined): void {
    if (id !== undefined && id === focused?.id) return;
    focused = graph.nodes.find((item) => item.id === id);
    known = undefined;
    describe();
    remember();
    told.textContent = focused ? `${kindName(focused.kind)}: ${focused.title}, ${linkCount(neighbours(focused).length)}` : '';
    if (focused) post({ type: 'details', id: focused.id });
  }

  function neighbours(node: GraphNode): GraphNode[] {
    const near = new Set(graph.edges.flatMap(({ a, b }) => (a === node.id ? [b] : b === node.id ? [a] : [])));
    return graph.nodes.filter((item) => near.has(item.id));
  }

  /** Goes to another node from within the details; the reader goes on reading there. */
  function go(id: string): void {
    picture.focus(id);
    details.querySelector('h2')?.focus();
  }

  function describe(): void {
    const node = focused;
    const active = details.contains(document.activeElement) ? (document.activeElement as HTMLElement) : undefined;
    details.hidden = node === undefined;
    if (!node) {
      details.replaceChildren();
      return;
    }
    const close = h('button', { type: 'button', class: 'close', 'data-key': 'close', title: t('Close'), 'aria-label': t('Close') }, '×');
    close.addEventListener('click', leave);
    const open = button(t('Open'), 'primary', () => post({ type: 'open', id: node.id }));
    open.dataset['key'] = 'open';
    const text = known?.text || node.summary || '';
    details.replaceChildren(
      close,
      h('p', { class: 'quiet' }, kindName(node.kind)),
      h('h2', { tabindex: '-1', dir: 'auto' }, node.title),
      ...(text && text !== node.title ? [h('p', { class: 'text', dir: 'auto' }, text)] : []),
      ...sources(),
      open,
      ...facts(),
      ...connections(node),
    );
    if (!active) return;
    const same = [...details.querySelectorAll<HTMLElement>('[data-key]')].find((item) => item.dataset['key'] === active.dataset['key']);
    (same ?? details.querySelector('h2'))?.focus();
  }

  function sources(): HTMLElement[] {
    return (known?.sources ?? []).map(({ words: said, session, message }) => {
      const line = h('p', { class: 'source' }, t('From: {0}', said));
      if (session) line.append(' ', button(t('Open the Conversation'), 'link', () => post({ type: 'conversation', session, ...(message ? { message } : {}) })));
      return line;
    });
  }

  function facts(): HTMLElement[] {
    const found = known?.facts ?? [];
    if (!found.length) return [];
    const list = h('ul', { 'aria-label': t('Facts') });
    for (const fact of found) list.append(entry('fact', fact.text, () => (picture.has(fact.id) ? go(fact.id) : post({ type: 'open', id: fact.id }))));
    return [h('h3', {}, t('Facts')), list];
  }

  function connections(node: GraphNode): HTMLElement[] {
    const listed = new Set(known?.facts.map(({ id }) => id));
    const near = neighbours(node).filter(({ id }) => !listed.has(id));
    if (!near.length) return [];
    const list = h('ul', { 'aria-label': t('Connections') });
    for (const item of near.slice(0, LISTED)) list.append(entry(item.kind, item.title, () => go(item.id)));
    if (near.length > LISTED) list.append(h('li', { class: 'quiet' }, t('{0} more…', near.length - LISTED)));
    return [h('h3', {}, t('Connections')), list];
  }

  function entry(kind: string, text: string, work: () => void): HTMLElement {
    const dot = h('span', { class: `dot ${kindClass(kind)}`, 'aria-hidden': 'true' });
    const link = button(text, 'link', work);
    link.dir = 'auto';
    link.title = kindName(kind);
    return h('li', {}, dot, link);
  }

  /** Back to the picture, nothing in focus. */
  function leave(): void {
    picture.clear();
    picture.element.focus();
  }

  function draw(): void {
    const kinds = new Map<string, number>();
    for (const { kind } of graph.nodes) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    const focusedKind = (document.activeElement as HTMLElement | null)?.dataset['kind'];
    legend.replaceChildren(
      ...[...kinds].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).map(([kind, number]) => {
        const dot = h('span', { class: `dot ${kindClass(kind)}`, 'aria-hidden': 'true' });
        const label = `${kindNames(kind)} ${number}`;
        const toggle = h('button', { type: 'button', 'data-kind': kind, 'aria-pressed': String(!hidden.has(kind)) }, dot, label);
        toggle.addEventListener('click', () => {
          if (!hidden.delete(kind)) hidden.add(kind);
          toggle.setAttribute('aria-pressed', String(!hidden.has(kind)));
          picture.hide(hidden);
          remember();
        });
        return h('li', {}, toggle);
      }),
    );
    if (focusedKind) [...legend.querySelectorAll('button')].find((item) => item.dataset['kind'] === focusedKind)?.focus();
  }

  function find(): void {
    const wanted = search.value.trim().toLocaleLowerCase().split(/\s+/).filter(Boolean);
    const text = (node: GraphNode) => `${node.title} ${node.summary ?? ''}`.toLocaleLowerCase();
    const hits = wanted.length ? graph.nodes.filter((node) => wanted.every((word) => text(node).includes(word))) : [];
    picture.mark(hits.map((node) => node.id));
    count.textContent = wanted.length ? t('{0} found', hits.length) : size(graph);
    remember();
  }

  /** A sentence in place of the picture; none shows the picture. */
  function say(text: string, retry = false): void {
    empty.hidden = !text;
    words.textContent = text;
    again.hidden = !retry;
  }

  search.addEventListener('input', find, options);
  search.addEventListener(
    'keydown',
    (event) => {
      if (event.key === 'Enter') picture.focusMarked(event.shiftKey ? -1 : 1);
    },
    options,
  );
  details.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      leave();
    },
    options,
  );
  window.addEventListener(
    'message',
    ({ data }: MessageEvent<ToGraph>) => {
      if (data.type === 'graph') {
        const before = focused?.id ?? state.focused;
        graph = data.graph;
        say(graph.nodes.length ? '' : t('Nothing is remembered yet.'));
        notice.hidden = true;
        focused = undefined;
        picture.show(graph);
        draw();
        find();
        if (before !== undefined && picture.has(before)) picture.focus(before);
        else picture.clear();
        delete state.focused;
      } else if (data.type === 'details') {
        if (data.id !== focused?.id) return;
        known = data.details;
        describe();
      } else if (data.type === 'focus') {
        picture.focus(data.id);
      } else if (graph.nodes.length) {
        notice.textContent = data.text;
        notice.hidden = false;
      } else {
        say(data.text, true);
      }
    },
    options,
  );
  post({ type: 'ready' });
  return () => {
    listening.abort();
    picture.dispose();
    root.remove();
  };
}

function linkCount(count: number): string {
  return count === 1 ? t('1 link') : t('{0} links', count);
}

function size({ nodes, edges, totalNodes = 0 }: Graph): string {
  const nodeCount = nodes.length === 1 ? t('1 node') : t('{0} nodes', nodes.length);
  const shown = `${nodeCount}, ${linkCount(edges.length)}`;
  return totalNodes > nodes.length ? `${shown} · ${t('{0} in all', totalNodes)}` : shown;
}
