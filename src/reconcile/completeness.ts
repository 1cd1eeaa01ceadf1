import { type Db, query } from '../db/pool.ts';
import { Money } from '../domain/money.ts';
import { type DocumentKind, type RecordKind, recordKinds } from '../terms.ts';
import type { Difference, InstallationReport, ReconcileInput } from './report.ts';

const one = new Money(1);
const plural = { invoice: 'invoices', row: 'rows', payment: 'payments', prepayment: 'prepayments' } as const;

/** How many documents of each kind are in each state. */
export async function countStates(db: Db, input: ReconcileInput): Promise<InstallationReport['states']> {
  const rows = await query<{ kind: DocumentKind; state: string; count: number }>(
    db,
    'select kind, state, count(*) as count from document where installation = ? group by kind, state order by kind, state',
    [input.id],
  );
  const states: InstallationReport['states'] = { invoices: {}, payments: {}, prepayments: {} };
  for (const { kind, state, count } of rows) states[plural[kind]][state] = count;
  return states;
}

/**
 * Equation E6, nothing lost: every record of the mirror is a document in one real state, posted exactly if it has an entry in
 * force, and the source counts as many records as the mirror holds. The difference counts documents.
 */
export async function checkCompleteness(db: Db, input: ReconcileInput): Promise<Difference[]> {
  return [...(await lostDocuments(db, input)), ...(await countDifferences(db, input))];
}

async function lostDocuments(db: Db, input: ReconcileInput): Promise<Difference[]> {
  const rows = await query<{ kind: DocumentKind; id: number; message: string }>(
    db,
    `with record as (
         select kind, id from mirror_record where installation = ? and kind in ('invoice', 'payment', 'prepayment')),
       state as (select kind, id, state, entry_id from document where installation = ?),
       entries as (select kind, document_id as id, id as entry_id, reverses from entry where installation = ?),
       in_force as (
         select kind, id, entry_id from entries e
         where reverses is null and not exists (select from entries r where r.reverses = e.entry_id))
     select kind, id, 'it is in the mirror, but in no state' as message
       from record left join state using (kind, id) where state.id is null
     union all
     select kind, id, 'it is pending: pulled, but not judged yet; run sync' from state where state = 'pending'
     union all
     select kind, id, 'it has a state (' || state || '), but is not in the mirror'
       from state left join record using (kind, id) where record.id is null
     union all
     select kind, id, 'it is ' || s.state || ' with ' || coalesce('the entry ' || s.entry_id, 'no entry')
         || ', while the ledger has ' || coalesce(f.entry_id, 'none') || ' in force'
       from state s left join in_force f using (kind, id)
       where s.entry_id is distinct from f.entry_id or (s.state = 'posted') <> (f.entry_id is not null)
     union all
     select distinct kind, id, 'the ledger has entries of it, but it has no state'
       from entries left join state using (kind, id) where state.id is null
     union all
     select kind, id, 'it has ' || count(*) || ' entries in force' from in_force group by kind, id having count(*) > 1
     order by kind, id`,
    [input.id, input.id, input.id],
  );
  return rows.map(({ kind, id, message }) => ({ document: `${kind} ${id}`, amount: one, message }));
}

async function countDifferences(db: Db, input: ReconcileInput): Promise<Difference[]> {
  const rows = await query<{ kind: RecordKind; count: number }>(
    db,
    'select kind, count(*) as count from mirror_record where installation = ? and gone_at is null group by kind',
    [input.id],
  );
  const mirrored = new Map(rows.map(({ kind, count }) => [kind, count]));
  return recordKinds.flatMap((kind) => {
    const source = input.sourceCounts[kind]?.count;
    const mirror = mirrored.get(kind) ?? 0;
    if (source === undefined || source === mirror) return [];
    const message = `the source counts ${source} ${plural[kind]}, the mirror holds ${mirror}`;
    return [{ document: plural[kind], amount: new Money(source - mirror), message }];
  });
}
