import { bool, integer, nullable, type RowOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { Money } from '../domain/money.ts';
import { clip, visible } from '../domain/text.ts';
import type { Dialect } from '../records/dialect.ts';
import { externalIdField } from '../records/external-id.ts';
import type { InstallationId } from '../terms.ts';
import { e10Texts } from '../texts/findings/reconcile.ts';
import { BoundedList, type Equation, type Note, Tally } from './reconcile-report.ts';

/** Prepayments per page read from the database. */
const pageSize = 5_000;
/** Limit of characters of a quoted value. */
const longestQuoted = 60;
const one = new Money(1);

/**
 * A prepayment whose value in the mirror is not the value that was written back, or another document that has one of
 * our ids.
 */
export interface WriteBackFinding {
  prepayment: number;
  /**
   * `another`: the id or number of another document of ours. `lost`: no value, or an id of ours that does not belong to
   * this document; `wasShown` is true if an earlier read showed the right value. `foreign`: a value of another program.
   * `unproven`: the prepayment was not read since the write.
   */
  found: 'another' | 'lost' | 'foreign' | 'unproven';
  wasShown: boolean;
  message: string;
}

const shape = {
  id: integer,
  value: nullable(text),
  isCarried: bool,
  /** The entry id that the source accepted; null if it accepted none. */
  entryId: nullable(text),
  /** The ERP's number that the source accepted; null if it accepted none. */
  number: nullable(text),
  isRead: bool,
  wasShown: bool,
  /** Whether the value is the number of a unit with an entry of this prepayment, or of any unit. */
  isOwnNumber: bool,
  isOurNumber: bool,
};

/**
 * Equation E10 (ACCOUNTING): compares the mirror with the journal and the ERP's units, for each prepayment that was
 * written back and read since. Also finds our ids at other prepayments. Ordered by id. Without `areAll`, only prepayments
 * that can be `another` or `lost` are read, by what the mirror noted of each record.
 */
export async function* writeBackFindings(
  db: Connection,
  installation: InstallationId,
  dialect: Dialect,
  { areAll = true }: { areAll?: boolean } = {},
): AsyncGenerator<WriteBackFinding> {
  const path = externalIdField(dialect, 'prepayment').split('.');
  for (let after = 0; ; ) {
    const page = await readPage(db, installation, { after, path, areAll });
    for (const each of page) {
      const finding = findingOf(installation, each);
      if (finding !== null) yield finding;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = last.id;
  }
}

/** Equation E10, whose difference is a number of prepayments, and the lists of prepayments that are not differences. */
export async function checkWriteBacks(
  db: Connection,
  { id, dialect }: { id: InstallationId; dialect: Dialect },
): Promise<{ equation: Equation; foreign: BoundedList<Note>; unproven: BoundedList<Note> }> {
  const tally = new Tally();
  const listed = { foreign: new BoundedList<Note>(), unproven: new BoundedList<Note>() };
  for await (const { prepayment, found, message } of writeBackFindings(db, id, dialect)) {
    const document = `prepayment ${prepayment}`;
    if (found === 'foreign' || found === 'unproven') listed[found].add({ document, message });
    else tally.add({ document, amount: one, message });
  }
  return { equation: tally.equation(null), ...listed };
}

function findingOf(installation: InstallationId, row: RowOf<typeof shape>): WriteBackFinding | null {
  const { id, value, number, entryId, wasShown } = row;
  const finding = (found: WriteBackFinding['found'], message: string) => ({ prepayment: id, found, wasShown, message });
  const due = number ?? entryId;
  if (due !== null && (!row.isRead || !row.isCarried)) {
    // Lists do not show the written value; only the sub-resource does. So the read after the write is the last known
    // value.
    if (row.isRead && wasShown) return null;
    return finding('unproven', e10Texts.unproven({ value: quoted(due) }));
  }
  if (value === null) return due === null ? null : finding('lost', e10Texts.lost({ value: quoted(due) }));
  const owner = ownerOf(installation, value);
  if (row.isOwnNumber || owner === `prepayment/${id}`) {
    if (number === null || row.isOwnNumber) return null;
    return finding('lost', e10Texts.entryIdInstead({ number: quoted(number), entry: quoted(value) }));
  }
  const values = { value: quoted(value), expected: due === null ? null : quoted(due) };
  if (owner !== null) return finding('another', e10Texts.anotherEntryId(values));
  if (row.isOurNumber) return finding('another', e10Texts.anotherNumber(values));
  return due === null ? null : finding('foreign', e10Texts.foreign(values));
}

/**
 * The document of an entry id, for instance `prepayment/7`; null if the value is not an entry id of this installation.
 */
function ownerOf(installation: InstallationId, value: string): string | null {
  const [, of, owner] = /^(\d+)\/((?:invoice|payment|prepayment)\/\d+)\/\d+$/.exec(value) ?? [];
  return of === String(installation) && owner !== undefined ? owner : null;
}

function quoted(value: string): string {
  return `“${visible(clip(value, longestQuoted))}”`;
}

/** Prepayments that can have another value or none, found by indexes: almost every record shows the id of one of its entries. */
const lookedAt = `and m.id = any(array(
    select id from mirror_record where installation = ? and kind = 'prepayment' and id_needs_look
    union select document_id from write_back where installation = ? and kind = 'prepayment' and value_is = 'erp_number'))`;

function readPage(
  db: Connection,
  installation: InstallationId,
  { after, path, areAll }: { after: number; path: string[]; areAll: boolean },
): Promise<RowOf<typeof shape>[]> {
  return rows(
    db,
    shape,
    // Almost every record shows the entry id that was written back and read since. These are left out first.
    `with shown as (
       select m.id, v.value, v.value is not null or m.raw #> ?::text[] is not null as carried, m.asked_at
       from mirror_record m cross join lateral (select nullif(m.raw #>> ?::text[], '') as value offset 0) v
       left join write_back w on w.installation = m.installation and w.kind = 'prepayment' and w.document_id = m.id
       where m.installation = ? and m.kind = 'prepayment' and m.id > ? and m.gone_at is null ${areAll ? '' : lookedAt}
         and not coalesce(w.value_is = 'entry_id' and w.value = v.value and w.value like ? || '/prepayment/' || m.id || '/%'
           and (w.read_back is not null or w.state = 'done' and m.asked_at > w.written_at), false)
       order by m.id limit ?
     )
     select s.id, s.value, s.carried as "isCarried",
       case when b.value_is = 'entry_id' then b.value end as "entryId",
       case when b.value_is = 'erp_number' then b.value end as number,
       coalesce(b.read_back is not null or s.asked_at > b.written_at, false) as "isRead",
       coalesce(b.read_back = 'shown', false) as "wasShown",
       exists (
         select from entry e left join summary_member m on m.entry_id = e.id
         join erp_unit u on u.installation = e.installation and u.unit_id = case when m.summary_id is null then e.id else m.summary_id end
         where e.installation = ? and e.kind = 'prepayment' and e.document_id = s.id and u.erp_number = s.value
       ) as "isOwnNumber",
       exists (select from erp_unit u where u.installation = ? and u.erp_number = s.value) as "isOurNumber"
     from shown s
     left join write_back b on b.installation = ? and b.kind = 'prepayment' and b.document_id = s.id
       and (b.state = 'done' or b.read_back is not null)
     order by s.id`,
    [
      ...[path.slice(0, -1), path, installation, after],
      ...(areAll ? [] : [installation, installation]),
      ...[String(installation), pageSize],
      ...Array<InstallationId>(3).fill(installation),
    ],
  );
}
