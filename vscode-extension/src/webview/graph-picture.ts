/** The picture of the memory graph: drawn as SVG, moved with the mouse or the keyboard. */

import type { Graph, GraphNode } from '../views/graph-data';
import { t } from './dom';
import { kindClass, kindName } from './graph-kinds';
import { degrees, labels, layout, room, type Place } from './graph-layout';

const SVG = 'http://www.w3.org/2000/svg';
const MARGIN = 60;
/** Pixels at the right that the details of a node cover, in a picture that is wide. */
const DETAILS = 310;
const WIDE = 620;
/** Pixels between neighbours when zoomed out, and in, as far as it goes. */
const SMALLEST = 2;
const LARGEST = 1000;
/** Pixels the pointer may move and still click. */
const SLACK = 4;
/** At most so many nodes with at least so many links are hubs. */
const HUBS = 40;
const HUB_LINKS = 4;
const SMALLEST_NODE = 2.5;

export interface PictureEvents {
  /** A node came into focus; undefined when none is. */
  focus(id: string | undefined): void;
  /** A node was double-clicked, or Enter was pressed on it. */
  open(id: string): void;
}

interface Drawn {
  node: GraphNode;
  place: Place;
  /** Pixels, where there is room. */
  radius: number;
  /** Units between its middle and others. */
  reach: number;
  circle: SVGCircleElement;
}

export class Picture {
  readonly element = make('svg', { class: 'picture', tabindex: '0', role: 'application', 'aria-label': t('Memory graph; arrow keys move from node to node') });
  private readonly linkLayer = make('g', { class: 'links' });
  private readonly nodeLayer = make('g', { class: 'nodes' });
  private readonly labelLayer = make('g', { class: 'labels', 'aria-hidden': 'true' });
  private drawn = new Map<string, Drawn>();
  private links: { a: Drawn; b: Drawn; line: SVGLineElement }[] = [];
  /** Nodes that carry their names wherever they stand. */
  private hubs: string[] = [];
  private focused: string | undefined;
  private marked = new Set<string>();
  /** Kinds that are not drawn. */
  private hidden: ReadonlySet<string> = new Set();
  private scale = 1;
  private offset: Place = { x: 0, y: 0 };
  private fitted = true;
  private frame: number | undefined;
  private readonly observer: ResizeObserver | undefined;

  constructor(private readonly events: PictureEvents) {
    this.element.append(this.linkLayer, this.nodeLayer, this.labelLayer);
    this.element.addEventListener('pointerdown', (event) => this.grab(event));
    this.element.addEventListener('dblclick', (event) => {
      const id = nodeAt(event);
      if (id) events.open(id);
    });
    this.element.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    this.element.addEventListener('keydown', (event) => this.key(event));
    if (typeof ResizeObserver !== 'undefined') {
      this.observer = new ResizeObserver(() => (this.fitted ? this.fit() : this.redraw()));
      this.observer.observe(this.element);
    }
  }

  dispose(): void {
    this.observer?.disconnect();
    if (this.frame !== undefined) cancelAnimationFrame(this.frame);
  }

  /** Draws a graph; nodes that were there before stay where they are. */
  show({ nodes, edges }: Graph): void {
    const before = this.drawn;
    const places = layout(nodes, edges);
    const links = degrees(nodes, edges);
    // Names are given out in this order.
    const sorted = [...nodes].sort((a, b) => links.get(b.id)! - links.get(a.id)! || (b.weight ?? 0) - (a.weight ?? 0));
    this.drawn = new Map(
      sorted.map((node) => {
        const radius = 4 + Math.min(10, 1.5 * Math.sqrt(links.get(node.id)!));
        const circle = make('circle', { class: `node ${kindClass(node.kind)}`, r: String(radius), 'data-id': node.id });
        circle.append(make('title', {}, `${kindName(node.kind)}: ${node.title}`));
        const reach = room(links.get(node.id)!) / 2;
        return [node.id, { node, radius, reach, circle, place: before.get(node.id)?.place ?? places.get(node.id)! }];
      }),
    );
    this.links = edges.flatMap(({ a, b }) => {
      const [from, to] = [this.drawn.get(a), this.drawn.get(b)];
      return from && to ? [{ a: from, b: to, line: make('line', {}) }] : [];
    });
    this.linkLayer.replaceChildren(...this.links.map(({ line }) => line));
    // What has the most links lies on top.
    this.nodeLayer.replaceChildren(...[...this.drawn.values()].map(({ circle }) => circle).reverse());
    this.hubs = sorted.slice(0, HUBS).filter((node) => links.get(node.id)! >= HUB_LINKS).map((node) => node.id);
    if (this.focused !== undefined) this.choose(this.drawn.has(this.focused) ? this.focused : undefined);
    if (before.size && !this.fitted) this.redraw();
    else this.fit();
  }

  /** Brings a node into focus, and into sight. */
  focus(id: string): void {
    const drawn = this.drawn.get(id);
    if (!drawn) return;
    const { width, height } = this.size();
    const { x, y } = this.onScreen(drawn.place);
    // The details of a node cover the right, or in a narrow picture the lower half.
    const free = width < WIDE ? { x: width, y: height / 2 } : { x: width - DETAILS, y: height };
    if (x < MARGIN || y < MARGIN || x > free.x - MARGIN || y > free.y - MARGIN) {
      this.fitted = false;
      this.offset = { x: free.x / 2 - drawn.place.x * this.scale, y: free.y / 2 - drawn.place.y * this.scale };
    }
    this.choose(id);
  }

  /** Whether a node can come into focus. */
  has(id: string): boolean {
    return this.drawn.has(id);
  }

  /** Takes the focus from the node that has it. */
  clear(): void {
    this.choose(undefined);
  }

  /** Leaves out nodes of some kinds, with their links. */
  hide(kinds: ReadonlySet<string>): void {
    this.hidden = new Set(kinds);
    const focused = this.focused === undefined ? undefined : this.drawn.get(this.focused);
    if (focused && this.hidden.has(focused.node.kind)) this.choose(undefined);
    this.redraw();
  }

  /** Marks what a search found. */
  mark(ids: string[]): void {
    this.marked = new Set(ids);
    this.redraw();
  }

  /** Goes to the next one a search found, or with −1 to the one before. */
  focusMarked(step: 1 | -1): void {
    const all = [...this.marked].filter((id) => this.visible(this.drawn.get(id)));
    const at = all.indexOf(this.focused ?? '');
    const next = all[(at < 0 && step < 0 ? all.length - 1 : at + step + all.length) % Math.max(1, all.length)];
    if (next !== undefined) this.focus(next);
  }

  private visible(drawn: Drawn | undefined): drawn is Drawn {
    return drawn !== undefined && !this.hidden.has(drawn.node.kind);
  }

  /** Enlarges by `factor` around the middle, or around a point in pixels. */
  zoom(factor: number, around?: Place): void {
    const { width, height } = this.size();
    const { x, y } = around ?? { x: width / 2, y: height / 2 };
    const scale = Math.min(LARGEST, Math.max(SMALLEST, this.scale * factor));
    const ratio = scale / this.scale;
    this.offset = { x: x - (x - this.offset.x) * ratio, y: y - (y - this.offset.y) * ratio };
    this.scale = scale;
    this.fitted = false;
    this.redraw();
  }

  /** Shows everything. */
  fit(): void {
    const places = [...this.drawn.values()].map(({ place }) => place);
    const { width, height } = this.size();
    const [left, right] = span(places.map(({ x }) => x));
    const [top, bottom] = span(places.map(({ y }) => y));
    const room = (pixels: number, units: number) => Math.max(1, pixels - 2 * MARGIN) / Math.max(1, units);
    this.scale = Math.min(room(width, right - left), room(height, bottom - top), 120);
    this.offset = { x: width / 2 - (this.scale * (left + right)) / 2, y: height / 2 - (this.scale * (top + bottom)) / 2 };
    this.fitted = true;
    this.redraw();
  }

  private choose(id: string | undefined): void {
    this.focused = id;
    this.events.focus(id);
    this.redraw();
  }

  private size(): { width: number; height: number } {
    return { width: this.element.clientWidth || 800, height: this.element.clientHeight || 600 };
  }

  private onScreen({ x, y }: Place): Place {
    return { x: x * this.scale + this.offset.x, y: y * this.scale + this.offset.y };
  }

  private redraw(): void {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.draw();
    });
  }

  private draw(): void {
    const near = new Set<string>();
    for (const { a, b, line } of this.links) {
      const drawn = this.visible(a) && this.visible(b);
      line.toggleAttribute('hidden', !drawn);
      if (!drawn) continue;
      const [from, to] = [this.onScreen(a.place), this.onScreen(b.place)];
      set(line, { x1: from.x, y1: from.y, x2: to.x, y2: to.y });
      const touches = a.node.id === this.focused || b.node.id === this.focused;
      line.classList.toggle('near', touches);
      if (touches) near.add(a.node.id).add(b.node.id);
    }
    const pointed = this.focused !== undefined || this.marked.size > 0;
    this.element.classList.toggle('pointed', pointed);
    const shown = [...this.drawn.values()].flatMap((item) => {
      const { x, y } = this.onScreen(item.place);
      const { id } = item.node;
      item.circle.toggleAttribute('hidden', !this.visible(item));
      if (!this.visible(item)) return [];
      // Zoomed out, what stands close together must not cover each other.
      const radius = Math.max(SMALLEST_NODE, Math.min(item.radius, 0.9 * item.reach * this.scale));
      set(item.circle, { cx: x, cy: y, r: radius });
      item.circle.classList.toggle('focused', id === this.focused);
      item.circle.classList.toggle('marked', this.marked.has(id));
      item.circle.classList.toggle('dim', pointed && id !== this.focused && !near.has(id) && !this.marked.has(id));
      return [{ id, text: item.node.title, x, y, radius }];
    });
    const wanted = shown.filter(({ id }) => !pointed || id === this.focused || near.has(id) || this.marked.has(id));
    const { width, height } = this.size();
    const always = this.focused === undefined ? this.hubs : [this.focused];
    this.labelLayer.replaceChildren(
      ...labels(wanted, width, height, always).map(({ id, x, y, text }) => make('text', { x: String(x), y: String(y), 'data-id': id }, text)),
    );
  }

  private grab(event: PointerEvent): void {
    if (event.button !== 0) return;
    const id = nodeAt(event);
    const drawn = id === undefined ? undefined : this.drawn.get(id);
    let moved = 0;
    let { clientX, clientY } = event;
    const done = new AbortController();
    const move = (to: PointerEvent) => {
      const [dx, dy] = [to.clientX - clientX, to.clientY - clientY];
      moved += Math.abs(dx) + Math.abs(dy);
      if (moved <= SLACK) return;
      ({ clientX, clientY } = to);
      if (drawn) drawn.place = { x: drawn.place.x + dx / this.scale, y: drawn.place.y + dy / this.scale };
      else this.offset = { x: this.offset.x + dx, y: this.offset.y + dy };
      this.fitted = false;
      this.redraw();
    };
    const up = () => {
      done.abort();
      if (moved <= SLACK) this.choose(id);
    };
    // On the window, so that a drag may leave the picture.
    window.addEventListener('pointermove', move, { signal: done.signal });
    window.addEventListener('pointerup', up, { signal: done.signal });
    window.addEventListener('pointercancel', () => done.abort(), { signal: done.signal });
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const { left, top } = this.element.getBoundingClientRect();
    this.zoom(Math.exp(-event.deltaY / 400), { x: event.clientX - left, y: event.clientY - top });
  }

  private key(event: KeyboardEvent): void {
    const directions: Record<string, Place> = { ArrowLeft: { x: -1, y: 0 }, ArrowRight: { x: 1, y: 0 }, ArrowUp: { x: 0, y: -1 }, ArrowDown: { x: 0, y: 1 } };
    const direction = directions[event.key];
    if (direction) this.step(direction);
    else if (event.key === 'Enter' && this.focused !== undefined) this.events.open(this.focused);
    else if (event.key === 'Escape') this.choose(undefined);
    else if (event.key === '+' || event.key === '=') this.zoom(1.4);
    else if (event.key === '-') this.zoom(1 / 1.4);
    else if (event.key === '0') this.fit();
    else return;
    event.preventDefault();
  }

  /** Moves the focus to the nearest node in a direction; without a focus, to the one with the most links. */
  private step(direction: Place): void {
    const from = this.focused === undefined ? undefined : this.drawn.get(this.focused);
    if (!from) {
      const first = [...this.drawn.values()].find((item) => this.visible(item));
      if (first) this.focus(first.node.id);
      return;
    }
    let best: { id: string; cost: number } | undefined;
    for (const drawn of this.drawn.values()) {
      if (!this.visible(drawn)) continue;
      const { node, place } = drawn;
      const [dx, dy] = [place.x - from.place.x, place.y - from.place.y];
      const along = dx * direction.x + dy * direction.y;
      const aside = Math.abs(dx * direction.y) + Math.abs(dy * direction.x);
      if (along <= 0 || aside > 2 * along) continue;
      const cost = along + 2 * aside;
      if (!best || cost < best.cost) best = { id: node.id, cost };
    }
    if (best) this.focus(best.id);
  }
}

function make<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string>, text = ''): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.textContent = text;
  return element;
}

function set(element: SVGElement, numbers: Record<string, number>): void {
  for (const [name, value] of Object.entries(numbers)) element.setAttribute(name, value.toFixed(1));
}

function nodeAt(event: Event): string | undefined {
  return (event.target as Element).closest('[data-id]')?.getAttribute('data-id') ?? undefined;
}

function span(values: number[]): [number, number] {
  return values.length ? [Math.min(...values), Math.max(...values)] : [0, 0];
}
