import type { StepWait } from '../src/db/open-steps.ts';
import { waitTexts } from '../src/texts/steps.ts';

/** A shorter wait is not recorded. Most windows take less time, so they write no row. */
const notedAfterMs = 5_000;
/** After this time without progress, the step itself is shown as the wait. */
const stillAfterMs = 15_000;

/** The event that an activity waits for at present. */
export class Waits {
  readonly #clock: () => Date;
  readonly #open = new Set<StepWait>();

  constructor(clock: () => Date) {
    this.#clock = clock;
  }

  /** Starts a wait. Call the returned function to end it. */
  begin(what: string): () => void {
    const wait = { for: what, since: this.#clock() };
    this.#open.add(wait);
    return () => void this.#open.delete(wait);
  }

  /** The longest current wait, or else the step without progress; null if neither takes long and nothing has failed. */
  longest({ step, progressAt, isFailing }: { step: string; progressAt: Date; isFailing: boolean }): StepWait | null {
    const isOlder = (since: Date, ms: number) => this.#clock().getTime() - since.getTime() >= ms;
    const [oldest] = this.#open;
    if (oldest !== undefined && (isFailing || isOlder(oldest.since, notedAfterMs))) return oldest;
    return isFailing || isOlder(progressAt, stillAfterMs) ? { for: waitTexts.step({ step }), since: progressAt } : null;
  }
}
