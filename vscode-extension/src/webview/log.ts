/** The list of turns: follows the stream while the reader is at its end, draws old turns only when they are wanted. */

import { button, h, t } from './dom';
import type { Turn } from './model';
import type { Post } from './parts';
import { TurnView } from './turn-view';

/** Turns drawn at once, at the start and each time the reader asks for earlier ones. */
const PAGE = 20;
/** Pixels from the end that still count as the end. */
const END_SLACK = 32;

export class Log {
  private turns: Turn[] = [];
  private readonly views = new Map<string, TurnView>();
  private firstDrawn = 0;
  private following = true;
  private readonly earlier: HTMLButtonElement;
  private readonly list = h('div', { class: 'turns' });

  constructor(
    private readonly scroller: HTMLElement,
    private readonly chip: HTMLButtonElement,
    private readonly post: Post,
  ) {
    this.earlier = button(t('Show earlier messages'), 'link', () => this.drawEarlier());
    this.earlier.classList.add('earlier');
    this.earlier.hidden = true;
    scroller.append(this.earlier, this.list);
    scroller.addEventListener('scroll', () => this.onScroll(), { passive: true });
    chip.addEventListener('click', () => this.toEnd());
  }

  get all(): readonly Turn[] {
    return this.turns;
  }

  find(key: string): Turn | undefined {
    return this.turns.findLast((turn) => turn.sent.key === key);
  }

  /** Replaces everything. */
  reset(turns: Turn[]): void {
    this.turns = turns;
    this.views.clear();
    this.firstDrawn = Math.max(0, turns.length - PAGE);
    this.list.replaceChildren(...turns.slice(this.firstDrawn).map((turn) => this.view(turn).element));
    this.earlier.hidden = this.firstDrawn === 0;
    this.toEnd();
  }

  /** Leads the reader to a turn, and marks it. */
  reveal(key: string): void {
    const index = this.turns.findIndex((turn) => turn.sent.key === key);
    if (index < 0) return;
    while (this.firstDrawn > index) this.drawEarlier();
    const element = this.views.get(key)!.element;
    this.list.querySelector('.revealed')?.classList.remove('revealed');
    element.classList.add('revealed');
    this.following = false;
    element.scrollIntoView({ block: 'start' });
  }

  /** Adds a turn; the reader who just sent it wants to see it. */
  add(turn: Turn): void {
    this.turns.push(turn);
    this.list.append(this.view(turn).element);
    this.toEnd();
  }

  remove(key: string): void {
    this.turns = this.turns.filter((turn) => turn.sent.key !== key);
    this.views.get(key)?.element.remove();
    this.views.delete(key);
  }

  /** Draws what changed in some turns. */
  update(turns: Iterable<Turn>, now?: number): void {
    let drawn = false;
    for (const turn of turns) {
      const view = this.views.get(turn.sent.key);
      if (!view) continue;
      view.update(now);
      drawn = true;
    }
    if (drawn) this.follow();
  }

  /** Advances the clocks of what runs. */
  tick(now: number): void {
    for (const turn of this.turns) {
      if (turn.state === 'running') this.views.get(turn.sent.key)?.tick(now);
    }
  }

  /** Adds a line that belongs to no turn. */
  note(element: HTMLElement): void {
    this.list.append(element);
    this.follow();
  }

  /** Keeps the end in view for a reader who is there; says that there is more to one who is not. */
  follow(): void {
    if (this.following) this.scroller.scrollTop = this.scroller.scrollHeight;
    else this.chip.hidden = false;
  }

  private toEnd(): void {
    this.following = true;
    this.chip.hidden = true;
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  private view(turn: Turn): TurnView {
    const view = new TurnView(turn, this.post);
    this.views.set(turn.sent.key, view);
    return view;
  }

  private onScroll(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    this.following = scrollHeight - scrollTop - clientHeight <= END_SLACK;
    if (this.following) this.chip.hidden = true;
    if (scrollTop < 200 && this.firstDrawn > 0 && scrollHeight > clientHeight) this.drawEarlier();
  }

  private drawEarlier(): void {
    const from = Math.max(0, this.firstDrawn - PAGE);
    const height = this.scroller.scrollHeight;
    const top = this.scroller.scrollTop;
    this.list.prepend(...this.turns.slice(from, this.firstDrawn).map((turn) => this.view(turn).element));
    this.firstDrawn = from;
    this.earlier.hidden = from === 0;
    // The reader's line stays where it was: what came in above pushes by its own height.
    this.scroller.scrollTop = top + (this.scroller.scrollHeight - height);
  }
}
