import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import { markAfterChangedConditions } from '../src/bookkeeping/conditions.ts';
import { refreshLockDates } from '../src/bookkeeping/lock-dates.ts';
import { movedStart } from '../src/bookkeeping/start-date.ts';
import { releaseLease, takeLease } from '../src/db/lease.ts';
import { PracticeError } from '../src/domain/practice-error.ts';
import { isCensusDue, noteStartDate, takeNudge } from '../src/mirror/installation-state.ts';
import { takeCensus } from '../src/sync/census.ts';
import { readCursors } from '../src/sync/cursors.ts';
import { forgetWalks } from '../src/sync/finished.ts';
import { openWithInvoices } from '../src/sync/opening.ts';
import { applyFacts } from '../src/sync/pull.ts';
import { closeWindowRow, type OpenWindow, openWindowRow } from '../src/sync/sync-windows.ts';
import { type ApiUse, noCounts, type PlainError, type WindowCounts, type WindowInput } from '../workflows/messages.ts';
import { type ActivityDeps, alive, installationOf, type Liveness, lockDates, ownWorkflow } from './context.ts';
import { pullContext } from './pull.ts';

/** A window waits for another one of its installation until that one has to have ended by itself, and this much longer. */
const leaseGraceMs = 120_000;
const leasePollMs = 1_000;

export interface OpenReport {
  window: OpenWindow;
  api: ApiUse;
}

export function windowActivities(deps: ActivityDeps) {
  return {
    /**
     * Takes the installation's lease and asks the source its first question: whoever cannot be reached or refuses us is
     * known before the window opens. `to` is that answer's source time, `from` the watermark of the last closed window.
     */
    async openWindow(input: WindowInput): Promise<OpenReport> {
      return alive(deps, input, null, async (liveness) => {
        const installation = installationOf(deps, input.installation);
        const { workflowId, runId } = ownWorkflow();
        const token =
          input.kind === 'window' ? await waitForLease(deps, input, `${workflowId}/${runId}`, liveness) : null;
        try {
          if (token !== null) await failAbandoned(deps, input.installation, runId);
          const { context, use } = await pullContext(deps, input, liveness);
          const moved = await movedStart(deps.db, installation);
          if (moved) throw ApplicationFailure.nonRetryable(moved.message, moved.code, moved);
          await noteStartDate(deps.db, installation.id, installation.startDate);
          await applyFacts(deps.db, context);
          const to = await openWithInvoices(context, input.fromDate);
          await refreshLockDates(deps.db, installation, lockDates(deps, installation.id));
          await markAfterChangedConditions(deps.db, installation);
          if (input.kind === 'backfill') await supersedeBackfills(deps, input.installation, runId);
          const cursors = await readCursors(deps.db, input.installation);
          const isScheduled = input.trigger === 'schedule';
          const row = await openWindowRow(deps.db, {
            installation: input.installation,
            kind: input.kind,
            trigger: isScheduled && (await takeNudge(deps.db, input.installation)) ? 'webhook' : input.trigger,
            from: input.kind === 'window' ? (cursors.invoice.value?.watermark ?? null) : null,
            to: to.toISOString(),
            workflowId,
            runId,
          });
          return { window: { ...row, token }, api: use() };
        } catch (error) {
          if (token !== null) await releaseLease(deps.db, input.installation, token);
          if (!(error instanceof PracticeError)) throw error;
          // The client has tried again by itself; the next window does, too.
          const plain: PlainError = { code: error.code, message: error.message, todo: error.todo };
          deps.log.error({ installation: input.installation, ...plain }, 'the window could not be opened');
          throw ApplicationFailure.nonRetryable(error.message, error.code, plain);
        }
      });
    },

    /**
     * Once a day: every list's own count against the mirror (ACCOUNTING E6). A first load or a backfill has just walked them
     * all, and proven its walks by the same counts: the next window counts.
     */
    async takeCensus(input: WindowInput, window: OpenWindow): Promise<{ api: ApiUse }> {
      return alive(deps, input, window, async (liveness) => {
        const { context, use } = await pullContext(deps, input, liveness);
        if (window.from === null || !(await isCensusDue(deps.db, input.installation))) return { api: use() };
        liveness.beat({ step: 'counting', done: 0, total: null });
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

/**
 * Notes windows that never noted their own end, their workflow having been terminated or its server lost: whoever holds the
 * lease knows that they are over. One that comes back after all notes its own end over this.
 */
async function failAbandoned(deps: ActivityDeps, installation: number, runId: string): Promise<void> {
  const error: PlainError = {
    code: 'window_interrupted',
    message: `the window of installation ${installation} ended without noting how`,
    todo: 'nothing is lost: the window that opened after it covers it',
  };
  await deps.db.raw(
    `update sync_window set outcome = 'failed', error = ?::json, closed_at = clock_timestamp()
     where installation = ? and kind = 'window' and outcome = 'open' and run_id <> ?`,
    [JSON.stringify(error), installation, runId],
  );
}

/**
 * Ends backfills of the installation that are still open: one whose process was killed would otherwise go on beside this one,
 * asking the same pages. This one takes up the walks where they are.
 */
async function supersedeBackfills(deps: ActivityDeps, installation: number, runId: string): Promise<void> {
  const open = await deps.db.raw<{ rows: { id: number; workflow_id: string; run_id: string }[] }>(
    `select id, workflow_id, run_id from sync_window
     where installation = ? and kind = 'backfill' and outcome = 'open' and run_id <> ?`,
    [installation, runId],
  );
  const error: PlainError = {
    code: 'backfill_superseded',
    message: `another backfill of installation ${installation} has taken the place of this one`,
    todo: 'nothing is lost: the other one goes on where this one was',
  };
  for (const { id, workflow_id, run_id } of open.rows) {
    try {
      await deps.workflows.getHandle(workflow_id, run_id).terminate(error.message);
    } catch (failure) {
      // Ended meanwhile, or with its Temporal server.
      if (!(failure instanceof WorkflowNotFoundError)) throw failure;
    }
    await deps.db.transaction((trx) => closeWindowRow(trx, id, 'failed', noCounts, error));
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
    await closeWindowRow(trx, window.id, outcome, counts, error);
    if (window.token !== null) await releaseLease(trx, input.installation, window.token);
    // The next backfill starts anew; after a failed one it goes on where this one was.
    if (input.kind === 'backfill' && error === null) await forgetWalks(trx, input.installation, 'backfill');
  });
  deps.onWindow?.({
    installation: input.installation,
    window: window.id,
    from: window.from,
    to: window.to,
    outcome,
    ...(error === null ? {} : { error }),
    ...counts,
  });
}

async function waitForLease(
  deps: ActivityDeps,
  input: WindowInput,
  holder: string,
  liveness: Liveness,
): Promise<number> {
  const deadline = deps.clock().getTime() + (input.windowTimeoutSeconds ?? 0) * 1000 + leaseGraceMs;
  for (;;) {
    const token = await takeLease(deps.db, input.installation, holder);
    if (token !== null) return token;
    if (deps.clock().getTime() > deadline) {
      const plain: PlainError = {
        code: 'window_busy',
        message: `another window of installation ${input.installation} is still under way`,
        todo: 'wait for it to end (see `vetledger windows`); a window killed on the way frees its place by itself',
      };
      throw ApplicationFailure.nonRetryable(plain.message, plain.code, plain);
    }
    liveness.beat({ step: 'waiting for another window', done: 0, total: null });
    await liveness.pause(leasePollMs);
  }
}
