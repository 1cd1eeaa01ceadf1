import { date, integer, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { Money, zero } from '../domain/money.ts';
import { creditLessDebit, debitLessCredit } from '../ledger/journal/signed.ts';
import { documentKinds } from '../terms.ts';
import { sectionTitles } from '../texts/reports/reports.ts';
import { customerNames } from './prepayment-records.ts';
import {
  columnsOf,
  type Item,
  isRecorded,
  type Period,
  type Recorded,
  type Section,
  type SectionShape,
  section,
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
export async function bookedPrepayments(
  db: Connection,
  input: VatInput,
  { through }: Period,
  { upToSeq }: Recorded,
): Promise<Section> {
  const found = await rows(
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
         and l.role in ('prepayment_liability', 'prepayment_vat')
       group by l.party_code, e.kind, e.document_id
     ), open as (select party from document group by party having sum(amount) <> 0 or sum(vat) <> 0)
     select d.* from document d join open on open.party is not distinct from d.party
     where d.amount <> 0 or d.vat <> 0
     order by d.party collate "C" nulls first, d.day, d.kind, d.id`,
    [input.id, through, upToSeq],
  );
  const names = await customerNames(db, input, [...new Set(found.flatMap(({ party }) => party ?? []))]);
  const items = found.map(({ party, kind, id, day, ...each }): Item => {
    const [amount, vat] = [new Money(each.amount), new Money(each.vat)];
    const own = kind !== 'prepayment' ? 'used' : amount.isNegative() ? 'refunded' : 'received';
    return {
      keys: { customer: party, name: party === null ? null : (names.get(party) ?? null) },
      ...{ document: `${kind} ${id}`, facts: { date: day } },
      amounts: {
        ...{ received: zero, used: zero, refunded: zero, in_books: amount, vat_left: vat },
        [own]: own === 'received' ? amount : amount.negated(),
      },
    };
  });
  return section(shape, items);
}
