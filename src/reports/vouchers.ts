import { date, integer, numeric, oneOf, text } from '../db/columns.ts';
import { resultPages } from '../db/result-pages.ts';
import type { Connection } from '../db/rows.ts';
import { Money, zero } from '../domain/money.ts';
import { creditLessDebit } from '../ledger/journal/signed.ts';
import { documentKinds } from '../terms.ts';
import { sectionTitles } from '../texts/reports/reports.ts';
import { openingVouchers } from './opening-vouchers.ts';
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
  type ReportInput,
  type Section,
  type SectionShape,
} from './report-sections.ts';
import type { VatInput } from './vat.ts';

const shape: SectionShape = {
  name: 'vouchers',
  title: sectionTitles.vouchers,
  keys: columnsOf('role', 'account', 'month'),
  facts: columnsOf('date'),
  amounts: columnsOf('sold', 'redeemed', 'unused'),
};

/**
 * The liability for gift cards and multi-purpose vouchers (R1, R4 types 5 and 9), and the cards from before
 * `start_date` by the source's records (section `opening`). The total of the first section is negative while such cards
 * are redeemed.
 */
export async function vouchers(db: Connection, input: VatInput, period: Period): Promise<Section[]> {
  const sold = await collected(bookedVouchers(db, input, period, everyEntry));
  return input.startDate === null ? [sold] : [sold, await openingVouchers(db, input)];
}

/** Gift cards and vouchers sold by invoices, redeemed by payments, and the difference: the liability of E9. */
export function bookedVouchers(db: Connection, input: ReportInput, period: Period, recorded: Recorded): Listing {
  return { shape, items: bookedItems(db, input, period, recorded), hasTotal: true };
}

async function* bookedItems(
  db: Connection,
  input: ReportInput,
  { through }: Period,
  { upToSeq }: Recorded,
): AsyncGenerator<Item> {
  const found = resultPages(
    db,
    {
      ...{ role: oneOf(['gift_card_liability', 'voucher_liability']), account: text, entry_date: date },
      ...{ kind: oneOf(documentKinds), document_id: integer, amount: numeric },
    },
    `select l.role, l.account, e.entry_date, e.kind, e.document_id,
       ${creditLessDebit()} as amount
     from entry e join entry_line l on l.entry_id = e.id
     where e.installation = ? and e.entry_date <= ?::date and ${isRecorded} and l.role in ('gift_card_liability', 'voucher_liability') and ${ofInstallation}
     group by l.role, l.account, e.entry_date, e.kind, e.document_id
     having ${creditLessDebit()} <> 0
     order by l.role, l.account, e.entry_date, e.kind, e.document_id`,
    [input.id, through, upToSeq, String(input.id)],
  );
  for await (const page of found) {
    for (const { role, account, entry_date, kind, document_id, ...each } of page) {
      const amount = new Money(each.amount);
      const isSale = kind === 'invoice';
      yield {
        keys: { role, account, month: entry_date.slice(0, 7) },
        document: `${kind} ${document_id}`,
        facts: { date: entry_date },
        amounts: { sold: isSale ? amount : zero, redeemed: isSale ? zero : amount.negated(), unused: amount },
      };
    }
  }
}
