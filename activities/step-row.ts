import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { noteStep, type OpenStep, readStep, removeStep, type StepKey } from '../src/db/open-steps.ts';
import type { Db } from '../src/db/pool.ts';
import { noUse } from '../workflows/messages.ts';

/** How an attempt is now. */
type StepState = Omit<OpenStep, 'attempt'>;

const nothingToSay: StepState = { isEnded: false, unexplained: 0, trouble: null, api: noUse, wait: null };

/** What an attempt belongs to. */
interface AttemptOf {
  key: StepKey;
  installation: number;
  step: string;
  attempt: number;
}

/** The row of an activity in `open_step`, as one attempt keeps it: one statement at a time, and none where there is nothing to say. */
export class StepRow {
  readonly #db: Db;
  readonly #log: Logger;
  readonly #of: AttemptOf;
  #noted = nothingToSay;
  /** There may be a row. */
  #isThere = false;
  #writing: Promise<void> | null = null;
  #isOver = false;

  constructor(db: Db, log: Logger, of: AttemptOf) {
    this.#db = db;
    this.#log = log;
    this.#of = of;
  }

  /** What the attempts before have left, before this one writes. */
  async left(): Promise<OpenStep | null> {
    const found = await readStep(this.#db, this.#of.key);
    if (found !== null) this.#isThere = true;
    return found;
  }

  /** Writes that this attempt is under way. */
  async began(now: StepState): Promise<void> {
    await this.#write(now);
  }

  /** Writes how it is, where that has changed; what it has cost alone is no change unless `withCost`. */
  note(now: StepState, { withCost = true } = {}): void {
    if (this.#isOver || this.#writing !== null) return;
    const compared = withCost ? now : { ...now, api: this.#noted.api };
    if (!isDeepStrictEqual(compared, this.#noted)) void this.#write(now);
  }

  /** Writes how the attempt has ended. A database that is away cannot take it: Temporal has the failure, too. */
  async failed(now: StepState): Promise<void> {
    await this.#end();
    await this.#write(now);
  }

  /** Removes the row: the activity has succeeded. */
  async remove(): Promise<void> {
    await this.#end();
    if (this.#isThere) await removeStep(this.#db, this.#of.key, this.#of.attempt);
  }

  /** Removes the row of a failed attempt that nothing goes on with. */
  async forget(): Promise<void> {
    await this.remove().catch((error: unknown) => this.#tell(error));
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
      (error: unknown) => this.#tell(error),
    );
    await this.#writing;
    this.#writing = null;
  }

  #tell(error: unknown): void {
    this.#log.debug({ err: error, installation: this.#of.installation }, 'the state of a step was not noted');
  }
}
