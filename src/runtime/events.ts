import type { DaemonEvent, TimedEvent } from '../domain/events.ts';

/** Passes the daemon's events to listeners in the order in which they happened. */
export class Events {
  readonly #clock: () => Date;
  readonly #listeners = new Set<(event: TimedEvent) => void>();

  constructor(clock: () => Date) {
    this.#clock = clock;
  }

  emit(event: DaemonEvent): void {
    const timed = { time: this.#clock().toISOString(), ...event };
    for (const listener of this.#listeners) listener(timed);
  }

  /** Calls the listener with each event from now on. Returns a function that removes the listener. */
  on(listener: (event: TimedEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
