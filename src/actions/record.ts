import { createHash, randomBytes } from 'node:crypto';
import { instant, integer, text } from '../db/columns.ts';
import { type Connection, execute, row } from '../db/rows.ts';
import { postgresText } from '../domain/text.ts';
import type { InstallationId } from '../terms.ts';

/**
 * The record of decisions by people, with name, reason and result (tables `action` and `action_outcome`). The rows of both tables
 * are links of one hash chain per installation, and of one chain for the whole database. A reason may contain names of people.
 * Therefore the chain contains only a salted hash of each reason, so that the reason can be erased.
 */

/** The name of the person who acts, and the reason. */
export interface ActedBy {
  actedBy: string;
  reason: string;
}

export type ActionKind =
  | ('decide_late' | 'redate' | 'match_prepayment' | 'apply_mapping')
  | ('close_books' | 'reopen_books' | 'file_vat_return')
  | ('adopt_identity' | 'adopt_database' | 'erase_client')
  | ('approve_delivery' | 'retry_delivery' | 'undo_delivery' | 'acknowledge_batch' | 'adopt_entries')
  | ('add_user' | 'grant_role' | 'revoke_role' | 'renew_password' | 'disable_user')
  | ('pause_windows' | 'resume_windows' | 'cancel_windows' | 'nudge_windows')
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
  return sha256(`${previousHash}\n${JSON.stringify([installation, seq, actionId, ...content])}`);
}

/** The hash of a reason in the chain. The salt is erased with the reason, so that the reason cannot be guessed from its hash. */
export function reasonHash(salt: string, reason: string): string {
  return sha256(`${salt}\n${reason}`);
}

function sha256(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}

/**
 * Records an action with its outcome in the transaction that performs it. Returns the action's id and hash. Another transaction
 * that records an action of the same installation waits until this one ends.
 */
export async function recordAction(
  trx: Connection,
  { installation, kind, by, input, shown, result = {} }: NewAction,
): Promise<{ id: number; hash: string }> {
  const { seq, hash, id, at } = await row(
    trx,
    { seq: integer, hash: text, id: integer, at: instant },
    `insert into action_head as head (installation, seq, hash) values (?, 0, ?)
     on conflict (installation) do update set seq = head.seq
     returning seq, hash, nextval('action_id') as id, date_trunc('milliseconds', clock_timestamp()) as at`,
    [installation, chainStart],
  );
  const [subject, reason, salt] = [postgresText(by.actedBy), postgresText(by.reason), randomBytes(16).toString('hex')];
  const action = {
    ...{ seq: seq + 1, actionId: id, kind, subject, input: textOf(input), askedAt: at },
    ...{ shownHash: shown === undefined ? null : sha256(shown), reasonHash: reasonHash(salt, reason) },
  };
  const outcome = { seq: seq + 2, actionId: id, result: textOf(result), endedAt: at };
  const actionHash = linkHash(hash, installation, action);
  const outcomeHash = linkHash(actionHash, installation, outcome);
  await execute(
    trx,
    `insert into action (id, installation, seq, kind, subject, input, shown_hash, reason_hash, asked_at, previous_hash, hash)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      ...[id, installation, action.seq, kind, subject, action.input, action.shownHash, action.reasonHash, at],
      ...[hash, actionHash],
    ],
  );
  await execute(trx, 'insert into action_reason (action_id, salt, reason) values (?, ?, ?)', [id, salt, reason]);
  await execute(
    trx,
    `insert into action_outcome (action_id, installation, seq, result, ended_at, previous_hash, hash)
     values (?, ?, ?, ?, ?, ?, ?)`,
    [id, installation, outcome.seq, outcome.result, at, actionHash, outcomeHash],
  );
  await execute(trx, 'update action_head set seq = ?, hash = ? where installation is not distinct from ?', [
    ...[outcome.seq, outcomeHash, installation],
  ]);
  return { id, hash: actionHash };
}

/** The JSON as PostgreSQL stores it, so that the hash matches the text that is read later. */
function textOf(content: object): string {
  return postgresText(JSON.stringify(content));
}
