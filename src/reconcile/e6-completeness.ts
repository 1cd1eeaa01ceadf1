import { integer, oneOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { Money, sum } from '../domain/money.ts';
import { type RecordKind, recordKinds, sourceKinds } from '../terms.ts';
import { e6Texts } from '../texts/findings/reconcile.ts';
import { differencesOf, limitedRows } from './limited.ts';
import type { Difference, FoundDifferences, ReconcileInput } from './reconcile-report.ts';

const one = new Money(1);
const plurals: Record<RecordKind, string> = {
  invoice: 'invoices',
  row: 'rows',
  payment: 'payments',
  prepayment: 'prepayments',
};

/**
 * Equation E6, nothing lost: every record of the mirror that can be posted is a document in one final state. A document
 * is posted if and only if it has an entry in force. The source's count plus the posted documents that it no longer
 * shows equals the number in the mirror. The difference is a number of documents.
 */
export async function checkCompleteness(db: Connection, input: ReconcileInput): Promise<FoundDifferences[]> {
  const counts = await countDifferences(db, input);
  const total = sum(counts.map(({ amount }) => amount.abs()));
  return [await lostDocuments(db, input), { listed: counts, omitted: 0, total }];
}

/** The lists of documents whose count in the source is unknown. */
export function listsNotCounted({ sourceCounts }: Pick<ReconcileInput, 'sourceCounts'>): string[] {
  return sourceKinds.filter((kind) => !sourceCounts[kind]).map((kind) => plurals[kind]);
}

async function lostDocuments(db: Connection, input: ReconcileInput): Promise<FoundDifferences> {
  const lost = await limitedRows(
    db,
    { kind: oneOf(sourceKinds), id: integer, message: text },
    `with record as (
         select kind, id from mirror_record where installation = ? and kind in ('invoice', 'payment', 'prepayment')),
       state as (select kind, id, state, entry_id from document where installation = ? and kind <> 'vat_due'),
       entries as (select kind, document_id as id, id as entry_id, reverses from entry where installation = ? and kind <> 'vat_due'),
       in_force as (
         select kind, id, entry_id from entries e
         where reverses is null and not exists (select from entries r where r.reverses = e.entry_id))
     select kind, id, 'it is in the mirror, but has no state' as message
       from record left join state using (kind, id) where state.id is null
     union all
     select kind, id, 'it was pulled, but is not judged yet: run sync' from state where state = 'pending'
     union all
     select kind, id, 'it has a state (' || state || '), but is not in the mirror'
       from state left join record using (kind, id) where record.id is null and not exists (
         select from put_aside a where a.installation = ? and a.kind = state.kind and a.record = state.id::text)
     union all
     select kind, id, 'it is ' || s.state || ' with ' || coalesce('the entry ' || s.entry_id, 'no entry')
         || ', but the ledger has ' || coalesce(f.entry_id, 'none') || ' in force'
       from state s left join in_force f using (kind, id)
       where s.entry_id is distinct from f.entry_id or (s.state = 'posted') <> (f.entry_id is not null)
     union all
     select distinct kind, id, 'it has entries in the ledger, but no state'
       from entries left join state using (kind, id) where state.id is null
     union all
     select kind, id, 'it has ' || count(*) || ' entries in force' from in_force group by kind, id having count(*) > 1
     order by kind, id`,
    [input.id, input.id, input.id, input.id],
  );
  return differencesOf(lost, ({ kind, id, message }) => ({ document: `${kind} ${id}`, amount: one, message }));
}

async function countDifferences(db: Connection, input: ReconcileInput): Promise<Difference[]> {
  const counts = await rows(
    db,
    { kind: oneOf(recordKinds), count: integer, missing: integer },
    // A record that was put aside is known, and its document is held.
    `select kind, count(*) as count, count(missing_at) as missing from (
       select kind, missing_at from mirror_record where installation = ? and gone_at is null
       union all
       select kind, null from put_aside a where installation = ? and not exists (
         select from mirror_record m where m.installation = a.installation and m.kind = a.kind and m.id = a.record::bigint)
     ) as known group by kind`,
    [input.id, input.id],
  );
  const mirrored = new Map(counts.map((each) => [each.kind, each]));
  return recordKinds.flatMap((kind) => {
    const source = input.sourceCounts[kind]?.count;
    const { count: mirror = 0, missing = 0 } = mirrored.get(kind) ?? {};
    if (source === undefined || source + missing === mirror) return [];
    const message = e6Texts.count({ source, list: plurals[kind], mirror, missing });
    return [{ document: plurals[kind], amount: new Money(source + missing - mirror), message }];
  });
}
