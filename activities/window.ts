import { ApplicationFailure } from '@temporalio/common';
import { PracticeError } from '../src/practice/errors.ts';
import { censusDue, takeCensus } from '../src/sync/census.ts';
import { applyFacts } from '../src/sync/pull.ts';
import {
  closeWindowRow,
  type OpenWindow,
  openWindowRow,
  readCursors,
  releaseLease,
  takeLease,
} from '../src/sync/window.ts';
import type { ApiUse, PlainError, WindowCounts, WindowInput } from '../workflows/messages.ts';
import { type ActivityDeps, alive, installationOf, type Liveness, leaseSeconds, ownWorkflow } from './context.ts';
import { markAfterChangedConditions, refreshLocks, refuseMovedStart } from './post.ts';
import { pullContext } from './pull.ts';

/** How long a window waits for another one of its installation to end. */
const leaseWaitMs = 9 * 60_000;
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
          await refuseMovedStart(deps.db, installation);
          await applyFacts(deps.db, context);
          const answer = await context.client.list('invoice', {}, null, { priority: context.priority });
          await refreshLocks(deps, installation);
          await markAfterChangedConditions(deps.db, installation);
          const cursors = await readCursors(deps.db, input.installation);
          const row = await openWindowRow(deps.db, {
            installation: input.installation,
            kind: input.kind,
            trigger: input.trigger,
            from: input.kind === 'window' ? (cursors.invoice.value?.watermark ?? null) : null,
            to: answer.sourceTime.toISOString(),
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

    /** Once a day: every list's own count against the mirror (ACCOUNTING E6). */
    async takeCensus(input: WindowInput, window: OpenWindow): Promise<{ api: ApiUse }> {
      return alive(deps, input, window, async (liveness) => {
        const { context, use } = await pullContext(deps, input, liveness);
        if (!(await censusDue(context))) return { api: use() };
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
  const deadline = deps.clock().getTime() + leaseWaitMs;
  for (;;) {
    const token = await takeLease(deps.db, input.installation, holder, leaseSeconds);
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
