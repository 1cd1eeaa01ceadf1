import { bool, date, integer, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { Money } from '../domain/money.ts';
import { vatCodeOf } from '../erp/mapped-values.ts';
import { deliveryOfEntry, isLateForVat, settledEntry } from '../erp/outbox/entry-delivery.ts';
import { creditLessDebit } from '../ledger/journal/signed.ts';
import { takingReturn } from '../ledger/vat-returns.ts';
import type { Mapping } from '../mapping/schema.ts';
import { vatKindOf } from '../mapping/vat-groups.ts';
import { type CalendarDate, type DocumentKind, documentKinds, type InstallationId } from '../terms.ts';

/** Base and tax of an entry for one VAT group, as the books and the mapping have them now; sales are positive. */
export interface VatLine {
  entry: string;
  kindOfDocument: DocumentKind;
  documentId: number;
  /** The document's day, the entry's day, and the entry's original VAT period. */
  day: CalendarDate;
  date: CalendarDate;
  period: string;
  group: string | null;
  rate: string | null;
  kind: string | null;
  code: string | null;
  /** True if the entry was posted after its VAT period was first closed, or not sent before the ERP closed it. */
  isLate: boolean;
  /** True if the entry was cancelled out in the outbox and not sent (`cancelled_out`). */
  isSettled: boolean;
  /** The return that took this late line, such as `2026-02 1`. */
  takenBy: string | null;
  base: Money;
  tax: Money;
}

/** A VAT period with its days. */
export interface VatPeriod {
  name: string;
  from: CalendarDate;
  through: CalendarDate;
}

/** SQL: the ids of entries that are late, or were late before they were cancelled out. Its three bindings are the installation. */
export const lateEntries = `
  select e.id from entry e where e.installation = ? and e.is_late
  union select u.unit_id from erp_unit u where u.installation = ? and u.late_since is not null and u.kind = 'entry'
  union select m.entry_id from erp_unit u join summary_member m on m.summary_id = u.unit_id
    where u.installation = ? and u.late_since is not null and u.kind = 'daily_summary'`;

/**
 * The lines that concern the return of a VAT period. These are lines dated in the period, lines of its documents, lines that its
 * return declares, and all late lines that no return has taken.
 */
export async function vatLines(
  db: Connection,
  { id, mapping }: { id: InstallationId; mapping: Mapping },
  { name, from, through }: VatPeriod,
): Promise<VatLine[]> {
  const found = await rows(
    db,
    {
      ...{ entry: text, kindOfDocument: oneOf(documentKinds), documentId: integer, day: date, date, period: text },
      ...{ group: nullable(text), rate: nullable(numeric), isLate: bool, isSettled: bool, takenBy: nullable(text) },
      ...{ base: numeric, tax: numeric },
    },
    `with late as (${lateEntries}), chosen as (
       select e.id from entry e where e.installation = ? and e.entry_date between ?::date and ?::date
       union select e.id from entry e where e.installation = ? and e.document_date between ?::date and ?::date
         and e.entry_date <> e.document_date
       union select l.entry_id from vat_return_line l where l.installation = ? and l.period = ?
       union select late.id from late
         where not exists (select from vat_return_line l where l.entry_id = late.id and l.is_late and not l.is_change)
     )
     select e.id as entry, e.kind as "kindOfDocument", e.document_id as "documentId", e.document_date as day,
       e.entry_date as date, e.vat_period as period, l.vat_group as "group", l.vat_rate as rate,
       ${isLateForVat} as "isLate", ${settledEntry} is not null as "isSettled", t.taken_by as "takenBy",
       coalesce(${creditLessDebit('l.vat_base')}, 0) as base,
       coalesce(${creditLessDebit()} filter (where l.role = 'vat'), 0) as tax
     from chosen join entry e on e.id = chosen.id join entry_line l on l.entry_id = e.id ${deliveryOfEntry} ${takingReturn}
     where l.vat_base is not null or l.role = 'vat'
     group by e.id, l.vat_group, l.vat_rate, ${isLateForVat}, ${settledEntry}, t.taken_by
     order by e.document_date, e.seq`,
    [...[id, id, id], ...[id, from, through], ...[id, from, through], ...[id, name]],
  );
  return found.map(({ base, tax, rate: text, ...line }) => {
    const [rate, { group, day }] = [text === null ? null : new Money(text), line];
    return {
      ...{ ...line, rate: rate?.toFixed() ?? null, base: new Money(base), tax: new Money(tax) },
      kind: vatKindOf(mapping, { name: group, rate }, day),
      code: vatCodeOf(mapping, group, rate, day),
    };
  });
}
