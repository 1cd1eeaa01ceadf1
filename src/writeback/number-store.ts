import { rowsAsArrays } from '../db/bulk.ts';
import { bool, instant, integer, json, nullable, oneOf, type RowOf, text, texts } from '../db/columns.ts';
import { type Connection, execute, row, rows } from '../db/rows.ts';
import { storable } from '../domain/text.ts';
import { type DocumentKind, documentKinds, type InstallationId } from '../terms.ts';

/**
 * Takes units whose number, or whose settlement without being sent, is new, and plans what their documents' records are to be
 * told: the number of the entry in force, or of its day's summary; for a document without entry in force, what stood there before
 * ours. Nothing while the newest entry is not delivered. Returns how many units were taken.
 */
export async function planNumbers(
  trx: Connection,
  installation: InstallationId,
  { kinds, limit }: { kinds: readonly DocumentKind[]; limit: number },
): Promise<number> {
  const { taken } = await row(
    trx,
    { taken: integer },
    `with due as (
       delete from erp_number_due d using (
         select unit_id from erp_number_due where installation = ? limit ? for update skip locked
       ) next
       where d.installation = ? and d.unit_id = next.unit_id returning d.unit_id
     ), touched as (
       select e.kind, e.document_id from due join entry e on e.id = due.unit_id
       union
       select e.kind, e.document_id from due join summary_member m on m.summary_id = due.unit_id join entry e on e.id = m.entry_id
     ), newest as (
       select n.kind, n.document_id, n.reverses, coalesce(m.summary_id, n.id) as unit_id
       from touched t
       cross join lateral (
         select * from entry e where e.installation = ? and e.kind = t.kind and e.document_id = t.document_id
         order by e.n desc limit 1) n
       left join summary_member m on m.entry_id = n.id
       where t.kind = any(?)
     ), told as (
       select n.kind, n.document_id, n.unit_id, n.reverses is not null as restores, u.erp_number, w.prepayment_id as entry_told,
         coalesce(b.previous_value, w.previous_value) as previous_value, b.document_id as number_told
       from newest n
       join erp_unit u on u.installation = ? and u.unit_id = n.unit_id
         and ((u.state = 'delivered' and u.erp_number is not null) or (n.reverses is not null and u.state = 'cancelled_out'))
       left join write_back w on w.installation = ? and n.kind = 'prepayment' and w.prepayment_id = n.document_id
       left join erp_number_write_back b on b.installation = ? and b.kind = n.kind and b.document_id = n.document_id
     ), planned as (
       insert into erp_number_write_back as b (installation, kind, document_id, unit_id, value, restores, previous_value)
       select ?, kind, document_id, unit_id, case when restores then previous_value else erp_number end, restores, previous_value
       from told where not restores or number_told is not null or entry_told is not null
       order by kind, document_id
       on conflict (installation, kind, document_id) do update set unit_id = excluded.unit_id, value = excluded.value,
         restores = excluded.restores, state = 'pending', attempts = 0, not_before = null, accepted_at = null,
         error_code = null, error = null, error_since = null
       where b.unit_id <> excluded.unit_id or b.value is distinct from excluded.value
     )
     select count(*)::int as taken from due`,
    [installation, limit, ...Array(2).fill(installation), kinds, ...Array(4).fill(installation)],
  );
  return taken;
}

const openShape = {
  id: integer,
  unitId: text,
  value: nullable(text),
  restores: bool,
  ownValues: texts,
  attempts: integer,
  raw: nullable(json),
};

/** A document whose record is to be told a number, with the record as the mirror has it; null where the mirror has none. */
export type OpenNumber = RowOf<typeof openShape>;

/** The next documents of a kind to be told now, by id after `after`, or those with these ids. */
export function openNumbers(
  db: Connection,
  installation: InstallationId,
  kind: DocumentKind,
  { after, limit, ids }: { after: number; limit: number; ids?: readonly number[] },
): Promise<OpenNumber[]> {
  return rows(
    db,
    openShape,
    `select b.document_id as id, b.unit_id as "unitId", b.value, b.restores, b.own_values as "ownValues", b.attempts,
       (select m.raw from mirror_record m
        where m.installation = b.installation and m.kind = b.kind and m.id = b.document_id and m.gone_at is null) as raw
     from erp_number_write_back b
     where b.installation = ? and b.kind = ? and b.document_id > ? and b.state in ('pending', 'failed', 'taken')
       and (b.not_before is null or b.not_before <= clock_timestamp()) ${ids === undefined ? '' : 'and b.document_id = any(?::bigint[])'}
     order by b.document_id limit ?`,
    [installation, kind, after, ...(ids === undefined ? [] : [ids]), limit],
  );
}

/** Notes values that are about to be sent, before they are: from then on they are ours wherever they stand. */
export async function noteSendingNumbers(
  trx: Connection,
  installation: InstallationId,
  kind: DocumentKind,
  ids: readonly number[],
): Promise<void> {
  if (ids.length === 0) return;
  await execute(
    trx,
    `update erp_number_write_back set own_values = own_values || value
     where installation = ? and kind = ? and document_id = any(?::bigint[])
       and not restores and value is not null and value <> all(own_values)`,
    [installation, kind, ids],
  );
}

/** What became of one. `absent`: the source does not have the record, or it carries no external_info. */
export interface NumberOutcome {
  id: number;
  /** Of which unit: an outcome of one that another has taken the place of since is none. */
  unitId: string;
  state: 'done' | 'failed' | 'taken' | 'absent';
  error: { code: string; message: string } | null;
  /** The source took the value, or has it already. */
  accepted: boolean;
  /** Until it is tried again. */
  waitSeconds: number;
}

/** Records what became of documents, and counts the attempts. */
export async function recordNumbers(
  trx: Connection,
  installation: InstallationId,
  kind: DocumentKind,
  outcomes: readonly NumberOutcome[],
): Promise<void> {
  if (outcomes.length === 0) return;
  const { from, bindings } = rowsAsArrays(
    'ended',
    {
      id: 'bigint',
      unit_id: 'text',
      state: 'text',
      accepted: 'boolean',
      code: 'text',
      message: 'text',
      wait_seconds: 'double precision',
    },
    outcomes
      .toSorted((a, b) => a.id - b.id)
      .map(({ id, unitId, state, accepted, error, waitSeconds }) => ({
        ...{ id, unit_id: unitId, state, accepted, code: error?.code ?? null },
        message: error === null ? null : storable(error.message),
        wait_seconds: waitSeconds,
      })),
  );
  await execute(
    trx,
    `update erp_number_write_back b set state = ended.state, error_code = ended.code, error = ended.message,
       error_since = case when ended.code is null then null when b.error_code = ended.code then b.error_since else clock_timestamp() end,
       attempts = case when ended.state = 'done' then 0 else b.attempts + 1 end,
       not_before = case when ended.state in ('failed', 'taken') then clock_timestamp() + make_interval(secs => ended.wait_seconds) end,
       accepted_at = case when ended.accepted then clock_timestamp() else b.accepted_at end,
       written_at = case when ended.state = 'done' then clock_timestamp() else b.written_at end
     from ${from}
     where b.installation = ? and b.kind = ? and b.document_id = ended.id and b.unit_id = ended.unit_id`,
    [...bindings, installation, kind],
  );
}

/** Which of these values are numbers of units of ours. */
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

/** How many documents are still to be told, and until one of them may be: 0, now; null, none waits. */
export async function numbersLeft(
  db: Connection,
  installation: InstallationId,
): Promise<{ left: number; taken: number; nextDueMs: number | null }> {
  return row(
    db,
    { left: integer, taken: integer, nextDueMs: nullable(integer) },
    `select (count(*) filter (where state <> 'taken'))::int as left, (count(*) filter (where state = 'taken'))::int as taken,
       case when exists (select from erp_number_due where installation = ?) then 0
         when count(*) > 0 then
           greatest(0, ceil(extract(epoch from min(coalesce(not_before, clock_timestamp())) - clock_timestamp()) * 1000))
         end::bigint as "nextDueMs"
     from erp_number_write_back where installation = ? and state in ('pending', 'failed', 'taken')`,
    [installation, installation],
  );
}

/** Documents whose number the practice software has not been told, and why. */
export function numberProblems(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<
  { installation: InstallationId; kind: DocumentKind; id: number; code: string; message: string; since: Date | null }[]
> {
  return rows(
    db,
    {
      installation: integer,
      kind: oneOf(documentKinds),
      id: integer,
      code: text,
      message: text,
      since: nullable(instant),
    },
    `select installation, kind, document_id as id, error_code as code, coalesce(error, '') as message, error_since as since
     from erp_number_write_back
     where installation = any(?::bigint[]) and state in ('failed', 'taken') and error_code is not null
     order by installation, kind, document_id`,
    [installations],
  );
}
