import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Clock } from '../../../src/domain/clock.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';

/** The time of a fake ERP: simulated, or this machine's. */
export interface FakeTime {
  readonly nowMs: number;
  /** Has something happen at a time, or now where that is over; the returned function cancels it. */
  at(atMs: number, happen: () => void): () => void;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

interface Event {
  atMs: number;
  order: number;
  happen(): void;
}

/** A timer of the event loop that is no longer than this belongs to work under way, not to a wait. */
const shortTimerMs = 20;
/** Turns of the event loop without anything under way, after which everything waits for simulated time. */
const quietTurns = 3;
/** How long (real) nothing may be under way and nothing be due before the simulation counts as stuck. */
const stuckMs = 5_000;
/** How long (real) work may be under way: a statement that waits for a lock of somebody who waits for time never ends. */
const longestWorkMs = 60_000;

/** As they were before anybody replaced them. */
const realTimers = { setTimeout, clearTimeout };

let shortTimers = 0;
let isCounting = false;

/**
 * Discrete events in the order of simulated milliseconds. Time moves on only when everything waits for it: whoever runs work
 * that waits for other things (a database) says so with `begin`.
 */
export class SimulatedTime implements FakeTime {
  #nowMs: number;
  #order = 0;
  #busy = 0;
  #onIdle: (() => void) | null = null;
  readonly #events: Event[] = [];

  constructor(startMs: number) {
    this.#nowMs = startMs;
    countShortTimers();
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Has something happen at a simulated time, or now where that is over; the returned function cancels it. */
  at(atMs: number, happen: () => void): () => void {
    const event = { atMs: Math.max(atMs, this.#nowMs), order: this.#order++, happen };
    const after = this.#events.findIndex(
      (other) => other.atMs < event.atMs || (other.atMs === event.atMs && other.order < event.order),
    );
    // The next event is the last.
    this.#events.splice(after === -1 ? this.#events.length : after, 0, event);
    return () => {
      const index = this.#events.indexOf(event);
      if (index !== -1) this.#events.splice(index, 1);
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = this.at(this.#nowMs + ms, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** As every process of the simulation reads it. */
  clock(): Clock {
    return {
      now: () => this.#nowMs,
      elapsed: () => this.#nowMs,
      sleep: (ms, signal) => this.sleep(ms, signal),
    };
  }

  /** Something is under way that takes no simulated time, until the returned function is called. */
  begin(): () => void {
    this.#busy += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#busy -= 1;
      if (this.#busy === 0) this.#onIdle?.();
    };
  }

  /** Lets events happen until the work has ended. Throws when it waits for something that no event brings. */
  async run<Result>(work: Promise<Result>): Promise<Result> {
    let hasEnded = false;
    const end = () => {
      hasEnded = true;
      this.#onIdle?.();
    };
    work.then(end, end);
    let stuckSince: number | null = null;
    for (;;) {
      await this.#quiet(() => hasEnded);
      if (hasEnded) return work;
      const event = this.#events.pop();
      if (event) {
        stuckSince = null;
        this.#nowMs = event.atMs;
        event.happen();
      } else {
        stuckSince ??= performance.now();
        if (performance.now() - stuckSince > stuckMs) throw new Error('the simulation is stuck: nothing is due');
      }
    }
  }

  /** Waits until nothing is under way any more, or until the work is over. */
  async #quiet(isOver: () => boolean): Promise<void> {
    for (let turns = 0; turns < quietTurns && !isOver(); turns++) {
      await setImmediate();
      if (shortTimers > 0) turns = -1;
      if (this.#busy === 0) continue;
      turns = -1;
      const idle = Promise.withResolvers<void>();
      this.#onIdle = idle.resolve;
      const watchdog = realTimers.setTimeout(
        () => idle.reject(new Error('the simulation is stuck: work does not end, for a lock perhaps')),
        longestWorkMs,
      );
      try {
        await idle.promise;
      } finally {
        realTimers.clearTimeout(watchdog);
        this.#onIdle = null;
      }
    }
  }
}

/** Counts timers that belong to work under way, such as those with which a queue of requests takes its next turn. */
function countShortTimers(): void {
  if (isCounting) return;
  isCounting = true;
  const real = { setTimeout, clearTimeout };
  const counted = new WeakSet<object>();
  const end = (timer: object) => {
    if (counted.delete(timer)) shortTimers -= 1;
  };
  const counting = (callback: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    if (ms > shortTimerMs) return real.setTimeout(callback, ms, ...args);
    shortTimers += 1;
    const timer: NodeJS.Timeout = real.setTimeout(() => {
      end(timer);
      callback(...args);
    }, ms);
    counted.add(timer);
    return timer;
  };
  globalThis.setTimeout = Object.assign(counting, {
    [promisify.custom]: real.setTimeout[promisify.custom as never],
    __promisify__: real.setTimeout.__promisify__,
  }) as typeof setTimeout;
  globalThis.clearTimeout = (timer) => {
    if (typeof timer === 'object' && timer !== null) end(timer);
    real.clearTimeout(timer);
  };
}

/** This machine's time, for a fake ERP in a process of its own. */
export const realTime: FakeTime = {
  get nowMs() {
    return Date.now();
  },
  at(atMs, happen) {
    const timer = setTimeout(happen, Math.max(0, atMs - Date.now()));
    return () => clearTimeout(timer);
  },
  sleep: (ms, signal) => systemClock.sleep(ms, signal),
};
