import { bool, date, integer, json, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { Money, zero } from '../domain/money.ts';
import { vatCodeOf } from '../erp/mapped-values.ts';
import { deliveryOfEntry, isLateForVat, settledEntry } from '../erp/outbox/entry-delivery.ts';
import { creditLessDebit } from '../ledger/journal/signed.ts';
import { filedLines, filedReturns, takingReturn } from '../ledger/vat-returns.ts';
import type { Mapping } from '../mapping/schema.ts';
import { vatKindOf } from '../mapping/vat-groups.ts';
import { readRecord } from '../mirror/read.ts';
import type { Dialect } from '../records/dialect.ts';
import { type CalendarDate, documentKinds } from '../terms.ts';
import { sectionTitles } from '../texts/reports/reports.ts';
import {
  columnsOf,
  type Item,
  type Period,
  type ReportInput,
  type Section,
  type SectionShape,
  section,
  settledUnsent,
  timelyAndLate,
} from './report-sections.ts';
import { vatLines } from './vat-lines.ts';
import { compareReturn } from './vat-return.ts';
import { returnSections } from './vat-return-sections.ts';

export interface VatInput extends ReportInput {
  dialect: Dialect;
  mapping: Mapping;
}

const rare = (name: 'base_not_compared' | 'tax_not_compared') =>
  // A copy would read the heading now, in English.
  columnsOf(name).map((column) => Object.assign(column, { isRare: true as const }));

/** The rows of at most this many invoices are read at a time. */
const invoicesAtOnce = 500;

const keys = columnsOf('period', 'documents_of', 'kind', 'code', 'group', 'rate');
const columns = {
  facts: columnsOf('date', 'entries'),
  amounts: [
    ...columnsOf('base'),
    ...columnsOf('tax'),
    ...columnsOf('source_base'),
    ...columnsOf('source_tax'),
    ...columnsOf('base_difference'),
    ...columnsOf('tax_difference'),
    ...rare('base_not_compared'),
    ...rare('tax_not_compared'),
  ],
};
const onTime: SectionShape = { name: 'vat', title: sectionTitles.vat, keys, ...columns };
const late: SectionShape = {
  name: 'late',
  title: sectionTitles.vatLate,
  keys,
  ...columns,
};
const taken: SectionShape = {
  ...{ name: 'taken_elsewhere', title: sectionTitles.vatTakenElsewhere, facts: columnsOf('date', 'entries') },
  ...{ keys: [...columnsOf('return'), ...keys], amounts: columnsOf('base', 'tax') },
};
const settled: SectionShape = {
  name: 'cancelled_out',
  title: sectionTitles.vatSettled,
  keys: [...keys, ...columnsOf('entry')],
  facts: columnsOf('date'),
  amounts: columnsOf('base', 'tax'),
};

/** The amounts of a document's entries for one VAT group in a period; sales are positive. */
interface VatOfDocument {
  kind: (typeof documentKinds)[number];
  /** Whether the VAT became due with a payment or on a latest day (ACCOUNTING R13). */
  isOnPayment: boolean;
  document: number;
  group: string | null;
  rate: string | null;
  period: string;
  isLate: boolean;
  /** The filed return that contains these late lines; null if there is none. */
  takenBy: string | null;
  /** Whether the entry was settled in the ERP's outbox without delivery. The document then has no other entry here. */
  isSettled: boolean;
  day: CalendarDate;
  entries: string;
  base: Money;
  tax: Money;
  /**
   * Whether these entries add up to the document's entry in force, so that its rows in the source must match. False if
   * a reversal concerns an entry of another period.
   */
  isWhole: boolean;
}

/**
 * Base and tax of each VAT group and rate, with kind and code of the mapping, for entries dated in the period, beside
 * the rows of the same invoices in the source. Lines of different original VAT periods, and late ones, are separate
 * (ACCOUNTING "Dates"). Entries that cancel each other and were never sent to the ERP belong to no return, and are
 * listed separately. If the days are those of a filed return, it is shown with what has changed since. Differences are settled cents and held changes.
 *
 * Amounts without a counterpart in the source are "not compared": VAT of prepayments, and entries of an invoice whose
 * other entries are in another month or late. So every figure is the sum of the source, the difference and the amount
 * not compared.
 */
export async function vat(db: Connection, input: VatInput, period: Period): Promise<Section[]> {
  const filed = (await filedReturns(db, input.id)).find((each) => isOfDays(each, period));
  if (filed !== undefined) {
    const days = { name: filed.period, from: filed.from, through: filed.through };
    const lines = await filedLines(db, input.id, filed.period);
    const view = compareReturn(days, await vatLines(db, input, days), lines);
    return returnSections(days, view, { toFile: null, form: null });
  }
  const found = await vatOfDocuments(db, input, period);
  const source = await SourceVat.of(
    db,
    input,
    found.filter(({ kind, isWhole }) => kind === 'invoice' && isWhole).map(({ document }) => document),
  );
  const items = inOrder(
    found
      .map((one) => ({ ...one, item: itemOf(one, source, input) }))
      .filter(({ item: { amounts } }) => Object.values(amounts).some((amount) => !amount.isZero())),
  );
  const inReturns = items.filter(({ isSettled, takenBy }) => !isSettled && takenBy === null);
  const elsewhere = items.flatMap(({ isSettled, takenBy, item }) => (isSettled || takenBy === null ? [] : [item]));
  return [
    ...timelyAndLate([onTime, late], inReturns),
    ...(elsewhere.length === 0 ? [] : [section(taken, elsewhere)]),
    ...settledUnsent(settled, items),
  ];
}

function isOfDays(filed: { from: CalendarDate; through: CalendarDate }, { from, through }: Period): boolean {
  return filed.from === from && filed.through === through;
}

/** Base and tax of entries dated in the period, by document, VAT group and original period. */
async function vatOfDocuments(db: Connection, { id }: VatInput, { from, through }: Period) {
  const found = await rows(
    db,
    {
      ...{ kind: oneOf(documentKinds), document_id: integer, vat_group: nullable(text), vat_rate: nullable(numeric) },
      ...{
        vat_period: text,
        is_on_payment: bool,
        is_late: bool,
        is_settled: bool,
        document_date: date,
        entries: text,
        base: numeric,
        tax: numeric,
      },
      ...{ reverses: nullable(text), in_force: bool, taken_by: nullable(text) },
    },
    // A reversal has the document date of the entry that it reverses.
    `select e.kind, l.rule = 'R13' as is_on_payment, e.document_id, l.vat_group, l.vat_rate, e.vat_period, ${isLateForVat} as is_late, ${settledEntry} is not null as is_settled,
       e.document_date, t.taken_by,
       string_agg(distinct e.id, ' ' order by e.id) as entries, string_agg(distinct e.reverses, ' ') as reverses,
       coalesce(${creditLessDebit('l.vat_base')}, 0) as base,
       coalesce(${creditLessDebit()} filter (where l.role = 'vat'), 0) as tax,
       bool_or(e.reverses is null and not exists (select from entry r where r.reverses = e.id)) as in_force
     from entry e join entry_line l on l.entry_id = e.id ${deliveryOfEntry} ${takingReturn}
     where e.installation = ? and e.entry_date between ?::date and ?::date and (l.vat_base is not null or l.role = 'vat')
     group by e.kind, l.rule = 'R13', e.document_id, l.vat_group, l.vat_rate, e.vat_period, ${isLateForVat}, ${settledEntry}, e.document_date, t.taken_by
     order by e.document_date, e.kind, e.document_id`,
    [id, from ?? '0001-01-01', through],
  );
  return found.map((row): VatOfDocument => {
    const entries = new Set(row.entries.split(' '));
    return {
      ...{
        kind: row.kind,
        isOnPayment: row.is_on_payment,
        document: row.document_id,
        group: row.vat_group,
        day: row.document_date,
      },
      ...{ rate: row.vat_rate === null ? null : new Money(row.vat_rate).toFixed(), entries: row.entries },
      period: row.vat_period,
      ...{
        isLate: row.is_late,
        takenBy: row.taken_by,
        isSettled: row.is_settled,
        base: new Money(row.base),
        tax: new Money(row.tax),
      },
      isWhole:
        !row.is_settled && row.in_force && (row.reverses?.split(' ') ?? []).every((reversed) => entries.has(reversed)),
    };
  });
}

function itemOf(one: VatOfDocument, source: SourceVat, { mapping }: VatInput): Item {
  const rate = one.rate === null ? null : new Money(one.rate);
  // The source has no figure for the tax of prepayments, nor for a correction of another month's entries.
  const isCompared = one.kind === 'invoice' && one.isWhole;
  const theirs = isCompared ? source.take(one) : none;
  return {
    keys: {
      period: one.period,
      documents_of: one.isOnPayment ? 'payments' : one.kind === 'invoice' ? 'invoices' : 'prepayments',
      kind: vatKindOf(mapping, { name: one.group, rate }, one.day),
      code: vatCodeOf(mapping, one.group, rate, one.day),
      ...{ group: one.group, rate: one.rate },
      ...(one.isSettled && { entry: one.entries }),
      ...(one.takenBy !== null && { return: one.takenBy }),
    },
    document: `${one.kind} ${one.document}`,
    facts: { date: one.day, entries: one.entries },
    amounts: one.isSettled
      ? { base: one.base, tax: one.tax }
      : {
          ...{ base: one.base, tax: one.tax, source_base: theirs.base, source_tax: theirs.tax },
          base_difference: isCompared ? one.base.minus(theirs.base) : zero,
          tax_difference: isCompared ? one.tax.minus(theirs.tax) : zero,
          base_not_compared: isCompared ? zero : one.base,
          tax_not_compared: isCompared ? zero : one.tax,
        },
  };
}

const none = { base: zero, tax: zero };

/** Base and tax of invoice rows in the source. Each group of an invoice can be read only once. */
class SourceVat {
  readonly #sums = new Map<string, { base: Money; tax: Money }>();

  static async of(db: Connection, input: VatInput, invoices: readonly number[]): Promise<SourceVat> {
    const made = new SourceVat();
    const ids = [...new Set(invoices)];
    for (let first = 0; first < ids.length; first += invoicesAtOnce) {
      const found = await rows(
        db,
        { raw: json },
        `select raw from mirror_record where installation = ? and kind = 'row' and parent_id = any(?::bigint[]) and gone_at is null`,
        [input.id, ids.slice(first, first + invoicesAtOnce)],
      );
      for (const { raw } of found) made.#add(readRecord('row', raw, input.dialect));
    }
    return made;
  }

  #add({ invoiceId, vatGroup, vatPercentage, sum, sumVat }: ReturnType<typeof readRecord<'row'>>): void {
    const rate = (vatGroup?.rate ?? vatPercentage)?.toFixed() ?? null;
    const key = keyOf({ document: invoiceId, group: vatGroup?.name ?? null, rate });
    const { base, tax } = this.#sums.get(key) ?? none;
    this.#sums.set(key, { base: base.plus(sum ?? zero), tax: tax.plus(sumVat ?? zero) });
  }

  take(of: Pick<VatOfDocument, 'document' | 'group' | 'rate'>): { base: Money; tax: Money } {
    const sums = this.#sums.get(keyOf(of)) ?? none;
    this.#sums.delete(keyOf(of));
    return sums;
  }
}

function keyOf({ document, group, rate }: { document: number | null; group: string | null; rate: string | null }) {
  return JSON.stringify([document, group, rate]);
}

function inOrder<Each extends { item: Item }>(items: readonly Each[]): Each[] {
  const text = ({ item: { keys: of } }: Each) => keys.map(({ name }) => String(of[name] ?? '')).join('\u0000');
  return items
    .map((each) => ({ each, place: text(each) }))
    .sort((a, b) => (a.place < b.place ? -1 : a.place > b.place ? 1 : 0))
    .map(({ each }) => each);
}
