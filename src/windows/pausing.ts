/**
 * How a pause of windows gets from PostgreSQL to Temporal. The row (src/sync/pauses.ts) decides: it remains when
 * Temporal is down or has lost its data, and the opening of a window reads it. The watch sets the Schedule from it. A
 * Schedule that was paused in Temporal stays paused until it is resumed there or by `vetledger resume`; the watch logs
 * it.
 */
import type { Client } from '@temporalio/client';
import { type ActedBy, recordAction } from '../actions/record.ts';
import { lastPauseChanges } from '../erp/outbox/outbox-queries.ts';
import type { App } from '../runtime/app.ts';
import { type PauseState, setPaused } from '../sync/pauses.ts';
import { startedTexts } from '../texts/temporal.ts';
import { orphanNote, scheduleId } from './schedule-names.ts';

/** Limit of a request to Temporal about one Schedule. */
const callTimeoutMs = 10_000;

/** The state of a Schedule in Temporal. */
export interface ScheduleState {
  paused: boolean;
  note?: string | undefined;
}

/** The end of a Schedule's note that marks a pause by vetledger. */
const ours = ' (vetledger pause)';

/** The note of a paused Schedule, as the Temporal UI shows it. */
export function pauseNote({ actedBy, reason }: Pick<PauseState, 'actedBy' | 'reason'>): string {
  return `${startedTexts.paused({ by: actedBy, reason })}${ours}`;
}

/** Whether a Schedule was paused in Temporal, instead of by vetledger or because its installation is not configured. */
export function isPausedByOthers({ paused, note = '' }: ScheduleState): boolean {
  return paused && note !== orphanNote && !note.endsWith(ours);
}

/** The state that a Schedule must have. `pause` is the pause of the windows; null if they are not paused. */
export function wantedState(
  pause: Pick<PauseState, 'actedBy' | 'reason'> | null,
  now: ScheduleState,
): { paused: boolean; note?: string } {
  if (pause !== null) return { paused: true, note: pauseNote(pause) };
  return isPausedByOthers(now) ? { paused: true, note: now.note ?? '' } : { paused: false };
}

/** A pause or resumption of one installation's windows or delivery. `n` increases with each. */
interface PauseChange {
  installation: number;
  n: number;
  isPaused: boolean;
  by: string;
  reason: string;
}

/** Emits an event for each pause and resumption after the first look, by any process. */
export class PauseEvents {
  readonly #app: Pick<App, 'db' | 'events'>;
  readonly #seen = new Map<'windows' | 'delivery', Map<number, number>>();

  constructor(app: Pick<App, 'db' | 'events'>) {
    this.#app = app;
  }

  /** `windows` is the current state of the installations' windows. */
  async look(installations: readonly number[], windows: ReadonlyMap<number, PauseState>): Promise<void> {
    const deliveries = await lastPauseChanges(this.#app.db, installations);
    this.#emit(
      'windows',
      [...windows.values()].map(({ actedBy: by, ...change }) => ({ ...change, by })),
    );
    this.#emit(
      'delivery',
      deliveries.map(({ id: n, kind, acted_by: by, ...change }) => ({
        ...change,
        n,
        by,
        isPaused: kind === 'pause_delivery',
      })),
    );
  }

  #emit(what: 'windows' | 'delivery', changes: readonly PauseChange[]): void {
    const before = this.#seen.get(what);
    this.#seen.set(what, new Map(changes.map(({ installation, n }) => [installation, n])));
    if (before === undefined) return;
    for (const { installation, n, isPaused, by, reason } of changes) {
      if (n === (before.get(installation) ?? 0)) continue;
      this.#app.events.emit({ event: isPaused ? 'paused' : 'resumed', installation, what, by, reason });
    }
  }
}

/**
 * Pauses or resumes an installation's windows, even if Temporal cannot be reached; returns false if nothing changed.
 * With a client, sets the Schedule at once, and also resumes a Schedule that was paused in Temporal. Without one, the
 * daemon's watch sets the Schedule.
 */
export async function pauseOrResume(
  app: App,
  client: Client | null,
  installation: number,
  isPaused: boolean,
  by: ActedBy,
): Promise<boolean> {
  const changed = await app.db.transaction((trx) => setPaused(trx, installation, isPaused, by));
  if (!client) return changed;
  try {
    const resumed = await client.withDeadline(Date.now() + callTimeoutMs, async () => {
      const handle = client.schedule.getHandle(scheduleId(app, installation));
      const { state } = await handle.describe();
      if (isPaused && changed) await handle.pause(pauseNote(by));
      if (!isPaused && state.paused) await handle.unpause(startedTexts.resumed({ by: by.actedBy, reason: by.reason }));
      return !isPaused && isPausedByOthers(state);
    });
    if (changed || !resumed) return changed;
    await app.db.transaction((trx) => recordAction(trx, { installation, kind: 'resume_windows', by, input: {} }));
    return true;
  } catch (err) {
    // If there is no Schedule, the daemon creates one in the state of the row.
    app.log.debug({ err, installation }, 'the schedule could not be set; the daemon sets it');
    return changed;
  }
}
