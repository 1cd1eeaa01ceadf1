import { type Lease, releaseLease } from '../src/db/lease.ts';
import { PracticeError } from '../src/domain/practice-error.ts';
import { takeCensusIfDue } from '../src/sync/census.ts';
import { idleWindowOfRun } from '../src/sync/idle-windows.ts';
import { windowPause } from '../src/sync/pauses.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import { windowErrors } from '../src/texts/errors/windows.ts';
import type { PlainError } from '../src/texts/plain-error.ts';
import { stepTexts } from '../src/texts/steps.ts';
import {
  type ApiUse,
  type FailedEnding,
  failureTypes,
  type NotOpenedEnding,
  noCounts,
  type WindowCounts,
  type WindowEnding,
  type WindowInput,
  type WindowOutcome,
} from '../workflows/messages.ts';
import { openingAttemptsAtMost } from './attempts.ts';
import type { ActivityDeps } from './deps.ts';
import { closeWindow, failWindow, noteNotOpened, reportEnd } from './ending.ts';
import { emitOpened } from './events.ts';
import { fatal, plainErrorOf } from './failures.ts';
import { type Heartbeat, ownWorkflow, withHeartbeat, withLease, withSimpleHeartbeat } from './heartbeat.ts';
import { type Opened, openUnderLease } from './opening.ts';
import { sourceAccess } from './source-access.ts';
import { takeOverBackfill, waitForLease } from './taking-over.ts';

export interface OpenReport extends Omit<Opened, 'closed'> {
  api: ApiUse;
}

/** A window whose opening found nothing and closed it. */
export interface ClosedReport {
  closed: WindowOutcome;
  /** The work of the opening, as described at `OpenReport`. */
  trigger: string;
}

export function windowActivities(deps: ActivityDeps) {
  return {
    /**
     * Takes the lease of the installation's lane and sends the first request, so that an unreachable source or refused
     * credentials are known before the window opens. `to` is the time of the first answer, by the earlier of the
     * source's and the database's clock. `from` is the watermark of the last closed window, or earlier if the source's
     * clock was put back.
     *
     * With `pulls`, the first attempt also pulls the lists if that is quick: most windows find nothing, and end here.
     * Later attempts leave the lists to their own activities. Before the first load it fails with `first_load`.
     */
    async openWindow(input: WindowInput, pulls: boolean): Promise<OpenReport | ClosedReport> {
      const opening = async (heartbeat: Heartbeat) => {
        const ended = heartbeat.attempt > 1 ? await closedBefore(deps, input) : null;
        if (ended !== null) return ended;
        await refuseWhilePaused(deps, input);
        const lease = await leaseFor(deps, input, heartbeat);
        try {
          const { closed, ...opened } = await openUnderLease(deps, input, heartbeat, heartbeat.hold(lease), pulls);
          const { window, trigger } = opened;
          emitOpened(deps, { ...input, trigger }, window);
          if (closed !== null) return { closed: await reportEnd(deps, input, window, closed, null), trigger };
          return { ...opened, api: heartbeat.use() };
        } catch (error) {
          await releaseLease(deps.db, lease);
          if (!(error instanceof PracticeError)) throw error;
          // This error is not retried. The client has already retried, and the next window tries again.
          const plain = plainErrorOf(error);
          const { requestIds } = error;
          deps.log.error(
            { installation: input.installation, ...plain, ...requestIds },
            'the window could not be opened',
          );
          throw fatal(plain);
        }
      };
      return withHeartbeat(deps, input, opening, { isOfWindow: true, attemptsAtMost: openingAttemptsAtMost });
    },

    /** Compares the count of every list with the mirror, once a day or on request (ACCOUNTING E6). */
    async takeCensus(input: WindowInput, window: OpenWindow): Promise<{ api: ApiUse }> {
      return withLease(deps, input, window, async (heartbeat, { transact }) => {
        const { context } = sourceAccess(deps, input, heartbeat, transact);
        heartbeat.beat({ step: stepTexts.counting, done: 0, total: null });
        for (const line of await takeCensusIfDue(context)) {
          if (line.source === line.shown && line.gone.length === 0 && line.missing === 0) continue;
          deps.log.warn({ installation: input.installation, ...line }, 'the source’s count differs from the mirror');
        }
        return { api: heartbeat.use() };
      });
    },

    /**
     * Records why an attempt opened no window, and returns its cost. If the window was already open when it was
     * cancelled or its process died, records the window as failed.
     */
    async noteNotOpened(
      input: WindowInput,
      counts: WindowCounts,
      error: PlainError,
      beganAt: string,
    ): Promise<NotOpenedEnding> {
      return withSimpleHeartbeat(() => noteNotOpened(deps, input, { counts, error, beganAt: new Date(beganAt) }));
    },

    /** Returns the cost of the window, including its failed attempts. */
    async closeWindow(input: WindowInput, window: OpenWindow, counts: WindowCounts): Promise<WindowEnding> {
      return withSimpleHeartbeat(() => closeWindow(deps, input, window, counts));
    },

    /**
     * Does the same as `closeWindow`. If the window was ended from outside, the returned error adds the trouble that
     * held it up.
     */
    async failWindow(
      input: WindowInput,
      window: OpenWindow,
      counts: WindowCounts,
      error: PlainError,
    ): Promise<FailedEnding> {
      return withSimpleHeartbeat(() => failWindow(deps, input, window, { counts, error }));
    },
  };
}

/**
 * A Schedule may start a window before a pause reaches it. Only windows of the Schedule are refused: a window that an
 * operator requests, such as by `vetledger sync`, opens during a pause.
 */
async function refuseWhilePaused({ db, log }: ActivityDeps, { installation, trigger }: WindowInput): Promise<void> {
  if (trigger !== 'schedule') return;
  const pause = await windowPause(db, installation);
  if (pause === null) return;
  const { actedBy, reason } = pause;
  log.info({ installation, by: actedBy, reason }, 'no window was opened: the windows are paused');
  throw fatal(windowErrors.paused({ code: failureTypes.paused, installation, by: actedBy, reason }));
}

/** The window that an earlier attempt closed, if its result was lost; null otherwise. */
async function closedBefore({ db }: ActivityDeps, { installation }: WindowInput): Promise<ClosedReport | null> {
  const ended = await idleWindowOfRun(db, ownWorkflow().runId);
  if (ended === null) return null;
  const { id: window, from, to, trigger } = ended;
  return { closed: { installation, window, from, to, outcome: 'closed', ...noCounts }, trigger };
}

async function leaseFor(deps: ActivityDeps, input: WindowInput, heartbeat: Heartbeat): Promise<Lease> {
  return input.kind === 'backfill' ? takeOverBackfill(deps, input, heartbeat) : waitForLease(deps, input, heartbeat);
}
