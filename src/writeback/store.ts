import { type Db, query } from '../db/pool.ts';
import type { FindOwnEchoes, NewVersion } from '../mirror/types.ts';
import type { Dialect } from '../records/dialect.ts';
import { parseJson } from '../records/json.ts';
import { parseRecord } from '../records/schema.ts';
import type { InstallationId } from '../terms.ts';
import { isOwnEcho, planWriteBack, type RecordedWriteBack } from './plan.ts';

/** A posted prepayment whose entry id the source is still to be told. */
export interface PendingWriteBack {
  prepaymentId: number;
  entryId: string;
  /** The prepayment as the mirror has it, JSON text. */
  raw: string;
  /** The foreign value that ours will replace. */
  previousValue: string | null;
}

/** How one ended: done, or refused with what the source said. */
export interface WriteBackOutcome extends Pick<PendingWriteBack, 'prepaymentId' | 'entryId'> {
  error: string | null;
}

interface CandidateRow {
  id: number;
  entry_id: string;
  raw: string;
  recorded_entry_id: string | null;
  recorded_state: RecordedWriteBack['state'] | null;
  previous_value: string | null;
}

/**
 * The next prepayments to write back, by id after `after`; fewer than `limit` only at the end. Those that stand in the source
 * already are noted as done on the way. What is returned is first recorded as pending, so that a value we replace is kept,
 * and our own echo known, even if the process dies after writing. A failed one comes again with each window.
 */
export async function pendingWriteBacks(
  db: Db,
  installation: InstallationId,
  options: { after: number; limit: number; dialect: Dialect },
): Promise<PendingWriteBack[]> {
  const pending: PendingWriteBack[] = [];
  let after = options.after;
  while (pending.length < options.limit) {
    const wanted = options.limit - pending.length;
    const candidates = await candidatesAfter(db, installation, after, wanted);
    const planned = candidates.map((row) => ({ row, plan: planOf(row, options.dialect) }));
    const toNote = planned.filter(({ plan }) => plan.action === 'note');
    const toWrite = planned
      .filter(({ plan }) => plan.action === 'write')
      .map(({ row, plan }) => ({
        prepaymentId: row.id,
        entryId: row.entry_id,
        raw: row.raw,
        previousValue: plan.previousValue,
      }));
    const noted = toNote.map(({ row, plan }) => ({
      prepaymentId: row.id,
      entryId: row.entry_id,
      previousValue: plan.previousValue,
    }));
    await save(db, installation, noted, 'done');
    await save(db, installation, toWrite, 'pending');
    pending.push(...toWrite);
    if (candidates.length < wanted) break;
    after = candidates.at(-1)!.id;
  }
  return pending;
}

/** Notes how write-backs ended, and counts the attempts. */
export async function recordWriteBacks(
  db: Db,
  installation: InstallationId,
  outcomes: WriteBackOutcome[],
): Promise<void> {
  if (outcomes.length === 0) return;
  await query(
    db,
    `update write_back w set state = case when t.error is null then 'done' else 'failed' end, error = t.error,
       attempts = attempts + 1, written_at = case when t.error is null then clock_timestamp() else written_at end
     from unnest(?::bigint[], ?::text[], ?::text[]) as t(prepayment_id, entry_id, error)
     where w.installation = ? and w.prepayment_id = t.prepayment_id and w.entry_id = t.entry_id`,
    [
      outcomes.map((one) => one.prepaymentId),
      outcomes.map((one) => one.entryId),
      outcomes.map((one) => one.error),
      installation,
    ],
  );
}

/** Which of some prepayments' new versions are but the echo of what we wrote back (the mirror's port). */
export function ownEchoes(db: Db, installation: InstallationId, dialect: Dialect): FindOwnEchoes {
  return async (versions) => {
    const ids = versions.map(({ id }) => id);
    const written = await writtenEntries(db, installation, ids);
    const isEcho = ({ id, previousRaw, raw }: NewVersion) => {
      const entryId = written.get(id);
      return entryId !== undefined && isOwnEcho(previousRaw, raw, entryId, dialect);
    };
    return new Set(versions.filter(isEcho).map(({ id }) => id));
  };
}

/** By prepayment, the entry id that was or is being written back: what an echo of ours carries. */
export async function writtenEntries(
  db: Db,
  installation: InstallationId,
  prepaymentIds: number[],
): Promise<Map<number, string>> {
  const rows = await query<{ prepayment_id: number; entry_id: string }>(
    db,
    'select prepayment_id, entry_id from write_back where installation = ? and prepayment_id = any(?)',
    [installation, prepaymentIds],
  );
  return new Map(rows.map((row) => [row.prepayment_id, row.entry_id]));
}

function planOf(row: CandidateRow, dialect: Dialect) {
  const { externalId } = parseRecord('prepayment', parseJson(row.raw), dialect);
  const recorded =
    row.recorded_entry_id === null || row.recorded_state === null
      ? null
      : { entryId: row.recorded_entry_id, state: row.recorded_state, previousValue: row.previous_value };
  return planWriteBack({ externalId, entryId: row.entry_id, recorded });
}

async function candidatesAfter(
  db: Db,
  installation: InstallationId,
  after: number,
  limit: number,
): Promise<CandidateRow[]> {
  const rows = await query<CandidateRow>(
    db,
    `select d.id, d.entry_id, m.raw, w.entry_id as recorded_entry_id, w.state as recorded_state, w.previous_value
     from document d
     join mirror_record m on m.installation = d.installation and m.kind = d.kind and m.id = d.id
     left join write_back w on w.installation = d.installation and w.prepayment_id = d.id
     where d.installation = ? and d.kind = 'prepayment' and d.id > ? and d.state = 'posted' and d.entry_id is not null
       and m.gone_at is null and (w.state is distinct from 'done' or w.entry_id <> d.entry_id)
     order by d.id limit ?`,
    [installation, after, limit],
  );
  return rows;
}

async function save(
  db: Db,
  installation: InstallationId,
  writeBacks: Omit<PendingWriteBack, 'raw'>[],
  state: 'pending' | 'done',
): Promise<void> {
  if (writeBacks.length === 0) return;
  await query(
    db,
    `insert into write_back (installation, prepayment_id, entry_id, previous_value, state)
     select ?::bigint, t.* , ? from unnest(?::bigint[], ?::text[], ?::text[]) as t(id, entry_id, previous_value)
     on conflict (installation, prepayment_id) do update set entry_id = excluded.entry_id, state = excluded.state,
       previous_value = excluded.previous_value, error = null,
       attempts = case when write_back.entry_id = excluded.entry_id then write_back.attempts else 0 end`,
    [
      installation,
      state,
      writeBacks.map((one) => one.prepaymentId),
      writeBacks.map((one) => one.entryId),
      writeBacks.map((one) => one.previousValue),
    ],
  );
}
