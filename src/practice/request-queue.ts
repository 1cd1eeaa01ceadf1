import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../domain/clock.ts';
import type { Grant } from './budget-store.ts';

/**
 * A grant with the time of its request. `askedMs`, by the clock's `elapsed`, is not later than the grant's `askedAt`.
 */
export type DatedGrant = Grant & { askedMs: number };

/**
 * The most slots that are requested at a time. The database checks each of them while other processes wait for the
 * budget's lock.
 */
const slotsAtOnce = 16;

/** A request that waits for a slot. */
export interface Waiter {
  readonly weight: number;
  /** The request with the lowest number is sent first. Among equal numbers, the oldest request is sent first. */
  readonly priority: number;
  /** Time by the `elapsed` of the clock. */
  readonly arrivedMs: number;
  readonly deadlineMs: number;
  /** Time spent in pauses. */
  waitedMs: number;
  onWait(ms: number): void;
  granted(grant: DatedGrant): void;
  failed(reason: unknown): void;
}

export interface QueuePorts {
  clock: Pick<Clock, 'elapsed' | 'sleep'>;
  longestPauseMs: number;
  /**
   * Requests slots from the budget. The granted slots belong to the first of the waiters. Without a free slot it leaves
   * a claim.
   */
  ask(alike: readonly [Waiter, ...Waiter[]]): Promise<DatedGrant[] | { waitMs: number }>;
  /** Returns a slot whose waiter has left the queue. */
  giveBack(slotId: number): void;
  /** Removes the claim of the last `ask` after the queue has become empty. */
  withdraw(): Promise<unknown>;
  /** The error for a waiter whose deadline has passed. */
  deadlineError(waiter: Waiter): Error;
}

/**
 * The requests of this process that wait for one budget, in order of priority and arrival. One statement at a time
 * requests slots for the first waiter and for the next ones with the same weight and priority. After each pause the
 * first waiter is determined again. A more urgent arrival ends the pause.
 */
export class RequestQueue {
  readonly #ports: QueuePorts;
  readonly #waiting: Waiter[] = [];
  #serving: Promise<void> | null = null;
  #pause: { startedMs: number; end: AbortController } | null = null;

  constructor(ports: QueuePorts) {
    this.#ports = ports;
  }

  add(waiter: Waiter): void {
    const behind = this.#waiting.findIndex(({ priority }) => priority > waiter.priority);
    this.#waiting.splice(behind < 0 ? this.#waiting.length : behind, 0, waiter);
    if (!this.#serving) this.#serving = this.#serve();
    else if (this.#waiting[0] === waiter) this.#pause?.end.abort();
  }

  /** Returns false if the waiter is no longer in the queue. */
  remove(waiter: Waiter): boolean {
    const index = this.#waiting.indexOf(waiter);
    if (index < 0) return false;
    if (this.#pause) this.#countPause(waiter, this.#pause.startedMs);
    this.#waiting.splice(index, 1);
    if (index === 0) this.#pause?.end.abort();
    return true;
  }

  /**
   * Resolves when the last request to the database has ended and its claim is removed. Resolves at once if the queue is
   * not empty.
   */
  async idle(): Promise<void> {
    if (this.#waiting.length === 0) await this.#serving;
  }

  async #serve(): Promise<void> {
    const { ask, giveBack, withdraw } = this.#ports;
    for (let hasClaim = false; ; ) {
      // Requests that arrive in the same turn of the event loop share one statement.
      await nextTurn();
      const alike = this.#alike();
      if (!alike) {
        if (!hasClaim) break;
        hasClaim = false;
        // If this fails, the claim expires automatically.
        await withdraw().catch(() => undefined);
        continue;
      }
      try {
        const answer = await ask(alike);
        if ('waitMs' in answer) {
          hasClaim = true;
          await this.#rest(answer.waitMs);
        } else {
          hasClaim = false;
          for (const [at, grant] of answer.entries()) {
            const waiter = alike[at];
            if (waiter && this.remove(waiter)) waiter.granted(grant);
            else giveBack(grant.slotId);
          }
        }
      } catch (error) {
        for (const waiter of alike) if (this.remove(waiter)) waiter.failed(error);
      }
    }
    this.#serving = null;
  }

  /** The first waiter, and the next ones for which the same statement may request slots. */
  #alike(): [Waiter, ...Waiter[]] | null {
    const [first, ...others] = this.#waiting.slice(0, slotsAtOnce);
    if (first === undefined) return null;
    const end = others.findIndex(({ weight, priority }) => weight !== first.weight || priority !== first.priority);
    return [first, ...(end < 0 ? others : others.slice(0, end))];
  }

  async #rest(askedMs: number): Promise<void> {
    const { clock, longestPauseMs, deadlineError } = this.#ports;
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
      this.#countPause(waiter, startedMs);
      if (waiter.deadlineMs <= now && this.remove(waiter)) waiter.failed(deadlineError(waiter));
    }
  }

  #countPause(waiter: Waiter, pauseStartedMs: number): void {
    const waitedMs = this.#ports.clock.elapsed() - Math.max(pauseStartedMs, waiter.arrivedMs);
    if (waitedMs <= 0) return;
    waiter.waitedMs += waitedMs;
    waiter.onWait(waitedMs);
  }
}
