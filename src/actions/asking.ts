import { z } from 'zod';
import { bool, instant, integer, nullable, storedJson, text } from '../db/columns.ts';
import { type Connection, maybeRow, rows } from '../db/rows.ts';
import { isCalendarDate } from '../domain/dates.ts';
import type { InstallationId } from '../terms.ts';
import type { PlainError } from '../texts/plain-error.ts';
import { type ActedBy, type ActionKind, addAction, endAction, lockChain } from './record.ts';

/**
 * Actions that a person asks for in the console, and that the daemon performs later. Each gets one outcome: the result, a
 * refusal, or the expiry.
 */

/** A request expires after this time, because the person no longer expects its effect. */
const expiryMinutes = 15;
/** A request that waits for the approval of a second person expires after this time. */
export const approvalHours = 24;

export interface Asking {
  installation: InstallationId;
  kind: ActionKind;
  by: ActedBy;
  /** The request: ids, dates and names of settings. It must not contain free text, because it cannot be erased. */
  input: object;
  /** The hash of the figures that the person saw. Null if none were shown. */
  shownHash: string | null;
  /** A random id of the form. A form that is sent twice asks once. */
  form: string;
}

/** An action as asked. */
export interface AskedAction {
  id: number;
  installation: InstallationId;
  kind: string;
  /** The name of the user who asked. */
  subject: string;
  reason: string;
  /** The request. The schema of its kind reads it. */
  input: unknown;
  shownHash: string | null;
  askedAt: Date;
  /** Whether the time for the request is over. */
  isOver: boolean;
  /** Whether another person must approve the request before it is performed. */
  needsSecond: boolean;
  /** The name of the second person, who approved the request; null if no one has. */
  second: string | null;
}

/** The outcome of an asked action. `pending` also applies while no daemon runs. `waiting`: for the second person. */
export type AskedOutcome =
  | { state: 'waiting' | 'pending' | 'expired' | 'withdrawn' | 'done' }
  | { state: 'refused'; error: PlainError };

const askedColumns = `a.id, a.installation, a.kind, a.subject, coalesce(r.reason, '') as reason, a.input,
  a.shown_hash as "shownHash", a.asked_at as "askedAt", needed as "needsSecond", p.subject as second,
  a.asked_at < clock_timestamp() - case when needed then interval '${approvalHours} hours'
    else interval '${expiryMinutes} minutes' end as "isOver"
  from action a left join action_reason r on r.action_id = a.id
  cross join lateral (select a.input ->> 'two_persons' is not null as needed) n
  left join lateral (select p.subject from action p
    where needed and p.kind = 'approve_action' and (p.input ->> 'action')::bigint = a.id order by p.id limit 1) p on true`;

/** A day in a request. */
export const requestDay = z.string().refine(isCalendarDate);
/** A month in a request, such as 2026-01. */
export const requestMonth = z.string().refine((text) => isCalendarDate(`${text}-01`));

/** The request to approve the request of another user, or to withdraw an own one. */
export const approvalRequest = z.object({ action: z.int() });

/** Whether two names are of one person. The database compares names in the same way. */
export function isSamePerson(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}

const storedOutcome = z
  .looseObject({
    ...{ refused: z.string(), message: z.string(), todo: z.string(), expired: z.boolean(), withdrawn: z.boolean() },
  })
  .partial();
const outcomeColumn = storedJson('action_outcome.result', storedOutcome);

const askedShape = {
  ...{ id: integer, installation: integer, kind: text, subject: text, reason: text },
  input: storedJson('action.input', z.unknown()),
  ...{ shownHash: nullable(text), askedAt: instant, isOver: bool, needsSecond: bool, second: nullable(text) },
};

/**
 * Records a request, in the transaction of the caller. Returns the id of the action, or that of the first action of this form. Throws
 * an error if the form has asked for another kind of action.
 */
export async function askAction(
  trx: Connection,
  { installation, kind, by, input, shownHash, form }: Asking,
): Promise<number> {
  // The lock lets a form that is sent twice at once wait for its first request.
  await lockChain(trx, installation);
  const asked = await actionOfForm(trx, installation, form);
  if (asked !== null && asked.kind !== kind) throw new Error(`the form of action ${asked.id} was used for ${kind}`);
  if (asked !== null) return asked.id;
  const { id } = await addAction(trx, { installation, kind, by, input: { ...input, form }, shownHash });
  return id;
}

/** The action that a form asked for. Null if the form was not sent before. */
export function actionOfForm(
  db: Connection,
  installation: InstallationId,
  form: string,
): Promise<{ id: number; kind: string } | null> {
  return maybeRow(
    db,
    { id: integer, kind: text },
    `select id, kind from action where installation = ? and input ->> 'form' = ?`,
    [installation, form],
  );
}

/**
 * The requests of these installations without an outcome, the oldest first, at most 100. `isOver` is true for those that have
 * expired. A request that needs a second person is left out until it expires: its approval is a request, too. Withdrawals come first,
 * before what they withdraw. With `recent`, requests older than two days are left out, so that a look every second reads few rows.
 */
export function pendingActions(
  db: Connection,
  installations: readonly InstallationId[],
  { recent }: { recent: boolean },
): Promise<AskedAction[]> {
  return rows(
    db,
    askedShape,
    `select ${askedColumns}
     where a.installation = any(?) and not exists (select from action_outcome o where o.action_id = a.id)
       and (not needed or a.asked_at < clock_timestamp() - interval '${approvalHours} hours')
       ${recent ? "and a.asked_at > clock_timestamp() - interval '2 days'" : ''}
     order by a.kind <> 'withdraw_action', a.id limit 100`,
    [installations],
  );
}

/** The request with this id. Null if the installation has none. */
export function askedAction(db: Connection, installation: InstallationId, id: number): Promise<AskedAction | null> {
  return maybeRow(db, askedShape, `select ${askedColumns} where a.installation = ? and a.id = ?`, [installation, id]);
}

/** The requests of an installation that wait for the approval of a second person, the oldest first. */
export function waitingForSecond(db: Connection, installation: InstallationId): Promise<AskedAction[]> {
  return rows(
    db,
    askedShape,
    `select ${askedColumns}
     where a.installation = ? and needed and p.subject is null
       and a.asked_at > clock_timestamp() - interval '${approvalHours} hours'
       and not exists (select from action_outcome o where o.action_id = a.id)
     order by a.id`,
    [installation],
  );
}

/** An action of an installation, with its outcome and its result. Null if there is none with this id. */
export async function actionState(
  db: Connection,
  installation: InstallationId,
  id: number,
): Promise<{ action: AskedAction; outcome: AskedOutcome; result: unknown } | null> {
  const action = await askedAction(db, installation, id);
  if (action === null) return null;
  const ended = await maybeRow(db, { result: outcomeColumn }, 'select result from action_outcome where action_id = ?', [
    id,
  ]);
  if (ended !== null) return { action, outcome: outcomeOf(ended.result), result: ended.result };
  const isWaiting = action.needsSecond && action.second === null;
  return { action, outcome: { state: action.isOver ? 'expired' : isWaiting ? 'waiting' : 'pending' }, result: null };
}

/** The person who asked, for the record of the outcome. */
export function askedBy({ id, subject, reason }: AskedAction): ActedBy {
  return { actedBy: subject, reason, asked: { id } };
}

/** Whether the action has its outcome, also one of this transaction. */
export async function hasOutcome(db: Connection, id: number): Promise<boolean> {
  return (
    (await maybeRow(db, { id: integer }, 'select action_id as id from action_outcome where action_id = ?', [id])) !==
    null
  );
}

/** Records that the action was refused, and why. Throws ActionOver if it has an outcome. */
export async function refuseAction(trx: Connection, id: number, { code, message, todo }: PlainError): Promise<void> {
  await endAction(trx, id, { refused: code, message, todo });
}

/** Records that the action was not performed in time. Throws ActionOver if it has an outcome. */
export async function expireAction(trx: Connection, id: number): Promise<void> {
  await endAction(trx, id, { expired: true });
}

/** Records that the person who asked no longer wants the action. Throws ActionOver if it has an outcome. */
export async function withdrawAction(trx: Connection, id: number): Promise<void> {
  await endAction(trx, id, { withdrawn: true });
}

function outcomeOf({
  refused: code,
  message = '',
  todo = '',
  expired,
  withdrawn,
}: z.infer<typeof storedOutcome>): AskedOutcome {
  if (expired === true) return { state: 'expired' };
  if (withdrawn === true) return { state: 'withdrawn' };
  return code === undefined ? { state: 'done' } : { state: 'refused', error: { code, message, todo } };
}
