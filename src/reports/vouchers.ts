import { date, integer, numeric, oneOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { Money, zero } from '../domain/money.ts';
import { documentKinds } from '../terms.ts';
import { sectionTitles } from '../texts/reports/reports.ts';
import { openingVouchers } from './opening-vouchers.ts';
import { columnsOf, type Item, type Period, type Section, type SectionShape, section } from './report-sections.ts';
import { creditLessDebit } from './signed.ts';
import type { VatInput } from './vat.ts';

const shape: SectionShape = {
  name: 'vouchers',
  title: sectionTitles.vouchers,
  keys: columnsOf('role', 'account', 'month'),
  facts: columnsOf('date'),
  amounts: columnsOf('sold', 'redeemed', 'unused'),
};

/**
 * The liability for gift cards and multi-purpose vouchers (R1, R4 types 5 and 9): sold by invoices, redeemed by
 * payments, and the difference. The total is the liability of E9. It is negative while cards from before `start_date`
 * are redeemed; the section `opening` shows these cards by the source's records.
 */
export async function vouchers(db: Connection, input: VatInput, { through }: Period): Promise<Section[]> {
  const found = await rows(
    db,
    {
      ...{ role: oneOf(['gift_card_liability', 'voucher_liability']), account: text, entry_date: date },
      ...{ kind: oneOf(documentKinds), document_id: integer, amount: numeric },
    },
    `select l.role, l.account, e.entry_date, e.kind, e.document_id,
       ${creditLessDebit()} as amount
     from entry e join entry_line l on l.entry_id = e.id
     where e.installation = ? and e.entry_date <= ?::date and l.role in ('gift_card_liability', 'voucher_liability')
     group by l.role, l.account, e.entry_date, e.kind, e.document_id
     having ${creditLessDebit()} <> 0
     order by l.role, l.account, e.entry_date, e.kind, e.document_id`,
    [input.id, through],
  );
  const items = found.map(({ role, account, entry_date, kind, document_id, ...each }) => {
    const amount = new Money(each.amount);
    const isSale = kind === 'invoice';
    return {
      keys: { role, account, month: entry_date.slice(0, 7) },
      document: `${kind} ${document_id}`,
      facts: { date: entry_date },
      amounts: { sold: isSale ? amount : zero, redeemed: isSale ? zero : amount.negated(), unused: amount },
    } satisfies Item;
  });
  const sold = section(shape, items);
  return input.startDate === null ? [sold] : [sold, await openingVouchers(db, input)];
}
