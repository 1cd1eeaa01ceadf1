import { rowsAsArrays } from '../db/bulk.ts';
import { instant, integer, nullable, numeric } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import { Money, sum, zero } from '../domain/money.ts';
import type { InstallationId } from '../terms.ts';
import { adjusted } from './match.ts';

/**
 * Updates the stored changes of prepayments to their unexplained amount: paid, less unused, less linked refunds and
 * matches. A new change is dated between `since` and `until`. Call it when a new version of a prepayment or refund is
 * read. Do not call it when a match is made or removed: the prepayment's next version shows the result.
 */
export async function adjustChanges(
  trx: Connection,
  installation: InstallationId,
  prepayments: readonly { id: number; since: Date | null; until: Date | null }[],
  refundsLower: boolean | 'auto',
): Promise<void> {
  const ids = prepayments.map(({ id }) => id);
  if (ids.length === 0) return;
  const balances = await unexplained(trx, installation, 'prepayment_id', ids, refundsLower);
  const known = await rows(
    trx,
    { id: integer, n: integer, amount: numeric },
    'select prepayment_id as id, n, amount from prepayment_change where installation = ? and prepayment_id = any(?)',
    [installation, ids],
  );
  const changes = Map.groupBy(
    known.map(({ id, n, amount }) => ({ id, n, amount: new Money(amount) })),
    ({ id }) => id,
  );
  const times = new Map(prepayments.map((each) => [each.id, each]));
  const removed: { id: number; n: number }[] = [];
  const reduced: { id: number; n: number; amount: string }[] = [];
  const added: NewChange[] = [];
  for (const { id, clientId, amount } of balances) {
    const of = changes.get(id) ?? [];
    const change = adjusted(of, amount);
    removed.push(...change.removed.map((n) => ({ id, n })));
    if (change.reduced) reduced.push({ id, n: change.reduced.n, amount: change.reduced.amount.toFixed() });
    if (change.added) {
      const { since = null, until = null } = times.get(id) ?? {};
      const n = Math.max(0, ...of.map((each) => each.n)) + 1;
      const span = { since: since?.toISOString() ?? null, until: until?.toISOString() ?? null };
      added.push({ id, n, client_id: clientId, amount: change.added.toFixed(), ...span });
    }
  }
  await saveChanges(trx, installation, { removed, reduced, added });
}

/**
 * The unexplained drop of a prepayment's unused amount. It is negative if refunds and matches explain more than the
 * drop.
 */
export interface Unexplained {
  id: number;
  clientId: number | null;
  amount: Money;
  createdAt: Date | null;
}

/**
 * The prepayments with these ids, or of these clients, with the unexplained amount of each: paid, less unused, less
 * linked refunds and matches.
 */
export async function unexplained(
  db: Connection,
  installation: InstallationId,
  by: 'prepayment_id' | 'client_id',
  ids: readonly number[],
  refundsLower: boolean | 'auto',
): Promise<Unexplained[]> {
  const balances = await rows(
    db,
    {
      ...{ id: integer, clientId: nullable(integer), createdAt: nullable(instant) },
      ...{ dropped: numeric, refunded: numeric },
    },
    `select b.prepayment_id as id, b.client_id as "clientId", b.created_at as "createdAt",
       b.paid - b.unused - coalesce((select sum(m.amount) from prepayment_match m
         where m.installation = b.installation and m.prepayment_id = b.prepayment_id), 0) as dropped,
       coalesce((select sum(r.amount) from prepayment_refund r
         where r.installation = b.installation and r.original_id = b.prepayment_id), 0) as refunded
     from prepayment_balance b where b.installation = ? and b.${by} = any(?) order by b.prepayment_id`,
    [installation, ids],
  );
  return balances.map(({ dropped, refunded, ...balance }) => {
    const left = new Money(dropped);
    return { ...balance, amount: left.minus(explainedByRefunds(left, new Money(refunded), refundsLower)) };
  });
}

/** With `auto`, refunds lower the unused amount if the drop is large enough for them. */
function explainedByRefunds(dropped: Money, refunded: Money, refundsLower: boolean | 'auto'): Money {
  const lowers = refundsLower === 'auto' ? !dropped.lessThan(refunded) : refundsLower;
  return lowers ? refunded : zero;
}

interface NewChange {
  id: number;
  n: number;
  client_id: number | null;
  amount: string;
  since: string | null;
  until: string | null;
}

/** Subtracts matched amounts from the changes of prepayments. */
export async function takeFromChanges(
  trx: Connection,
  installation: InstallationId,
  taken: readonly { prepaymentId: number; amount: Money }[],
): Promise<void> {
  if (taken.length === 0) return;
  const ofPrepayment = Map.groupBy(taken, ({ prepaymentId }) => prepaymentId);
  const known = await rows(
    trx,
    { id: integer, n: integer, amount: numeric },
    'select prepayment_id as id, n, amount from prepayment_change where installation = ? and prepayment_id = any(?)',
    [installation, [...ofPrepayment.keys()]],
  );
  const removed: { id: number; n: number }[] = [];
  const reduced: { id: number; n: number; amount: string }[] = [];
  for (const [id, its] of ofPrepayment) {
    const amount = sum(its.map((each) => each.amount));
    const of = known.flatMap((each) => (each.id === id ? { n: each.n, amount: new Money(each.amount) } : []));
    const change = adjusted(of, sum(of.map((each) => each.amount)).minus(amount));
    removed.push(...change.removed.map((n) => ({ id, n })));
    if (change.reduced) reduced.push({ id, n: change.reduced.n, amount: change.reduced.amount.toFixed() });
  }
  await saveChanges(trx, installation, { removed, reduced, added: [] });
}

async function saveChanges(
  trx: Connection,
  installation: InstallationId,
  {
    removed,
    reduced,
    added,
  }: {
    removed: readonly { id: number; n: number }[];
    reduced: readonly { id: number; n: number; amount: string }[];
    added: readonly NewChange[];
  },
): Promise<void> {
  if (removed.length > 0) {
    const { from, bindings } = rowsAsArrays('gone', { id: 'bigint', n: 'int' }, removed);
    await execute(
      trx,
      `delete from prepayment_change c using ${from}
       where c.installation = ? and c.prepayment_id = gone.id and c.n = gone.n`,
      [...bindings, installation],
    );
  }
  if (reduced.length > 0) {
    const { from, bindings } = rowsAsArrays('less', { id: 'bigint', n: 'int', amount: 'numeric' }, reduced);
    await execute(
      trx,
      `update prepayment_change c set amount = less.amount from ${from}
       where c.installation = ? and c.prepayment_id = less.id and c.n = less.n`,
      [...bindings, installation],
    );
  }
  if (added.length === 0) return;
  const types = {
    ...{ id: 'bigint', n: 'int', client_id: 'bigint', amount: 'numeric' },
    ...{ since: 'timestamptz', until: 'timestamptz' },
  } as const;
  const { from, bindings } = rowsAsArrays('new_change', types, added);
  await execute(
    trx,
    `insert into prepayment_change (installation, prepayment_id, n, client_id, amount, since, until)
     select ?, id, n, client_id, amount, since, until from ${from}`,
    [installation, ...bindings],
  );
}
