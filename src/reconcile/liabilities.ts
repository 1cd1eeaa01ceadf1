import { numeric, oneOf, text, texts } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { Money, zero } from '../domain/money.ts';
import { type Role, type SoldRole, soldRoles } from '../terms.ts';
import { formatAmount, type Listed, type ReconcileInput } from './reconcile-report.ts';

/** Roles of liabilities to clients. Their accounts must not have a debit balance. */
const owing: readonly Role[] = [...soldRoles, 'prepayment_liability'];

/** The balances of gift cards and vouchers over the whole books; a credit is positive. */
export async function voucherBalances(db: Connection, input: ReconcileInput): Promise<Record<SoldRole, Money>> {
  const found = await rows(
    db,
    { role: oneOf(soldRoles), balance: numeric },
    `select l.role, sum(case l.side when 'credit' then l.amount else -l.amount end) as balance
     from entry e join entry_line l on l.entry_id = e.id
     where e.installation = ? and l.role = any(?) group by l.role`,
    [input.id, [...soldRoles]],
  );
  const balances: Record<SoldRole, Money> = { gift_card_liability: zero, voucher_liability: zero };
  for (const { role, balance } of found) balances[role] = new Money(balance);
  return balances;
}

/** Accounts of gift cards, vouchers or prepayments with a debit balance: more was taken than was added. */
export async function liabilitiesInDebit(
  db: Connection,
  input: ReconcileInput,
): Promise<Listed['liabilities_in_debit']> {
  const found = await rows(
    db,
    { account: text, roles: texts, balance: numeric },
    `select l.account, array_agg(distinct l.role) as roles,
       sum(case l.side when 'debit' then l.amount else -l.amount end) as balance
     from entry e join entry_line l on l.entry_id = e.id where e.installation = ?
     group by l.account
     having bool_or(l.role = any(?)) and sum(case l.side when 'debit' then l.amount else -l.amount end) > 0
     order by l.account collate "C"`,
    [input.id, [...owing]],
  );
  return found.map(({ account, roles, balance }) => ({
    account,
    roles,
    balance: formatAmount(new Money(balance), input.decimals),
  }));
}
