import { markAfterChangedConditions } from '../src/bookkeeping/conditions.ts';
import { changedIdentity, identityOf } from '../src/bookkeeping/identity.ts';
import { refreshLockDates } from '../src/bookkeeping/lock-dates.ts';
import { withMappingInForce } from '../src/bookkeeping/mapping-versions.ts';
import { startAtOpening } from '../src/bookkeeping/start-date.ts';
import type { InstallationConfig } from '../src/config/load-config.ts';
import { LeaseLost } from '../src/db/lease.ts';
import { agreedTime, type ReadAt, savedReadAt } from '../src/domain/read-at.ts';
import { stateAtOpening, takeNudge } from '../src/mirror/installation-state.ts';
import { clockRemarks } from '../src/sync/clock-remarks.ts';
import { type Cursors, isNothingRead, readCursors } from '../src/sync/cursors.ts';
import { noteIdleWindow } from '../src/sync/idle-windows.ts';
import { type Opening, openWithInvoices } from '../src/sync/opening.ts';
import { backfillSpans, openingSpans, readSpans } from '../src/sync/replay/noted-windows.ts';
import type { Span, StreamBounds } from '../src/sync/replay/spans.ts';
import { readWalks } from '../src/sync/saved-walks.ts';
import { isPutBack, moveStreams, notePutBack } from '../src/sync/streams.ts';
import { type OpenWindow, openWindowRow } from '../src/sync/sync-windows.ts';
import { changedFrom } from '../src/sync/watermark.ts';
import type { Remark } from '../src/terms.ts';
import { windowErrors } from '../src/texts/errors/windows.ts';
import type { PlainError } from '../src/texts/plain-error.ts';
import { addReport, failureTypes, noCounts, type WindowCounts, type WindowInput } from '../workflows/messages.ts';
import { type ActivityDeps, installationOf, lockDates } from './deps.ts';
import { releaseAndSeal } from './ending.ts';
import { fatal, plainErrorOf } from './failures.ts';
import { type Heartbeat, ownWorkflow } from './heartbeat.ts';
import type { LaneWriter } from './lane.ts';
import type { StreamReport } from './pull.ts';
import { type Idle, idleState, nothingPulled, pullAtOpen } from './pull-at-open.ts';
import { sourceAccess } from './source-access.ts';
import { failAbandoned } from './taking-over.ts';

/** The result of an opening. */
export interface Opened {
  window: OpenWindow;
  /** The trigger of the window: `webhook` if a nudge started the Schedule. */
  trigger: string;
  /** The records that the opening pulled besides its first request. */
  streams: StreamReport[];
  /** Set if all lists were pulled and nothing waits to be posted, summarised or written back; otherwise null. */
  idle: Idle | null;
  /** The counts of a window that found nothing and is closed; otherwise null. */
  closed: WindowCounts | null;
}

/** The facts that the first answer of the source shows. */
interface FirstAnswer {
  opened: Opening;
  interval: { from: string | null; to: string };
  remarks: Remark[];
}

/**
 * The activity fails with this if nothing was loaded before. The workflow then continues as `firstLoad`, and the window
 * does not count as failed.
 */
const firstLoadNeeded: PlainError = windowErrors.firstLoadNeeded({ code: failureTypes.firstLoad });

/**
 * Opens a window under its lane's lease: sends the first request, pulls the lists if `pulls` is set, and writes the
 * window's row. Only records are written before the final transaction, which writes the row, the cursors and the nudge:
 * an opening that dies earlier has opened nothing, and its next attempt starts over. A window that found nothing ends
 * in the same transaction, so most windows need no other. With `pulls`, it fails with `first_load` if nothing was
 * loaded before.
 */
export async function openUnderLease(
  deps: ActivityDeps,
  input: WindowInput,
  heartbeat: Heartbeat,
  writer: LaneWriter,
  pulls: boolean,
): Promise<Opened> {
  const { db } = deps;
  const { transact } = writer;
  const installation = await withMappingInForce(db, installationOf(deps, input.installation));
  const { id } = installation;
  // While this run holds the lease, no other run moves the cursors or walks of the live lane.
  const cursors = await readCursors(db, id);
  if (pulls && isNothingRead(cursors)) throw fatal(firstLoadNeeded);
  await failAbandoned(deps, input, transact);
  const { context } = sourceAccess(deps, input, heartbeat, transact);
  const { startDate, isNudged } = await stateAtOpening(db, id);
  const wrong =
    (await changedIdentity(db, installation)) ?? (await startAtOpening({ db, transact }, installation, startDate));
  if (wrong) {
    deps.log.error({ installation: id, ...wrong }, 'the window could not be opened');
    throw fatal(wrong);
  }
  const wasNudged = input.trigger === 'schedule' && isNudged;
  const known = pulls && heartbeat.attempt === 1 ? { cursors, walks: await readWalks(context) } : null;
  const { span } = input;
  const opened =
    span === null
      ? withoutRequest(deps.clock())
      : await openWithInvoices(context, input.fromDate, { span, known: known ?? undefined });
  if (span !== null) await refreshLockDates(db, installation, lockDates(deps, id, heartbeat, transact));
  const answer = answerOf(input, installation, cursors, opened);
  for (const { code, message } of answer.remarks) deps.log.warn({ installation: id, code }, message);
  // If the source's clock was put back, the cursors are corrected together with the row, before any request uses them.
  const isPulled = known !== null && !isPutBack(opened, cursors);
  const asked = { opened: savedReadAt(opened) };
  const pulled = isPulled ? await pullAtOpen(deps, input, heartbeat, writer, { window: asked, known }) : nothingPulled;
  const { streams } = pulled;
  return transact(async (trx) => {
    await markAfterChangedConditions(trx, installation, deps.clock);
    const noted = input.kind === 'window' ? await notePutBack(trx, id, opened, cursors) : cursors;
    if (input.trigger === 'schedule') await takeNudge(trx, id, wasNudged);
    await moveStreams(trx, id, pulled.moves);
    const idle = pulled.isComplete ? await idleState(trx, installation, deps.clock()) : null;
    const trigger = wasNudged ? 'webhook' : input.trigger;
    const open = (row: Pick<OpenWindow, 'id' | 'from' | 'to'>): OpenWindow => ({
      ...{ id: row.id, token: writer.lease.token, from: row.from, to: row.to, ...asked },
      ...{ remarks: answer.remarks, identity: identityOf(installation) },
    });
    if (idle !== null && foundNothing(answer, idle, streams)) {
      const counts = { ...addReport(noCounts, { streams, api: heartbeat.use() }), held: idle.held };
      const { from, to } = answer.interval;
      const row = await noteIdleWindow(trx, {
        ...{ installation: id, trigger, from: new Date(from ?? to), to: new Date(to), openedAt: opened.answeredAt },
        ...{ counts, spans: readSpans(cursors, opened, pulled.moves), ...ownWorkflow() },
      });
      const window = open({ id: row, from, to });
      await releaseAndSeal(deps, trx, input, window);
      return { window, trigger, streams, idle, closed: counts };
    }
    const row = await openWindowRow(trx, {
      ...{ installation: id, kind: input.kind, trigger, ...answer.interval, remarks: answer.remarks, ...ownWorkflow() },
      ...(span === null ? {} : { openedAt: opened.answeredAt }),
      spans: spansOf(input, noted, opened, new Date(answer.interval.to)),
    });
    if (row === null) throw fatal(plainErrorOf(new LeaseLost(writer.lease)));
    // A second attempt finds the row of the first one, which has taken the nudge.
    return { window: open(row), trigger: row.trigger, streams, idle, closed: null };
  });
}

function answerOf(
  { kind, span }: WindowInput,
  { clockSkewLimitSeconds }: InstallationConfig,
  cursors: Cursors,
  opened: Opening,
): FirstAnswer {
  const cursor = kind === 'window' ? cursors.invoice.value : null;
  const interval = span
    ? spanInterval(span)
    : intervalOf(span === null ? opened.askedAt : changedFrom(cursor, opened), opened);
  return { opened, interval, remarks: span === null ? [] : clockRemarks(opened, cursor, clockSkewLimitSeconds * 1000) };
}

/** Whether the window found nothing that its row must show. */
function foundNothing(
  { interval, remarks }: FirstAnswer,
  { censusDue }: Idle,
  streams: readonly StreamReport[],
): boolean {
  return interval.from !== null && remarks.length === 0 && !censusDue && streams.every(({ pulled }) => pulled === 0);
}

/** The interval that the window reads of each stream; null if it reads nothing. */
function spansOf(
  { kind, span, fromDate }: WindowInput,
  cursors: Cursors,
  opened: ReadAt,
  to: Date,
): StreamBounds | null {
  if (span !== undefined) return span;
  return kind === 'backfill' ? backfillSpans(cursors, fromDate, to) : openingSpans(cursors, opened, to);
}

/** The opening of a window that sends no request. */
function withoutRequest(now: Date): Opening {
  return { sourceTime: now, sourceTimeAtMost: now, askedAt: now, answeredAt: now, clock: 'unknown' };
}

/** The interval that the row of a replay shows. It is the interval of the invoices. */
function spanInterval({ invoice: { from, to } }: Span): { from: string | null; to: string } {
  return { from: from === null ? null : new Date(from).toISOString(), to: new Date(to).toISOString() };
}

/**
 * A window's interval: from the watermark to the time of its first answer. If that answer has an earlier time, the
 * interval is empty.
 */
function intervalOf(from: Date | null, opened: ReadAt): { from: string | null; to: string } {
  const to = agreedTime(opened);
  return { from: from && (from < to ? from : to).toISOString(), to: to.toISOString() };
}
