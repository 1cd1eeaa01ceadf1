/**
 * How a pause of windows comes from PostgreSQL into Temporal, and from Temporal into PostgreSQL. The row (src/sync/pauses.ts) is
 * the truth: it holds when Temporal is down or has lost its data, and the opening of a window reads it. The Schedule follows it.
 * Where the Schedule has been told and says otherwise, somebody has paused or resumed it in Temporal, and the row follows.
 */
import type { Client } from '@temporalio/client';
import { lastPauseChanges } from '../erp/outbox/read.ts';
import type { App } from '../runtime/app.ts';
import type { Engine } from '../runtime/worker.ts';
import {
  noteDoneInTemporal,
  noteFollowed,
  type PauseState,
  pauseState,
  pauseStates,
  setPaused,
  type WindowAction,
} from '../sync/pauses.ts';
import { orphanNote, scheduleId } from './schedule-names.ts';

/** Who is written down where Temporal was used: it does not tell who. */
const someoneInTemporal = 'somebody in Temporal';
/** Longest time for asking Temporal about one Schedule. */
const callTimeoutMs = 10_000;

/** What a Schedule says of itself. */
interface ScheduleState {
  paused: boolean;
  note: string | undefined;
}

/** What is to be done where a row and its Schedule meet. */
export type PauseStep = 'nothing' | 'pause the schedule' | 'resume the schedule' | 'note a pause' | 'note a resumption';

/** Compares them; `row` was read before the Schedule. */
export function pauseStep(row: Pick<PauseState, 'isPaused' | 'isFollowed'> | null, schedule: ScheduleState): PauseStep {
  const wanted = row?.isPaused ?? false;
  if (wanted === schedule.paused) return 'nothing';
  const isOurs = schedule.paused && schedule.note === orphanNote;
  if (isOurs || (row !== null && !row.isFollowed)) return wanted ? 'pause the schedule' : 'resume the schedule';
  return schedule.paused ? 'note a pause' : 'note a resumption';
}

/** The note of a paused Schedule, as the Temporal UI shows it. */
export function pauseNote({ via, actedBy, reason }: Pick<PauseState, 'via' | 'actedBy' | 'reason'>): string {
  return via === 'temporal' ? reason : `paused by ${actedBy}: ${reason}`;
}

/**
 * Brings an installation's row and its Schedule together, and gives the pause that holds now; null: none. Throws
 * ScheduleNotFoundError where there is no Schedule.
 */
export async function followPause(
  app: Pick<App, 'db' | 'config' | 'temporalName' | 'log'>,
  client: Client,
  installation: number,
): Promise<PauseState | null> {
  const row = await pauseState(app.db, installation);
  const handle = client.schedule.getHandle(scheduleId(app, installation));
  const { state } = await client.withDeadline(Date.now() + callTimeoutMs, () => handle.describe());
  const schedule = { paused: state.paused, note: state.note };
  const step = pauseStep(row, schedule);
  if (step === 'note a pause' || step === 'note a resumption') {
    const isPaused = step === 'note a pause';
    const reason = schedule.note || 'no reason was given';
    const by = { actedBy: someoneInTemporal, reason };
    if (await app.db.transaction((trx) => noteDoneInTemporal(trx, installation, row, isPaused, by))) {
      app.log.warn(
        { installation, reason },
        isPaused
          ? 'the schedule was paused in Temporal: no windows open until it is resumed there, or with `vetledger resume`'
          : 'the schedule was resumed in Temporal',
      );
    }
    const now = await pauseState(app.db, installation);
    return now?.isPaused ? now : null;
  }
  if (step === 'pause the schedule' && row) {
    await client.withDeadline(Date.now() + callTimeoutMs, () => handle.pause(pauseNote(row)));
  }
  if (step === 'resume the schedule') {
    const note = row ? `resumed by ${row.actedBy}: ${row.reason}` : 'the installation is configured again';
    await client.withDeadline(Date.now() + callTimeoutMs, () => handle.unpause(note));
  }
  if (row && !row.isFollowed) await noteFollowed(app.db, row);
  return row?.isPaused ? row : null;
}

/** Follows pauses from now on, in both directions; a pause is noticed within `everyMs`. */
export function startFollowing(app: App, engine: Engine, everyMs: number): { stop(): Promise<void> } {
  let running = Promise.resolve();
  let isWaiting = false;
  const stopping = new AbortController();
  const told = new ToldPauses(app);
  const follow = async () => {
    isWaiting = false;
    try {
      await followAll(app, engine.client, told, stopping.signal);
    } catch (err) {
      // An outage is told by itself.
      const isKnown = app.outages.of('temporal') !== null || app.outages.of('postgres') !== null;
      if (!stopping.signal.aborted)
        app.log[isKnown ? 'debug' : 'warn']({ err }, 'pauses were not compared with Temporal; it is tried again');
    }
  };
  const timer = setInterval(() => {
    if (isWaiting) return;
    isWaiting = true;
    running = running.then(follow);
  }, everyMs);
  return {
    stop: async () => {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
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

/** One list of all Schedules tells which differ; only those are asked one by one, because the list may be some seconds old. */
async function followAll(app: App, client: Client, told: ToldPauses, signal: AbortSignal): Promise<void> {
  const ids = new Map(app.config.installations.map(({ id }) => [scheduleId(app, id), id]));
  const states = await pauseStates(app.db, [...ids.values()]);
  await told.look([...ids.values()], states);
  for await (const { scheduleId: id, state } of client.schedule.list()) {
    if (signal.aborted) return;
    const installation = ids.get(id);
    if (installation === undefined) continue;
    const row = states.get(installation) ?? null;
    if (pauseStep(row, { paused: state.paused, note: state.note }) === 'nothing' && (row?.isFollowed ?? true)) continue;
    await followPause(app, client, installation);
  }
}

/**
 * Pauses or resumes an installation's windows, whether Temporal can be reached or not; false where they are so already. With a
 * client the Schedule is told at once; without, the daemon tells it.
 */
export async function pauseOrResume(
  app: App,
  client: Client | null,
  installation: number,
  isPaused: boolean,
  by: WindowAction,
): Promise<boolean> {
  const changed = await app.db.transaction((trx) => setPaused(trx, installation, isPaused, by));
  if (!client) return changed;
  try {
    await followPause(app, client, installation);
  } catch (err) {
    // Without a Schedule the daemon makes one that is as the row says.
    app.log.debug({ err, installation }, 'the schedule was not told; the daemon does it');
  }
  return changed;
}
