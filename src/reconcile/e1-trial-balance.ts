import { numeric, text } from '../db/columns.ts';
import type { Connection } from '../db/rows.ts';
import { formatExact, Money } from '../domain/money.ts';
import { debitLessCredit } from '../ledger/journal/signed.ts';
import { entryDefects } from '../texts/entries.ts';
import { differencesOf, limitedRows } from './limited.ts';
import type { FoundDifferences, ReconcileInput } from './reconcile-report.ts';

/** Equation E1: the trial balance is zero. It is the sum of all entries, so each unbalanced entry is a difference. */
export async function checkTrialBalance(db: Connection, input: ReconcileInput): Promise<FoundDifferences> {
  const unbalanced = await limitedRows(
    db,
    { id: text, amount: numeric },
    `select e.id, ${debitLessCredit()} as amount
     from entry e join entry_line l on l.entry_id = e.id where e.installation = ?
     group by e.id having ${debitLessCredit()} <> 0 order by e.id`,
    [input.id],
    'amount',
  );
  return differencesOf(unbalanced, ({ id, amount }) => ({
    document: `entry ${id}`,
    amount: new Money(amount),
    message: entryDefects.unbalanced({ difference: formatExact(new Money(amount), input.decimals) }),
  }));
}
