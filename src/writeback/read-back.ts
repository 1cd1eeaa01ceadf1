import { rowsAsArrays } from '../db/bulk.ts';
import { instant, integer, json, nullable, type RowOf, text } from '../db/columns.ts';
import type { Transact } from '../db/lease.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import type { Dialect } from '../records/dialect.ts';
import { externalIdIn } from '../records/external-id.ts';
import { parseJson } from '../records/json.ts';
import type { InstallationId } from '../terms.ts';
import { type ReadBack, readBackOf } from './plan.ts';

/** Looked for together: ten pages of the list where they lie beside each other. */
const batchSize = 500;
/** So often an entry id is accepted and then not shown by a later read, before it is given up and named as a problem. */
export const unseenAtMost = 3;
/** What no read has decided is looked for again after so long, and so is what was given up. */
const lookAgainAfter = `interval '1 day'`;

export interface ReadBackPorts {
  /** Records of what the looks have shown. */
  transact: Transact;
  /** Fetches prepayments into the mirror again; gives the ids of those that the source still has. */
  refresh(ids: number[]): Promise<Set<number>>;
  /** The external id as the sub-resource has it, for records that do not show it. */
  read(prepaymentId: number): Promise<string | null>;
  onUnseen(prepaymentId: number, message: string): void;
}

export interface ReadBackReport {
  /** Entry ids that were found to stand in the source. */
  confirmed: number;
  /** Entry ids that the source has accepted, that were looked for, and that no read has shown. */
  unconfirmed: number;
}

/**
 * Looks for the entry ids that the source has accepted since they were read last: by pages of the list, after their writes. What is
 * not shown is written again by the next window, and given up after some times; what somebody else has written since stays.
 */
export async function readBackAll(
  installation: InstallationId,
  dialect: Dialect,
  ports: ReadBackPorts,
): Promise<ReadBackReport> {
  const report = { confirmed: 0, unconfirmed: 0 };
  for (let after = 0; ; ) {
    const batch = await ports.transact((trx) => unread(trx, installation, after));
    const last = batch.at(-1)?.prepaymentId;
    if (last === undefined) break;
    const found = await ports.refresh(batch.map(({ prepaymentId }) => prepaymentId));
    const seen = new Map(
      (await ports.transact((trx) => unread(trx, installation, after))).map((each) => [each.prepaymentId, each]),
    );
    const looks: Look[] = [];
    for (const { prepaymentId } of batch) {
      const written = seen.get(prepaymentId);
      if (written === undefined) continue;
      looks.push(
        found.has(prepaymentId) ? await lookAt(written, dialect, ports) : { ...written, readBack: null, error: null },
      );
    }
    await ports.transact((trx) => recordLooks(trx, installation, looks));
    for (const { prepaymentId, error } of looks) if (error !== null) ports.onUnseen(prepaymentId, error);
    for (const { readBack } of looks) {
      if (readBack === 'shown') report.confirmed += 1;
      else if (readBack !== 'foreign') report.unconfirmed += 1;
    }
    after = last;
  }
  return report;
}

const writtenShape = {
  prepaymentId: integer,
  entryId: text,
  raw: json,
  previousValue: nullable(text),
  valueBefore: nullable(text),
};
type Written = RowOf<typeof writtenShape>;

interface Look extends Pick<Written, 'prepaymentId' | 'entryId'> {
  /** Null: the read did not show the record. */
  readBack: ReadBack | null;
  error: string | null;
}

async function lookAt(
  { prepaymentId, entryId, raw, previousValue, valueBefore }: Written,
  dialect: Dialect,
  { read }: ReadBackPorts,
): Promise<Look> {
  const shown = externalIdIn(dialect, 'prepayment', parseJson(raw));
  const isApart = !shown.isCarried && dialect.external_info.mode === 'subresource';
  const externalId = isApart ? await read(prepaymentId) : shown.value;
  const readBack = readBackOf({ externalId, entryId, before: [previousValue, valueBefore] });
  const stands = externalId === null ? 'none' : 'another one';
  const error = readBack === 'unseen' ? `the entry id ${entryId} was accepted, and ${stands} stands there` : null;
  return { prepaymentId, entryId, readBack, error };
}

/** As the index `write_back_unread` has it. */
const isUnshown = `(w.state = 'done' and w.read_back is null) or w.read_back = 'given_up'`;
const isUnread = `(${isUnshown})
  and (w.read_back_at is null or w.read_back_at < clock_timestamp() - ${lookAgainAfter})`;

/** One look-up for each write-back: PostgreSQL shall not read all prepayments to find a few. */
const theirRecord = `cross join lateral (
  select gone_at, raw from mirror_record r
  where r.installation = w.installation and r.kind = 'prepayment' and r.id = w.prepayment_id limit 1) m`;

function unread(db: Connection, installation: InstallationId, after: number): Promise<Written[]> {
  return rows(
    db,
    writtenShape,
    `select w.prepayment_id as "prepaymentId", w.entry_id as "entryId", m.raw, w.previous_value as "previousValue",
       w.value_before as "valueBefore"
     from write_back w ${theirRecord}
     where w.installation = ? and w.prepayment_id > ? and m.gone_at is null and ${isUnread}
     order by w.prepayment_id limit ${batchSize}`,
    [installation, after],
  );
}

/** Whether `readBackAll` has something to look for. */
export async function isReadBackWaiting(db: Connection, installation: InstallationId): Promise<boolean> {
  const found = await rows(
    db,
    {},
    `select from write_back w ${theirRecord}
     where w.installation = ? and m.gone_at is null and ${isUnread} order by w.prepayment_id limit 1`,
    [installation],
  );
  return found.length > 0;
}

async function recordLooks(db: Connection, installation: InstallationId, looks: readonly Look[]): Promise<void> {
  if (looks.length === 0) return;
  const { from, bindings } = rowsAsArrays(
    'looked',
    { prepayment_id: 'bigint', entry_id: 'text', read_back: 'text', error: 'text' },
    looks.map(({ prepaymentId, entryId, readBack, error }) => ({
      ...{ prepayment_id: prepaymentId, entry_id: entryId, read_back: readBack, error },
    })),
  );
  // What was in doubt is so until a read shows what stands there.
  await execute(
    db,
    `update write_back w set read_back_at = clock_timestamp(),
       read_back = case when looked.read_back = 'unseen' and w.unseen + 1 >= ? then 'given_up'
         else coalesce(looked.read_back, w.read_back) end,
       unseen = case when looked.read_back is null then w.unseen when looked.read_back = 'unseen' then w.unseen + 1 else 0 end,
       state = case when looked.read_back is null then w.state when looked.read_back = 'unseen' then 'failed' else 'done' end,
       error = case when looked.read_back is null then w.error else looked.error end,
       sent_at = case when looked.read_back in ('shown', 'foreign') then null else w.sent_at end,
       value_before = case when looked.read_back in ('shown', 'foreign') then null else w.value_before end
     from ${from} where w.installation = ? and w.prepayment_id = looked.prepayment_id and w.entry_id = looked.entry_id
       and w.prepayment_id = any(?) and (w.state = 'done' or w.read_back = 'given_up')`,
    [unseenAtMost, ...bindings, installation, looks.map(({ prepaymentId }) => prepaymentId)],
  );
}

export interface WriteBackCounts {
  /** Prepayments whose id, or whose ERP number, a later read has shown. */
  confirmed: number;
  /** Prepayments whose id or number was accepted, and that no later read has shown yet. */
  unconfirmed: number;
}

/** What was accepted and never shown. */
const unconfirmed = `
  select installation from write_back w where installation = any(?) and (${isUnshown})
  union all select installation from write_back where installation = any(?) and state <> 'done' and read_back = 'unseen'
  union all select installation from erp_number_write_back
  where installation = any(?) and kind = 'prepayment' and not restores and accepted_at is not null and state in ('failed', 'pending')`;

/** How many prepayments of these installations were written back; none of those without any. */
export async function writeBackCounts(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<Map<InstallationId, WriteBackCounts>> {
  const counts = await rows(
    db,
    { installation: integer, confirmed: integer, unconfirmed: integer },
    `select installation, count(*) filter (where confirmed) as confirmed, count(*) filter (where not confirmed) as unconfirmed
     from (
       select installation, true as confirmed from write_back
       where installation = any(?) and state = 'done' and read_back = 'shown'
       union all
       select installation, true from erp_number_write_back
       where installation = any(?) and kind = 'prepayment' and not restores and accepted_at is not null and state = 'done'
       union all
       select installation, false from (${unconfirmed}) u
     ) written group by installation`,
    Array(5).fill(installations),
  );
  return new Map(counts.map(({ installation, ...each }) => [installation, each]));
}

/** Prepayments whose entry id was accepted and never shown, as often as it is tried. */
export const givenUp = `select installation, prepayment_id, read_back_at from write_back
  where installation = any(?) and read_back = 'given_up'`;

/** Those that were given up, by id, and when that was found last. */
export async function givenUpWriteBacks(
  db: Connection,
  installation: InstallationId,
): Promise<Map<number, Date | null>> {
  const found = await rows(
    db,
    { id: integer, at: nullable(instant) },
    `select prepayment_id as id, read_back_at as at from (${givenUp}) g`,
    [[installation]],
  );
  return new Map(found.map(({ id, at }) => [id, at]));
}

/** Has the entry ids of prepayments written again, also one that was given up; not where somebody else's value stands. */
export async function writeAgain(
  db: Connection,
  installation: InstallationId,
  prepaymentIds: readonly number[],
): Promise<void> {
  await execute(
    db,
    `update write_back set state = 'failed', read_back = null, read_back_at = null, unseen = 0,
       sent_at = coalesce(sent_at, clock_timestamp())
     where installation = ? and prepayment_id = any(?)`,
    [installation, prepaymentIds],
  );
}
