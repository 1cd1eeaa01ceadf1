import { rowsAsArrays } from '../db/bulk.ts';
import { bool, integer, json, nullable, oneOf, type RowOf, text } from '../db/columns.ts';
import type { Lease } from '../db/lease.ts';
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

/** The lane whose work tells the source. What it is about to send is its own until its lease ends. */
export type Claimant = Pick<Lease, 'lane' | 'token'>;

/**
 * The next prepayments to write back, by id after `after`; fewer than `limit` only at the end. Those whose entry id stands in
 * the source already are recorded as done. Those returned are recorded as pending first, so that a value we replace is kept,
 * and our own echo is recognised, even if the process dies after writing. One that was refused comes again in each window.
 *
 * They are claimed, too: a window and a backfill that sent the same entry id side by side would write over what staff write
 * between the two requests. What another lane has claimed is left to it, until it has recorded the outcome or its lease ends.
 */
export async function pendingWriteBacks(
  db: Connection,
  installation: InstallationId,
  options: { after: number; through?: number; limit: number; dialect: Dialect; claimant: Claimant },
): Promise<PendingWriteBack[]> {
  const { claimant, dialect, limit, through } = options;
  const pending: PendingWriteBack[] = [];
  for (let { after } = options; ; ) {
    const missing = limit - pending.length;
    const candidates = await candidatesAfter(db, installation, { after, through, limit: missing, claimant });
    const planned = candidates.map((candidate) => ({ ...candidate, ...planOf(candidate, dialect) }));
    const toWrite = planned.filter(({ action }) => action === 'write').map(pendingOf);
    await save(db, installation, planned.filter(({ action }) => action === 'note').map(pendingOf), 'done', claimant);
    const claimed = await save(db, installation, toWrite, 'pending', claimant);
    pending.push(...toWrite.filter(({ prepaymentId }) => claimed.has(prepaymentId)));
    const last = candidates.at(-1);
    if (last === undefined || candidates.length < missing || pending.length >= limit) return pending;
    after = last.prepaymentId;
  }
}

/** Whether `pendingWriteBacks` may have something to do: also what another lane has claimed. */
export async function areWriteBacksWaiting(db: Connection, installation: InstallationId): Promise<boolean> {
  // In the order of the index, as PostgreSQL would read the table for any one row where it expects many.
  const found = await rows(
    db,
    {},
    `select from document
     where installation = ? and kind = 'prepayment' and state = 'posted' and entry_id is not null
       and written_entry_id is distinct from entry_id order by id limit 1`,
    [installation],
  );
  return found.length > 0;
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

/**
 * Records how write-backs ended, and counts the attempts. What was accepted stays in doubt until a later read shows it: `value_before`
 * tells then whether somebody else has written since (read-back.ts).
 */
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
       claimed_lane = null, claimed_token = null,
       sent_at = case when ended.in_doubt or ended.error is null then w.sent_at end,
       value_before = case when ended.in_doubt or ended.error is null then w.value_before end,
       read_back = null, read_back_at = null,
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

/** Of a row `w` of write_back: nobody else is about to send it. Bindings: `bindingsOf`. */
const isFree = (w: string) => `(${w}.claimed_token is null or (${w}.claimed_lane = ? and ${w}.claimed_token = ?)
  or not exists (select from lease l where l.installation = ${w}.installation and l.lane = ${w}.claimed_lane
    and l.token = ${w}.claimed_token and l.expires_at > clock_timestamp()))`;

const bindingsOf = ({ lane, token }: Claimant) => [lane, token];

/**
 * Posted prepayments by id whose entry in force is not recorded as written: `written_entry_id` follows the table `write_back`.
 * PostgreSQL takes them for nearly all prepayments; looked up one by one, they cost what they are.
 */
function candidatesAfter(
  db: Connection,
  installation: InstallationId,
  {
    after,
    through,
    limit,
    claimant,
  }: { after: number; through: number | undefined; limit: number; claimant: Claimant },
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
       and (w.state is distinct from 'done' or w.entry_id <> d.entry_id) and ${isFree('w')}
     order by d.id limit ?`,
    [installation, after, through ?? Number.MAX_SAFE_INTEGER, ...bindingsOf(claimant), limit],
  );
}

/** Gives the ids of those that were saved: not those that another lane has claimed or written since they were looked up. */
async function save(
  db: Connection,
  installation: InstallationId,
  writeBacks: readonly PendingWriteBack[],
  state: 'pending' | 'done',
  claimant: Claimant,
): Promise<Set<number>> {
  if (writeBacks.length === 0) return new Set();
  const { from, bindings } = rowsAsArrays(
    'planned',
    { id: 'bigint', entry_id: 'text', previous_value: 'text', read_back: 'text' },
    writeBacks.map(({ prepaymentId, entryId, previousValue, externalId }) => ({
      ...{ id: prepaymentId, entry_id: entryId, previous_value: previousValue },
      // Noted as done is what the mirror shows: our id, or what somebody wrote in its place.
      read_back: state === 'pending' ? null : externalId === entryId ? 'shown' : 'foreign',
    })),
  );
  const [lane, token] = state === 'pending' ? bindingsOf(claimant) : [null, null];
  const saved = await rows(
    db,
    { id: integer },
    `insert into write_back as w (installation, prepayment_id, entry_id, previous_value, state, claimed_lane, claimed_token,
       read_back)
     select ?::bigint, planned.id, planned.entry_id, planned.previous_value, ?::text, ?::text, ?::bigint,
       planned.read_back from ${from}
     on conflict (installation, prepayment_id) do update set entry_id = excluded.entry_id, state = excluded.state,
       previous_value = excluded.previous_value, error = null,
       read_back = excluded.read_back, read_back_at = null,
       unseen = case when w.entry_id = excluded.entry_id and excluded.state = 'pending' then w.unseen else 0 end,
       claimed_lane = excluded.claimed_lane, claimed_token = excluded.claimed_token,
       sent_at = case when w.entry_id = excluded.entry_id and excluded.state = 'pending' then w.sent_at end,
       value_before = case when w.entry_id = excluded.entry_id and excluded.state = 'pending' then w.value_before end,
       attempts = case when w.entry_id = excluded.entry_id then w.attempts else 0 end
     where ${isFree('w')} and (w.state <> 'done' or w.entry_id <> excluded.entry_id)
     returning prepayment_id as id`,
    [installation, state, lane, token, ...bindings, ...bindingsOf(claimant)],
  );
  return new Set(saved.map(({ id }) => id));
}
