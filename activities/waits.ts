import type { StepWait } from '../src/db/open-steps.ts';

/** A shorter wait is not noted: most windows take less, and write nothing for it. */
const notedAfterMs = 5_000;
/** Work without a wait that tells so little of itself for so long is shown with its step. */
const stillAfterMs = 15_000;

/** What an activity waits for now. */
export class Waits {
  readonly #clock: () => Date;
  readonly #open = new Set<StepWait>();

  constructor(clock: () => Date) {
    this.#clock = clock;
  }

  /** A wait begins; the function returned ends it. */
  begin(what: string): () => void {
    const wait = { for: what, since: this.#clock() };
    this.#open.add(wait);
    return () => void this.#open.delete(wait);
  }

  /** The longest wait, else the step that nothing was heard of; null where neither takes long, and nothing has failed. */
  worthNoting({ step, heardAt, isFailing }: { step: string; heardAt: Date; isFailing: boolean }): StepWait | null {
    const isOlder = (since: Date, ms: number) => this.#clock().getTime() - since.getTime() >= ms;
    const [oldest] = this.#open;
    if (oldest !== undefined && (isFailing || isOlder(oldest.since, notedAfterMs))) return oldest;
    return isFailing || isOlder(heardAt, stillAfterMs) ? { for: `the end of a step: ${step}`, since: heardAt } : null;
  }
}
