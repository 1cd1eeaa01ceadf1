import { type Lease, releaseLease } from '../src/db/lease.ts';
import { PracticeError } from '../src/domain/practice-error.ts';
import { takeCensusIfDue } from '../src/sync/census.ts';
import { idleWindowOfRun } from '../src/sync/idle-windows.ts';
import { windowPause } from '../src/sync/pauses.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import type { PlainError } from '../src/texts/plain-error.ts';
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
import { tellOpened } from './events.ts';
import { fatal, plainErrorOf } from './failures.ts';
import { beating, type Heartbeat, ownWorkflow, withHeartbeat, withLease } from './heartbeat.ts';
import { type Opened, openUnderLease } from './opening.ts';
import { sourceAccess } from './source-access.ts';
import { takeOverBackfill, waitForLease } from './taking-over.ts';

export interface OpenReport extends Omit<Opened, 'closed'> {
  api: ApiUse;
}

/** Of a window whose opening has found nothing. */
export interface ClosedReport {
  closed: WindowOutcome;
  /** As that of `OpenReport`. */
  trigger: string;
}

export function windowActivities(deps: ActivityDeps) {
  return {
    /**
     * Takes the lease of the installation's lane and asks the source its first question, so that a source that cannot be reached or
     * refuses us is known before the window opens. `to` is the time of its answer by the earlier of the source's and the
     * database's clock, `from` the watermark of the last closed window, or earlier where the source's clock was put back.
     *
     * With `pulls`, the first attempt pulls the lists, too, as far as that is quick: most windows find nothing, and end with this
     * step. Another attempt leaves that to activities of their own. Before the first load it fails with `first_load`.
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
          tellOpened(deps, { ...input, trigger }, window);
          if (closed !== null) return { closed: await reportEnd(deps, input, window, closed, null), trigger };
          return { ...opened, api: heartbeat.use() };
        } catch (error) {
          await releaseLease(deps.db, lease);
          if (!(error instanceof PracticeError)) throw error;
          // Not retried: the client has retried by itself, and the next window tries again.
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

    /**
     * Once a day, and where one was asked for: every list's own count against the mirror (ACCOUNTING E6).
     */
    async takeCensus(input: WindowInput, window: OpenWindow): Promise<{ api: ApiUse }> {
      return withLease(deps, input, window, async (heartbeat, { transact }) => {
        const { context } = sourceAccess(deps, input, heartbeat, transact);
        heartbeat.beat({ step: 'counting', done: 0, total: null });
        for (const line of await takeCensusIfDue(context)) {
          if (line.source === line.shown && line.gone.length === 0 && line.missing === 0) continue;
          deps.log.warn({ installation: input.installation, ...line }, 'the source’s count differs from the mirror');
        }
        return { api: heartbeat.use() };
      });
    },

    /**
     * Notes an attempt to open a window that opened none: its row says why. Returns what it has cost. Where the window was open by then, and the attempt was
     * cancelled or its process died, it is noted as failed.
     */
    async noteNotOpened(
      input: WindowInput,
      counts: WindowCounts,
      error: PlainError,
      beganAt: string,
    ): Promise<NotOpenedEnding> {
      return beating(() => noteNotOpened(deps, input, { counts, error, beganAt: new Date(beganAt) }));
    },

    /** Returns what the window has cost, with its attempts that failed. */
    async closeWindow(input: WindowInput, window: OpenWindow, counts: WindowCounts): Promise<WindowEnding> {
      return beating(() => closeWindow(deps, input, window, counts));
    },

    /** As `closeWindow`; where the window's end alone does not tell why, the error is what kept it from going on. */
    async failWindow(
      input: WindowInput,
      window: OpenWindow,
      counts: WindowCounts,
      error: PlainError,
    ): Promise<FailedEnding> {
      return beating(() => failWindow(deps, input, window, { counts, error }));
    },
  };
}

/**
 * A Schedule may open a window before it was told of a pause, or while it could not be told. What somebody asks for by hand, such
 * as `vetledger sync`, opens all the same.
 */
async function refuseWhilePaused({ db, log }: ActivityDeps, { installation, trigger }: WindowInput): Promise<void> {
  if (trigger !== 'schedule') return;
  const pause = await windowPause(db, installation);
  if (pause === null) return;
  const { actedBy, reason } = pause;
  log.info({ installation, by: actedBy, reason }, 'no window was opened: the windows are paused');
  throw fatal({
    code: failureTypes.paused,
    message: `the windows of installation ${installation} were paused by ${actedBy}: ${reason}`,
    todo: `Run \`vetledger resume --installation ${installation}\` when they may go on.`,
  });
}

/** The window that the attempt before has closed, where its answer was lost. */
async function closedBefore({ db }: ActivityDeps, { installation }: WindowInput): Promise<ClosedReport | null> {
  const ended = await idleWindowOfRun(db, ownWorkflow().runId);
  if (ended === null) return null;
  const { id: window, from, to, trigger } = ended;
  return { closed: { installation, window, from, to, outcome: 'closed', ...noCounts }, trigger };
}

async function leaseFor(deps: ActivityDeps, input: WindowInput, heartbeat: Heartbeat): Promise<Lease> {
  return input.kind === 'backfill' ? takeOverBackfill(deps, input, heartbeat) : waitForLease(deps, input, heartbeat);
}
