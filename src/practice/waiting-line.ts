import type { Clock } from '../domain/clock.ts';

/** One request that waits for its turn. */
export interface Waiter {
  readonly weight: number;
  /** Lower goes first; then who came first. */
  readonly priority: number;
  /** By the clock's `elapsed`. */
  readonly cameMs: number;
  readonly deadlineMs: number;
  /** Time that passed in pauses. */
  waitedMs: number;
  onWait(ms: number): void;
  granted(slotId: number): void;
  failed(reason: unknown): void;
}

export interface LinePorts {
  clock: Pick<Clock, 'elapsed' | 'sleep'>;
  longestPauseMs: number;
  ask(first: Waiter): Promise<{ slotId: number } | { waitMs: number }>;
  /** A slot came that nobody wants any more. */
  giveBack(slotId: number): void;
  /** Nobody waits any more, but the last asking left a claim. */
  withdraw(): Promise<unknown>;
  /** What a waiter hears who has waited until its deadline. */
  tooLate(): Error;
}

/**
 * The requests of this process that wait for one budget. The first of them asks, one at a time, chosen anew after each pause;
 * a more urgent one that comes ends the pause.
 */
export class WaitingLine {
  readonly #ports: LinePorts;
  readonly #waiting: Waiter[] = [];
  #serving: Promise<void> | null = null;
  #pause: { startedMs: number; end: AbortController } | null = null;

  constructor(ports: LinePorts) {
    this.#ports = ports;
  }

  join(waiter: Waiter): void {
    const behind = this.#waiting.findIndex(({ priority }) => priority > waiter.priority);
    this.#waiting.splice(behind < 0 ? this.#waiting.length : behind, 0, waiter);
    if (!this.#serving) this.#serving = this.#serve();
    else if (this.#waiting[0] === waiter) this.#pause?.end.abort();
  }

  /** False where it stands in the line no more. */
  leave(waiter: Waiter): boolean {
    const at = this.#waiting.indexOf(waiter);
    if (at < 0) return false;
    if (this.#pause) this.#tell(waiter, this.#pause.startedMs);
    this.#waiting.splice(at, 1);
    if (at === 0) this.#pause?.end.abort();
    return true;
  }

  /** When the last asking is over, claim given up and all; at once where somebody waits. */
  async ended(): Promise<void> {
    if (this.#waiting.length === 0) await this.#serving;
  }

  async #serve(): Promise<void> {
    const { ask, giveBack, withdraw } = this.#ports;
    for (let hasClaim = false; ; ) {
      const first = this.#waiting[0];
      if (!first) {
        if (!hasClaim) break;
        hasClaim = false;
        // Left alone, the claim expires.
        await withdraw().catch(() => undefined);
        continue;
      }
      try {
        const answer = await ask(first);
        if ('waitMs' in answer) {
          hasClaim = true;
          await this.#rest(answer.waitMs);
        } else {
          hasClaim = false;
          if (this.leave(first)) first.granted(answer.slotId);
          else giveBack(answer.slotId);
        }
      } catch (error) {
        if (this.leave(first)) first.failed(error);
      }
    }
    this.#serving = null;
  }

  async #rest(askedMs: number): Promise<void> {
    const { clock, longestPauseMs, tooLate } = this.#ports;
    const startedMs = clock.elapsed();
    const untilDeadlineMs = Math.min(...this.#waiting.map(({ deadlineMs }) => deadlineMs)) - startedMs;
    const end = new AbortController();
    this.#pause = { startedMs, end };
    await clock
      .sleep(Math.max(0, Math.min(askedMs, longestPauseMs, untilDeadlineMs)), end.signal)
      .catch(() => undefined);
    this.#pause = null;
    const now = clock.elapsed();
    for (const waiter of [...this.#waiting]) {
      this.#tell(waiter, startedMs);
      if (waiter.deadlineMs <= now && this.leave(waiter)) waiter.failed(tooLate());
    }
  }

  #tell(waiter: Waiter, pauseStartedMs: number): void {
    const waitedMs = this.#ports.clock.elapsed() - Math.max(pauseStartedMs, waiter.cameMs);
    if (waitedMs <= 0) return;
    waiter.waitedMs += waitedMs;
    waiter.onWait(waitedMs);
  }
}
