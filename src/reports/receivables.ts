import { date, integer, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { resultPages } from '../db/result-pages.ts';
import type { Connection } from '../db/rows.ts';
import { daysBetween } from '../domain/dates.ts';
import { Money } from '../domain/money.ts';
import { debitLessCredit } from '../ledger/journal/signed.ts';
import { namesOnInvoices } from '../mirror/client-names.ts';
import type { CalendarDate } from '../terms.ts';
import { sectionTitles } from '../texts/reports/reports.ts';
import { clientOf } from './prepayment-records.ts';
import {
  collected,
  columnsOf,
  everyEntry,
  type Item,
  isRecorded,
  type Listing,
  ofInstallation,
  type Period,
  type Recorded,
  type Section,
  type SectionShape,
} from './report-sections.ts';
import type { VatInput } from './vat.ts';

/** Ranges of days after the due date, each with the column of open amounts of that age. */
const ages = [
  { name: 'not_due', upTo: 0 },
  { name: 'days_1_30', upTo: 30 },
  { name: 'days_31_60', upTo: 60 },
  { name: 'days_61_90', upTo: 90 },
  { name: 'over_90', upTo: Number.POSITIVE_INFINITY },
] as const;

const shape: SectionShape = {
  name: 'receivables',
  title: sectionTitles.openItems,
  keys: columnsOf('role', 'customer', 'name'),
  facts: columnsOf('number', 'date', 'due_date', 'days_overdue'),
  amounts: [...columnsOf('open'), ...columnsOf(...ages.map(({ name }) => name))],
};

/**
 * Open items of each customer at the end of a day: the balance of `receivable` and `opening_receivable` per invoice and
 * party, of entries dated up to that day. The total is the left side of E2. An invoice without a due date is due on its
 * own date.
 */
export async function receivables(db: Connection, input: VatInput, period: Period): Promise<Section[]> {
  return [await collected(openItems(db, input, period, everyEntry))];
}

/** The same, by what was recorded up to a place in the chain. Needs a transaction. */
export function openItems(db: Connection, input: VatInput, period: Period, recorded: Recorded): Listing {
  return { shape, items: readOpenItems(db, input, period, recorded), hasTotal: true };
}

/**
 * All items of a customer have the customer's latest name, so that they form one figure. A payment on an invoice without an entry has
 * the name on that invoice, unless the figures are those of an earlier time.
 */
async function* readOpenItems(
  db: Connection,
  input: VatInput,
  { through }: Period,
  { upToSeq }: Recorded,
): AsyncGenerator<Item> {
  const { id } = input;
  const inMirror = new Map<number, string>();
  const found = resultPages(
    db,
    {
      ...{ role: oneOf(['receivable', 'opening_receivable']), party_code: nullable(text), invoice_id: integer },
      ...{ amount: numeric, number: nullable(text), document_date: nullable(date), due_date: nullable(date) },
      name: nullable(text),
    },
    // All lines less those of later entries: an index has all lines, and few entries are later than a recent day. Joining each line to
    // its entry takes three times as long.
    `with line as (
       select l.role, l.party_code, l.invoice_id, l.side, l.amount from entry_line l
       where l.role in ('receivable', 'opening_receivable') and ${ofInstallation}
       union all
       select l.role, l.party_code, l.invoice_id, l.side, -l.amount from entry e join entry_line l on l.entry_id = e.id
       where e.installation = ? and (e.entry_date > ?::date${upToSeq === null ? '' : ' or e.seq > ?'})
         and l.role in ('receivable', 'opening_receivable')
     ), open as (
       select l.invoice_id, l.role, l.party_code, ${debitLessCredit()} as amount
       from line l group by l.invoice_id, l.role, l.party_code
       having ${debitLessCredit()} <> 0
     )
     select o.role, o.party_code, o.invoice_id, o.amount, i.document_number as number, i.document_date, i.due_date,
       first_value(i.name) over (partition by o.party_code
         order by i.name is null, o.role, i.due_date desc nulls last, o.invoice_id desc) as name
     from open o
     left join lateral (
       select l.document_number, e.document_date, l.due_date, n.name
       from entry e
         join entry_line l on l.entry_id = e.id and l.role in ('receivable', 'opening_receivable')
         left join entry_party_name n on n.entry_id = e.id and n.party_code = o.party_code
       where e.installation = ? and e.kind = 'invoice' and e.document_id = o.invoice_id and e.entry_date <= ?::date
         and ${isRecorded}
       order by e.n desc limit 1
     ) i on true
     order by o.role desc, o.party_code nulls first, i.due_date nulls first, o.invoice_id`,
    [String(id), id, through, ...(upToSeq === null ? [] : [upToSeq]), ...[id, through, upToSeq]],
  );
  for await (const page of found) {
    const unnamed =
      upToSeq === null ? page.filter(({ party_code, name }) => name === null && clientOf(party_code)) : [];
    const onInvoices = await namesOnInvoices(db, input, [...new Set(unnamed.map(({ invoice_id }) => invoice_id))]);
    for (const [client, name] of onInvoices) if (!inMirror.has(client)) inMirror.set(client, name);
    for (const { role, party_code, invoice_id, amount, number, document_date, due_date, ...each } of page) {
      const name = each.name ?? inMirror.get(clientOf(party_code) ?? 0) ?? null;
      const days = daysOverdue(due_date ?? document_date, through);
      yield {
        keys: { role, customer: party_code, name },
        document: `invoice ${invoice_id}`,
        facts: { number, date: document_date, due_date, days_overdue: days },
        amounts: { open: new Money(amount), [ageOf(days)]: new Money(amount) },
      };
    }
  }
}

function daysOverdue(due: CalendarDate | null, through: CalendarDate): number | null {
  return due === null ? null : Math.max(0, daysBetween(due, through));
}

function ageOf(days: number | null): string {
  return (ages.find(({ upTo }) => (days ?? 0) <= upTo) ?? ages[0]).name;
}
