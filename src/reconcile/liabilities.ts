import { numeric, text, texts } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { formatExact, Money } from '../domain/money.ts';
import { debitLessCredit } from '../ledger/journal/signed.ts';
import { type Role, soldRoles } from '../terms.ts';
import type { Listed, ReconcileInput } from './reconcile-report.ts';

/** Roles of liabilities to clients. Their accounts must not have a debit balance. */
const owing: readonly Role[] = [...soldRoles, 'prepayment_liability'];

/** Accounts of gift cards, vouchers or prepayments with a debit balance: more was taken than was added. */
export async function liabilitiesInDebit(
  db: Connection,
  input: ReconcileInput,
): Promise<Listed['liabilities_in_debit']> {
  const found = await rows(
    db,
    { account: text, roles: texts, balance: numeric },
    `select l.account, array_agg(distinct l.role) as roles,
       ${debitLessCredit()} as balance
     from entry e join entry_line l on l.entry_id = e.id where e.installation = ?
     group by l.account
     having bool_or(l.role = any(?)) and ${debitLessCredit()} > 0
     order by l.account collate "C"`,
    [input.id, [...owing]],
  );
  return found.map(({ account, roles, balance }) => ({
    account,
    roles,
    balance: formatExact(new Money(balance), input.decimals),
  }));
}
