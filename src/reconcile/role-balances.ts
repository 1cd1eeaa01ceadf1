import { numeric, oneOf } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { Money, zero } from '../domain/money.ts';
import { creditLessDebit } from '../ledger/journal/signed.ts';
import type { InstallationId, LineRole } from '../terms.ts';

/** The balance of each of these roles over the whole books; a credit is positive. */
export async function balancesOfRoles<R extends LineRole>(
  db: Connection,
  installation: InstallationId,
  roles: readonly R[],
): Promise<Record<R, Money>> {
  const found = await rows(
    db,
    { role: oneOf(roles), balance: numeric },
    `select l.role, ${creditLessDebit()} as balance
     from entry e join entry_line l on l.entry_id = e.id
     where e.installation = ? and l.role = any(?) group by l.role`,
    [installation, [...roles]],
  );
  const balances = Object.fromEntries(roles.map((role) => [role, zero])) as Record<R, Money>;
  for (const { role, balance } of found) balances[role] = new Money(balance);
  return balances;
}
