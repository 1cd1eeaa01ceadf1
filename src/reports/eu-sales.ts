import { bool, date, integer, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { Money } from '../domain/money.ts';
import { deliveryOfEntry, isLateForVat, settledEntry } from '../erp/outbox/entry-delivery.ts';
import { creditLessDebit } from '../ledger/journal/signed.ts';
import { vatKindOf } from '../mapping/vat-groups.ts';
import { documentKinds } from '../terms.ts';
import { sectionTitles } from '../texts/reports/reports.ts';
import {
  columnsOf,
  type Item,
  type Period,
  type Section,
  type SectionShape,
  settledUnsent,
  timelyAndLate,
} from './report-sections.ts';
import type { VatInput } from './vat.ts';

const keys = columnsOf('period', 'country', 'vat_number', 'kind');
const columns = {
  facts: columnsOf('date'),
  amounts: columnsOf('base'),
};
const onTime: SectionShape = { name: 'eu_sales', title: sectionTitles.euSales, keys, ...columns };
const late: SectionShape = {
  name: 'late',
  title: sectionTitles.euLate,
  keys,
  ...columns,
};

const settled: SectionShape = {
  name: 'cancelled_out',
  title: sectionTitles.euSettled,
  keys: [...keys, ...columnsOf('entry')],
  ...columns,
};

/**
 * The EU sales list of a period: bases of VAT groups of kind `eu_goods` or `eu_services` in the mapping, per buyer's
 * VAT number and country on the invoice. Buyers without a number share one figure; their invoices have the remark
 * `eu_without_vat_number`.
 */
export async function euSales(
  db: Connection,
  { id, mapping }: VatInput,
  { from, through }: Period,
): Promise<Section[]> {
  const found = await rows(
    db,
    {
      ...{ kind: oneOf(documentKinds), document_id: integer, vat_group: nullable(text), vat_rate: nullable(numeric) },
      ...{ number: nullable(text), country: nullable(text), vat_period: text, is_late: bool },
      settled_entry: nullable(text),
      ...{ document_date: date, base: numeric },
    },
    `select e.kind, e.document_id, l.vat_group, l.vat_rate, l.party_vat_number as number, l.party_country_code as country,
       e.vat_period, ${isLateForVat} as is_late, ${settledEntry} as settled_entry, e.document_date,
       ${creditLessDebit('l.vat_base')} as base
     from entry e join entry_line l on l.entry_id = e.id ${deliveryOfEntry}
     where e.installation = ? and e.entry_date between ?::date and ?::date and l.vat_base is not null
     group by e.kind, e.document_id, l.vat_group, l.vat_rate, l.party_vat_number, l.party_country_code,
       e.vat_period, ${isLateForVat}, ${settledEntry}, e.document_date
     having ${creditLessDebit('l.vat_base')} <> 0
     order by l.party_country_code, l.party_vat_number, e.document_date, e.document_id`,
    [id, from ?? '0001-01-01', through],
  );
  const items = found.flatMap((row): { isLate: boolean; isSettled: boolean; item: Item }[] => {
    const rate = row.vat_rate === null ? null : new Money(row.vat_rate);
    const kind = vatKindOf(mapping, { name: row.vat_group, rate }, row.document_date);
    if (kind !== 'eu_goods' && kind !== 'eu_services') return [];
    const item = {
      keys: {
        ...{ period: row.vat_period, country: row.country, vat_number: row.number, kind },
        ...(row.settled_entry !== null && { entry: row.settled_entry }),
      },
      document: `${row.kind} ${row.document_id}`,
      facts: { date: row.document_date },
      amounts: { base: new Money(row.base) },
    };
    return [{ isLate: row.is_late, isSettled: row.settled_entry !== null, item }];
  });
  const inReturns = items.filter(({ isSettled }) => !isSettled);
  return [...timelyAndLate([onTime, late], inReturns), ...settledUnsent(settled, items)];
}
