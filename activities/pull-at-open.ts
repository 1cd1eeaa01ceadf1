import type { InstallationConfig } from '../src/config/load-config.ts';
import type { Connection } from '../src/db/rows.ts';
import { countWaiting } from '../src/documents/count.ts';
import { areDaysWaiting } from '../src/ledger/summaries/summarise.ts';
import { censusDue } from '../src/mirror/installation-state.ts';
import { readTraits } from '../src/sync/capabilities/list-traits.ts';
import type { CursorMove } from '../src/sync/cursors.ts';
import { type KnownState, readStream } from '../src/sync/streams.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import type { RecordKind } from '../src/terms.ts';
import { areEntryIdsWaiting, isReadBackWaiting } from '../src/writeback/entry-ids.ts';
import type { WindowInput } from '../workflows/messages.ts';
import type { ActivityDeps } from './deps.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { LaneWriter } from './lane.ts';
import { reportOf, type StreamReport } from './pull.ts';
import { sourceAccess } from './source-access.ts';
import { presentDay } from './summarise.ts';
import { writesBack } from './write-back.ts';

/**
 * Limit of the pulls during an opening; an idle window takes a fraction of it. At the limit, the running pull stops at
 * its next request, and a separate activity continues it.
 */
const pullsAtMostMs = 10_000;

/** The lists that an opening has read completely, and the cursor moves that are stored with the window's row. */
export interface PulledAtOpen {
  streams: StreamReport[];
  moves: CursorMove[];
  /** Whether all lists were read completely. */
  isComplete: boolean;
}

export const nothingPulled: PulledAtOpen = { streams: [], moves: [], isComplete: false };

/**
 * Pulls the lists while a window opens, within a time limit. It never fails: a list that cannot be read, for instance
 * because a request fails, is left to its own activity, which retries and reports it. The cursors do not move here, but
 * in the transaction that writes the window's row.
 */
export async function pullAtOpen(
  deps: ActivityDeps,
  input: WindowInput,
  heartbeat: Heartbeat,
  { transact }: LaneWriter,
  { window, known }: { window: Pick<OpenWindow, 'opened'>; known: KnownState },
): Promise<PulledAtOpen> {
  const limit = new AbortController();
  const timer = setTimeout(
    () => limit.abort(new Error('the time limit for pulls during an opening has passed')),
    pullsAtMostMs,
  );
  const limited: Heartbeat = { ...heartbeat, client: (of) => heartbeat.client(of, limit) };
  const { context, ports } = sourceAccess(deps, input, limited, transact);
  const streams: StreamReport[] = [];
  const moves: CursorMove[] = [];
  let isComplete = false;
  try {
    const traits = await readTraits(deps.db, input.installation, context.dialect);
    await pullAll(async (stream) => {
      const { counts, move } = await readStream(context, stream, window, ports, { ...known, traits });
      streams.push(reportOf(stream, counts));
      moves.push(move);
    });
    isComplete = true;
  } catch (err) {
    deps.log.debug({ err, installation: input.installation }, 'lists are left to their own activities');
  } finally {
    clearTimeout(timer);
  }
  return { streams, moves, isComplete };
}

async function pullAll(pull: (stream: RecordKind) => Promise<void>): Promise<void> {
  const beside = await Promise.allSettled([pull('invoice'), pull('prepayment'), pull('payment')]);
  const failed = beside.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
  // Rows are pulled last, so that they are no older than their invoices, as in the window's own steps.
  await pull('row');
}

/** The steps after the pull have nothing to do, except perhaps a census. */
export interface Idle {
  held: number;
  censusDue: boolean;
}

/** The counts for a window that closes at once; null if a step after the pull has something to do. */
export async function idleState(db: Connection, configured: InstallationConfig, now: Date): Promise<Idle | null> {
  const { id, timezone } = configured;
  const { held, wanted, isMarked } = await countWaiting(db, id);
  if (wanted > 0 || isMarked) return null;
  if (await areDaysWaiting(db, id, presentDay(now, timezone))) return null;
  const isWaiting = async () => (await areEntryIdsWaiting(db, id)) || (await isReadBackWaiting(db, id));
  if ((await isWaiting()) && (await writesBack(db, configured))) return null;
  return { held, censusDue: (await censusDue(db, id)) !== null };
}
