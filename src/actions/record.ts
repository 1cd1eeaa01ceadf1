import { createHash, randomBytes } from 'node:crypto';
import { instant, integer, text } from '../db/columns.ts';
import { type Connection, execute, row } from '../db/rows.ts';
import { storable } from '../domain/text.ts';
import type { InstallationId } from '../terms.ts';

/**
 * What persons do to the books and to the machinery (tables `action` and `action_outcome`): who, what, why, and what came of it. Both
 * tables are links of one hash chain for each installation, and of one for what concerns the whole database. Reasons may name people,
 * so the chain holds only their salted hash, and they can be erased.
 */

/** Who does something, and why. */
export interface ActedBy {
  actedBy: string;
  reason: string;
}

export type ActionKind =
  | ('decide_late' | 'redate' | 'match_prepayment' | 'apply_mapping')
  | ('close_books' | 'reopen_books')
  | ('adopt_identity' | 'adopt_database' | 'erase_client')
  | ('approve_delivery' | 'retry_delivery' | 'undo_delivery' | 'acknowledge_batch' | 'adopt_entries')
  | ('pause_windows' | 'resume_windows' | 'cancel_windows' | 'nudge_windows')
  | ('pause_delivery' | 'resume_delivery' | 'cancel_delivery' | 'nudge_delivery');

export interface NewAction {
  /** Null: the whole database. */
  installation: InstallationId | null;
  kind: ActionKind;
  by: ActedBy;
  /** What was asked for: ids, dates and names of settings, no free text. Nothing of it can be erased. */
  input: object;
  /** The figures that were shown before, as a text; the action keeps their hash. */
  shown?: string;
  /** What came of it, without free text, too. */
  result?: object;
}

/** A link of the chain of actions: an action as it was asked for, or its outcome. */
export type ActionLink = { seq: number; actionId: number } & (
  | { kind: string; subject: string; input: string; shownHash: string | null; reasonHash: string; askedAt: Date }
  | { result: string; endedAt: Date }
);

/** `previous_hash` of the first link. */
export const chainStart = '0'.repeat(64);

/** sha256 of the previous hash and what the link says, in hex. */
export function linkHash(previousHash: string, installation: InstallationId | null, link: ActionLink): string {
  const { seq, actionId } = link;
  const said =
    'result' in link
      ? ['outcome', link.result, link.endedAt]
      : ['action', link.kind, link.subject, link.input, link.shownHash, link.reasonHash, link.askedAt];
  return sha256(`${previousHash}\n${JSON.stringify([installation, seq, actionId, ...said])}`);
}

/** The hash of a reason that the chain holds. Without the salt, which is erased with the reason, nobody finds the reason by trying. */
export function reasonHash(salt: string, reason: string): string {
  return sha256(`${salt}\n${reason}`);
}

function sha256(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}

/**
 * Records an action with its outcome, in the transaction of what it does; returns the action's id and hash. Who records for the same
 * installation waits until the transaction ends.
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
  const [subject, reason, salt] = [storable(by.actedBy), storable(by.reason), randomBytes(16).toString('hex')];
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

/** As PostgreSQL keeps it, so that the hash is over what is read back. */
function textOf(content: object): string {
  return storable(JSON.stringify(content));
}
