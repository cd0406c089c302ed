/** Gathers what streams in: one message per interval keeps the webview milliseconds behind instead of seconds. */

export class Batcher<T> {
  private items: T[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `flush` gets at least one item, at most once per `interval` milliseconds. */
  constructor(
    private readonly flush: (items: T[]) => void,
    private readonly interval = 33,
  ) {}

  push(item: T): void {
    this.items.push(item);
    this.timer ??= setTimeout(() => this.now(), this.interval);
  }

  /** Sends what was gathered at once; what follows must not overtake it. */
  now(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!this.items.length) return;
    const items = this.items;
    this.items = [];
    this.flush(items);
  }
}
