import type { Knex } from 'knex';
import { type Db, query } from '../db/pool.ts';
import { loadEntries } from '../ledger/journal/read.ts';
import type { Decision, PostedBefore } from '../posting/types.ts';
import type { CalendarDate, DocumentKind, DocumentRef, DocumentState } from '../terms.ts';

/** A document that waits to be judged, as claimed by one poster. */
export interface ClaimedDocument extends DocumentRef {
  mark: number;
  refetch: 'no' | 'wanted' | 'done';
  /** Entries it has in the books, reversals included. */
  entryCount: number;
  before: PostedBefore;
}

interface DocumentRow {
  kind: DocumentKind;
  id: number;
  dirty_mark: number;
  refetch: ClaimedDocument['refetch'];
  state: DocumentState;
  document_date: CalendarDate | null;
  entry_id: string | null;
  entry_count: number;
  remap_held: boolean;
}

const documentColumns = 'kind, id, dirty_mark, refetch, state, document_date, entry_id, entry_count, remap_held';

/**
 * Locks the next waiting documents for this transaction, skipping those another poster holds. Documents whose parts are
 * still to be fetched wait for that, unless `last`.
 */
export async function claimDocuments(
  trx: Knex.Transaction,
  installation: number,
  options: { limit: number; last: boolean; judgedBefore: Date },
): Promise<ClaimedDocument[]> {
  const found = await trx.raw<{ rows: DocumentRow[] }>(
    `select ${documentColumns} from document
     where installation = ? and dirty and (refetch <> 'wanted' or (? and (judged_at is null or judged_at < ?)))
     order by kind, id limit ? for update skip locked`,
    [installation, options.last, options.judgedBefore, options.limit],
  );
  return withBefore(trx, found.rows);
}

async function withBefore(db: Db | Knex.Transaction, rows: DocumentRow[]): Promise<ClaimedDocument[]> {
  const before = await postedBefore(db, rows);
  return rows.map((row, i) => ({
    kind: row.kind,
    id: row.id,
    mark: row.dirty_mark,
    refetch: row.refetch,
    entryCount: row.entry_count,
    before: before[i]!,
  }));
}

/** Where a walk over documents has come to, in the order of kind and id. */
export type DocumentCursor = DocumentRef | null;

/**
 * The next documents that the next window judges, without locking them: those marked, and with `doubtful` those that changed
 * conditions mark when it opens (activities/judging.ts `conditionsOf`).
 */
export async function waitingDocuments(
  db: Db,
  installation: number,
  options: { after: DocumentCursor; limit: number; doubtful: boolean },
): Promise<ClaimedDocument[]> {
  const { after, limit, doubtful } = options;
  const rows = await query<DocumentRow>(
    db,
    `select ${documentColumns} from document
     where installation = ? and (dirty or (? and ${isDoubtful})) and (kind, id) > (?::text, ?::bigint)
     order by kind, id limit ?`,
    [installation, doubtful, after?.kind ?? '', after?.id ?? 0, limit],
  );
  return withBefore(db, rows);
}

/** Documents that a changed mapping, start date or lock may let into the books (ACCOUNTING "Held"). */
export const isDoubtful = `(problem_code is not null or state = 'before_start')`;

/** Documents in the books by id, or by document date (both days inclusive); null is open. */
export interface DocumentSelection {
  documents: DocumentRef[] | null;
  from: CalendarDate | null;
  to: CalendarDate | null;
}

/** The next documents with an entry in force; `lock` locks them for this transaction. */
export async function documentsInForce(
  db: Db | Knex.Transaction,
  installation: number,
  selection: DocumentSelection,
  options: { after: DocumentCursor; limit: number; lock: boolean },
): Promise<ClaimedDocument[]> {
  const { after, limit, lock } = options;
  const { sql, bindings } = inForceWhere(installation, selection);
  const rows = await query<DocumentRow>(
    db,
    `select ${documentColumns} from document where ${sql} and (kind, id) > (?::text, ?::bigint)
     order by kind, id limit ? ${lock ? 'for update' : ''}`,
    [...bindings, after?.kind ?? '', after?.id ?? 0, limit],
  );
  return withBefore(db, rows);
}

/** How many documents there are of those. */
export async function countInForce(db: Db, installation: number, selection: DocumentSelection): Promise<number> {
  const { sql, bindings } = inForceWhere(installation, selection);
  const [row] = await query<{ n: number }>(db, `select count(*) as n from document where ${sql}`, bindings);
  return row!.n;
}

function inForceWhere(installation: number, { documents, from, to }: DocumentSelection) {
  const inDates = `installation = ? and entry_id is not null and
    document_date between coalesce(?::date, '-infinity') and coalesce(?::date, 'infinity')`;
  const bindings: unknown[] = [installation, from, to];
  if (documents === null) return { sql: inDates, bindings };
  return {
    sql: `${inDates} and (kind, id) in (select * from unnest(?::text[], ?::bigint[]))`,
    bindings: [...bindings, documents.map(({ kind }) => kind), documents.map(({ id }) => id)],
  };
}

/** What the books hold of one document; null when it was never seen. */
export async function documentBefore(
  db: Db,
  installation: number,
  document: DocumentRef,
): Promise<PostedBefore | null> {
  const found = await db.raw<{ rows: DocumentRow[] }>(
    `select ${documentColumns} from document where installation = ? and kind = ? and id = ?`,
    [installation, document.kind, document.id],
  );
  return (await postedBefore(db, found.rows))[0] ?? null;
}

async function postedBefore(db: Db | Knex.Transaction, rows: DocumentRow[]): Promise<PostedBefore[]> {
  const ids = rows.flatMap((row) => (row.entry_id === null ? [] : [row.entry_id]));
  const entries = new Map((await loadEntries(db, ids)).map((entry) => [entry.id, entry]));
  return rows.map((row) => ({
    inForce: row.entry_id === null ? null : (entries.get(row.entry_id) ?? null),
    everPosted: row.entry_count > 0,
    state: row.state === 'pending' ? null : row.state,
    documentDate: row.document_date,
    remapHeld: row.remap_held,
  }));
}

export interface JudgedDocument {
  document: ClaimedDocument;
  decision: Decision;
  /** Ids of the entries appended for it, in order. */
  entryIds: string[];
  /** Its parts are still to be fetched: it stays marked. */
  waits: boolean;
}

/** The entry in force after the decision. */
function entryOf({ document, decision, entryIds }: JudgedDocument): string | null {
  const last = decision.entries.at(-1);
  if (!last) return document.before.inForce?.id ?? null;
  return last.reverses === null ? entryIds.at(-1)! : null;
}

function hashOf({ document, decision }: JudgedDocument): string | null {
  const last = decision.entries.at(-1);
  if (!last) return document.before.inForce?.inputHash ?? null;
  return last.reverses === null ? last.inputHash : null;
}

const problemSince = `case when t.problem_code is null then null
         when d.problem_code = t.problem_code then d.problem_since else clock_timestamp() end`;

/** Records what was decided; a mark set while the document was being judged stays. A constant number of statements. */
export async function saveJudged(trx: Knex.Transaction, installation: number, judged: JudgedDocument[]): Promise<void> {
  if (judged.length === 0) return;
  await query(
    trx,
    `update document d set
       state = t.state, entry_id = t.entry_id, input_hash = t.input_hash, entry_count = d.entry_count + t.added,
       document_date = coalesce(t.document_date, d.document_date),
       problem_since = ${problemSince}, problem_code = t.problem_code, problem_message = t.problem_message,
       remap_held = t.remap_held, dirty = d.dirty_mark > t.mark or t.waits, refetch = case when t.waits then 'wanted' else 'no' end,
       judged_at = clock_timestamp()
     from unnest(?::text[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::int[], ?::date[], ?::text[], ?::text[],
       ?::bigint[], ?::boolean[], ?::boolean[])
       as t(kind, id, state, entry_id, input_hash, added, document_date, problem_code, problem_message, mark, waits,
         remap_held)
     where d.installation = ? and d.kind = t.kind and d.id = t.id`,
    [
      judged.map((one) => one.document.kind),
      judged.map((one) => one.document.id),
      judged.map((one) => one.decision.state),
      judged.map(entryOf),
      judged.map(hashOf),
      judged.map((one) => one.decision.entries.length),
      judged.map((one) => one.decision.documentDate),
      judged.map((one) => one.decision.problem?.code ?? null),
      judged.map((one) => one.decision.problem?.message ?? null),
      judged.map((one) => one.document.mark),
      judged.map((one) => one.waits),
      judged.map((one) => one.decision.remapHeld ?? false),
      installation,
    ],
  );
  await saveReports(trx, installation, judged);
}

/**
 * Records corrections after a changed mapping: entry and problem. Marks and reports stay: what the source says was not looked
 * at for its own sake.
 */
export async function saveRemapped(
  trx: Knex.Transaction,
  installation: number,
  remapped: JudgedDocument[],
): Promise<void> {
  if (remapped.length === 0) return;
  await query(
    trx,
    `update document d set
       entry_id = t.entry_id, input_hash = t.input_hash, entry_count = d.entry_count + t.added,
       problem_since = ${problemSince}, problem_code = t.problem_code, problem_message = t.problem_message,
       remap_held = t.remap_held
     from unnest(?::text[], ?::bigint[], ?::text[], ?::text[], ?::int[], ?::text[], ?::text[], ?::boolean[])
       as t(kind, id, entry_id, input_hash, added, problem_code, problem_message, remap_held)
     where d.installation = ? and d.kind = t.kind and d.id = t.id`,
    [
      remapped.map((one) => one.document.kind),
      remapped.map((one) => one.document.id),
      remapped.map(entryOf),
      remapped.map(hashOf),
      remapped.map((one) => one.decision.entries.length),
      remapped.map((one) => one.decision.problem?.code ?? null),
      remapped.map((one) => one.decision.problem?.message ?? null),
      remapped.map((one) => one.decision.remapHeld ?? false),
      installation,
    ],
  );
}

async function saveReports(trx: Knex.Transaction, installation: number, judged: JudgedDocument[]): Promise<void> {
  const reports = judged.flatMap(({ document: { kind, id }, decision }) =>
    // One row for each code, however often it was found.
    [...Map.groupBy(decision.reports, ({ code }) => code)].map(([code, found]) => ({
      kind,
      id,
      code,
      message: found.map(({ message }) => message).join('; '),
    })),
  );
  await query(
    trx,
    `delete from document_report r using unnest(?::text[], ?::bigint[]) as t(kind, id)
     where r.installation = ? and r.kind = t.kind and r.id = t.id and not exists (
       select from unnest(?::text[], ?::bigint[], ?::text[]) as kept(kind, id, code)
       where kept.kind = r.kind and kept.id = r.id and kept.code = r.code)`,
    [
      judged.map((one) => one.document.kind),
      judged.map((one) => one.document.id),
      installation,
      reports.map((report) => report.kind),
      reports.map((report) => report.id),
      reports.map((report) => report.code),
    ],
  );
  if (reports.length === 0) return;
  await trx.raw(
    `insert into document_report (installation, kind, id, code, message)
     select ?, t.kind, t.id, t.code, t.message from unnest(?::text[], ?::bigint[], ?::text[], ?::text[])
       as t(kind, id, code, message)
     on conflict (installation, kind, id, code) do update set message = excluded.message`,
    [
      installation,
      reports.map((report) => report.kind),
      reports.map((report) => report.id),
      reports.map((report) => report.code),
      reports.map((report) => report.message),
    ],
  );
}

/** Documents held, and documents whose parts are still to be fetched. */
export async function countWaiting(db: Db, installation: number): Promise<{ held: number; wanted: number }> {
  const found = await db.raw<{ rows: { held: number; wanted: number }[] }>(
    `select (select count(*) from document where installation = ? and problem_code is not null and state = 'held') as held,
       (select count(*) from document where installation = ? and refetch = 'wanted') as wanted`,
    [installation, installation],
  );
  return found.rows[0]!;
}
