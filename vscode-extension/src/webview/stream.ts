/** Streamed Markdown without rendering the whole answer again for every delta. */

import { blocksOf, codeFrame, render } from './markdown';

const OPEN_FENCE = /^ {0,3}(`{3,}|~{3,})([^`\n]*)\n/;

/**
 * One growing answer in one element.
 *
 * Blocks that no later text can change any more are rendered once and left alone; only the tail is rendered again. A
 * code block that is still being written grows by appending to its text node, however long it gets.
 */
export class StreamedMarkdown {
  readonly element = document.createElement('div');
  private readonly tail = document.createElement('div');
  private text = '';
  private settled = 0;
  private fence: { marker: string; node: Text; shown: number } | undefined;

  constructor() {
    this.element.className = 'markdown';
    this.tail.className = 'tail';
    this.element.append(this.tail);
  }

  /** Shows `text`, which begins with everything shown before; anything else is drawn afresh. */
  update(text: string, done = false): void {
    if (!text.startsWith(this.text)) this.reset();
    if (text === this.text && !done) return;
    this.text = text;
    if (this.fence && !done && this.growFence()) return;
    this.fence = undefined;
    this.settle();
    const rest = text.slice(this.settled);
    if (!done && this.openFence(rest)) return;
    this.tail.replaceChildren(render(rest));
  }

  private reset(): void {
    this.text = '';
    this.settled = 0;
    this.fence = undefined;
    this.element.replaceChildren(this.tail);
  }

  /** Renders for good every block but the last two: the last may grow, and it may change how the one before reads. */
  private settle(): void {
    const rest = this.text.slice(this.settled);
    const blocks = blocksOf(rest);
    if (blocks.length < 3) return;
    const keepFrom = blocks[blocks.length - 2]!.start;
    const offset = offsetOfLine(rest, keepFrom);
    if (offset === 0) return;
    this.element.insertBefore(render(rest.slice(0, offset)), this.tail);
    this.settled += offset;
  }

  /** Draws a tail that ends inside a code block as frame and raw text; false when it does not. */
  private openFence(rest: string): boolean {
    const blocks = blocksOf(rest);
    const last = blocks[blocks.length - 1];
    if (last?.type !== 'fence') return false;
    const start = offsetOfLine(rest, last.start);
    const opening = OPEN_FENCE.exec(rest.slice(start));
    if (!opening) return false;
    const body = rest.slice(start + opening[0].length);
    if (closes(body, opening[1]!)) return false;
    const { root, code } = codeFrame(opening[2]!.trim().split(/\s+/)[0] ?? '');
    const node = document.createTextNode(body);
    code.append(node);
    this.tail.replaceChildren(render(rest.slice(0, start)), root);
    this.fence = { marker: opening[1]!, node, shown: this.text.length };
    return true;
  }

  /** Appends what is new to the open code block; false when the block was closed by it. */
  private growFence(): boolean {
    const fence = this.fence!;
    // A closing line may have begun in what is shown already, so the check starts at the last line's beginning.
    const from = this.text.lastIndexOf('\n', fence.shown - 1) + 1;
    if (closes(this.text.slice(from), fence.marker)) return false;
    fence.node.appendData(this.text.slice(fence.shown));
    fence.shown = this.text.length;
    return true;
  }
}

/** Whether a line of `body` closes (or begins to close) a code block opened by `marker`. */
function closes(body: string, marker: string): boolean {
  const fence = marker[0] === '`' ? '`' : '~';
  return new RegExp(`(^|\\n) {0,3}${fence}{${marker.length},}`).test(body);
}

function offsetOfLine(text: string, line: number): number {
  let offset = 0;
  for (let n = 0; n < line; n++) {
    const next = text.indexOf('\n', offset);
    if (next < 0) return text.length;
    offset = next + 1;
  }
  return offset;
}
