import { bool, date, integer, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { resultPages } from '../db/result-pages.ts';
import type { Connection } from '../db/rows.ts';
import { Money } from '../domain/money.ts';
import { documentKinds, type InstallationId } from '../terms.ts';
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

const shape: SectionShape = {
  ...{ name: 'late_entries', title: sectionTitles.lateEntries, keys: [] },
  facts: columnsOf('entry', 'date', 'document_date', 'period', 'is_late', 'text', 'decision', 'by', 'reason'),
  amounts: columnsOf('amount'),
};

/**
 * Entries that are late or on another day than their document. The entry or its document is dated in the period. Each
 * has the last decision about the document by `until`. The amount is the sum of debits.
 */
export function lateEntries(
  db: Connection,
  id: InstallationId,
  period: Period,
  recorded: Recorded,
  until: Date,
): Listing {
  // A reversal and the entry that it reverses have the same sign, so a total of the amounts would be wrong.
  return { shape, items: lateItems(db, id, period, recorded, until), hasTotal: false };
}

async function* lateItems(
  db: Connection,
  id: InstallationId,
  { from, through }: Period,
  { upToSeq }: Recorded,
  until: Date,
): AsyncGenerator<Item> {
  const first = from ?? '0001-01-01';
  const found = resultPages(
    db,
    {
      ...{ entry: text, kind: oneOf(documentKinds), document: integer, date, document_date: date, period: text },
      ...{ is_late: bool, text, amount: numeric, decision: nullable(text), by: nullable(text), reason: nullable(text) },
    },
    `with chosen as (
       select id from entry where installation = ? and entry_date between ?::date and ?::date
         and (is_late or entry_date <> document_date)
       union
       select id from entry where installation = ? and document_date between ?::date and ?::date
         and entry_date <> document_date
     )
     select e.id as entry, e.kind, e.document_id as document, e.entry_date as date, e.document_date,
       e.vat_period as period, e.is_late, e.description as text, debits.amount, d.decision, d.by, d.reason
     from chosen join entry e on e.id = chosen.id
     cross join lateral (
       select coalesce(sum(l.amount), 0) as amount from entry_line l where l.entry_id = e.id and l.side = 'debit'
     ) debits
     left join lateral (
       select l.decision, a.acted_by as by, a.reason from late_decision l join action_done a on a.id = l.action_id
       where l.installation = e.installation and l.kind = e.kind and l.document_id = e.document_id and a.acted_at <= ?
       order by l.id desc limit 1
     ) d on true
     where ${isRecorded} order by e.seq`,
    [...[id, first, through], ...[id, first, through], until, upToSeq],
  );
  for await (const page of found) {
    for (const { kind, document, amount, is_late, ...facts } of page) {
      yield {
        ...{ keys: {}, document: `${kind} ${document}`, amounts: { amount: new Money(amount) } },
        facts: { ...facts, is_late: is_late ? 'late' : null },
      };
    }
  }
}
