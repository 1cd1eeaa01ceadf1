import { rowsAsArrays } from '../db/bulk.ts';
import { bool, integer, json, nullable, oneOf, type RowOf, text, texts } from '../db/columns.ts';
import type { Lease } from '../db/lease.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import { postgresText } from '../domain/text.ts';
import type { InstallationId, SourceKind } from '../terms.ts';
import { type Standing, type WriteBackState, type WriteBackValue, writeBackValues } from './plan.ts';

/**
 * After the source has accepted an entry id this number of times without showing it, the id is given up and reported as
 * a problem.
 */
export const unseenAtMost = 3;
/** After this time, values that no read has shown, and values that were given up, are read again. */
const lookAgainAfter = `interval '1 day'`;

/** The lane that writes to the source. Its claims on rows are valid until its lease ends. */
export type Claimant = Pick<Lease, 'lane' | 'token'>;

/** SQL for a row `b`: replaces the plan by a new one, of which nothing was sent yet. */
export const newPlan = `unit_id = excluded.unit_id, value_is = excluded.value_is, value = excluded.value, state = 'pending', attempts = 0,
  not_before = null, error_code = null, error = null, error_since = null, sent_at = null, value_before = null, read_back = null,
  read_back_at = null, unseen = 0, written_at = null, claimed_lane = null, claimed_token = null`;

/** SQL condition on a row `b`: no other lane has claimed it. Bindings: lane and token of the claimant. */
export const isFree = `(b.claimed_token is null or (b.claimed_lane = ? and b.claimed_token = ?)
  or not exists (select from lease l where l.installation = b.installation and l.lane = b.claimed_lane
    and l.token = b.claimed_token and l.expires_at > clock_timestamp()))`;

/** The condition of the index `write_back_open`. */
export const isOpen = `b.state in ('pending', 'failed', 'taken')`;
/** The condition of the index `write_back_unread`: the source accepted the value, and no read has shown it. */
export const isUnshown = `((b.state = 'done' and b.read_back is null) or b.read_back = 'given_up')`;

/**
 * The part of the outbox that one worker writes. A window writes entry ids. A delivery writes the ERP's numbers, and
 * restores the values that the source had before them.
 */
export interface Selection {
  kind: SourceKind;
  values: readonly WriteBackValue[];
}

/**
 * Claims documents before they are read. Otherwise a window and a backfill could send the same value, and overwrite
 * what staff write between the two requests. A claim is valid until the outcome is recorded or the lane's lease ends.
 * Returns the ids of the claimed documents.
 */
export async function claim(
  trx: Connection,
  installation: InstallationId,
  kind: SourceKind,
  ids: readonly number[],
  { lane, token }: Claimant,
): Promise<number[]> {
  const claimed = await rows(
    trx,
    { id: integer },
    `update write_back b set claimed_lane = ?, claimed_token = ?
     where b.installation = ? and b.kind = ? and b.document_id = any(?::bigint[]) and ${isOpen} and ${isFree}
     returning b.document_id as id`,
    [lane, token, installation, kind, ids, lane, token],
  );
  return claimed.map(({ id }) => id).sort((a, b) => a - b);
}

const rowShape = {
  id: integer,
  unitId: text,
  valueIs: oneOf(writeBackValues),
  value: nullable(text),
  /** All values that were sent, or are being sent, for the document. vetledger may replace them. */
  ownValues: texts,
  /** The value of another program that ours replaced. */
  previousValue: nullable(text),
  attempts: integer,
  /**
   * Whether it was sent and no read has shown the result yet. `valueBefore` is the value that the source had before.
   */
  isSent: bool,
  valueBefore: nullable(text),
  /** Whether the newest version of the record is put aside. `raw` is an older version then. */
  isAside: bool,
  /** The record in the mirror, as JSON text. */
  raw: nullable(json),
};
/** A document with a value to write, or to read back. */
export type WriteBackRow = RowOf<typeof rowShape>;

const rowColumns = `b.document_id as id, b.unit_id as "unitId", b.value_is as "valueIs", b.value, b.own_values as "ownValues",
  b.previous_value as "previousValue", b.attempts, b.sent_at is not null as "isSent", b.value_before as "valueBefore", m.raw,
  exists (select from put_aside a where a.installation = b.installation and a.kind = b.kind and a.record = b.document_id::text) as "isAside"`;

/** One look-up per write-back. Otherwise PostgreSQL may read all records to find a few. */
const joinRecord = `left join lateral (
  select gone_at, raw from mirror_record r
  where r.installation = b.installation and r.kind = b.kind and r.id = b.document_id limit 1) m on true`;

/**
 * The documents among these that have a value to write. A planned entry id is left out if another entry is in force
 * now.
 */
export function openWriteBacks(
  db: Connection,
  installation: InstallationId,
  { kind, values }: Selection,
  ids: readonly number[],
): Promise<WriteBackRow[]> {
  return rows(
    db,
    rowShape,
    `select ${rowColumns} from write_back b ${joinRecord}
     where b.installation = ? and b.kind = ? and b.document_id = any(?::bigint[]) and ${isOpen} and b.value_is = any(?)
       and (b.value_is <> 'entry_id' or exists (
         select from document d where d.installation = b.installation and d.kind = b.kind and d.id = b.document_id
           and d.state = 'posted' and d.entry_id = b.value))
     order by b.document_id`,
    [installation, kind, ids, values],
  );
}

/** Documents whose value the source has accepted and no read has shown, by id above `after`. */
export function unreadWriteBacks(
  db: Connection,
  installation: InstallationId,
  { kind, values }: Selection,
  { after, limit }: { after: number; limit: number },
): Promise<WriteBackRow[]> {
  return rows(
    db,
    rowShape,
    `select ${rowColumns} from write_back b ${joinRecord}
     where b.installation = ? and b.kind = ? and b.document_id > ? and b.value_is = any(?) and m.gone_at is null and ${isUnshown}
       and (b.read_back_at is null or b.read_back_at < clock_timestamp() - ${lookAgainAfter})
     order by b.document_id limit ?`,
    [installation, kind, after, values, limit],
  );
}

/** A value that is about to be sent, and the value that the source has now. */
export interface Sending extends Pick<WriteBackRow, 'id' | 'unitId' | 'previousValue'> {
  current: string | null;
}

/**
 * Records that values are about to be sent. From then on they count as ours. Until a read shows the result, the
 * source's value may be ours, or may have been written after ours. If an earlier request is still in doubt, the value
 * before that request is kept.
 */
export async function recordSending(
  trx: Connection,
  installation: InstallationId,
  kind: SourceKind,
  sending: readonly Sending[],
): Promise<void> {
  if (sending.length === 0) return;
  const { from, bindings } = rowsAsArrays(
    'sent',
    { id: 'bigint', unit_id: 'text', previous_value: 'text', current: 'text' },
    sending.map(({ id, unitId, previousValue, current }) => ({
      ...{ id, unit_id: unitId, previous_value: previousValue, current },
    })),
  );
  await execute(
    trx,
    `update write_back b set previous_value = sent.previous_value, sent_at = coalesce(b.sent_at, clock_timestamp()),
       value_before = case when b.sent_at is null then sent.current else b.value_before end,
       own_values = case when b.value_is = 'former' or b.value = any(b.own_values) then b.own_values else b.own_values || b.value end
     from ${from} where b.installation = ? and b.kind = ? and b.document_id = sent.id and b.unit_id = sent.unit_id`,
    [...bindings, installation, kind],
  );
}

/** Records that values were not sent after all, so that they are not in doubt. */
export async function recordNotSent(
  trx: Connection,
  installation: InstallationId,
  kind: SourceKind,
  ids: readonly number[],
): Promise<void> {
  await execute(
    trx,
    `update write_back b set sent_at = null, value_before = null
     where b.installation = ? and b.kind = ? and b.document_id = any(?::bigint[]) and ${isOpen}`,
    [installation, kind, ids],
  );
}

/** The result of one attempt to write a document's value or to read it back. */
export interface Outcome extends Pick<WriteBackRow, 'id' | 'unitId'> {
  /**
   * `absent`: the source does not have the record, or the record has no external_info. Null leaves the state as it is.
   */
  state: Exclude<WriteBackState, 'pending'> | null;
  /** Whether the source has just accepted the write-back. */
  isAccepted: boolean;
  /** Whether the write-back may have taken effect despite the error. */
  isInDoubt: boolean;
  /** The value that a read has shown. Null if there was no read. */
  standing: Standing | null;
  /** True for a request and for the read before it; false for the read after it. */
  isAttempt: boolean;
  error: { code: string; message: string } | null;
  /** Seconds until the next attempt. */
  waitSeconds: number;
}

/**
 * Records the outcomes of documents. An outcome is ignored if another plan has replaced its plan. An accepted value
 * stays in doubt until a later read shows it. After `unseenAtMost` reads without it, an entry id is given up. A failed
 * attempt to write an entry id is not reported as a problem.
 */
export async function recordOutcomes(
  trx: Connection,
  installation: InstallationId,
  kind: SourceKind,
  outcomes: readonly Outcome[],
): Promise<void> {
  if (outcomes.length === 0) return;
  const { from, bindings } = rowsAsArrays(
    'ended',
    {
      ...{ id: 'bigint', unit_id: 'text', state: 'text', accepted: 'boolean', in_doubt: 'boolean', standing: 'text' },
      ...{ attempt: 'boolean', code: 'text', message: 'text', wait_seconds: 'double precision' },
    },
    // All transactions lock documents in this order, and a trigger updates them here.
    outcomes
      .toSorted((a, b) => a.id - b.id)
      .map(({ id, unitId, state, isAccepted, isInDoubt, standing, isAttempt, error, waitSeconds }) => ({
        ...{ id, unit_id: unitId, state, accepted: isAccepted, in_doubt: isInDoubt, standing, attempt: isAttempt },
        ...{ code: error?.code ?? null, message: error && postgresText(error.message), wait_seconds: waitSeconds },
      })),
  );
  const code = `case when b.value_is <> 'entry_id' then ended.code end`;
  const isDoubtful = `(ended.state is null or ended.accepted or ended.in_doubt or coalesce(ended.standing = 'missing', false))`;
  await execute(
    trx,
    `update write_back b set state = coalesce(ended.state, b.state),
       error_code = ${code}, error = case when ended.state is null then b.error else ended.message end,
       error_since = case when ${code} is null then null when b.error_code = ended.code then b.error_since else clock_timestamp() end,
       attempts = b.attempts + (ended.attempt and ended.standing is null)::int,
       not_before = case when ended.wait_seconds > 0 then clock_timestamp() + make_interval(secs => ended.wait_seconds) end,
       written_at = case when ended.accepted or b.written_at is null and b.sent_at is not null and ended.standing = 'shown'
         then clock_timestamp() else b.written_at end,
       read_back = case when ended.accepted then null
         when ended.standing = 'missing' and b.value_is = 'entry_id' and b.unseen + 1 >= ? then 'given_up'
         when ended.standing = 'missing' then 'unseen'
         when ended.state = 'done' or not ended.attempt then coalesce(ended.standing, b.read_back) else b.read_back end,
       read_back_at = case when ended.attempt then null else clock_timestamp() end,
       unseen = case when ended.standing = 'missing' then b.unseen + 1 when ended.standing is null then b.unseen else 0 end,
       sent_at = case when ${isDoubtful} then b.sent_at end,
       value_before = case when ${isDoubtful} then b.value_before end,
       claimed_lane = null, claimed_token = null
     from ${from}
     where b.installation = ? and b.kind = ? and b.document_id = ended.id and b.unit_id = ended.unit_id
       and b.document_id = any(?::bigint[]) and (ended.attempt or ${isUnshown})`,
    [unseenAtMost, ...bindings, installation, kind, outcomes.map(({ id }) => id)],
  );
}

/** The values among these that are numbers of our units. */
export async function numbersOfOurs(
  db: Connection,
  installation: InstallationId,
  values: readonly string[],
): Promise<Set<string>> {
  if (values.length === 0) return new Set();
  const found = await rows(
    db,
    { value: text },
    'select distinct erp_number as value from erp_unit where installation = ? and erp_number = any(?)',
    [installation, values],
  );
  return new Set(found.map(({ value }) => value));
}
