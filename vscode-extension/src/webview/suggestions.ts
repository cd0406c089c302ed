/** The list under the cursor that completes `@` and `/`. The server decides what fits; this only draws and picks. */

import type { Completion } from '../wire';
import { h, icon } from './dom';

const ICONS: Record<string, string> = {
  file: 'file',
  folder: 'folder',
  symbol: 'symbol-method',
  session: 'comment-discussion',
  command: 'terminal',
  skill: 'mortar-board',
  persona: 'person',
  template: 'file-code',
  memory: 'database',
};

/** The word being completed: its start and the text up to the cursor; nothing when no trigger opens it. */
export function completionWord(text: string, offset: number): { from: number; word: string } | undefined {
  const before = text.slice(0, offset);
  // What follows is a name, blanks and all.
  const persona = /^\/persona\s+[^\n]*$/i.exec(before);
  if (persona) return { from: 0, word: persona[0] };
  const match = /(^|\s)(@[^\s@]*|\/[\w:.-]*)$/.exec(before);
  if (!match) return undefined;
  const word = match[2]!;
  const from = offset - word.length;
  // A slash is a command only where it begins the message; elsewhere it is part of a path.
  if (word.startsWith('/') && text.slice(0, from).trim() !== '') return undefined;
  return { from, word };
}

export class Suggestions {
  readonly element = h('ul', { id: 'suggestions', class: 'suggestions', role: 'listbox', hidden: true });
  private items: Completion[] = [];
  private selected = 0;
  private from = 0;
  private to = 0;
  private asked = 0;

  constructor(
    private readonly box: HTMLTextAreaElement,
    private readonly onTake: (item: Completion, from: number, to: number) => void,
  ) {}

  /** Notes what is being completed; gives the number of the request to send, or nothing when there is none. */
  ask(text: string, offset: number): number | undefined {
    const found = completionWord(text, offset);
    this.asked += 1;
    if (!found) {
      this.hide();
      return undefined;
    }
    this.from = found.from;
    this.to = offset;
    return this.asked;
  }

  /** Shows the answer to the latest request; older answers come too late. */
  show(id: number, items: Completion[]): void {
    if (id !== this.asked) return;
    this.items = items.slice(0, 50);
    this.selected = 0;
    this.draw();
  }

  hide(): void {
    this.items = [];
    this.draw();
  }

  /** Handles a key while the list is open; true when it was for the list. */
  key(event: KeyboardEvent): boolean {
    if (this.element.hidden) return false;
    const { length } = this.items;
    if (event.key === 'ArrowDown') this.selected = (this.selected + 1) % length;
    else if (event.key === 'ArrowUp') this.selected = (this.selected + length - 1) % length;
    else if (event.key === 'Escape') this.items = [];
    else if (event.key === 'Tab' || (event.key === 'Enter' && !event.shiftKey)) {
      event.preventDefault();
      this.take(this.selected);
      return true;
    } else return false;
    event.preventDefault();
    this.draw();
    return true;
  }

  private take(index: number): void {
    const item = this.items[index];
    this.hide();
    if (item) this.onTake(item, this.from, this.to);
  }

  private draw(): void {
    this.element.hidden = this.items.length === 0;
    this.element.replaceChildren(...this.items.map((item, index) => this.row(item, index)));
    this.box.setAttribute('aria-expanded', String(!this.element.hidden));
    const active = this.element.hidden ? undefined : this.element.children[this.selected];
    if (active) {
      this.box.setAttribute('aria-activedescendant', active.id);
      active.scrollIntoView?.({ block: 'nearest' });
    } else this.box.removeAttribute('aria-activedescendant');
  }

  private row(item: Completion, index: number): HTMLElement {
    const row = h(
      'li',
      { id: `suggestion-${index}`, role: 'option', 'aria-selected': String(index === this.selected) },
      icon(ICONS[item.kind ?? ''] ?? 'symbol-misc'),
      h('span', { class: 'label' }, item.label),
      item.detail ? h('span', { class: 'detail' }, item.detail) : undefined,
    );
    // mousedown, so that the box keeps the focus
    row.addEventListener('mousedown', (event) => {
      event.preventDefault();
      this.take(index);
    });
    return row;
  }
}
