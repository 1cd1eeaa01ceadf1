import { instant, integer, json, nullable, oneOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import type { InstallationId } from '../terms.ts';

/** The state of an action: waiting for the daemon, performed, refused, or not performed in time. */
export const auditStates = ['pending', 'done', 'refused', 'expired', 'withdrawn'] as const;
export type AuditState = (typeof auditStates)[number];

/** Which actions to list. Without a field, all. */
export interface AuditFilter {
  kind?: string | null;
  person?: string | null;
  from?: Date | null;
  to?: Date | null;
}

export interface AuditedAction {
  /** The place in the chain of actions. */
  seq: number;
  id: number;
  kind: string;
  person: string;
  /** Null if the reason was erased with the data of a client. */
  reason: string | null;
  askedAt: Date;
  endedAt: Date | null;
  state: AuditState;
  /** JSON of the request, without free text. */
  input: string;
}

const matches = `a.installation = ? and (?::text is null or a.kind = ?) and (?::text is null or a.subject = ?)
  and (?::timestamptz is null or a.asked_at >= ?) and (?::timestamptz is null or a.asked_at < ?)`;

function matched(installation: InstallationId, { kind, person, from, to }: AuditFilter) {
  return [installation, ...[kind, kind, person, person, from, from, to, to].map((value) => value ?? null)];
}

const shape = {
  ...{ seq: integer, id: integer, kind: text, person: text, reason: nullable(text), askedAt: instant },
  ...{ endedAt: nullable(instant), state: oneOf(auditStates), input: json },
};

const columns = `a.seq, a.id, a.kind, a.subject as person, r.reason, a.asked_at as "askedAt", o.ended_at as "endedAt",
  case when o.action_id is null then 'pending' when o.result ->> 'refused' is not null then 'refused'
    when o.result ->> 'expired' is not null then 'expired'
    when o.result ->> 'withdrawn' is not null then 'withdrawn' else 'done' end as state, a.input
  from action a left join action_outcome o on o.action_id = a.id left join action_reason r on r.action_id = a.id`;

/** The actions of an installation, the newest first. `after` is the place of the last one of the previous page. */
export function listActions(
  db: Connection,
  installation: InstallationId,
  filter: AuditFilter,
  { after, limit }: { after: number | null; limit: number },
): Promise<AuditedAction[]> {
  return rows(
    db,
    shape,
    `select ${columns} where ${matches} and (?::bigint is null or a.seq < ?) order by a.seq desc limit ?`,
    [...matched(installation, filter), after, after, limit],
  );
}

/** The last changes of users and other actions of the whole database, the newest first. */
export function lastWholeActions(db: Connection, limit: number): Promise<AuditedAction[]> {
  return rows(db, shape, `select ${columns} where a.installation is null order by a.seq desc limit ?`, [limit]);
}

/** The number of actions by kind. */
export function countActions(
  db: Connection,
  installation: InstallationId,
  filter: AuditFilter,
): Promise<{ kind: string; n: number }[]> {
  return rows(
    db,
    { kind: text, n: integer },
    `select a.kind, count(*) as n from action a where ${matches} group by a.kind order by a.kind`,
    matched(installation, filter),
  );
}

/** The kinds of an installation's actions, and the people who acted. */
export async function auditChoices(
  db: Connection,
  installation: InstallationId,
): Promise<{ kinds: string[]; people: string[] }> {
  const found = await rows(
    db,
    { kind: text, person: text },
    'select distinct kind, subject as person from action where installation = ? order by kind, person limit 1000',
    [installation],
  );
  return {
    kinds: [...new Set(found.map(({ kind }) => kind))],
    people: [...new Set(found.map(({ person }) => person))].sort(),
  };
}
