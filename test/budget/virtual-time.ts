import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../src/domain/clock.ts';

interface Event {
  at: number;
  order: number;
  happen(): void | Promise<void>;
}

/** Runs discrete events in the order of virtual milliseconds. */
export class VirtualTime {
  now = 0;
  #order = 0;
  readonly #events: Event[] = [];

  at(ms: number, happen: Event['happen']): void {
    const event = { at: Math.max(ms, this.now), order: this.#order++, happen };
    let low = 0;
    let high = this.#events.length;
    // The array is sorted with the next event last.
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#events[middle]!;
      if (other.at > event.at || (other.at === event.at && other.order > event.order)) low = middle + 1;
      else high = middle;
    }
    this.#events.splice(low, 0, event);
  }

  pass(ms: number): Promise<void> {
    return new Promise((resolve) => this.at(this.now + ms, resolve));
  }

  /** Runs events until `isDone`, or until `untilMs`, or until none is left. */
  async run(isDone: () => boolean, untilMs: number): Promise<void> {
    await turns();
    while (!isDone()) {
      const event = this.#events.pop();
      if (!event || event.at > untilMs) return;
      this.now = event.at;
      await event.happen();
      await turns();
    }
  }
}

/** Lets promises settle between two events. The budget's queue needs some turns of the real event loop. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await setImmediate();
}

/** A machine's clock over virtual time, with an offset, a slightly wrong pace, and inexact timers. */
export function machineClock(
  time: VirtualTime,
  { offsetMs, pace, timerErrorMs }: { offsetMs: number; pace: number; timerErrorMs: () => number },
): Pick<Clock, 'elapsed' | 'sleep'> {
  return {
    elapsed: () => offsetMs + time.now * pace,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
        time.at(time.now + Math.max(0, ms / pace + timerErrorMs()), resolve);
      }),
  };
}
