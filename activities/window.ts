import { markAfterChangedConditions } from '../src/bookkeeping/conditions.ts';
import { changedIdentity, noteIdentityOfOldBooks } from '../src/bookkeeping/identity.ts';
import { refreshLockDates } from '../src/bookkeeping/lock-dates.ts';
import { movedStart } from '../src/bookkeeping/start-date.ts';
import { type Lease, releaseLease } from '../src/db/lease.ts';
import type { Connection } from '../src/db/rows.ts';
import type { PlainError } from '../src/domain/errors.ts';
import { PracticeError } from '../src/domain/practice-error.ts';
import { agreedTime, type ReadAt, savedReadAt } from '../src/domain/read-at.ts';
import { sealBooks } from '../src/ledger/seals.ts';
import { isCensusDue, noteStartDate, takeNudge } from '../src/mirror/installation-state.ts';
import { takeCensus } from '../src/sync/census.ts';
import { clockRemarks } from '../src/sync/clock-remarks.ts';
import { readCursors } from '../src/sync/cursors.ts';
import { openWithInvoices } from '../src/sync/opening.ts';
import { forgetWalks } from '../src/sync/saved-walks.ts';
import { notePutBack } from '../src/sync/streams.ts';
import { closeWindowRow, type OpenWindow, openWindowRow } from '../src/sync/sync-windows.ts';
import { changedFrom } from '../src/sync/watermark.ts';
import type { ApiUse, WindowCounts, WindowInput } from '../workflows/messages.ts';
import { requestDelivery } from './deliver.ts';
import { type ActivityDeps, installationOf, lockDates } from './deps.ts';
import { fatal, plainErrorOf } from './failures.ts';
import { type Heartbeat, ownHolder, ownWorkflow, withHeartbeat, withLease } from './heartbeat.ts';
import { type LaneWriter, releaseWindow } from './lane.ts';
import { sourceAccess } from './source-access.ts';
import { failAbandoned, takeOverBackfill, waitForLease } from './taking-over.ts';

export interface OpenReport {
  window: OpenWindow;
  api: ApiUse;
}

export function windowActivities(deps: ActivityDeps) {
  return {
    /**
     * Takes the lease of the installation's lane and asks the source its first question, so that a source that cannot be reached or
     * refuses us is known before the window opens. `to` is the time of its answer by the earlier of the source's and the
     * database's clock, `from` the watermark of the last closed window, or earlier where the source's clock was put back.
     */
    async openWindow(input: WindowInput): Promise<OpenReport> {
      return withHeartbeat(deps, input, async (heartbeat) => {
        const lease = await leaseFor(deps, input, heartbeat);
        try {
          return await open(deps, input, heartbeat, heartbeat.hold(lease));
        } catch (error) {
          await releaseLease(deps.db, lease);
          if (!(error instanceof PracticeError)) throw error;
          // Not retried: the client has retried by itself, and the next window tries again.
          const plain = plainErrorOf(error);
          deps.log.error({ installation: input.installation, ...plain }, 'the window could not be opened');
          throw fatal(plain);
        }
      });
    },

    /**
     * Once a day: every list's own count against the mirror (ACCOUNTING E6). A first load or a backfill has just walked all
     * lists, and proven its walks by the same counts: the next window counts.
     */
    async takeCensus(input: WindowInput, window: OpenWindow): Promise<{ api: ApiUse }> {
      return withLease(deps, input, window, async (heartbeat, { transact }) => {
        const { context, use } = sourceAccess(deps, input, heartbeat, transact);
        if (window.from === null || !(await isCensusDue(deps.db, input.installation))) return { api: use() };
        heartbeat.beat({ step: 'counting', done: 0, total: null });
        for (const line of await takeCensus(context)) {
          if (line.source === line.mirror && line.gone.length === 0) continue;
          deps.log.warn({ installation: input.installation, ...line }, 'the source’s count differs from the mirror');
        }
        return { api: use() };
      });
    },

    async closeWindow(input: WindowInput, window: OpenWindow, counts: WindowCounts): Promise<void> {
      await end(deps, input, window, counts, null);
    },

    async failWindow(input: WindowInput, window: OpenWindow, counts: WindowCounts, error: PlainError): Promise<void> {
      await end(deps, input, window, counts, error);
    },
  };
}

async function leaseFor(deps: ActivityDeps, input: WindowInput, heartbeat: Heartbeat): Promise<Lease> {
  return input.kind === 'window' ? waitForLease(deps, input, heartbeat) : takeOverBackfill(deps, input, heartbeat);
}

async function open(
  deps: ActivityDeps,
  input: WindowInput,
  heartbeat: Heartbeat,
  { lease, transact }: LaneWriter,
): Promise<OpenReport> {
  const { db } = deps;
  const installation = installationOf(deps, input.installation);
  const { id } = installation;
  const { workflowId, runId } = ownWorkflow();
  await transact((trx) => failAbandoned(trx, input, runId));
  const { context, use } = sourceAccess(deps, input, heartbeat, transact);
  await transact((trx) => noteIdentityOfOldBooks(trx, installation));
  const wrong = (await changedIdentity(db, installation)) ?? (await movedStart(db, installation));
  if (wrong) {
    deps.log.error({ installation: id, ...wrong }, 'the window could not be opened');
    throw fatal(wrong);
  }
  await transact((trx) => noteStartDate(trx, id, installation.startDate));
  const opened = await openWithInvoices(context, input.fromDate);
  await refreshLockDates(db, installation, lockDates(deps, id, heartbeat, transact));
  await transact((trx) => markAfterChangedConditions(trx, installation));
  const cursors = await readCursors(db, id);
  const cursor = input.kind === 'window' ? cursors.invoice.value : null;
  const from = changedFrom(cursor, opened);
  const remarks = clockRemarks(opened, cursor, installation.clockSkewLimitSeconds * 1000);
  for (const { code, message } of remarks) deps.log.warn({ installation: id, code }, message);
  const row = await transact(async (trx) => {
    if (input.kind === 'window') await notePutBack(trx, id, opened);
    const isNudged = input.trigger === 'schedule' && (await takeNudge(trx, id));
    return openWindowRow(trx, {
      installation: id,
      kind: input.kind,
      trigger: isNudged ? 'webhook' : input.trigger,
      ...intervalOf(from, opened),
      remarks,
      workflowId,
      runId,
    });
  });
  return { window: { ...row, token: lease.token, opened: savedReadAt(opened), remarks }, api: use() };
}

/** A window's interval: from the watermark up to its first answer, which may lie a little before it. */
function intervalOf(from: Date | null, opened: ReadAt): { from: string | null; to: string } {
  const to = agreedTime(opened);
  return { from: from && (from < to ? from : to).toISOString(), to: to.toISOString() };
}

/** Seals what was posted since the last seal. A failure is undone by itself: the window ends all the same, and the next one seals. */
async function seal({ sealKey, log }: ActivityDeps, trx: Connection, installation: number): Promise<void> {
  if (sealKey === null) return;
  try {
    await trx.transaction((savepoint) => sealBooks(savepoint, installation, sealKey));
  } catch (error) {
    log.error({ installation, err: error }, 'the books could not be sealed; the end of the next window tries again');
  }
}

async function end(
  deps: ActivityDeps,
  input: WindowInput,
  window: OpenWindow,
  counts: WindowCounts,
  error: PlainError | null,
): Promise<void> {
  const outcome = error === null ? 'closed' : 'failed';
  await deps.db.transaction(async (trx) => {
    // First: this waits for what still writes under the lease, so that nothing is written after the window's end.
    await releaseWindow(trx, input, window, ownHolder());
    await closeWindowRow(trx, window.id, outcome, counts, error);
    // The next backfill starts anew; after a failed one it resumes where this one was.
    if (input.kind === 'backfill' && error === null) await forgetWalks(trx, input.installation, 'backfill');
    await seal(deps, trx, input.installation);
  });
  await requestDelivery(deps, input.installation);
  deps.onWindow?.({
    installation: input.installation,
    window: window.id,
    from: window.from,
    to: window.to,
    outcome,
    ...(window.remarks?.length ? { remarks: window.remarks } : {}),
    ...(error === null ? {} : { error }),
    ...counts,
  });
}
