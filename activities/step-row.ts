import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { noteStep, type OpenStep, readStep, removeStep, type StepKey } from '../src/db/open-steps.ts';
import type { Db } from '../src/db/pool.ts';
import { noUse } from '../workflows/messages.ts';

/** The current state of an attempt. */
type StepState = Omit<OpenStep, 'attempt'>;

const initialState: StepState = { isEnded: false, unexplained: 0, trouble: null, api: noUse, wait: null };

interface AttemptOf {
  key: StepKey;
  installation: number;
  step: string;
  attempt: number;
}

/** The row of an activity in `open_step`, written by one attempt: one statement at a time, and only on changes. */
export class StepRow {
  readonly #db: Db;
  readonly #log: Logger;
  readonly #of: AttemptOf;
  #noted = initialState;
  /** Whether a row may exist. */
  #isThere = false;
  #writing: Promise<void> | null = null;
  #isOver = false;

  constructor(db: Db, log: Logger, of: AttemptOf) {
    this.#db = db;
    this.#log = log;
    this.#of = of;
  }

  /** The row of the earlier attempts. Read it before this attempt writes. */
  async left(): Promise<OpenStep | null> {
    const found = await readStep(this.#db, this.#of.key);
    if (found !== null) this.#isThere = true;
    return found;
  }

  /** Records that this attempt is running. */
  async began(now: StepState): Promise<void> {
    await this.#write(now);
  }

  /** Writes the state if it has changed. A changed cost alone counts as a change only with `withCost`. */
  note(now: StepState, { withCost = true } = {}): void {
    if (this.#isOver || this.#writing !== null) return;
    const compared = withCost ? now : { ...now, api: this.#noted.api };
    if (!isDeepStrictEqual(compared, this.#noted)) void this.#write(now);
  }

  /** Records how the attempt ended. If the database does not answer, only Temporal has the failure. */
  async failed(now: StepState): Promise<void> {
    await this.#end();
    await this.#write(now);
  }

  /** Removes the row after a success. */
  async remove(): Promise<void> {
    await this.#end();
    if (this.#isThere) await removeStep(this.#db, this.#of.key, this.#of.attempt);
  }

  /** Removes the row of a failed attempt that nothing continues. */
  async forget(): Promise<void> {
    await this.remove().catch((error: unknown) => this.#logFailure(error));
  }

  get isThere(): boolean {
    return this.#isThere;
  }

  async #end(): Promise<void> {
    this.#isOver = true;
    await this.#writing;
  }

  async #write(now: StepState): Promise<void> {
    const { key, installation, step, attempt } = this.#of;
    this.#isThere = true;
    this.#writing = noteStep(this.#db, key, { installation, step, attempt, ...now }).then(
      () => {
        this.#noted = now;
      },
      (error: unknown) => this.#logFailure(error),
    );
    await this.#writing;
    this.#writing = null;
  }

  #logFailure(error: unknown): void {
    this.#log.debug({ err: error, installation: this.#of.installation }, 'the state of a step could not be recorded');
  }
}
