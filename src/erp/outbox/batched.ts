import { rowsAsArrays } from '../../db/bulk.ts';
import { date, integer, nullable, oneOf, text } from '../../db/columns.ts';
import { type Connection, execute, row, rows } from '../../db/rows.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';
import { type UnitKind, type UnitState, unitKinds, unitStates } from './unit.ts';

/** Units that are delivered as files: which a batch may contain, and their states. */

export interface BatchCandidate {
  id: string;
  /** The unit's key as stored in the outbox. */
  key: string;
  kind: UnitKind;
  seq: number;
  date: CalendarDate;
  /** Id of the unit that must be handed over before this one; null if there is none, or if it is settled. */
  waitsFor: string | null;
}

const settledStates: readonly UnitState[] = [
  ...(['delivered', 'handed_over', 'acknowledged', 'cancelled_out', 'excluded'] as const),
  // The unit is in an earlier batch.
  'sending',
];

export interface CandidateRange {
  /** Dates of the units; null for all. */
  days: { from: CalendarDate; through: CalendarDate } | null;
  /** The batch has only units that entered the outbox before this time. Null for all units. */
  before: Date | null;
  after: Pick<BatchCandidate, 'kind' | 'seq' | 'id'> | null;
  limit: number;
}

/** Pending units that need no approval, in the order of their chains. */
export async function batchCandidates(
  trx: Connection,
  installation: InstallationId,
  { days, before, after, limit }: CandidateRange,
): Promise<BatchCandidate[]> {
  const found = await rows(
    trx,
    {
      ...{ id: text, key: text, kind: oneOf(unitKinds), seq: integer, date, follows: nullable(text) },
      follows_state: nullable(oneOf(unitStates)),
    },
    `select u.unit_id as id, u.erp_key as key, u.kind, u.seq, u.unit_date as date, u.follows, p.state as follows_state
     from erp_unit u left join erp_unit p on p.installation = u.installation and p.unit_id = u.follows
     where u.installation = ? and u.state = 'pending' and not u.needs_approval
       and (u.kind, u.seq, u.unit_id) > (?::text, ?::bigint, ?::text)
       and u.unit_date between coalesce(?::date, '-infinity') and coalesce(?::date, 'infinity')
       and u.enqueued_at < coalesce(?::timestamptz, 'infinity')
       and (u.not_before is null or u.not_before <= clock_timestamp())
     order by u.kind, u.seq, u.unit_id limit ?`,
    [
      ...[installation, after?.kind ?? '', after?.seq ?? 0, after?.id ?? ''],
      ...[days?.from ?? null, days?.through ?? null, before, limit],
    ],
  );
  return found.map(({ follows, follows_state: state, ...candidate }) => ({
    ...candidate,
    waitsFor: follows === null || state === null || settledStates.includes(state) ? null : follows,
  }));
}

/** Units by id. `candidate` is null if the unit is not pending. Approval and dates are ignored. */
export async function unitsOfBatch(
  trx: Connection,
  installation: InstallationId,
  ids: readonly string[],
): Promise<{ id: string; candidate: BatchCandidate | null }[]> {
  const found = await rows(
    trx,
    { id: text, key: text, kind: oneOf(unitKinds), seq: integer, date, state: oneOf(unitStates) },
    `select unit_id as id, erp_key as key, kind, seq, unit_date as date, state from erp_unit
     where installation = ? and unit_id = any(?::text[])`,
    [installation, ids],
  );
  return found.map(({ state, ...unit }) => ({
    id: unit.id,
    candidate: state === 'pending' ? { ...unit, waitsFor: null } : null,
  }));
}

/** Puts units into a stored batch whose file is not written yet. */
export async function markBatched(
  trx: Connection,
  installation: InstallationId,
  { ids, batch, attemptId }: { ids: readonly string[]; batch: number; attemptId: string },
): Promise<void> {
  await execute(
    trx,
    `update erp_unit set state = 'sending', batch = ?, attempt_id = ?::uuid, attempts = attempts + 1,
       sent_at = clock_timestamp(), not_before = null
     where installation = ? and unit_id = any(?::text[]) and state = 'pending'`,
    [batch, attemptId, installation, ids],
  );
}

/** Number of a batch's units that wait for its file. */
export async function countBatched(trx: Connection, installation: InstallationId, batch: number): Promise<number> {
  const { n } = await row(
    trx,
    { n: integer },
    `select count(*) as n from erp_unit where installation = ? and batch = ? and state = 'sending'`,
    [installation, batch],
  );
  return n;
}

/** Makes the remaining units of an unwritten batch pending again. */
export async function releaseBatched(trx: Connection, installation: InstallationId, batch: number): Promise<void> {
  await execute(
    trx,
    `update erp_unit set state = 'pending', batch = null, attempt_id = null, sent_at = null, attempts = 0
     where installation = ? and batch = ? and state = 'sending'`,
    [installation, batch],
  );
}

/** Marks the units of a batch whose file is written. */
export async function markHandedOver(trx: Connection, installation: InstallationId, batch: number): Promise<void> {
  await execute(
    trx,
    `update erp_unit set state = 'handed_over', settled_at = clock_timestamp(), attempt_id = null
     where installation = ? and batch = ? and state = 'sending'`,
    [installation, batch],
  );
}

/** Marks the units of a batch that the accountants have imported; returns their number. */
export function markAcknowledged(trx: Connection, installation: InstallationId, batch: number): Promise<number> {
  return execute(
    trx,
    `update erp_unit set state = 'acknowledged' where installation = ? and batch = ? and state = 'handed_over'`,
    [installation, batch],
  );
}

/** Refuses pending units that cannot be handed over. */
export async function markRefused(
  trx: Connection,
  installation: InstallationId,
  refused: readonly { unit_id: string; code: string; message: string }[],
): Promise<void> {
  if (refused.length === 0) return;
  const types = { unit_id: 'text', code: 'text', message: 'text' };
  const { from, bindings } = rowsAsArrays('no', types, refused);
  await execute(
    trx,
    `update erp_unit u set state = 'refused', problem_code = no.code, problem_message = no.message,
       problem_since = coalesce(u.problem_since, clock_timestamp()), settled_at = clock_timestamp()
     from ${from} where u.installation = ? and u.unit_id = no.unit_id and u.state = 'pending'`,
    [...bindings, installation],
  );
}
