import { bool, date, integer, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { resultPages } from '../db/result-pages.ts';
import type { Connection } from '../db/rows.ts';
import { Money } from '../domain/money.ts';
import { vatCodeOf } from '../erp/mapped-values.ts';
import { creditLessDebit } from '../ledger/journal/signed.ts';
import { vatKindOf } from '../mapping/vat-groups.ts';
import { documentKinds } from '../terms.ts';
import { sectionTitles } from '../texts/reports/reports.ts';
import {
  columnsOf,
  type Item,
  isRecorded,
  type Listing,
  type Period,
  type Recorded,
  type SectionShape,
} from './report-sections.ts';
import type { VatInput } from './vat.ts';

const shape: Omit<SectionShape, 'name' | 'title'> = {
  keys: columnsOf('period', 'documents_of', 'kind', 'code', 'group', 'rate'),
  facts: columnsOf('date', 'entries'),
  amounts: columnsOf('base', 'tax'),
};
const onTime: SectionShape = { name: 'vat', title: sectionTitles.vat, ...shape };
const late: SectionShape = { name: 'vat_late', title: sectionTitles.bookedVatLate, ...shape };

/**
 * Base and tax of each VAT group and rate, computed only from the entries of a period. Entries never change, so these
 * figures never change either. `report vat` also compares them with the source, the ERP and filed returns. The tax of
 * both sections is the movement of the VAT accounts.
 */
export function bookedVat(db: Connection, input: VatInput, period: Period, recorded: Recorded): Listing[] {
  const listing = (shape: SectionShape, isLate: boolean): Listing => ({
    ...{ shape, items: bookedItems(db, input, period, recorded, isLate), hasTotal: true },
  });
  return [listing(onTime, false), listing(late, true)];
}

async function* bookedItems(
  db: Connection,
  { id, mapping }: VatInput,
  { from, through }: Period,
  { upToSeq }: Recorded,
  isLate: boolean,
): AsyncGenerator<Item> {
  // The lines are read by the key of each entry: the days are few, and all lines are many.
  const found = resultPages(
    db,
    {
      ...{ kind: oneOf(documentKinds), id: integer, day: date, isOnPayment: bool, period: text },
      ...{ group: nullable(text), rate: nullable(numeric), entries: text, base: numeric, tax: numeric },
    },
    `select e.kind, e.document_id as id, e.document_date as day, l.rule = 'R13' as "isOnPayment",
       e.vat_period as period, l.vat_group as "group", l.vat_rate as rate, string_agg(distinct e.id, ' ' order by e.id) as entries,
       coalesce(${creditLessDebit('l.vat_base')}, 0) as base,
       coalesce(${creditLessDebit()} filter (where l.role = 'vat'), 0) as tax
     from entry e cross join lateral (select * from entry_line own where own.entry_id = e.id offset 0) l
     where e.installation = ? and e.entry_date between ?::date and ?::date and ${isRecorded} and e.is_late = ?
       and (l.vat_base is not null or l.role = 'vat')
     group by e.vat_period, l.rule = 'R13', e.kind, l.vat_group, l.vat_rate, e.document_date, e.document_id
     order by e.vat_period, l.rule = 'R13', e.kind, l.vat_group collate "C", l.vat_rate, e.document_date, e.document_id`,
    [id, from ?? '0001-01-01', through, upToSeq, isLate],
  );
  for await (const page of found) {
    for (const { kind, id: document, day, isOnPayment, period, group, entries, ...each } of page) {
      const rate = each.rate === null ? null : new Money(each.rate);
      yield {
        keys: {
          ...{ period, documents_of: isOnPayment ? 'payments' : `${kind}s`, group, rate: rate?.toFixed() ?? null },
          ...{ kind: vatKindOf(mapping, { name: group, rate }, day), code: vatCodeOf(mapping, group, rate, day) },
        },
        ...{ document: `${kind} ${document}`, facts: { date: day, entries } },
        amounts: { base: new Money(each.base), tax: new Money(each.tax) },
      };
    }
  }
}
