/** Where the nodes of a graph stand, and which of them carry their name. The same graph gives the same picture. */

import { oneLine, shortened } from '../text';
import type { GraphEdge, GraphNode } from '../views/graph-data';

export interface Place {
  x: number;
  y: number;
}

/** Pair computations a layout may cost; more nodes get fewer rounds. */
const EFFORT = 1.5e7;
const ROUNDS = 300;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));

/** How many links each node has. */
export function degrees(nodes: GraphNode[], edges: GraphEdge[]): Map<string, number> {
  const counts = new Map(nodes.map((node) => [node.id, 0]));
  for (const { a, b } of edges) {
    for (const id of [a, b]) if (counts.has(id)) counts.set(id, counts.get(id)! + 1);
  }
  return counts;
}

/** How much room a node takes, in units: what many hang on is larger. */
export function room(links: number): number {
  return 1 + 0.25 * Math.sqrt(links);
}

/**
 * Places by the Fruchterman–Reingold method: nodes repel, links and the middle attract, steps shrink. In the end each node
 * has the room it takes to itself, so that what hangs closely together can still be told apart.
 */
export function layout(nodes: GraphNode[], edges: GraphEdge[]): Map<string, Place> {
  const count = nodes.length;
  const index = new Map(nodes.map((node, i) => [node.id, i]));
  const links = edges.flatMap(({ a, b }) => {
    const [from, to] = [index.get(a), index.get(b)];
    return from === undefined || to === undefined || from === to ? [] : [[from, to] as const];
  });
  // A sunflower to start from: even, and without chance.
  const x = Float64Array.from({ length: count }, (_, i) => Math.sqrt(i) * Math.cos(i * GOLDEN_ANGLE));
  const y = Float64Array.from({ length: count }, (_, i) => Math.sqrt(i) * Math.sin(i * GOLDEN_ANGLE));
  const pushX = new Float64Array(count);
  const pushY = new Float64Array(count);
  const rounds = Math.max(20, Math.min(ROUNDS, Math.floor(EFFORT / Math.max(1, (count * count) / 2))));
  for (let round = 0; round < rounds; round += 1) {
    pushX.fill(0);
    pushY.fill(0);
    repel(x, y, pushX, pushY);
    for (const [from, to] of links) {
      const [dx, dy] = [x[from]! - x[to]!, y[from]! - y[to]!];
      const pull = Math.hypot(dx, dy);
      pushX[from]! -= dx * pull;
      pushY[from]! -= dy * pull;
      pushX[to]! += dx * pull;
      pushY[to]! += dy * pull;
    }
    const step = 0.6 * Math.sqrt(count) * (1 - round / rounds) ** 2 + 0.02;
    for (let i = 0; i < count; i += 1) {
      const [fx, fy] = [pushX[i]! - 0.4 * x[i]!, pushY[i]! - 0.4 * y[i]!];
      const force = Math.hypot(fx, fy) || 1;
      const move = Math.min(force, step) / force;
      x[i]! += fx * move;
      y[i]! += fy * move;
    }
  }
  const counts = degrees(nodes, edges);
  separate(x, y, nodes.map((node) => room(counts.get(node.id)!)), Math.max(20, Math.min(ROUNDS, Math.floor((4 * EFFORT) / Math.max(1, (count * count) / 2)))));
  return new Map(nodes.map((node, i) => [node.id, { x: x[i]!, y: y[i]! }]));
}

/** Moves apart what stands in each other's room. */
function separate(x: Float64Array, y: Float64Array, rooms: number[], rounds: number): void {
  for (let round = 0; round < rounds; round += 1) {
    let crowded = false;
    for (let i = 0; i < x.length; i += 1) {
      for (let j = i + 1; j < x.length; j += 1) {
        const least = (rooms[i]! + rooms[j]!) / 2;
        let dx = x[i]! - x[j]!;
        let dy = y[i]! - y[j]!;
        if (Math.abs(dx) >= least || Math.abs(dy) >= least) continue;
        let apart = Math.hypot(dx, dy);
        if (apart >= least) continue;
        if (apart < 1e-6) [dx, dy, apart] = [1e-3 * Math.cos(i), 1e-3 * Math.sin(i), 1e-3];
        const move = (least - apart) / 2 / apart;
        x[i]! += dx * move;
        y[i]! += dy * move;
        x[j]! -= dx * move;
        y[j]! -= dy * move;
        crowded = true;
      }
    }
    if (!crowded) return;
  }
}

function repel(x: Float64Array, y: Float64Array, pushX: Float64Array, pushY: Float64Array): void {
  for (let i = 0; i < x.length; i += 1) {
    for (let j = i + 1; j < x.length; j += 1) {
      const dx = x[i]! - x[j]!;
      const dy = y[i]! - y[j]!;
      const force = 1 / Math.max(0.01, dx * dx + dy * dy);
      pushX[i]! += dx * force;
      pushY[i]! += dy * force;
      pushX[j]! -= dx * force;
      pushY[j]! -= dy * force;
    }
  }
}

export interface Label {
  id: string;
  /** Left edge and base line, in pixels of the picture. */
  x: number;
  y: number;
  text: string;
}

export interface Labelled {
  id: string;
  text: string;
  /** In pixels of the picture. */
  x: number;
  y: number;
  radius: number;
}

const CHARACTER = 6.2;
const LINE = 14;
const GAP = 3;
const LONGEST = 28;
/** Characters as wide as two others. */
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\u{1f000}-\u{3ffff}]/u;

/**
 * Names for as many nodes as fit without touching each other or a node, the first ones first. Those in `always` come
 * before all others and may cover nodes; the first of them has its name in any case.
 */
export function labels(nodes: Labelled[], width: number, height: number, always: readonly string[] = []): Label[] {
  const circles = new Grid();
  const names = new Grid();
  for (const node of nodes) circles.add(node.x - node.radius, node.y - node.radius, 2 * node.radius, 2 * node.radius);
  const shown: Label[] = [];
  const rank = new Map(always.map((id, index) => [id, index - always.length]));
  const sorted = [...nodes].sort((a, b) => (rank.get(a.id) ?? 0) - (rank.get(b.id) ?? 0));
  for (const node of sorted) {
    if (node.x < 0 || node.y < 0 || node.x > width || node.y > height) continue;
    const text = shortened(oneLine(node.text), LONGEST);
    const wide = [...text].reduce((sum, character) => sum + (WIDE.test(character) ? 2 : 1), 0) * CHARACTER;
    const places = [
      { x: node.x + node.radius + GAP, y: node.y - LINE / 2 },
      { x: node.x - node.radius - GAP - wide, y: node.y - LINE / 2 },
      { x: node.x - wide / 2, y: node.y + node.radius + 1 },
      { x: node.x - wide / 2, y: node.y - node.radius - LINE - 1 },
    ];
    // A name that is cut by the edge is none, but it is better than a focus without a name.
    const inside = places.filter(({ x }) => x >= 0 && x + wide <= width);
    const apart = (inside.length ? inside : places).filter(({ x, y }) => names.free(x, y, wide, LINE));
    const place =
      apart.find(({ x, y }) => circles.free(x, y, wide, LINE)) ??
      (rank.has(node.id) ? apart[0] : undefined) ??
      (node.id === always[0] ? places[0] : undefined);
    if (!place) continue;
    names.add(place.x, place.y, wide, LINE);
    shown.push({ id: node.id, x: place.x, y: place.y + LINE - 3, text });
  }
  return shown;
}

/** Rectangles by cell, so that asking for a free place does not look at all of them. */
class Grid {
  private static readonly cell = 64;
  private readonly cells = new Map<string, [number, number, number, number][]>();

  add(x: number, y: number, width: number, height: number): void {
    for (const key of this.keys(x, y, width, height)) {
      const cell = this.cells.get(key);
      if (cell) cell.push([x, y, width, height]);
      else this.cells.set(key, [[x, y, width, height]]);
    }
  }

  free(x: number, y: number, width: number, height: number): boolean {
    for (const key of this.keys(x, y, width, height)) {
      for (const [left, top, wide, high] of this.cells.get(key) ?? []) {
        if (x < left + wide && left < x + width && y < top + high && top < y + height) return false;
      }
    }
    return true;
  }

  private *keys(x: number, y: number, width: number, height: number): Iterable<string> {
    const { cell } = Grid;
    for (let column = Math.floor(x / cell); column <= Math.floor((x + width) / cell); column += 1) {
      for (let row = Math.floor(y / cell); row <= Math.floor((y + height) / cell); row += 1) yield `${column}:${row}`;
    }
  }
}
