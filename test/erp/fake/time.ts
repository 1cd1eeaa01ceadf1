import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Clock } from '../../../src/domain/clock.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';

/** The time of a fake ERP: simulated, or this machine's. */
export interface FakeTime {
  readonly nowMs: number;
  /** Calls `happen` at a time, or now if the time is past. Returns a function that cancels it. */
  at(atMs: number, happen: () => void): () => void;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

interface Event {
  atMs: number;
  order: number;
  happen(): void;
}

/** Timers up to this length belong to work under way and are not waits. */
const shortTimerMs = 20;
/** After this many idle turns of the event loop, everything waits for simulated time. */
const quietTurns = 3;
/** The simulation counts as stuck after this real time without work and without a due event. */
const stuckMs = 5_000;
/**
 * The maximum real duration of work. A statement that waits for a lock of a process that waits for time would never
 * end.
 */
const longestWorkMs = 60_000;

/** The real timers, saved before a test replaces them. */
const realTimers = { setTimeout, clearTimeout };

let shortTimers = 0;
let isCounting = false;

/**
 * Runs events in the order of simulated milliseconds. Time advances only when everything waits for it. Work that waits
 * for other things, such as a database, must be announced with `begin`.
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

  /** Calls `happen` at a simulated time, or now if the time is past. Returns a function that cancels it. */
  at(atMs: number, happen: () => void): () => void {
    const event = { atMs: Math.max(atMs, this.#nowMs), order: this.#order++, happen };
    const after = this.#events.findIndex(
      (other) => other.atMs < event.atMs || (other.atMs === event.atMs && other.order < event.order),
    );
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

  /** The clock that every simulated process uses. */
  clock(): Clock {
    return {
      now: () => this.#nowMs,
      elapsed: () => this.#nowMs,
      sleep: (ms, signal) => this.sleep(ms, signal),
    };
  }

  /** Announces work that takes no simulated time. Returns a function that ends it. */
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

  /** Runs events until the work has ended. Throws if the work waits for something that no event brings. */
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

  /** Waits until no work is under way, or until `isOver` returns true. */
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

/** Counts the short timers of work under way, for example those of a request queue. */
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

/** This machine's time, for a fake ERP in a separate process. */
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
