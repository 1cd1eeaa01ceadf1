import { rowsAsArrays } from '../db/bulk.ts';
import { instant, integer, nullable, numeric } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import { Money, sum } from '../domain/money.ts';
import type { InstallationId } from '../terms.ts';
import { type Change, provenMatches, type Use } from './match.ts';
import type { TakenFrom } from './own-client.ts';
import { storeFound } from './store-uses.ts';

/** Limits: uses and changes of one amount, and changes of one client. Above these, nothing is matched. */
const alikeAtMost = 2_000;
const ofClientAtMost = 200;

/** The documents to match: these payments, and payments that changes of these prepayments may explain. */
export interface MatchScope {
  payments: readonly number[];
  prepayments: readonly number[];
}

/**
 * Finds matches, stores them, and marks their payments to be judged again. It reads the uses in `scope`, uses of the
 * same amounts, and the changes of these amounts and clients, so its cost does not grow with the books. Returns the new
 * matches.
 */
export async function findMatches(
  trx: Connection,
  installation: InstallationId,
  scope: MatchScope,
): Promise<TakenFrom[]> {
  const concerned = await usesConcerned(trx, installation, scope);
  if (concerned.length === 0) return [];
  const amounts = [...new Set(concerned.map(({ amount }) => amount.toFixed()))];
  const uses = await usesOfAmounts(trx, installation, amounts);
  const clients = [...new Set(uses.flatMap(({ clientId }) => clientId ?? []))];
  const changes = await changesFor(trx, installation, amounts, clients);
  const isTooMany = tooMany([...uses, ...changes]);
  const matches = provenMatches(uses, changes, (amount) => isTooMany.has(amount.toFixed()));
  const taken = [...matches].flatMap(([paymentId, set]) =>
    [...Map.groupBy(set, ({ prepaymentId }) => prepaymentId)].map(([prepaymentId, of]) => ({
      ...{ paymentId, prepaymentId },
      amount: sum(of.map(({ amount }) => amount)),
    })),
  );
  await storeFound(trx, installation, taken);
  await removeUsed(trx, installation, [...matches.values()].flat());
  return taken;
}

function tooMany(items: readonly { amount: Money }[]): Set<string> {
  const counts = Map.groupBy(items, ({ amount }) => amount.toFixed());
  return new Set([...counts].filter(([, of]) => of.length >= alikeAtMost).map(([amount]) => amount));
}

const useShape = {
  ...{ paymentId: integer, amount: numeric, recordedAt: nullable(instant), clientId: nullable(integer) },
};
const useColumns = `u.payment_id as "paymentId", u.amount, u.recorded_at as "recordedAt", u.invoice_client_id as "clientId"`;

async function usesConcerned(
  db: Connection,
  installation: InstallationId,
  { payments, prepayments }: MatchScope,
): Promise<Use[]> {
  const found = await rows(
    db,
    useShape,
    `with touched as (
       select distinct amount, client_id from prepayment_change where installation = ? and prepayment_id = any(?))
     select ${useColumns} from prepayment_use u
     where u.installation = ? and u.state = 'open' and u.action_id is null and u.amount > 0 and u.payment_id = any(?)
     union
     select ${useColumns} from touched t join prepayment_use u on u.amount = t.amount
     where u.installation = ? and u.state = 'open' and u.action_id is null
     union
     select ${useColumns} from touched t cross join lateral (
       select * from prepayment_use o where o.installation = ? and o.state = 'open' and o.action_id is null and o.invoice_client_id = t.client_id
         and o.amount > t.amount order by o.payment_id desc limit ${ofClientAtMost}) u`,
    [installation, prepayments, installation, payments, installation, installation],
  );
  return found.map(useOf);
}

async function usesOfAmounts(db: Connection, installation: InstallationId, amounts: readonly string[]): Promise<Use[]> {
  const found = await rows(
    db,
    useShape,
    `select ${useColumns} from unnest(?::numeric[]) as a(amount) cross join lateral (
       select * from prepayment_use o where o.installation = ? and o.state = 'open' and o.action_id is null and o.amount = a.amount
       order by o.payment_id limit ${alikeAtMost}) u`,
    [amounts, installation],
  );
  return found.map(useOf);
}

function useOf({
  paymentId,
  amount,
  recordedAt,
  clientId,
}: {
  paymentId: number;
  amount: string;
  recordedAt: Date | null;
  clientId: number | null;
}): Use {
  return { paymentId, amount: new Money(amount), recordedMs: recordedAt?.getTime() ?? null, clientId };
}

async function changesFor(
  db: Connection,
  installation: InstallationId,
  amounts: readonly string[],
  clients: readonly number[],
): Promise<Change[]> {
  const columns = 'c.prepayment_id, c.n, c.client_id, c.amount, c.since, c.until';
  const found = await rows(
    db,
    {
      ...{ prepayment_id: integer, n: integer, client_id: nullable(integer), amount: numeric },
      ...{ since: nullable(instant), until: nullable(instant) },
    },
    `select ${columns} from unnest(?::numeric[]) as a(amount) cross join lateral (
       select * from prepayment_change o where o.installation = ? and o.amount = a.amount
       order by o.prepayment_id, o.n limit ${alikeAtMost}) c
     union
     select ${columns} from unnest(?::bigint[]) as k(client) cross join lateral (
       select * from prepayment_change o where o.installation = ? and o.client_id = k.client
       order by o.prepayment_id, o.n limit ${ofClientAtMost}) c`,
    [amounts, installation, clients, installation],
  );
  return found.map(({ prepayment_id, n, client_id, amount, since, until }) => ({
    ...{ prepaymentId: prepayment_id, n, clientId: client_id, amount: new Money(amount) },
    ...{ sinceMs: since?.getTime() ?? null, untilMs: until?.getTime() ?? null },
  }));
}

/** Deletes the changes that matches explain. */
async function removeUsed(trx: Connection, installation: InstallationId, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return;
  const used = changes.map(({ prepaymentId, n }) => ({ prepayment_id: prepaymentId, n }));
  const { from, bindings } = rowsAsArrays('used', { prepayment_id: 'bigint', n: 'int' }, used);
  await execute(
    trx,
    `delete from prepayment_change c using ${from}
     where c.installation = ? and c.prepayment_id = used.prepayment_id and c.n = used.n`,
    [...bindings, installation],
  );
}
