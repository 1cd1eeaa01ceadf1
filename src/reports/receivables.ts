import { date, integer, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { daysBetween } from '../domain/dates.ts';
import { Money } from '../domain/money.ts';
import { debitLessCredit } from '../ledger/journal/signed.ts';
import type { CalendarDate } from '../terms.ts';
import { sectionTitles } from '../texts/reports/reports.ts';
import {
  columnsOf,
  everyEntry,
  type Item,
  isRecorded,
  type Period,
  type Recorded,
  type ReportInput,
  type Section,
  type SectionShape,
  section,
} from './report-sections.ts';

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
export async function receivables(
  db: Connection,
  input: ReportInput,
  { through }: Period,
  { upToSeq }: Recorded = everyEntry,
): Promise<Section[]> {
  const open = await rows(
    db,
    {
      ...{ role: oneOf(['receivable', 'opening_receivable']), party_code: nullable(text), invoice_id: integer },
      ...{ amount: numeric, number: nullable(text), document_date: nullable(date), due_date: nullable(date) },
      name: nullable(text),
    },
    `with open as (
       select l.role, l.party_code, l.invoice_id,
         ${debitLessCredit()} as amount
       from entry e join entry_line l on l.entry_id = e.id
       where e.installation = ? and e.entry_date <= ?::date and ${isRecorded} and l.role in ('receivable', 'opening_receivable')
       group by l.role, l.party_code, l.invoice_id
       having ${debitLessCredit()} <> 0
     )
     select o.role, o.party_code, o.invoice_id, o.amount, i.document_number as number, i.document_date, i.due_date, i.name
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
    [...[input.id, through, upToSeq], ...[input.id, through, upToSeq]],
  );
  const items = open.map(({ role, party_code, invoice_id, amount, number, document_date, due_date, name }): Item => {
    const days = daysOverdue(due_date ?? document_date, through);
    return {
      keys: { role, customer: party_code, name: null },
      document: `invoice ${invoice_id}`,
      facts: { number, date: document_date, due_date, days_overdue: days, customer_name: name },
      amounts: { open: new Money(amount), [ageOf(days)]: new Money(amount) },
    };
  });
  return [section(shape, withCustomerNames(items))];
}

/** Gives all items of a customer the customer's latest name, so that they form one figure. */
function withCustomerNames(items: readonly Item[]): Item[] {
  const names = new Map<string, string>();
  for (const { keys, facts } of items) {
    const { customer_name: name } = facts;
    if (typeof keys.customer === 'string' && typeof name === 'string') names.set(keys.customer, name);
  }
  return items.map(({ keys, facts: { customer_name: _, ...facts }, ...item }) => ({
    ...item,
    keys: { ...keys, name: typeof keys.customer === 'string' ? (names.get(keys.customer) ?? null) : null },
    facts,
  }));
}

function daysOverdue(due: CalendarDate | null, through: CalendarDate): number | null {
  return due === null ? null : Math.max(0, daysBetween(due, through));
}

function ageOf(days: number | null): string {
  return (ages.find(({ upTo }) => (days ?? 0) <= upTo) ?? ages[0]).name;
}
