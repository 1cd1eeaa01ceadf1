import { rowsAsArrays } from '../db/bulk.ts';
import { bool, integer, json, nullable, oneOf, type RowOf, text } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import type { Dialect } from '../records/dialect.ts';
import { parseJson } from '../records/json.ts';
import { parseRecord } from '../records/schema.ts';
import type { InstallationId } from '../terms.ts';
import { planWriteBack, type RecordedWriteBack, writeBackStates } from './plan.ts';

/** A posted prepayment whose entry id the source is still to be told. */
export interface PendingWriteBack {
  prepaymentId: number;
  entryId: string;
  /** The prepayment as the mirror has it, JSON text. */
  raw: string;
  /** `external_id` as the mirror has it. */
  externalId: string | null;
  /** The foreign value that ours will replace. */
  previousValue: string | null;
}

/** How one ended: done, or refused with what the source said. */
export interface WriteBackOutcome extends Pick<PendingWriteBack, 'prepaymentId' | 'entryId'> {
  error: string | null;
  /** It may have taken effect: what stands in the source next may be ours, or somebody's who wrote after it. */
  isInDoubt: boolean;
}

/**
 * The next prepayments to write back, by id after `after`; fewer than `limit` only at the end. Those whose entry id stands in
 * the source already are recorded as done. Those returned are recorded as pending first, so that a value we replace is kept,
 * and our own echo is recognised, even if the process dies after writing. One that was refused comes again in each window.
 */
export async function pendingWriteBacks(
  db: Connection,
  installation: InstallationId,
  options: { after: number; through?: number; limit: number; dialect: Dialect },
): Promise<PendingWriteBack[]> {
  const pending: PendingWriteBack[] = [];
  for (let { after } = options; ; ) {
    const missing = options.limit - pending.length;
    const candidates = await candidatesAfter(db, installation, { after, through: options.through, limit: missing });
    const planned = candidates.map((candidate) => ({ ...candidate, ...planOf(candidate, options.dialect) }));
    const toWrite = planned.filter(({ action }) => action === 'write').map(pendingOf);
    await save(db, installation, planned.filter(({ action }) => action === 'note').map(pendingOf), 'done');
    await save(db, installation, toWrite, 'pending');
    pending.push(...toWrite);
    const last = candidates.at(-1);
    if (last === undefined || candidates.length < missing || pending.length >= options.limit) return pending;
    after = last.prepaymentId;
  }
}

/**
 * Notes that requests are about to be sent, before they are: until their outcome is recorded, what stands in the source may be
 * theirs or somebody else's. Of a request in doubt already, the value that stood there first stays.
 */
export async function noteSending(
  db: Connection,
  installation: InstallationId,
  writeBacks: readonly PendingWriteBack[],
): Promise<void> {
  if (writeBacks.length === 0) return;
  const { from, bindings } = rowsAsArrays(
    'sent',
    { prepayment_id: 'bigint', entry_id: 'text', value_before: 'text' },
    writeBacks.map(({ prepaymentId, entryId, externalId }) => ({
      prepayment_id: prepaymentId,
      entry_id: entryId,
      value_before: externalId,
    })),
  );
  await execute(
    db,
    `update write_back w set sent_at = clock_timestamp(), value_before = sent.value_before
     from ${from} where w.installation = ? and w.prepayment_id = sent.prepayment_id and w.entry_id = sent.entry_id
       and w.prepayment_id = any(?) and w.sent_at is null`,
    [...bindings, installation, writeBacks.map(({ prepaymentId }) => prepaymentId)],
  );
}

/** Records how write-backs ended, and counts the attempts. */
export async function recordWriteBacks(
  db: Connection,
  installation: InstallationId,
  outcomes: readonly WriteBackOutcome[],
): Promise<void> {
  if (outcomes.length === 0) return;
  const { from, bindings } = rowsAsArrays(
    'ended',
    { prepayment_id: 'bigint', entry_id: 'text', error: 'text', in_doubt: 'boolean' },
    // In the order in which others lock the documents, which a trigger updates with it.
    outcomes
      .toSorted((a, b) => a.prepaymentId - b.prepaymentId)
      .map(({ prepaymentId, entryId, error, isInDoubt }) => ({
        ...{ prepayment_id: prepaymentId, entry_id: entryId, error },
        in_doubt: isInDoubt,
      })),
  );
  await execute(
    db,
    `update write_back w set state = case when ended.error is null then 'done' else 'failed' end, error = ended.error,
       sent_at = case when ended.in_doubt then w.sent_at end, value_before = case when ended.in_doubt then w.value_before end,
       attempts = attempts + 1, written_at = case when ended.error is null then clock_timestamp() else written_at end
     from ${from} where w.installation = ? and w.prepayment_id = ended.prepayment_id and w.entry_id = ended.entry_id
       and w.prepayment_id = any(?)`,
    [...bindings, installation, outcomes.map(({ prepaymentId }) => prepaymentId)],
  );
}

const candidateShape = {
  prepaymentId: integer,
  entryId: text,
  raw: json,
  recordedEntryId: nullable(text),
  recordedState: nullable(oneOf(writeBackStates)),
  previousValue: nullable(text),
  isDoubtful: bool,
  valueBefore: nullable(text),
};
type Candidate = RowOf<typeof candidateShape>;

function planOf(candidate: Candidate, dialect: Dialect) {
  const { raw, entryId, recordedEntryId, recordedState, previousValue, isDoubtful, valueBefore } = candidate;
  const { externalId } = parseRecord('prepayment', parseJson(raw), dialect);
  const recorded: RecordedWriteBack | null =
    recordedEntryId === null || recordedState === null
      ? null
      : {
          ...{ entryId: recordedEntryId, state: recordedState, previousValue },
          doubt: isDoubtful ? { valueBefore } : null,
        };
  return { externalId, ...planWriteBack({ externalId, entryId, recorded }) };
}

function pendingOf({ prepaymentId, entryId, raw, externalId, previousValue }: PendingWriteBack): PendingWriteBack {
  return { prepaymentId, entryId, raw, externalId, previousValue };
}

/**
 * Posted prepayments by id whose entry in force is not recorded as written: `written_entry_id` follows the table `write_back`.
 * PostgreSQL takes them for nearly all prepayments; looked up one by one, they cost what they are.
 */
function candidatesAfter(
  db: Connection,
  installation: InstallationId,
  { after, through, limit }: { after: number; through: number | undefined; limit: number },
): Promise<Candidate[]> {
  return rows(
    db,
    candidateShape,
    `select d.id as "prepaymentId", d.entry_id as "entryId", m.raw, w.entry_id as "recordedEntryId",
       w.state as "recordedState", w.previous_value as "previousValue",
       w.sent_at is not null as "isDoubtful", w.value_before as "valueBefore"
     from document d
     cross join lateral (
       select * from mirror_record r where r.installation = d.installation and r.kind = d.kind and r.id = d.id limit 1) m
     left join lateral (
       select * from write_back b where b.installation = d.installation and b.prepayment_id = d.id limit 1) w on true
     where d.installation = ? and d.kind = 'prepayment' and d.id > ? and d.id <= ? and d.state = 'posted' and d.entry_id is not null
       and d.written_entry_id is distinct from d.entry_id and m.gone_at is null
       and (w.state is distinct from 'done' or w.entry_id <> d.entry_id)
     order by d.id limit ?`,
    [installation, after, through ?? Number.MAX_SAFE_INTEGER, limit],
  );
}

async function save(
  db: Connection,
  installation: InstallationId,
  writeBacks: readonly PendingWriteBack[],
  state: 'pending' | 'done',
): Promise<void> {
  if (writeBacks.length === 0) return;
  const { from, bindings } = rowsAsArrays(
    'planned',
    { id: 'bigint', entry_id: 'text', previous_value: 'text' },
    writeBacks.map(({ prepaymentId, entryId, previousValue }) => ({
      id: prepaymentId,
      entry_id: entryId,
      previous_value: previousValue,
    })),
  );
  await execute(
    db,
    `insert into write_back (installation, prepayment_id, entry_id, previous_value, state)
     select ?::bigint, planned.id, planned.entry_id, planned.previous_value, ?::text from ${from}
     on conflict (installation, prepayment_id) do update set entry_id = excluded.entry_id, state = excluded.state,
       previous_value = excluded.previous_value, error = null,
       sent_at = case when write_back.entry_id = excluded.entry_id and excluded.state = 'pending' then write_back.sent_at end,
       value_before = case when write_back.entry_id = excluded.entry_id and excluded.state = 'pending' then write_back.value_before end,
       attempts = case when write_back.entry_id = excluded.entry_id then write_back.attempts else 0 end`,
    [installation, state, ...bindings],
  );
}
