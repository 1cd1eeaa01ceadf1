import { isOfTheData, kindOfError } from '../db/errors.ts';
import type { Transact } from '../db/lease.ts';
import { forEachAtATime } from '../domain/concurrency.ts';
import { PracticeError, type PracticeErrorCode } from '../domain/practice-error.ts';
import { longestPauseMs, maxAttempts, retryPauseMs } from '../practice/retry.ts';
import type { Dialect } from '../records/dialect.ts';
import { type JsonValue, parseJson } from '../records/json.ts';
import type { InstallationId } from '../terms.ts';
import { type ReadBackReport, readBackAll } from './read-back.ts';
import {
  type Claimant,
  noteSending,
  type PendingWriteBack,
  pendingWriteBacks,
  recordWriteBacks,
  type WriteBackOutcome,
} from './store.ts';

const batchSize = 100;
/** Requests under way at a time: enough to hide the latency, few beside what the budget allows. */
const requestsInFlight = 8;

export interface WriteBackPorts {
  transact: Transact;
  /** Records what the source was told, even when the work is to stop. */
  record: Transact;
  /** Of the lane whose work this is: what it is about to send, no other lane sends. */
  lease: Claimant;
  /** Fetches prepayments into the mirror again; gives the ids of those that the source still has. */
  refresh(ids: number[]): Promise<Set<number>>;
  /** The external id as the sub-resource has it, for records that do not show it. */
  read(prepaymentId: number): Promise<string | null>;
  /** Sends a prepayment its entry id, keeping every other key. Throws PracticeError where the source refuses it. */
  send(prepayment: JsonValue, entryId: string): Promise<unknown>;
  /** Called after each request with the number of entry ids accepted so far. */
  onProgress(written: number): void;
  onRefused(prepaymentId: number, refusal: { code: string; message: string }): void;
  /** Aborts when the work is to stop: what fails from then on is nobody's refusal. */
  signal: AbortSignal;
  /** Sleeps; rejects when the work is to stop. */
  pause(ms: number): Promise<void>;
}

/**
 * Tells the source the entry id of each posted prepayment (`external_info.external_id`), and reads back what it has accepted. What
 * the source refuses, or does not show afterwards, is recorded and tried again by the next window.
 */
export async function writeBackAll(
  installation: InstallationId,
  dialect: Dialect,
  ports: WriteBackPorts,
): Promise<ReadBackReport> {
  await sendAll(installation, dialect, ports);
  return readBackAll(installation, dialect, {
    transact: ports.transact,
    refresh: ports.refresh,
    read: ports.read,
    onUnseen: (prepaymentId, message) => ports.onRefused(prepaymentId, { code: 'write_back_unseen', message }),
  });
}

async function sendAll(installation: InstallationId, dialect: Dialect, ports: WriteBackPorts): Promise<void> {
  let sent = 0;
  for (let after = 0; ; ) {
    const batch = { after, limit: batchSize, dialect, claimant: ports.lease };
    const next = () => ports.transact((trx) => pendingWriteBacks(trx, installation, batch));
    const ids = (await next()).map(({ prepaymentId }) => prepaymentId);
    const last = ids.at(-1);
    if (last === undefined) return;
    // In a first load the mirror may be hours old, and staff may have changed what is beside our id since.
    const found = await ports.refresh(ids);
    const pending = await next();
    const outcomes: WriteBackOutcome[] = [];
    try {
      const existing = pending.filter(({ prepaymentId }) => found.has(prepaymentId));
      await ports.transact((trx) => noteSending(trx, installation, existing));
      await forEachAtATime(requestsInFlight, existing, async (writeBack) => {
        const refusal = await writeOne(installation, dialect, writeBack, ports);
        const { prepaymentId, entryId } = writeBack;
        outcomes.push({
          prepaymentId,
          entryId,
          error: refusal?.message ?? null,
          isInDoubt: refusal?.isInDoubt ?? false,
        });
        if (refusal === null) sent += 1;
        else ports.onRefused(prepaymentId, refusal);
        ports.onProgress(sent);
      });
    } finally {
      // Whatever ended the batch early: what was written is not written again.
      if (outcomes.length > 0) await ports.record((trx) => recordWriteBacks(trx, installation, outcomes));
    }
    after = last;
  }
}

interface Refusal {
  code: string;
  message: string;
}

interface FailedWriteBack extends Refusal {
  /** A request may have taken effect all the same. */
  isInDoubt: boolean;
}

/** Answers after which nobody knows whether the request took effect, those of a success that cannot be read among them. */
const effectUnknown: ReadonlySet<PracticeErrorCode> = new Set<PracticeErrorCode>([
  'unreachable',
  'timeout',
  'server_error',
  'not_json',
  'malformed_response',
  'malformed_record',
  'answer_too_large',
]);

/**
 * Sends one entry id; null when it is done, or why the source refuses it. After an answer that leaves it in doubt whether the
 * request took effect, the prepayment is fetched anew before the next attempt, which then keeps what somebody wrote there in
 * between. Throws what a later window may resolve.
 */
async function writeOne(
  installation: InstallationId,
  dialect: Dialect,
  writeBack: PendingWriteBack,
  ports: WriteBackPorts,
): Promise<FailedWriteBack | null> {
  const { prepaymentId } = writeBack;
  let isInDoubt = false;
  let next: PendingWriteBack | undefined = writeBack;
  for (let attempt = 1; next !== undefined; attempt++) {
    try {
      await ports.send(parseJson(next.raw), next.entryId);
      return null;
    } catch (error) {
      ports.signal.throwIfAborted();
      const refusal = refusalOf(error);
      const isDoubtful = error instanceof PracticeError && effectUnknown.has(error.code);
      isInDoubt ||= isDoubtful;
      const waitMs = error instanceof PracticeError ? (error.retryAfterMs ?? 0) : 0;
      if (!isDoubtful || attempt >= maxAttempts || waitMs > longestPauseMs) {
        if (refusal === null) throw error;
        return { code: refusal.code, message: refusal.message, isInDoubt };
      }
      await ports.pause(Math.max(retryPauseMs(attempt, Math.random), waitMs));
    }
    if (!(await ports.refresh([prepaymentId])).has(prepaymentId)) return null;
    const only = { after: prepaymentId - 1, through: prepaymentId, limit: 1, dialect, claimant: ports.lease };
    [next] = await ports.transact((trx) => pendingWriteBacks(trx, installation, only));
  }
  return null;
}

/** Why a prepayment cannot be written for good; null for what a later attempt may resolve, or what concerns all of them. */
function refusalOf(error: unknown): Refusal | null {
  if (error instanceof PracticeError) return error.retryable || error.code === 'unauthorized' ? null : error;
  return isOfTheData(error)
    ? { code: 'internal_error', message: `sending it failed unexpectedly (${kindOfError(error)})` }
    : null;
}
