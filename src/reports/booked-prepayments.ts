import { date, integer, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { resultPages } from '../db/result-pages.ts';
import type { Connection } from '../db/rows.ts';
import { Money, zero } from '../domain/money.ts';
import { creditLessDebit, debitLessCredit } from '../ledger/journal/signed.ts';
import { documentKinds } from '../terms.ts';
import { sectionTitles } from '../texts/reports/reports.ts';
import { customerNames } from './prepayment-records.ts';
import {
  columnsOf,
  type Item,
  isRecorded,
  type Listing,
  ofInstallation,
  type Period,
  type Recorded,
  type SectionShape,
} from './report-sections.ts';
import type { VatInput } from './vat.ts';

const shape: SectionShape = {
  ...{ name: 'prepayments', title: sectionTitles.bookedPrepayments },
  ...{ keys: columnsOf('customer', 'name'), facts: columnsOf('date') },
  amounts: columnsOf('received', 'used', 'refunded', 'in_books', 'vat_left'),
};

/**
 * The prepayments of clients, computed only from entries dated up to a day: the clients with a balance on
 * `prepayment_liability` or `prepayment_vat`, with all their documents on these accounts. `report prepayments` also
 * shows what each prepayment was used for, by the present records of the source.
 */
export function bookedPrepayments(db: Connection, input: VatInput, period: Period, recorded: Recorded): Listing {
  return { shape, items: bookedItems(db, input, period, recorded), hasTotal: true };
}

async function* bookedItems(
  db: Connection,
  input: VatInput,
  { through }: Period,
  recorded: Recorded,
): AsyncGenerator<Item> {
  const found = resultPages(
    db,
    {
      ...{ party: nullable(text), kind: oneOf(documentKinds), id: integer, day: date },
      ...{ amount: numeric, vat: numeric },
    },
    `with document as (
       select l.party_code as party, e.kind, e.document_id as id, min(e.document_date) as day,
         coalesce(${creditLessDebit()} filter (where l.role = 'prepayment_liability'), 0) as amount,
         coalesce(${debitLessCredit()} filter (where l.role = 'prepayment_vat'), 0) as vat
       from entry e join entry_line l on l.entry_id = e.id
       where e.installation = ? and e.entry_date <= ?::date and ${isRecorded}
         and l.role in ('prepayment_liability', 'prepayment_vat') and ${ofInstallation}
       group by l.party_code, e.kind, e.document_id
     )
     select party, kind, id, day, amount, vat from (
       select *, sum(amount) over of_party <> 0 or sum(vat) over of_party <> 0 as is_open
       from document window of_party as (partition by party)
     ) d
     where is_open and (amount <> 0 or vat <> 0)
     order by party collate "C" nulls first, day, kind, id`,
    [input.id, through, recorded.upToSeq, String(input.id)],
  );
  for await (const page of found) {
    const parties = new Set(page.flatMap(({ party }) => party ?? []));
    const names = await customerNames(db, input, [...parties], recorded);
    for (const { party, kind, id, day, ...each } of page) {
      const [amount, vat] = [new Money(each.amount), new Money(each.vat)];
      const own = kind !== 'prepayment' ? 'used' : amount.isNegative() ? 'refunded' : 'received';
      yield {
        keys: { customer: party, name: party === null ? null : (names.get(party) ?? null) },
        ...{ document: `${kind} ${id}`, facts: { date: day } },
        amounts: {
          ...{ received: zero, used: zero, refunded: zero, in_books: amount, vat_left: vat },
          [own]: own === 'received' ? amount : amount.negated(),
        },
      };
    }
  }
}
