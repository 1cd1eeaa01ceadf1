// Decides the outcome of a document's write-back from a record that was read, or from the answer to a request.

import { backoffMs } from '../domain/backoff.ts';
import type { PracticeError, PracticeErrorCode } from '../domain/practice-error.ts';
import { clip, visible } from '../domain/text.ts';
import type { InstallationId } from '../terms.ts';
import { writeBackTexts } from '../texts/findings/write-back.ts';
import type { Outcome, Sending, WriteBackRow } from './outbox.ts';
import { isEntryOfOurs, type Standing, standingOf } from './plan.ts';

/** Maximum number of characters of a value that a message quotes. */
const longestQuoted = 60;

/** The waiting times between the attempts for a document. Null if each window tries it. */
export type Waits = { firstMs: number; longestMs: number } | null;

/** The external id that a read showed. `isCarried`: the source has the record, and it has external_info. */
export interface Reading {
  isCarried: boolean;
  current: string | null;
}

/** A request that is about to be sent. */
export type Request = Sending & { row: WriteBackRow };

/** `foreign.current` is a value of another program, which was not replaced by `foreign.value`. */
export type TakenOutcome = Outcome & { foreign?: { current: string; value: string | null } };

/** Decides what to do for a document that was just read: send a request, or record an outcome without one. */
export function beforeRequest(
  installation: InstallationId,
  row: WriteBackRow,
  { isCarried, current }: Reading,
  waits: Waits,
): { request: Request } | { outcome: TakenOutcome } | null {
  if (row.isAside) return row.valueIs === 'entry_id' ? null : { outcome: asideOutcome(row, waits) };
  if (!isCarried) {
    // The next window tries a prepayment again if the source does not show it.
    return row.valueIs === 'entry_id' ? null : { outcome: outcomeOf(row, { state: 'absent' }) };
  }
  const standing = standingIn(installation, row, current, doubtOf(row));
  if (standing !== 'missing') return { outcome: settledOutcome(row, standing, current, waits) };
  const isReplaced = current !== null && !isOurs(installation, row, current);
  return { request: { ...row, row, current, previousValue: isReplaced ? current : row.previousValue } };
}

/** Whether a request may replace the value that a later read shows. */
export function mayReplace(installation: InstallationId, request: Request, current: string | null): boolean {
  const before = doubtOf(request.row) ?? [request.current];
  return standingIn(installation, request.row, current, before) !== 'foreign';
}

/** The outcome of a read after a write. */
export function readBackOutcome(
  installation: InstallationId,
  row: WriteBackRow,
  { isCarried, current }: Reading,
  waits: Waits,
): TakenOutcome {
  const isAttempt = false;
  if (row.isAside && row.valueIs !== 'entry_id') return { ...asideOutcome(row, waits), isAttempt };
  if (row.isAside) return outcomeOf(row, { isAttempt, state: null });
  if (!isCarried) return outcomeOf(row, { isAttempt, state: row.valueIs === 'entry_id' ? null : 'absent' });
  const standing = standingIn(installation, row, current, [row.valueBefore, row.previousValue]);
  if (standing !== 'missing') return { ...settledOutcome(row, standing, current, waits), isAttempt };
  const shown = current === null ? writeBackTexts.none : quoted(current);
  const message = writeBackTexts.notShown({ value: quoted(row.value ?? ''), current: shown });
  const code = row.valueIs === 'entry_id' ? 'write_back_unseen' : 'number_not_written';
  return { ...failedOutcome(row, { code, message }, waits), isAttempt, standing };
}

/** The outcome for the ERP's number if the record is put aside: its present keys are unknown, so nothing is sent. */
function asideOutcome(row: WriteBackRow, waits: Waits): Outcome {
  return failedOutcome(row, { code: 'number_not_written', message: writeBackTexts.recordAside }, waits);
}

/** The outcome if the source has our value, or keeps a value of another program. */
function settledOutcome(
  row: WriteBackRow,
  standing: Exclude<Standing, 'missing'>,
  current: string | null,
  waits: Waits,
): TakenOutcome {
  return standing === 'foreign' ? takenOutcome(row, current, waits) : outcomeOf(row, { state: 'done', standing });
}

/** The outcome if a value of another program stays. It is a problem only for the ERP's numbers. */
export function takenOutcome(row: WriteBackRow, current: string | null, waits: Waits): TakenOutcome {
  const standing = 'foreign';
  if (row.valueIs !== 'erp_number' || current === null) return outcomeOf(row, { state: 'done', standing });
  const texts = { value: quoted(row.value ?? ''), current: quoted(current) };
  const waitSeconds = (waits?.longestMs ?? 0) / 1000;
  const error = { code: 'external_id_taken', message: writeBackTexts.taken(texts) };
  return {
    ...outcomeOf(row, { state: 'taken', error, waitSeconds, standing }),
    foreign: { current, value: row.value },
  };
}

/**
 * Changes the problem if the value that was not replaced is the number of another document of ours, which the source
 * stored by mistake.
 */
export function withOwnNumber(outcome: TakenOutcome, numbersOfOurs: ReadonlySet<string>): TakenOutcome {
  const { foreign, error } = outcome;
  if (foreign === undefined || error === null || !numbersOfOurs.has(foreign.current)) return outcome;
  const texts = { value: quoted(foreign.value ?? ''), current: quoted(foreign.current) };
  const message = writeBackTexts.takenByOwnNumber(texts);
  return { ...outcome, error: { code: 'external_id_of_another', message } };
}

/** Errors after which the request may have taken effect. A success whose answer cannot be read is one of them. */
const effectUnknown: ReadonlySet<PracticeErrorCode> = new Set<PracticeErrorCode>([
  'unreachable',
  'timeout',
  'server_error',
  'not_json',
  'malformed_response',
  'malformed_record',
  'answer_too_large',
]);

export function isEffectUnknown({ code }: PracticeError): boolean {
  return effectUnknown.has(code);
}

/** The outcome if the source refused the value, or may have refused it. */
export function refusedOutcome(row: WriteBackRow, error: PracticeError, waits: Waits): Outcome {
  const code = row.valueIs === 'entry_id' ? error.code : 'number_not_written';
  const outcome = failedOutcome(row, { code, message: error.message }, waits);
  return { ...outcome, isInDoubt: isEffectUnknown(error) || outcome.isInDoubt };
}

export function failedOutcome(row: WriteBackRow, error: { code: string; message: string }, waits: Waits): Outcome {
  const waitSeconds = waits === null ? 0 : backoffMs(row.attempts + 1, waits) / 1000;
  return outcomeOf(row, { state: 'failed', isInDoubt: row.isSent, error, waitSeconds });
}

export function outcomeOf({ id, unitId }: WriteBackRow, changes: Partial<Outcome>): Outcome {
  return {
    ...{ id, unitId, state: 'done', isAccepted: false, isInDoubt: false, standing: null, isAttempt: true },
    ...{ error: null, waitSeconds: 0 },
    ...changes,
  };
}

function standingIn(
  installation: InstallationId,
  row: WriteBackRow,
  current: string | null,
  before: (string | null)[] | null,
): Standing {
  return standingOf({ ...row, current, before, isOurs: (value) => isOurs(installation, row, value) });
}

function isOurs(installation: InstallationId, { ownValues }: WriteBackRow, value: string): boolean {
  return ownValues.includes(value) || isEntryOfOurs(value, installation);
}

/** The value before a request that is in doubt. Null if no request is in doubt. */
function doubtOf({ isSent, valueBefore }: WriteBackRow): (string | null)[] | null {
  return isSent ? [valueBefore] : null;
}

function quoted(value: string): string {
  return `“${visible(clip(value, longestQuoted))}”`;
}
