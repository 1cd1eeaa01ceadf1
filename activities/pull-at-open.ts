import { countWaiting, hasMarked } from '../src/documents/count.ts';
import { areDaysWaiting } from '../src/ledger/summaries/summarise.ts';
import { censusDue } from '../src/mirror/installation-state.ts';
import type { CursorMove } from '../src/sync/cursors.ts';
import { type KnownState, moveStreams, readStream } from '../src/sync/streams.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import type { RecordKind } from '../src/terms.ts';
import { areEntryIdsWaiting, isReadBackWaiting } from '../src/writeback/entry-ids.ts';
import type { WindowInput } from '../workflows/messages.ts';
import { type ActivityDeps, installationOf } from './deps.ts';
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

/** What the opening of a window has pulled and found. */
export interface PulledAtOpen {
  /** The lists that were read completely: nothing pulls them again. */
  streams: StreamReport[];
  /** Where all of them were, and nothing waits to be posted, summed up or written back; else null. */
  idle: { held: number; censusDue: boolean } | null;
}

export const nothingPulled: PulledAtOpen = { streams: [], idle: null };

/**
 * Pulls the lists of a window that has just opened, as its pull activities do, within a bound. Whatever keeps a list from being read,
 * a request that fails first of all, leaves it to its own activity, which tries again, tells of it and notes it: this never fails.
 * The cursors of the lists that were read move together at the end: most windows find nothing, and need one transaction then.
 */
export async function pullAtOpen(
  deps: ActivityDeps,
  input: WindowInput,
  heartbeat: Heartbeat,
  { transact }: LaneWriter,
  { window, known }: { window: OpenWindow; known: KnownState },
): Promise<PulledAtOpen> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error('the lists are not read by now')), pullsAtMostMs);
  const limited: Heartbeat = { ...heartbeat, client: (of) => heartbeat.client(of, limit) };
  const { context, ports } = sourceAccess(deps, input, limited, transact);
  const streams: StreamReport[] = [];
  const moves: CursorMove[] = [];
  const pull = async (stream: RecordKind) => {
    const { counts, move } = await readStream(context, stream, window, ports, known);
    streams.push(reportOf(stream, counts));
    moves.push(move);
  };
  const left = (error: unknown) =>
    deps.log.debug({ err: error, installation: input.installation }, 'lists are left to activities of their own');
  try {
    const isComplete = await pullAll(pull).then(
      () => true,
      (error: unknown) => {
        left(error);
        return false;
      },
    );
    await moveStreams(context, moves);
    return { streams, idle: isComplete ? await idleState(deps, input) : null };
  } catch (error) {
    left(error);
    return nothingPulled;
  } finally {
    clearTimeout(timer);
  }
}

async function pullAll(pull: (stream: RecordKind) => Promise<void>): Promise<void> {
  const beside = await Promise.allSettled([pull('invoice'), pull('prepayment'), pull('payment')]);
  const failed = beside.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
  // No older than their invoices, as in the window's own steps.
  await pull('row');
}

/** What the steps after the pull would find; null where one of them has something to do. */
async function idleState(deps: ActivityDeps, { installation }: WindowInput): Promise<PulledAtOpen['idle']> {
  const { db, clock } = deps;
  const configured = installationOf(deps, installation);
  const { held, wanted } = await countWaiting(db, installation);
  if (wanted > 0 || (await hasMarked(db, installation))) return null;
  if (await areDaysWaiting(db, installation, presentDay(clock(), configured.timezone))) return null;
  const isWaiting = async () =>
    (await areEntryIdsWaiting(db, installation)) || (await isReadBackWaiting(db, installation));
  if ((await writesBack(deps, installation)) && (await isWaiting())) return null;
  return { held, censusDue: (await censusDue(db, installation)) !== null };
}
