import { createHash, randomBytes } from 'node:crypto';
import { instant, integer, nullable, text } from '../db/columns.ts';
import { type Connection, execute, row } from '../db/rows.ts';
import { UserError } from '../domain/errors.ts';
import { postgresText } from '../domain/text.ts';
import type { InstallationId } from '../terms.ts';
import { actionErrors } from '../texts/errors/actions.ts';

/**
 * The record of decisions by people, with name, reason and result (tables `action` and `action_outcome`). The rows of both tables
 * are links of one hash chain per installation, and of one chain for the whole database. A reason may contain names of people.
 * Therefore the chain contains only a salted hash of each reason, so that the reason can be erased.
 */

/** The name of the person who acts, and the reason. */
export interface ActedBy {
  actedBy: string;
  reason: string;
  /** The action that the person asked for in the console. Its outcome is then recorded, and no new action. */
  asked?: { id: number };
}

export type ActionKind =
  | ('decide_late' | 'redate' | 'retry_documents' | 'repost_document' | 'match_prepayment')
  | ('propose_mapping' | 'apply_mapping' | 'preview_repost' | 'repost_books')
  | ('close_books' | 'reopen_books' | 'file_vat_return' | 'approve_action' | 'withdraw_action')
  | 'reconcile_books'
  | ('adopt_identity' | 'adopt_database' | 'erase_client')
  | ('approve_delivery' | 'retry_delivery' | 'undo_delivery' | 'acknowledge_batch' | 'adopt_entries')
  | ('login_erp' | 'logout_erp')
  | ('add_user' | 'grant_role' | 'revoke_role' | 'renew_password' | 'disable_user' | 'link_user' | 'unlink_user')
  | ('pause_windows' | 'resume_windows' | 'cancel_windows' | 'nudge_windows')
  | ('price_windows' | 'replay_windows' | 'backfill_windows')
  | ('pause_delivery' | 'resume_delivery' | 'cancel_delivery' | 'nudge_delivery');

export interface NewAction {
  /** The installation of the action. Null if the action concerns the whole database. */
  installation: InstallationId | null;
  kind: ActionKind;
  by: ActedBy;
  /** The request: ids, dates and names of settings. It must not contain free text, because it cannot be erased. */
  input: object;
  /** The figures that the person saw before the decision. The action stores their hash. */
  shown?: string;
  /** The result, also without free text. */
  result?: object;
}

/** A link of the chain: an action as requested, or the outcome of an action. */
export type ActionLink = { seq: number; actionId: number } & (
  | { kind: string; subject: string; input: string; shownHash: string | null; reasonHash: string; askedAt: Date }
  | { result: string; endedAt: Date }
);

/** `previous_hash` of the first link. */
export const chainStart = '0'.repeat(64);

/** SHA-256 of the previous hash and the content of the link, in hex. */
export function linkHash(previousHash: string, installation: InstallationId | null, link: ActionLink): string {
  const { seq, actionId } = link;
  const content =
    'result' in link
      ? ['outcome', link.result, link.endedAt]
      : ['action', link.kind, link.subject, link.input, link.shownHash, link.reasonHash, link.askedAt];
  return hashOf(`${previousHash}\n${JSON.stringify([installation, seq, actionId, ...content])}`);
}

/** The hash of a reason in the chain. The salt is erased with the reason, so that the reason cannot be guessed from its hash. */
export function reasonHash(salt: string, reason: string): string {
  return hashOf(`${salt}\n${reason}`);
}

/** SHA-256 in hex, for example of the figures that were shown. */
export function hashOf(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}

/** The hash of an effect, for the form and for the daemon. */
export function hashOfEffect(effect: object): string {
  return hashOf(JSON.stringify(effect));
}

/** Throws UserError if the effect of an action is not the one that the person saw, by their hashes. */
export function checkShown(shown: string | null, present: string): void {
  if (shown !== present) throw new UserError(actionErrors.changed(), 2);
}

/**
 * Records an action with its outcome in the transaction that performs it, or the outcome of the asked action `by.asked`. Returns the
 * action's id and hash. Another transaction that records an action of the same installation waits until this one ends.
 */
export async function recordAction(
  trx: Connection,
  { installation, kind, by, input, shown, result = {} }: NewAction,
): Promise<{ id: number; hash: string }> {
  const shownHash = shown === undefined ? null : hashOf(shown);
  const asked = by.asked ?? (await addAction(trx, { installation, kind, by, input, shownHash }));
  if (by.asked) await checkAsked(trx, by.asked.id, { installation, kind });
  const { hash } = await endAction(trx, asked.id, result);
  return { id: asked.id, hash };
}

/** Records an action without an outcome, in the transaction of the caller. Returns its id and hash. */
export async function addAction(
  trx: Connection,
  { installation, kind, by, input, shownHash }: Omit<NewAction, 'shown' | 'result'> & { shownHash: string | null },
): Promise<{ id: number; hash: string }> {
  const last = await lockChain(trx, installation);
  const { id } = await row(trx, { id: integer }, `select nextval('action_id') as id`);
  const [subject, reason, salt] = [postgresText(by.actedBy), postgresText(by.reason), randomBytes(16).toString('hex')];
  const action = {
    ...{ seq: last.seq + 1, actionId: id, kind, subject, input: textOf(input), askedAt: last.at },
    ...{ shownHash, reasonHash: reasonHash(salt, reason) },
  };
  const hash = linkHash(last.hash, installation, action);
  await execute(
    trx,
    `insert into action (id, installation, seq, kind, subject, input, shown_hash, reason_hash, asked_at, previous_hash, hash)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      ...[id, installation, action.seq, kind, subject, action.input, shownHash, action.reasonHash, last.at],
      ...[last.hash, hash],
    ],
  );
  await execute(trx, 'insert into action_reason (action_id, salt, reason) values (?, ?, ?)', [id, salt, reason]);
  await moveHead(trx, installation, { seq: action.seq, hash });
  return { id, hash };
}

/** An action has its outcome already: another process was first. */
export class ActionOver extends Error {}

/**
 * Records the outcome of an action, in the transaction of the caller. Returns the hash of the action. Throws ActionOver if the action
 * has an outcome.
 */
export async function endAction(trx: Connection, id: number, result: object): Promise<{ hash: string }> {
  const { installation, hash: actionHash } = await row(
    trx,
    { installation: nullable(integer), hash: text },
    'select installation, hash from action where id = ?',
    [id],
  );
  const last = await lockChain(trx, installation);
  const outcome = { seq: last.seq + 1, actionId: id, result: textOf(result), endedAt: last.at };
  const hash = linkHash(last.hash, installation, outcome);
  const ended = await execute(
    trx,
    `insert into action_outcome (action_id, installation, seq, result, ended_at, previous_hash, hash)
     values (?, ?, ?, ?, ?, ?, ?) on conflict (action_id) do nothing`,
    [id, installation, outcome.seq, outcome.result, last.at, last.hash, hash],
  );
  if (ended === 0) throw new ActionOver(`action ${id} has an outcome`);
  await moveHead(trx, installation, { seq: outcome.seq, hash });
  return { hash: actionHash };
}

/** Throws if the code that performs an asked action would record another one. */
async function checkAsked(
  trx: Connection,
  id: number,
  { installation, kind }: Pick<NewAction, 'installation' | 'kind'>,
): Promise<void> {
  const sql = 'select installation, kind from action where id = ?';
  const asked = await row(trx, { installation: nullable(integer), kind: text }, sql, [id]);
  if (asked.installation !== installation || asked.kind !== kind)
    throw new Error(`action ${id} is ${asked.kind} of ${asked.installation}, and not ${kind} of ${installation}`);
}

/** Locks a chain until the transaction ends. Returns its last link, and the present time. */
export function lockChain(trx: Connection, installation: InstallationId | null) {
  return row(
    trx,
    { seq: integer, hash: text, at: instant },
    `insert into action_head as head (installation, seq, hash) values (?, 0, ?)
     on conflict (installation) do update set seq = head.seq
     returning seq, hash, date_trunc('milliseconds', clock_timestamp()) as at`,
    [installation, chainStart],
  );
}

async function moveHead(
  trx: Connection,
  installation: InstallationId | null,
  { seq, hash }: { seq: number; hash: string },
): Promise<void> {
  await execute(trx, 'update action_head set seq = ?, hash = ? where installation is not distinct from ?', [
    ...[seq, hash, installation],
  ]);
}

/** The JSON as PostgreSQL stores it, so that the hash matches the text that is read later. */
function textOf(content: object): string {
  return postgresText(JSON.stringify(content));
}
