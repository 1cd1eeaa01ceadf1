import { isDeepStrictEqual } from 'node:util';
import type { LaneWait } from '../src/db/lanes-at-work.ts';
import type { Trouble } from '../src/domain/trouble.ts';

/** A shorter wait is not noted: most windows take less, and write nothing for it. */
const notedAfterMs = 5_000;
/** Work without a wait that tells so little of itself for so long is shown with its step. */
const stillAfterMs = 15_000;

/** What an activity waits for now, and whether the row of its lane says so already. */
export class Waits {
  readonly #clock: () => Date;
  readonly #open = new Set<{ what: string; since: Date }>();
  #noted: LaneWait | null = null;

  constructor(clock: () => Date) {
    this.#clock = clock;
  }

  /** A wait begins; the function returned ends it. */
  begin(what: string): () => void {
    const wait = { what, since: this.#clock() };
    this.#open.add(wait);
    return () => void this.#open.delete(wait);
  }

  /**
   * What the row is to say from now on: the longest wait, else the step that nothing was heard of. Undefined where it says so already.
   * `trouble`: what the attempts failed with since the last success.
   */
  change({
    step,
    heardAt,
    trouble,
  }: {
    step: string;
    heardAt: Date;
    trouble: Trouble | null;
  }): LaneWait | null | undefined {
    const now = this.#clock().getTime();
    const [oldest] = this.#open;
    const isLong = oldest !== undefined && now - oldest.since.getTime() >= notedAfterMs;
    const isStill = now - heardAt.getTime() >= stillAfterMs;
    const shown =
      isLong || (oldest !== undefined && trouble !== null)
        ? { for: oldest.what, since: oldest.since.toISOString() }
        : isStill || trouble !== null
          ? { for: `the end of a step: ${step}`, since: heardAt.toISOString() }
          : null;
    const next = shown && { ...shown, error: trouble?.error ?? null, attempts: trouble?.times ?? 0 };
    return isDeepStrictEqual(next, this.#noted) ? undefined : next;
  }

  /** Whether the row says that this activity waits. */
  get isNoted(): boolean {
    return this.#noted !== null;
  }

  /** The row says it. */
  noted(wait: LaneWait | null): void {
    this.#noted = wait;
  }
}
