// What a record that was read, or the answer to a request, makes of a document's write-back.

import { backoffMs } from '../domain/backoff.ts';
import type { PracticeError, PracticeErrorCode } from '../domain/practice-error.ts';
import { clip, visible } from '../domain/text.ts';
import type { InstallationId } from '../terms.ts';
import type { Outcome, Sending, WriteBackRow } from './outbox.ts';
import { isEntryOfOurs, type Standing, standingOf } from './plan.ts';

/** Characters of a value that a message quotes. */
const longestQuoted = 60;

/** Between the times that a document is tried; null: each window tries it. */
export type Waits = { firstMs: number; longestMs: number } | null;

/** What a read shows of a document; `isCarried`: its record is there and carries external_info. */
export interface Reading {
  isCarried: boolean;
  current: string | null;
}

/** A request that is about to be sent, and what stands there. */
export type Request = Sending & { row: WriteBackRow };

/** `current`: somebody else's value that was left in its place. */
export type TakenOutcome = Outcome & { current?: string };

/** What follows from a document that was read just now: a request, or its outcome without one. */
export function beforeRequest(
  installation: InstallationId,
  row: WriteBackRow,
  { isCarried, current }: Reading,
  waits: Waits,
): { request: Request } | { outcome: TakenOutcome } | null {
  if (!isCarried) {
    // A prepayment that is not there is asked for again by the next window.
    return row.valueIs === 'entry_id' ? null : { outcome: outcomeOf(row, { state: 'absent' }) };
  }
  const standing = standingIn(installation, row, current, doubtOf(row));
  if (standing !== 'missing') return { outcome: settledOutcome(row, standing, current, waits) };
  const isReplaced = current !== null && !isOurs(installation, row, current);
  return { request: { ...row, row, current, previousValue: isReplaced ? current : row.previousValue } };
}

/** Whether a request may replace what a later look finds there. */
export function mayReplace(installation: InstallationId, request: Request, current: string | null): boolean {
  const before = doubtOf(request.row) ?? [request.current];
  return standingIn(installation, request.row, current, before) !== 'foreign';
}

/** What a read after a write shows of it. */
export function readBackOutcome(
  installation: InstallationId,
  row: WriteBackRow,
  { isCarried, current }: Reading,
  waits: Waits,
): TakenOutcome {
  const isAttempt = false;
  if (!isCarried) return outcomeOf(row, { isAttempt, state: row.valueIs === 'entry_id' ? null : 'absent' });
  const standing = standingIn(installation, row, current, [row.valueBefore, row.previousValue]);
  if (standing !== 'missing') return { ...settledOutcome(row, standing, current, waits), isAttempt };
  const stands = current === null ? 'none' : quoted(current);
  const message = `${quoted(row.value ?? '')} was accepted, and ${stands} stands there`;
  const code = row.valueIs === 'entry_id' ? 'write_back_unseen' : 'number_not_written';
  return { ...failedOutcome(row, { code, message }, waits), isAttempt, standing };
}

/** Where our value stands, or somebody else's stays. */
function settledOutcome(
  row: WriteBackRow,
  standing: Exclude<Standing, 'missing'>,
  current: string | null,
  waits: Waits,
): TakenOutcome {
  return standing === 'foreign' ? takenOutcome(row, current, waits) : outcomeOf(row, { state: 'done', standing });
}

/** Where somebody else's value stays. That is a problem of the ERP's numbers only. */
export function takenOutcome(row: WriteBackRow, current: string | null, waits: Waits): TakenOutcome {
  const standing = 'foreign';
  if (row.valueIs !== 'erp_number' || current === null) return outcomeOf(row, { state: 'done', standing });
  const message = `${quoted(current)} stands where the ERP’s number ${quoted(row.value ?? '')} would; it was left`;
  const waitSeconds = (waits?.longestMs ?? 0) / 1000;
  const error = { code: 'external_id_taken', message };
  return { ...outcomeOf(row, { state: 'taken', error, waitSeconds, standing }), current };
}

/** Names the document where the value that was left is the number of another one of ours: the source put it there by mistake. */
export function named(outcome: TakenOutcome, numbersOfOurs: ReadonlySet<string>): TakenOutcome {
  const { current, error } = outcome;
  if (current === undefined || error === null || !numbersOfOurs.has(current)) return outcome;
  const whose = ', and is the number of another document of ours; it was left';
  const message = error.message.replace('; it was left', whose);
  return { ...outcome, error: { code: 'external_id_of_another', message } };
}

/** Answers after which it is unknown whether the request took effect, those of a success that cannot be read among them. */
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

/** The source did not accept the value, or it is unknown whether it did. */
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

/** Of a request in doubt, what stood there before it. */
function doubtOf({ isSent, valueBefore }: WriteBackRow): (string | null)[] | null {
  return isSent ? [valueBefore] : null;
}

function quoted(value: string): string {
  return `“${visible(clip(value, longestQuoted))}”`;
}
