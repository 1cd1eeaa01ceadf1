/**
 * The lists of a report that need only the database. clearing-balances.ts and the equations collect the other lists.
 */
import { date, integer, numeric, oneOf, text, texts } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { formatExact, Money } from '../domain/money.ts';
import { isUnusable } from '../mirror/put-unusable-aside.ts';
import { sourceKinds } from '../terms.ts';
import { type Limited, limitedRows } from './limited.ts';
import type { InstallationReport, Listed, ReconcileInput, TrialBalanceLine } from './reconcile-report.ts';

/** Debits, credits and balance of every account with entries, by account. */
export async function trialBalance(db: Connection, input: ReconcileInput): Promise<TrialBalanceLine[]> {
  const accounts = await rows(
    db,
    { account: text, roles: texts, debit: numeric, credit: numeric },
    `select l.account, array_agg(distinct l.role) as roles,
       coalesce(sum(l.amount) filter (where l.side = 'debit'), 0) as debit,
       coalesce(sum(l.amount) filter (where l.side = 'credit'), 0) as credit
     from entry e join entry_line l on l.entry_id = e.id where e.installation = ?
     group by l.account order by l.account collate "C"`,
    [input.id],
  );
  return accounts.map(({ account, roles: [role, ...others], debit, credit }) => ({
    account,
    ...(role !== undefined && others.length === 0 ? { role } : {}),
    debit: formatExact(new Money(debit), input.decimals),
    credit: formatExact(new Money(credit), input.decimals),
    balance: formatExact(new Money(debit).minus(credit), input.decimals),
  }));
}

/** Entries that wait for their day's summary, by day: the day is not over, or no window has run since. */
export function unsummarisedByDay(db: Connection, input: ReconcileInput): Promise<Listed['unsummarised']> {
  return rows(
    db,
    { date, entries: integer },
    `select e.entry_date as date, count(*) as entries from entry e
     where e.installation = ? and e.posting_mode = 'daily_summary'
       and not exists (select from summary_member m where m.entry_id = e.id)
     group by e.entry_date order by e.entry_date`,
    [input.id],
  );
}

/** Problems that are reported without holding their document. */
export function documentReports(db: Connection, input: ReconcileInput): Promise<Limited<Listed['reports'][number]>> {
  return limitedRows(
    db,
    { document: text, code: text, message: text },
    `select kind || ' ' || id as document, code, message from document_report where installation = ?
     order by code, kind, id`,
    [input.id],
  );
}

const plurals = { invoice: 'invoices', payment: 'payments', prepayment: 'prepayments' } as const;

/** The number of documents by kind and state. */
export async function countStates(db: Connection, input: ReconcileInput): Promise<InstallationReport['states']> {
  const counts = await rows(
    db,
    { kind: oneOf(sourceKinds), state: text, count: integer },
    `select kind, state, count(*) as count from document where installation = ? and kind = any(?) group by kind, state
     union all
     select kind, 'put_aside', count(*) from put_aside where installation = ? and kind <> 'row' and ${isUnusable} group by kind
     order by kind, state`,
    [input.id, sourceKinds, input.id],
  );
  const states: InstallationReport['states'] = { invoices: {}, payments: {}, prepayments: {} };
  for (const { kind, state, count } of counts) states[plurals[kind]][state] = count;
  return states;
}
