import type { Logger } from 'pino';
import type { Dependency } from '../domain/events.ts';
import type { PlainError } from '../texts/plain-error.ts';
import type { Events } from './events.ts';

/** A service that does not answer. */
export interface Outage {
  dependency: Dependency;
  /** The installation. Null if the outage concerns all installations. */
  installation: number | null;
  since: Date;
  error: PlainError;
}

const names: Record<Dependency, string> = {
  postgres: 'PostgreSQL',
  temporal: 'Temporal',
  practice_api: 'the practice API',
  erp: 'the ERP',
};

/**
 * The services that do not answer, as this process has found. Each outage is reported once as an error, and once as
 * information with its length when it is over, in the log and as an event. Further failures in between are not
 * reported.
 */
export class Outages {
  readonly #log: Logger;
  readonly #events: Events;
  readonly #clock: () => Date;
  readonly #current = new Map<string, Outage>();

  constructor(log: Logger, events: Events, clock: () => Date) {
    this.#log = log;
    this.#events = events;
    this.#clock = clock;
  }

  /** Call this if the service does not answer, or refuses to work. */
  down(dependency: Dependency, error: PlainError, installation: number | null = null): void {
    const key = keyOf(dependency, installation);
    const known = this.#current.get(key);
    this.#current.set(key, { dependency, installation, since: known?.since ?? this.#clock(), error });
    if (known) return;
    this.#log.error({ event: 'outage', dependency, ...of(installation), ...error }, `${names[dependency]} is gone`);
    this.#events.emit({ event: 'outage', dependency, installation, error });
  }

  /** Call this if the service answers. */
  up(dependency: Dependency, installation: number | null = null): void {
    const key = keyOf(dependency, installation);
    const known = this.#current.get(key);
    if (!known) return;
    this.#current.delete(key);
    const seconds = Math.round((this.#clock().getTime() - known.since.getTime()) / 1000);
    this.#log.info(
      { event: 'recovery', dependency, ...of(installation), seconds },
      `${names[dependency]} is back after ${seconds} s`,
    );
    this.#events.emit({ event: 'recovery', dependency, installation, seconds });
  }

  of(dependency: Dependency, installation: number | null = null): Outage | null {
    return this.#current.get(keyOf(dependency, installation)) ?? null;
  }

  all(): Outage[] {
    return [...this.#current.values()];
  }
}

const of = (installation: number | null) => (installation === null ? {} : { installation });

const keyOf = (dependency: Dependency, installation: number | null) => `${dependency}/${installation ?? ''}`;
