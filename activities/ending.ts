import { freeLease } from '../src/db/lease.ts';
import { takeSteps } from '../src/db/open-steps.ts';
import type { Connection } from '../src/db/rows.ts';
import { explainedEnd, joinedTrouble, limitText, type Trouble } from '../src/domain/trouble.ts';
import { chainHead } from '../src/ledger/journal/chain.ts';
import { sealBooks } from '../src/ledger/seals.ts';
import { forgetWalks } from '../src/sync/saved-walks.ts';
import { endWindowRow, insertFailedWindow, type OpenWindow, openWindowOfRun } from '../src/sync/sync-windows.ts';
import { windowErrors } from '../src/texts/errors/windows.ts';
import type { PlainError } from '../src/texts/plain-error.ts';
import {
  addUse,
  type FailedEnding,
  type NotOpenedEnding,
  type WindowCounts,
  type WindowEnding,
  type WindowInput,
  type WindowOutcome,
} from '../workflows/messages.ts';
import { requestDelivery } from './deliver.ts';
import type { ActivityDeps } from './deps.ts';
import { emitEnded, emitNotOpened } from './events.ts';
import { fatal } from './failures.ts';
import { ownHolder, ownWorkflow } from './heartbeat.ts';
import { laneOf, releaseWindow } from './lane.ts';

/** The end of a window, as its workflow passes it. */
interface Ending {
  counts: WindowCounts;
  error: PlainError;
}

export async function closeWindow(
  deps: ActivityDeps,
  input: WindowInput,
  window: OpenWindow,
  counts: WindowCounts,
): Promise<WindowEnding> {
  const ended = await deps.db.transaction(async (trx) => {
    // The release comes first, because it waits for transactions that still write under the lease. So nothing is
    // written after the window's end.
    await releaseWindow(trx, input, window);
    const { counts: all } = await withSteps(trx, ownWorkflow().runId, counts);
    const ended = await noteEnd(trx, window, { outcome: 'closed', counts: all, error: null });
    if (ended?.outcome !== 'closed') throw fatal(endedAlready(input, window, ended?.outcome ?? null));
    // The next backfill starts from the beginning.
    if (input.kind === 'backfill') await forgetWalks(trx, input.installation, 'backfill');
    if (input.kind === 'replay') await forgetWalks(trx, input.installation, 'replay');
    await seal(deps, trx, input.installation);
    return { ...all, api: ended.api };
  });
  const { head } = await reportEnd(deps, input, window, ended, null);
  return { api: ended.api, ...(head ? { head } : {}) };
}

/** Ends a window that its own opening closes, within the transaction that writes its row. */
export async function releaseAndSeal(
  deps: ActivityDeps,
  trx: Connection,
  input: WindowInput,
  window: OpenWindow,
): Promise<void> {
  await releaseWindow(trx, input, window);
  await seal(deps, trx, input.installation);
}

export async function failWindow(
  deps: ActivityDeps,
  input: WindowInput,
  window: OpenWindow,
  { counts, error }: Ending,
): Promise<FailedEnding> {
  const ended = await deps.db.transaction(async (trx) => {
    await releaseWindow(trx, input, window);
    const noted = await withSteps(trx, ownWorkflow().runId, counts);
    const explained = explainedEnd(error, noted.trouble, {
      now: deps.clock(),
      limit: input.windowTimeoutSeconds === null ? null : limitText(input.windowTimeoutSeconds),
    });
    const ended = await noteEnd(trx, window, { outcome: 'failed', counts: noted.counts, error: explained });
    // The first record of an end removes the steps. If the end is recorded again, the window's row holds the error.
    const plain = ended === null ? endedAlready(input, window, null) : (ended.error ?? explained);
    const all = { ...noted.counts, api: ended?.api ?? noted.counts.api };
    if (input.kind === 'replay') await forgetWalks(trx, input.installation, 'replay');
    // A window that another run has ended keeps that end. The attempt of this run gets a separate row.
    const id =
      ended === null
        ? await noteReset(trx, input, window, { counts: all, error: plain, now: deps.clock() })
        : window.id;
    await seal(deps, trx, input.installation);
    return { id, plain, counts: all };
  });
  const { head } = await reportEnd(deps, input, { ...window, id: ended.id }, ended.counts, ended.plain);
  return { api: ended.counts.api, error: ended.plain, ...(head ? { head } : {}) };
}

interface NotOpened {
  counts: WindowCounts;
  error: PlainError;
  beganAt: Date;
}

/**
 * Records an attempt that opened no window. If the window was already open when it was cancelled or its process died,
 * ends that window as failed.
 */
export async function noteNotOpened(
  deps: ActivityDeps,
  input: WindowInput,
  noted: NotOpened,
): Promise<NotOpenedEnding> {
  const { installation, kind, trigger } = input;
  const { error, beganAt } = noted;
  const run = ownWorkflow();
  const { api, window, emit } = await deps.db.transaction(async (trx) => {
    const { counts } = await withSteps(trx, run.runId, noted.counts);
    const { api } = counts;
    const open = await openWindowOfRun(trx, run);
    if (open === null) {
      const attempt = { installation, kind, trigger, counts, error, ...run, beganAt };
      const window = await insertFailedWindow(trx, attempt);
      return { api, window, emit: () => emitNotOpened(deps, { installation, window, error }) };
    }
    await freeLease(trx, { installation, lane: laneOf(kind) }, ownHolder());
    await noteEnd(trx, open, { outcome: 'failed', counts, error });
    const { id: window, from, to } = open;
    return {
      ...{ api, window },
      emit: () => emitEnded(deps, { installation, window, from, to, outcome: 'failed', error, ...counts }),
    };
  });
  emit();
  return { api, window };
}

function noteEnd(trx: Connection, { id }: Pick<OpenWindow, 'id'>, end: Parameters<typeof endWindowRow>[2]) {
  return endWindowRow(trx, { id, ...ownWorkflow() }, end);
}

async function noteReset(
  trx: Connection,
  { installation, kind, trigger }: WindowInput,
  window: OpenWindow,
  { counts, error, now }: { counts: WindowCounts; error: PlainError; now: Date },
): Promise<number> {
  const { workflowId, runId } = ownWorkflow();
  return insertFailedWindow(trx, {
    ...{ installation, kind, trigger, counts, error, workflowId, runId, beganAt: now, resetOf: window.id },
  });
}

/** The error of a window that cannot be closed: its row belongs to another run, or records another end. */
function endedAlready({ installation }: WindowInput, { id }: OpenWindow, outcome: 'failed' | null): PlainError {
  const window = { window: id, installation };
  return outcome === 'failed' ? windowErrors.superseded(window) : windowErrors.reset(window);
}

/**
 * Adds the cost of failed steps to a run's counts, and returns the last trouble of its steps. The caller makes sure
 * that all steps are over.
 */
export async function withSteps(
  trx: Connection,
  runId: string,
  counts: WindowCounts,
): Promise<{ counts: WindowCounts; trouble: Trouble | null }> {
  const steps = await takeSteps(trx, runId);
  return {
    counts: { ...counts, api: steps.reduce((sum, { api }) => addUse(sum, api), counts.api) },
    trouble: joinedTrouble(steps.flatMap(({ trouble }) => trouble ?? [])),
  };
}

/**
 * Reports a window that has ended, and requests the delivery of its entries. The log line and the result in Temporal
 * include the head of the books: a person who cuts the chain off in the database would have to change both, too.
 */
export async function reportEnd(
  deps: ActivityDeps,
  input: WindowInput,
  window: OpenWindow,
  counts: WindowCounts,
  error: PlainError | null,
): Promise<WindowOutcome> {
  await requestDelivery(deps, input.installation);
  const report: WindowOutcome = {
    installation: input.installation,
    window: window.id,
    from: window.from,
    to: window.to,
    outcome: error === null ? 'closed' : 'failed',
    ...(window.remarks.length > 0 ? { remarks: window.remarks } : {}),
    ...(error === null ? {} : { error }),
    ...counts,
    head: await chainHead(deps.db, input.installation),
  };
  deps.onWindow?.(report);
  emitEnded(deps, report);
  return report;
}

/**
 * Seals the entries since the last seal. A failure rolls back only the seal; the window still ends, and the next one
 * seals.
 */
async function seal({ sealKey, log }: ActivityDeps, trx: Connection, installation: number): Promise<void> {
  if (sealKey === null) return;
  try {
    await trx.transaction((savepoint) => sealBooks(savepoint, installation, sealKey));
  } catch (error) {
    log.error({ installation, err: error }, 'the books could not be sealed; the end of the next window tries again');
  }
}
