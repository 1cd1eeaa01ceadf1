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
 * The longest that the opening of a window pulls: an idle window takes a fraction of it. The pull that is under way then ends at its
 * next request, and goes on in an activity of its own.
 */
const pullsAtMostMs = 10_000;

/** What the opening of a window has pulled: the lists that were read completely, and where their cursors move with its row. */
export interface PulledAtOpen {
  streams: StreamReport[];
  moves: CursorMove[];
  /** All lists were. */
  isComplete: boolean;
}

export const nothingPulled: PulledAtOpen = { streams: [], moves: [], isComplete: false };

/**
 * Pulls the lists of a window that opens, as its pull activities do, within a bound. Whatever keeps a list from being read, a request
 * that fails first of all, leaves it to its own activity, which tries again, tells of it and notes it: this never fails. The cursors
 * stay where they are: they move in the transaction that writes the window's row.
 */
export async function pullAtOpen(
  deps: ActivityDeps,
  input: WindowInput,
  heartbeat: Heartbeat,
  { transact }: LaneWriter,
  { window, known }: { window: Pick<OpenWindow, 'opened'>; known: KnownState },
): Promise<PulledAtOpen> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error('the lists are not read by now')), pullsAtMostMs);
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
    deps.log.debug({ err, installation: input.installation }, 'lists are left to activities of their own');
  } finally {
    clearTimeout(timer);
  }
  return { streams, moves, isComplete };
}

async function pullAll(pull: (stream: RecordKind) => Promise<void>): Promise<void> {
  const beside = await Promise.allSettled([pull('invoice'), pull('prepayment'), pull('payment')]);
  const failed = beside.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
  // No older than their invoices, as in the window's own steps.
  await pull('row');
}

/** Nothing waits for the steps after the pull, but perhaps a census. */
export interface Idle {
  held: number;
  censusDue: boolean;
}

/** What the steps after the pull would find; null where one of them has something to do. */
export async function idleState(db: Connection, configured: InstallationConfig, now: Date): Promise<Idle | null> {
  const { id, timezone } = configured;
  const { held, wanted, isMarked } = await countWaiting(db, id);
  if (wanted > 0 || isMarked) return null;
  if (await areDaysWaiting(db, id, presentDay(now, timezone))) return null;
  const isWaiting = async () => (await areEntryIdsWaiting(db, id)) || (await isReadBackWaiting(db, id));
  if ((await isWaiting()) && (await writesBack(db, configured))) return null;
  return { held, censusDue: (await censusDue(db, id)) !== null };
}
