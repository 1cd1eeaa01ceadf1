import { rowsAsArrays } from '../db/bulk.ts';
import { instant, integer, nullable } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import { markKnown } from '../documents/mark.ts';
import type { InstallationId } from '../terms.ts';
import { type Followed, readPrepayments, type SeenPrepayment } from './seen-uses.ts';

/** A changed prepayment, and the times of the versions before and after the change. */
export interface TouchedPrepayment {
  id: number;
  since: Date | null;
  until: Date | null;
}

/**
 * Stores prepayments and refunds as the mirror has them. If a prepayment has another client now, it marks the payments
 * and refunds that take their client from it. Returns the prepayments for `adjustChanges`.
 */
export async function trackPrepayments(
  trx: Connection,
  installation: Followed,
  ids: readonly number[],
): Promise<TouchedPrepayment[]> {
  const { id } = installation;
  const seen = await readPrepayments(trx, installation, ids);
  const known = await balancesOf(trx, id, ids);
  const originals = seen.filter((each) => (each.record ? !each.record.paid?.isNegative() : known.has(each.id)));
  const refundedOriginals = await saveRefunds(trx, id, seen);
  await saveBalances(trx, id, originals);
  const moved = originals.filter(({ id: original, record }) => {
    const before = known.get(original);
    return record !== null && (before === undefined || before.clientId !== record.clientId);
  });
  await markDependent(
    trx,
    id,
    moved.map(({ id: original }) => original),
  );
  const touched = originals.map(({ id: original, createdAt, modifiedAt }) => ({
    id: original,
    since: known.get(original)?.modifiedAt ?? createdAt,
    until: modifiedAt,
  }));
  const own = new Set(touched.map((each) => each.id));
  const others = refundedOriginals.filter((original) => !own.has(original));
  return [...touched, ...others.map((original) => ({ id: original, since: null, until: null }))];
}

async function balancesOf(db: Connection, installation: InstallationId, ids: readonly number[]) {
  const found = await rows(
    db,
    { id: integer, clientId: nullable(integer), modifiedAt: nullable(instant) },
    `select prepayment_id as id, client_id as "clientId", modified_at as "modifiedAt" from prepayment_balance
     where installation = ? and prepayment_id = any(?)`,
    [installation, ids],
  );
  return new Map(found.map((each) => [each.id, each]));
}

const balanceTypes = {
  ...{ id: 'bigint', client_id: 'bigint', paid: 'numeric', unused: 'numeric', created_at: 'timestamptz' },
  ...{ version: 'int', modified_at: 'timestamptz' },
} as const;

async function saveBalances(
  trx: Connection,
  installation: InstallationId,
  originals: readonly SeenPrepayment[],
): Promise<void> {
  if (originals.length === 0) return;
  const { from, bindings } = rowsAsArrays(
    'seen',
    balanceTypes,
    originals.map(({ id, version, record, createdAt, modifiedAt }) => ({
      id,
      client_id: record?.clientId ?? null,
      paid: record?.paid?.toFixed() ?? '0',
      // The unused amount is `paid` at first, and also if the source does not send it.
      unused: (record?.unusedAmount ?? record?.paid)?.toFixed() ?? '0',
      created_at: createdAt?.toISOString() ?? null,
      version,
      modified_at: modifiedAt?.toISOString() ?? null,
    })),
  );
  await execute(
    trx,
    `insert into prepayment_balance as b (installation, prepayment_id, client_id, paid, unused, created_at, version, modified_at)
     select ?, id, client_id, paid, unused, created_at, version, modified_at from ${from}
     on conflict (installation, prepayment_id) do update set client_id = coalesce(excluded.client_id, b.client_id),
       paid = excluded.paid, unused = excluded.unused, version = excluded.version, modified_at = excluded.modified_at`,
    [installation, ...bindings],
  );
  await execute(
    trx,
    `update prepayment_change c set client_id = b.client_id from prepayment_balance b
     where c.installation = ? and c.prepayment_id = any(?) and b.installation = c.installation
       and b.prepayment_id = c.prepayment_id and c.client_id is distinct from b.client_id`,
    [installation, originals.map(({ id }) => id)],
  );
}

/** Stores linked refunds. Returns their originals whose refunds were added, changed or removed. */
async function saveRefunds(
  trx: Connection,
  installation: InstallationId,
  seen: readonly SeenPrepayment[],
): Promise<number[]> {
  const refunds = seen.flatMap(({ id, record }) =>
    record?.paid?.isNegative() && record.refundsId !== null
      ? [{ id, original_id: record.refundsId, amount: record.paid.negated().toFixed() }]
      : [],
  );
  const present = new Set(refunds.map(({ id }) => id));
  const gone = await rows(
    trx,
    { originalId: integer },
    `delete from prepayment_refund where installation = ? and refund_id = any(?) returning original_id as "originalId"`,
    [installation, seen.filter(({ id }) => !present.has(id)).map(({ id }) => id)],
  );
  if (refunds.length > 0) {
    const types = { id: 'bigint', original_id: 'bigint', amount: 'numeric' } as const;
    const { from, bindings } = rowsAsArrays('seen', types, refunds);
    await execute(
      trx,
      `insert into prepayment_refund (installation, refund_id, original_id, amount)
       select ?, id, original_id, amount from ${from}
       on conflict (installation, refund_id) do update set original_id = excluded.original_id, amount = excluded.amount`,
      [installation, ...bindings],
    );
  }
  return [...new Set([...refunds.map(({ original_id }) => original_id), ...gone.map(({ originalId }) => originalId)])];
}

/** Marks payments that are matched to these prepayments, and refunds of them, because their client has changed. */
async function markDependent(
  trx: Connection,
  installation: InstallationId,
  originals: readonly number[],
): Promise<void> {
  if (originals.length === 0) return;
  const payments = await rows(
    trx,
    { id: integer },
    'select distinct payment_id as id from prepayment_match where installation = ? and prepayment_id = any(?)',
    [installation, originals],
  );
  const refunds = await rows(
    trx,
    { id: integer },
    'select refund_id as id from prepayment_refund where installation = ? and original_id = any(?)',
    [installation, originals],
  );
  const idsOf = (found: readonly { id: number }[]) => found.map(({ id }) => id);
  await markKnown(trx, installation, 'payment', idsOf(payments));
  await markKnown(trx, installation, 'prepayment', idsOf(refunds));
}
