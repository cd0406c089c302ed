/** The memory graph's page: a search, the picture, and what is known about the node in focus. */

import type { FromGraph, Graph, GraphNode, ToGraph } from '../views/graph-data';
import { h, t } from './dom';
import { Picture } from './graph-picture';

/** The most search hits and neighbours that are listed. */
const LISTED = 60;

/** Builds the page; `post` reaches the extension host. Gives what takes it down again. */
export function mountGraph(post: (message: FromGraph) => void): () => void {
  const listening = new AbortController();
  const options = { signal: listening.signal };
  const search = h('input', { type: 'search', placeholder: t('Find a node'), 'aria-label': t('Find a node') });
  const count = h('span', { class: 'quiet', role: 'status' });
  const details = h('aside', { class: 'details', 'aria-label': t('Node'), hidden: true });
  const empty = h('p', { class: 'empty', hidden: true }, t('Nothing is remembered yet.'));
  const picture = new Picture({ focus, open: (id) => post({ type: 'open', id }) });
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
  const root = h('main', { class: 'graph' }, bar, h('div', { class: 'stage' }, picture.element, empty, details));
  document.body.append(root);
  let graph: Graph = { nodes: [], edges: [] };

  function focus(id: string | undefined): void {
    const node = graph.nodes.find((item) => item.id === id);
    details.hidden = node === undefined;
    details.replaceChildren(...(node ? describe(node) : []));
  }

  function describe(node: GraphNode): HTMLElement[] {
    const open = h('button', { type: 'button', class: 'primary' }, t('Open'));
    open.addEventListener('click', () => post({ type: 'open', id: node.id }));
    const near = graph.edges.flatMap(({ a, b }) => (a === node.id ? [b] : b === node.id ? [a] : []));
    const neighbours = graph.nodes.filter((item) => near.includes(item.id)).slice(0, LISTED);
    const list = h('ul', { 'aria-label': t('Connections') });
    for (const neighbour of neighbours) {
      const go = h('button', { type: 'button', class: 'link' }, neighbour.title);
      go.addEventListener('click', () => picture.focus(neighbour.id));
      list.append(h('li', {}, h('span', { class: `dot kind-${neighbour.kind}`, 'aria-hidden': 'true' }), go));
    }
    const summary = node.summary && node.summary !== node.title ? node.summary : '';
    return [h('p', { class: 'quiet' }, node.kind), h('h2', {}, node.title), h('p', {}, summary), open, list];
  }

  function find(): void {
    const wanted = search.value.trim().toLocaleLowerCase();
    const hits = wanted ? graph.nodes.filter((node) => `${node.title} ${node.summary ?? ''}`.toLocaleLowerCase().includes(wanted)) : [];
    picture.mark(hits.map((node) => node.id));
    count.textContent = wanted ? t('{0} found', hits.length) : size(graph);
  }

  search.addEventListener('input', find, options);
  search.addEventListener(
    'keydown',
    (event) => {
      if (event.key === 'Enter') picture.focusNextMarked();
    },
    options,
  );
  window.addEventListener(
    'message',
    ({ data }: MessageEvent<ToGraph>) => {
      if (data.type !== 'graph') return;
      graph = data.graph;
      empty.hidden = graph.nodes.length > 0;
      picture.show(graph);
      find();
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

function size({ nodes, edges, totalNodes = 0 }: Graph): string {
  const shown = t('{0} nodes, {1} links', nodes.length, edges.length);
  return totalNodes > nodes.length ? `${shown} · ${t('{0} in all', totalNodes)}` : shown;
}
