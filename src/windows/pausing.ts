/**
 * How a pause of windows comes from PostgreSQL into Temporal. The row (src/sync/pauses.ts) decides: it holds when Temporal is down or has
 * lost its data, and the opening of a window reads it. The watch sets the Schedule from it. A Schedule that was paused in Temporal stays so
 * until it is resumed there or by `vetledger resume`; the watch names it.
 */
import type { Client } from '@temporalio/client';
import { type ActedBy, recordAction } from '../actions/record.ts';
import { lastPauseChanges } from '../erp/outbox/questions-of-outbox.ts';
import type { App } from '../runtime/app.ts';
import { type PauseState, setPaused } from '../sync/pauses.ts';
import { orphanNote, scheduleId } from './schedule-names.ts';

/** Longest time for asking Temporal about one Schedule. */
const callTimeoutMs = 10_000;

/** What a Schedule says of itself. */
export interface ScheduleState {
  paused: boolean;
  note?: string | undefined;
}

/** How the note of a Schedule ends that follows a pause of ours. */
const ours = ' (vetledger pause)';

/** The note of a paused Schedule, as the Temporal UI shows it. */
export function pauseNote({ actedBy, reason }: Pick<PauseState, 'actedBy' | 'reason'>): string {
  return `paused by ${actedBy}: ${reason}${ours}`;
}

/** Whether a Schedule was paused in Temporal: neither by a pause of ours, nor because its installation is not configured. */
export function isPausedByOthers({ paused, note = '' }: ScheduleState): boolean {
  return paused && note !== orphanNote && !note.endsWith(ours);
}

/** How a Schedule that is so now has to be. `pause`: what holds the windows back; null: nothing. */
export function wantedState(
  pause: Pick<PauseState, 'actedBy' | 'reason'> | null,
  now: ScheduleState,
): { paused: boolean; note?: string } {
  if (pause !== null) return { paused: true, note: pauseNote(pause) };
  return isPausedByOthers(now) ? { paused: true, note: now.note ?? '' } : { paused: false };
}

/** A pause or resumption of one installation's windows or delivery; `n` grows with each. */
interface PauseChange {
  installation: number;
  n: number;
  isPaused: boolean;
  by: string;
  reason: string;
}

/** Tells as an event of each pause and resumption that came after its first look, whoever made it. */
export class ToldPauses {
  readonly #app: Pick<App, 'db' | 'events'>;
  readonly #seen = new Map<'windows' | 'delivery', Map<number, number>>();

  constructor(app: Pick<App, 'db' | 'events'>) {
    this.#app = app;
  }

  /** `windows`: how the installations' windows are now. */
  async look(installations: readonly number[], windows: ReadonlyMap<number, PauseState>): Promise<void> {
    const deliveries = await lastPauseChanges(this.#app.db, installations);
    this.#tell(
      'windows',
      [...windows.values()].map(({ actedBy: by, ...change }) => ({ ...change, by })),
    );
    this.#tell(
      'delivery',
      deliveries.map(({ id: n, kind, acted_by: by, ...change }) => ({
        ...change,
        n,
        by,
        isPaused: kind === 'pause_delivery',
      })),
    );
  }

  #tell(what: 'windows' | 'delivery', changes: readonly PauseChange[]): void {
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
 * Pauses or resumes an installation's windows, whether Temporal can be reached or not; false where they are so already. With a client the
 * Schedule is set at once, and one that was paused in Temporal is resumed, too; without, the watch of the daemon sets it.
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
      if (!isPaused && state.paused) await handle.unpause(`resumed by ${by.actedBy}: ${by.reason}`);
      return !isPaused && isPausedByOthers(state);
    });
    if (changed || !resumed) return changed;
    await app.db.transaction((trx) => recordAction(trx, { installation, kind: 'resume_windows', by, input: {} }));
    return true;
  } catch (err) {
    // Without a Schedule the daemon makes one that is as the row says.
    app.log.debug({ err, installation }, 'the schedule was not set; the daemon does it');
    return changed;
  }
}
