/** How often, and after how long, a server that died is started again. */

/** Milliseconds before the first, second and third restart. */
export const DELAYS = [500, 2_000, 8_000] as const;
/** A server that ran this long (milliseconds) had started well; earlier deaths are forgotten. */
export const STEADY_MS = 120_000;

export class Backoff {
  private failures = 0;

  /** The wait before the next restart, or undefined when there were enough. `ranFor` in milliseconds. */
  next(ranFor: number): number | undefined {
    if (ranFor >= STEADY_MS) this.failures = 0;
    const delay = DELAYS[this.failures];
    this.failures += 1;
    return delay;
  }

  /** The number of the restart that comes now, from 1. */
  get attempt(): number {
    return this.failures;
  }

  reset(): void {
    this.failures = 0;
  }
}
