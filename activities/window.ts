import { markAfterChangedConditions } from '../src/bookkeeping/conditions.ts';
import { changedIdentity, identityOf } from '../src/bookkeeping/identity.ts';
import { refreshLockDates } from '../src/bookkeeping/lock-dates.ts';
import { withMappingInForce } from '../src/bookkeeping/mapping-versions.ts';
import { startAtOpening } from '../src/bookkeeping/start-date.ts';
import { type Lease, LeaseLost, releaseLease } from '../src/db/lease.ts';
import type { PlainError } from '../src/domain/errors.ts';
import { PracticeError } from '../src/domain/practice-error.ts';
import { agreedTime, type ReadAt, savedReadAt } from '../src/domain/read-at.ts';
import { takeNudge } from '../src/mirror/installation-state.ts';
import { takeCensusIfDue } from '../src/sync/census.ts';
import { clockRemarks } from '../src/sync/clock-remarks.ts';
import { type Cursors, readCursors } from '../src/sync/cursors.ts';
import { type Opening, openWithInvoices } from '../src/sync/opening.ts';
import { windowPause } from '../src/sync/pauses.ts';
import { backfillSpans, openingSpans } from '../src/sync/replay/noted-windows.ts';
import type { Span, StreamBounds } from '../src/sync/replay/spans.ts';
import { readWalks } from '../src/sync/saved-walks.ts';
import { type KnownState, notePutBack } from '../src/sync/streams.ts';
import { type OpenWindow, openWindowRow } from '../src/sync/sync-windows.ts';
import { changedFrom } from '../src/sync/watermark.ts';
import {
  type ApiUse,
  type FailedEnding,
  failureTypes,
  type WindowCounts,
  type WindowEnding,
  type WindowInput,
} from '../workflows/messages.ts';
import { openingAttemptsAtMost } from './attempts.ts';
import { type ActivityDeps, installationOf, lockDates } from './deps.ts';
import { closeWindow, failWindow, noteNotOpened } from './ending.ts';
import { tellOpened } from './events.ts';
import { fatal, plainErrorOf } from './failures.ts';
import { beating, type Heartbeat, ownWorkflow, withHeartbeat, withLease } from './heartbeat.ts';
import type { LaneWriter } from './lane.ts';
import { nothingPulled, type PulledAtOpen, pullAtOpen } from './pull-at-open.ts';
import { sourceAccess } from './source-access.ts';
import { failAbandoned, takeOverBackfill, waitForLease } from './taking-over.ts';

export interface OpenReport {
  window: OpenWindow;
  api: ApiUse;
  /** What has opened it: `webhook` where the Schedule was nudged. */
  trigger: string;
  /** What the opening has pulled beside its first question. */
  pulled: PulledAtOpen;
}

export function windowActivities(deps: ActivityDeps) {
  return {
    /**
     * Takes the lease of the installation's lane and asks the source its first question, so that a source that cannot be reached or
     * refuses us is known before the window opens. `to` is the time of its answer by the earlier of the source's and the
     * database's clock, `from` the watermark of the last closed window, or earlier where the source's clock was put back.
     *
     * With `pulls`, the first attempt pulls the lists, too, as far as that is quick: most windows find nothing, and need no step but this
     * one and their end. Another attempt leaves that to activities of their own. Before the first load it fails with `first_load`.
     */
    async openWindow(input: WindowInput, pulls: boolean): Promise<OpenReport> {
      const opening = async (heartbeat: Heartbeat) => {
        await refuseWhilePaused(deps, input);
        if (pulls && (await isFirstLoad(deps, input))) throw fatal(firstLoadNeeded);
        const lease = await leaseFor(deps, input, heartbeat);
        const writer = heartbeat.hold(lease);
        try {
          const { known, ...opened } = await open(deps, input, heartbeat, writer, pulls);
          const { window } = opened;
          tellOpened(deps, { ...input, trigger: opened.trigger }, window);
          if (known === null) return { ...opened, pulled: nothingPulled };
          const pulled = await pullAtOpen(deps, input, heartbeat, writer, { window, known });
          return { ...opened, api: heartbeat.use(), pulled };
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
     * Once a day, and where one was asked for: every list's own count against the mirror (ACCOUNTING E6). A first load or a backfill has just walked all
     * lists, and proven its walks by the same counts: the next window counts.
     */
    async takeCensus(input: WindowInput, window: OpenWindow): Promise<{ api: ApiUse }> {
      return withLease(deps, input, window, async (heartbeat, { transact }) => {
        const { context } = sourceAccess(deps, input, heartbeat, transact);
        if (window.from === null) return { api: heartbeat.use() };
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
    ): Promise<WindowEnding> {
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

/** The activity answers this where nothing was loaded before: the workflow then goes on as `firstLoad`. It is no failure of the window. */
const firstLoadNeeded: PlainError = {
  code: failureTypes.firstLoad,
  message: 'everything has to be read first',
  todo: 'nothing: the same window does it',
};

async function isFirstLoad({ db }: ActivityDeps, { installation }: WindowInput): Promise<boolean> {
  return (await readCursors(db, installation)).invoice.value === null;
}

async function leaseFor(deps: ActivityDeps, input: WindowInput, heartbeat: Heartbeat): Promise<Lease> {
  return input.kind === 'backfill' ? takeOverBackfill(deps, input, heartbeat) : waitForLease(deps, input, heartbeat);
}

/** Opens the window. `known` is what its pull need not read again, where this activity pulls; null where it does not. */
async function open(
  deps: ActivityDeps,
  input: WindowInput,
  heartbeat: Heartbeat,
  { lease, transact }: LaneWriter,
  pulls: boolean,
): Promise<Omit<OpenReport, 'pulled'> & { known: KnownState | null }> {
  const { db } = deps;
  const installation = await withMappingInForce(db, installationOf(deps, input.installation));
  const { id } = installation;
  const { workflowId, runId } = ownWorkflow();
  await failAbandoned(deps, input, transact);
  const { context } = sourceAccess(deps, input, heartbeat, transact);
  const wrong = (await changedIdentity(db, installation)) ?? (await startAtOpening({ db, transact }, installation));
  if (wrong) {
    deps.log.error({ installation: id, ...wrong }, 'the window could not be opened');
    throw fatal(wrong);
  }
  // Nobody else moves cursors or walks of the live lane from here on.
  const cursors = await readCursors(db, id);
  const known = pulls && heartbeat.attempt === 1 ? { cursors, walks: await readWalks(context) } : null;
  const { span } = input;
  const asks = span !== null;
  const opened = asks
    ? await openWithInvoices(context, input.fromDate, { span, known: known ?? undefined })
    : unasked(deps.clock());
  if (asks) await refreshLockDates(db, installation, lockDates(deps, id, heartbeat, transact));
  const cursor = input.kind === 'window' ? cursors.invoice.value : null;
  const from = changedFrom(cursor, opened);
  const remarks = asks ? clockRemarks(opened, cursor, installation.clockSkewLimitSeconds * 1000) : [];
  for (const { code, message } of remarks) deps.log.warn({ installation: id, code }, message);
  const { row, noted } = await transact(async (trx) => {
    await markAfterChangedConditions(trx, installation, deps.clock);
    const noted = input.kind === 'window' ? await notePutBack(trx, id, opened, cursors) : cursors;
    const isNudged = input.trigger === 'schedule' && (await takeNudge(trx, id));
    const interval = span ? spanInterval(span) : intervalOf(asks ? from : opened.askedAt, opened);
    const row = await openWindowRow(trx, {
      installation: id,
      kind: input.kind,
      trigger: isNudged ? 'webhook' : input.trigger,
      ...interval,
      spans: spansOf(input, noted, opened, new Date(interval.to)),
      remarks,
      workflowId,
      runId,
    });
    return { row, noted };
  });
  if (row === null) throw fatal(plainErrorOf(new LeaseLost(lease)));
  // A second attempt finds the row of the first one, which has taken the nudge.
  const { trigger, ...window } = row;
  return {
    ...{
      window: {
        ...window,
        token: lease.token,
        opened: savedReadAt(opened),
        remarks,
        identity: identityOf(installation),
      },
      api: heartbeat.use(),
      trigger,
    },
    known: known && { ...known, cursors: noted },
  };
}

/** What the window is to read of each stream; null: nothing. */
function spansOf(
  { kind, span, fromDate }: WindowInput,
  cursors: Cursors,
  opened: ReadAt,
  to: Date,
): StreamBounds | null {
  if (span !== undefined) return span;
  return kind === 'backfill' ? backfillSpans(cursors, fromDate, to) : openingSpans(cursors, opened, to);
}

/** The opening of a window that asks the source nothing. */
function unasked(now: Date): Opening {
  return { sourceTime: now, sourceTimeAtMost: now, askedAt: now, answeredAt: now, clock: 'unknown' };
}

/** What a replay's row shows as its interval: that of the invoices. */
function spanInterval({ invoice: { from, to } }: Span): { from: string | null; to: string } {
  return { from: from === null ? null : new Date(from).toISOString(), to: new Date(to).toISOString() };
}

/** A window's interval: from the watermark up to its first answer, which may lie a little before it. */
function intervalOf(from: Date | null, opened: ReadAt): { from: string | null; to: string } {
  const to = agreedTime(opened);
  return { from: from && (from < to ? from : to).toISOString(), to: to.toISOString() };
}
