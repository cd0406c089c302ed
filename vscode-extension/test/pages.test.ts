// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { FromContext, ToContext } from '../src/views/context-state';
import type { FromGraph, Graph, GraphState, NodeDetails, ToGraph } from '../src/views/graph-data';
import { mountContext } from '../src/webview/context-page';
import { degrees, labels, layout, room } from '../src/webview/graph-layout';
import { mountGraph } from '../src/webview/graph-page';

const tell = (message: ToContext | ToGraph) => window.dispatchEvent(new MessageEvent('message', { data: message }));
const $ = <T extends Element = HTMLElement>(selector: string) => document.querySelector<T>(selector)!;
const button = (label: string) => [...document.querySelectorAll('button')].find((item) => item.textContent === label || item.getAttribute('aria-label') === label)!;

let close = () => undefined as void;

beforeEach(() => {
  document.body.innerHTML = '';
  vi.useFakeTimers();
});

afterEach(() => {
  close();
  vi.useRealTimers();
});

describe('the Context page', () => {
  const posted: FromContext[] = [];
  const state = {
    model: 'claude-x',
    tokens: 500,
    window: 1000,
    costUsd: 0.01,
    bars: [
      { id: 'section:0', name: 'mode', tokens: 400, cached: 400 },
      { id: 'turn', name: 'turn context', tokens: 100, cached: 0 },
    ],
    attached: [{ name: 'api docs', tokens: 1200 }],
    pinned: ['deploy'],
    personas: ['reviewer'],
    checkpoints: [{ id: 'p', label: 'Second question', when: 'today' }],
  };

  beforeEach(() => {
    posted.length = 0;
    close = mountContext((message) => posted.push(message));
    tell({ type: 'state', state });
  });

  it('shows the total against the window, and what can come from the cache', () => {
    expect($('.summary').textContent).toContain('500 of 1,000 tokens (50 %)');
    expect($('.summary').textContent).toContain('80 % can be read from cache · $0.0100 spent');
    expect($('.summary').textContent).not.toContain('provider counts');
    tell({ type: 'state', state: { ...state, counted: 512 } });
    expect($('.summary').textContent).toContain('512 as the provider counts');
    expect($('[role=meter]').getAttribute('aria-valuenow')).toBe('500');
  });

  it('draws each section as wide as it is long, its cached part apart', () => {
    const widths = [...document.querySelectorAll<HTMLElement>('.bars .cached, .bars .fresh')].map((part) => part.style.width);
    expect(widths).toEqual(['100%', '0%', '0%', '25%']);
  });

  it('opens a section and rewinds, with words for both', () => {
    button('mode: 400 tokens, 100 % cached').click();
    button('Rewind to “Second question”').click();
    expect(posted).toEqual([{ type: 'ready' }, { type: 'open', id: 'section:0' }, { type: 'rewind', id: 'p' }]);
  });

  it('lets go of what the user put into the prompt with one click', () => {
    expect($('main').textContent).toContain('api docs1,200 tokens');
    button('Detach “api docs”').click();
    expect(posted.pop()).toEqual({ type: 'detach', name: 'api docs' });
    button('Unpin “deploy”').click();
    expect(posted.pop()).toEqual({ type: 'unpin', name: 'deploy' });
    button('Detach “reviewer”').click();
    expect(posted.pop()).toEqual({ type: 'dismiss', name: 'reviewer' });
  });

  it('leads to attaching a context', () => {
    button('Attach Context…').click();
    expect(posted.pop()).toEqual({ type: 'attach' });
  });

  it('folds a context and unfolds it again, but not one that is too large', () => {
    button('Fold “api docs” to a card; the model can still read it').click();
    expect(posted.pop()).toEqual({ type: 'fold', name: 'api docs', fold: true });
    tell({ type: 'state', state: { ...state, attached: [{ name: 'api docs', tokens: 90, folded: true, fold: true }] } });
    expect($('main').textContent).toContain('api docs90 tokens, folded');
    button('Unfold “api docs”').click();
    expect(posted.pop()).toEqual({ type: 'fold', name: 'api docs', fold: false });
    tell({ type: 'state', state: { ...state, attached: [{ name: 'api docs', tokens: 90, folded: true, fold: false }] } });
    expect($('main').textContent).toContain('90 tokens, folded for space');
    expect([...document.querySelectorAll('button')].some((one) => /old “api docs”/.test(one.getAttribute('aria-label') ?? ''))).toBe(false);
  });

  it('says how much of a context rode along with questions', () => {
    tell({ type: 'state', state: { ...state, attached: [{ name: 'api docs', tokens: 90, toldTokens: 1300 }] } });
    expect($('main').textContent).toContain('90 tokens; 1,300 in passages sent with questions');
    tell({ type: 'state', state: { ...state, attached: [{ name: 'api docs', tokens: 90, toldTokens: 0 }] } });
    expect($('main').textContent).not.toContain('passages');
  });

  it('a redraw leaves the focus where it was', () => {
    button('mode: 400 tokens, 100 % cached').focus();
    tell({ type: 'state', state: { ...state, tokens: 501 } });
    expect((document.activeElement as HTMLElement).dataset.key).toBe('section:0');
  });

  it('says why there is nothing, and what helps', () => {
    tell({ type: 'state', state: { ...state, problem: 'No model is configured.' } });
    expect($('main').textContent).toContain('No model is configured.');
    button('Switch Model').click();
    expect(posted.pop()).toEqual({ type: 'switchModel' });
  });
});

describe('the graph page', () => {
  const posted: FromGraph[] = [];
  const graph: Graph = {
    nodes: [
      { id: 'project:a', kind: 'project', title: 'Alpha' },
      { id: 'fact:1', kind: 'fact', title: 'Alpha uses Go', summary: 'Alpha uses Go since March' },
      { id: 'topic:x', kind: 'topic', title: 'Deploys' },
    ],
    edges: [{ a: 'project:a', b: 'fact:1' }],
  };
  const press = (key: string) => $('svg.picture').dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));

  let kept: GraphState = {};
  const details: NodeDetails = {
    text: 'Alpha, a service',
    sources: [{ words: 'you, 2026-03-01', session: 's1', message: 'm1' }, { words: 'learned' }],
    facts: [{ id: 'fact:1', text: 'Alpha uses Go since March', category: 'project' }],
  };
  const mount = (state?: GraphState) => mountGraph({ post: (message) => void posted.push(message), keep: (now) => (kept = now) }, state);
  const status = () => $('.told').textContent;

  beforeEach(() => {
    posted.length = 0;
    kept = {};
    close = mount();
    tell({ type: 'graph', graph });
    vi.runAllTimers();
  });

  it('draws every node and link, and says how many there are', () => {
    expect(document.querySelectorAll('circle.node')).toHaveLength(3);
    expect(document.querySelectorAll('.links line')).toHaveLength(1);
    expect($('header .quiet').textContent).toBe('3 nodes, 1 link');
    expect($('.empty').hidden).toBe(true);
  });

  it('the keyboard reaches a node and opens it', () => {
    press('ArrowRight');
    expect($('.details h2').textContent).toBe('Alpha');
    press('Enter');
    expect(posted.pop()).toEqual({ type: 'open', id: 'project:a' });
    press('Escape');
    expect($('.details').hidden).toBe(true);
  });

  it('a neighbour is one click away', () => {
    press('ArrowRight');
    button('Alpha uses Go').click();
    expect($('.details').textContent).toContain('Alpha uses Go since March');
  });

  it('a search marks what it finds, and Enter goes there', () => {
    const box = $<HTMLInputElement>('input[type=search]');
    box.value = 'march';
    box.dispatchEvent(new Event('input'));
    vi.runAllTimers();
    expect($('header .quiet').textContent).toBe('1 found');
    expect([...document.querySelectorAll('circle.marked')].map((item) => item.getAttribute('data-id'))).toEqual(['fact:1']);
    box.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    expect($('.details h2').textContent).toBe('Alpha uses Go');
  });

  it('a double click opens a node', () => {
    $('circle[data-id="topic:x"]').dispatchEvent(new MouseEvent('dblclick', { bubbles: true }));
    expect(posted.pop()).toEqual({ type: 'open', id: 'topic:x' });
  });

  it('text of a node is never markup', () => {
    tell({ type: 'graph', graph: { nodes: [{ id: 'fact:2', kind: 'fact', title: '<img src=x>' }], edges: [] } });
    vi.runAllTimers();
    expect(document.querySelector('img')).toBeNull();
  });

  it('an empty graph says so', () => {
    tell({ type: 'graph', graph: { nodes: [], edges: [] } });
    expect($('.empty').hidden).toBe(false);
    expect($('.empty').textContent).toContain('Nothing is remembered yet.');
  });

  it('says that it is reading, and what went wrong, with a way to try again', () => {
    close();
    close = mount();
    expect($('.empty').textContent).toContain('Reading memory…');
    tell({ type: 'problem', text: 'The server is gone.' });
    expect($('.empty').textContent).toContain('The server is gone.');
    posted.length = 0;
    button('Try Again').click();
    expect(posted).toEqual([{ type: 'ready' }]);
  });

  it('what cannot be read is told beside what can', () => {
    tell({ type: 'problem', text: 'episodes.json is encrypted.' });
    expect($('.notice')).toMatchObject({ hidden: false, textContent: 'episodes.json is encrypted.' });
    expect($('.empty').hidden).toBe(true);
    tell({ type: 'graph', graph });
    expect($('.notice').hidden).toBe(true);
  });

  it('a node shows who said it, its conversation, and its facts', () => {
    press('ArrowRight');
    expect(posted.pop()).toEqual({ type: 'details', id: 'project:a' });
    tell({ type: 'details', id: 'topic:x', details: { ...details, text: 'late' } });
    expect($('.details').textContent).not.toContain('late');
    tell({ type: 'details', id: 'project:a', details });
    expect($('.details .text').textContent).toBe('Alpha, a service');
    expect([...document.querySelectorAll('.source')].map((line) => line.firstChild!.textContent)).toEqual(['From: you, 2026-03-01', 'From: learned']);
    button('Open the Conversation').click();
    expect(posted.pop()).toEqual({ type: 'conversation', session: 's1', message: 'm1' });
    expect($('ul[aria-label="Facts"]').textContent).toBe('Alpha uses Go since March');
    expect($('ul[aria-label="Connections"]'), 'the only other node is a fact that is listed').toBeNull();
    button('Alpha uses Go since March').click();
    expect($('.details h2').textContent).toBe('Alpha uses Go');
  });

  it('tells a screen reader where the focus went', () => {
    press('ArrowRight');
    expect(status()).toBe('project: Alpha, 1 link');
    expect($('.told').getAttribute('role')).toBe('status');
    press('Escape');
    expect(status()).toBe('');
  });

  it('the keyboard focus is never lost', () => {
    press('ArrowRight');
    button('Alpha uses Go').focus();
    button('Alpha uses Go').click();
    expect(document.activeElement!.textContent, 'the reader goes on at the new node').toBe('Alpha uses Go');
    tell({ type: 'details', id: 'fact:1', details: { text: 'Alpha uses Go', sources: [], facts: [] } });
    expect(document.activeElement!.tagName).toBe('H2');
    button('Open').focus();
    tell({ type: 'graph', graph });
    expect(document.activeElement!.textContent).toBe('Open');
    document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }));
    expect(document.activeElement).toBe($('svg.picture'));
    expect($('.details').hidden).toBe(true);
  });

  it('kinds are named, counted, and can be left out', () => {
    const kinds = [...document.querySelectorAll<HTMLButtonElement>('.legend button')];
    expect(kinds.map((item) => item.textContent)).toEqual(['Facts 1', 'Projects 1', 'Topics 1']);
    kinds[0]!.click();
    vi.runAllTimers();
    expect(kinds[0]!.getAttribute('aria-pressed')).toBe('false');
    expect([...document.querySelectorAll('circle.node:not([hidden])')].map((item) => item.getAttribute('data-id')).sort()).toEqual(['project:a', 'topic:x']);
    expect(document.querySelectorAll('.links line:not([hidden])')).toHaveLength(0);
    expect([...document.querySelectorAll('.labels text')].map((item) => item.textContent)).not.toContain('Alpha uses Go');
  });

  it('a reload of the window brings back what was looked at', () => {
    press('ArrowRight');
    document.querySelectorAll<HTMLButtonElement>('.legend button')[2]!.click();
    expect(kept).toEqual({ focused: 'project:a', search: '', hidden: ['topic'] });
    close();
    close = mount({ ...kept, search: 'go' });
    tell({ type: 'graph', graph });
    vi.runAllTimers();
    expect($('.details h2').textContent).toBe('Alpha');
    expect($<HTMLInputElement>('input').value).toBe('go');
    expect($('header .quiet').textContent).toBe('1 found');
    expect(document.querySelector('circle.node[hidden]')!.getAttribute('data-id')).toBe('topic:x');
  });

  it('what is in focus stays so when memory changes, unless it is gone', () => {
    press('ArrowRight');
    tell({ type: 'graph', graph: { ...graph, nodes: [...graph.nodes, { id: 'fact:9', kind: 'fact', title: 'new' }] } });
    expect($('.details h2').textContent).toBe('Alpha');
    tell({ type: 'graph', graph: { nodes: graph.nodes.slice(1), edges: [] } });
    expect($('.details').hidden).toBe(true);
  });

  it('the model shows the user a node', () => {
    tell({ type: 'focus', id: 'topic:x' });
    expect($('.details h2').textContent).toBe('Deploys');
  });
});

describe('the layout of a graph', () => {
  const nodes = Array.from({ length: 500 }, (_, index) => ({ id: String(index), kind: 'fact', title: `node number ${index}` }));
  const edges = nodes.slice(10).map((node, index) => ({ a: node.id, b: String(index % 10) }));

  it('is the same for the same graph, and no two nodes share a place', () => {
    const places = layout(nodes, edges);
    expect(layout(nodes, edges)).toEqual(places);
    const all = [...places.values()];
    let nearest = Infinity;
    for (const [i, a] of all.entries()) for (const b of all.slice(i + 1)) nearest = Math.min(nearest, Math.hypot(a.x - b.x, a.y - b.y));
    expect(nearest).toBeGreaterThan(0.1);
  });

  it('gives each of 500 nodes the room it takes, however closely they hang together', () => {
    const hubs = Array.from({ length: 12 }, (_, index) => ({ id: `hub${index}`, kind: 'topic', title: `hub ${index}` }));
    const all = [...nodes.slice(0, 488), ...hubs];
    const tight = nodes.slice(0, 488).flatMap(({ id }, index) => [0, 1, 2].map((step) => ({ a: id, b: `hub${(index + step) % 12}` })));
    const places = layout(all, tight);
    const links = degrees(all, tight);
    let crowded = 0;
    for (const [i, a] of all.entries()) {
      for (const b of all.slice(i + 1)) {
        const apart = Math.hypot(places.get(a.id)!.x - places.get(b.id)!.x, places.get(a.id)!.y - places.get(b.id)!.y);
        if (apart < (0.9 * (room(links.get(a.id)!) + room(links.get(b.id)!))) / 2) crowded += 1;
      }
    }
    expect(crowded).toBe(0);
  });

  it('names are not cut by the edge where there is room at the other side', () => {
    const [name] = labels([{ id: 'a', text: 'a rather long name', x: 380, y: 100, radius: 5 }], 400, 300);
    expect(name!.x + name!.text.length * 6.2).toBeLessThanOrEqual(400);
  });

  it('keeps linked nodes nearer than others', () => {
    const places = layout(nodes, edges);
    const apart = (a: string, b: string) => Math.hypot(places.get(a)!.x - places.get(b)!.x, places.get(a)!.y - places.get(b)!.y);
    const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const linked = mean(edges.map(({ a, b }) => apart(a, b)));
    const others = mean(edges.map(({ a }, index) => apart(a, String((index + 5) % 10))));
    expect(linked).toBeLessThan(others / 2);
  });

  it('names at 500 nodes do not cover each other', () => {
    const places = layout(nodes, edges);
    const drawn = nodes.map(({ id, title }) => ({ id, text: title, x: 600 + 25 * places.get(id)!.x, y: 400 + 25 * places.get(id)!.y, radius: 5 }));
    const shown = labels(drawn, 1200, 800);
    expect(shown.length).toBeGreaterThan(20);
    for (const [i, a] of shown.entries()) {
      for (const b of shown.slice(i + 1)) {
        const beside = a.x + a.text.length * 6 < b.x || b.x + b.text.length * 6 < a.x;
        expect(beside || Math.abs(a.y - b.y) >= 13, `${a.text} and ${b.text}`).toBe(true);
      }
    }
  });

  it('names are cut at whole characters, and wide ones have more room', () => {
    const at = (id: string, text: string, x: number) => ({ id, text, x, y: 100, radius: 5 });
    const [emoji] = labels([at('a', '👍'.repeat(40), 100)], 900, 300);
    expect(emoji!.text).toBe(`${'👍'.repeat(27)}…`);
    const named = (text: string) => labels([at('a', text, 400), at('b', 'next', 540)], 900, 300).find(({ id }) => id === 'a')!.x;
    expect(named('x'.repeat(20)), 'there is room at the right').toBeGreaterThan(400);
    expect(named('漢'.repeat(20)), 'the next node would be covered').toBeLessThan(400);
  });

  it('the name of the focus is always there', () => {
    const crowded = Array.from({ length: 50 }, (_, index) => ({ id: String(index), text: 'a rather long name', x: 100 + index, y: 100, radius: 5 }));
    expect(labels(crowded, 400, 300, ['25']).map(({ id }) => id)).toContain('25');
  });
});
