import { rowsAsArrays } from '../db/bulk.ts';
import { integer, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import { everPosted } from '../documents/marked.ts';
import { Money } from '../domain/money.ts';
import type { InstallationId } from '../terms.ts';
import { type Followed, readUses } from './seen-uses.ts';

export const useStates = ['open', 'matched', 'set', 'cancelled'] as const;

const knownUse = {
  ...{ paymentId: integer, invoiceId: nullable(integer), amount: numeric, state: oneOf(useStates) },
};

/**
 * Stores the payments of type 8 among these ids as the mirror has them. A payment that changed, or is no longer of type
 * 8, loses its match. Returns the ids of the payments of type 8.
 */
export async function trackUses(trx: Connection, installation: Followed, ids: readonly number[]): Promise<number[]> {
  const { id } = installation;
  const seen = await readUses(trx, installation, ids);
  const known = await usesOf(trx, id, ids);
  const before = new Map(known.map((use) => [use.paymentId, use]));
  const present = new Set(seen.map(({ payment }) => payment.id));
  const gone = known.filter(({ paymentId }) => !present.has(paymentId));
  const otherNow = seen.filter(({ payment: { id: paymentId, invoiceId, paid } }) => {
    const use = before.get(paymentId);
    return use !== undefined && (use.invoiceId !== invoiceId || !paid?.equals(use.amount));
  });
  await releaseMatches(trx, id, [
    ...gone.map(({ paymentId }) => paymentId),
    ...otherNow.map(({ payment }) => payment.id),
  ]);
  await execute(trx, 'delete from prepayment_use where installation = ? and payment_id = any(?)', [
    id,
    gone.map(({ paymentId }) => paymentId),
  ]);
  if (seen.length > 0) await saveUses(trx, id, seen);
  const invoices = [...gone.map(({ invoiceId }) => invoiceId), ...seen.map(({ payment }) => payment.invoiceId)];
  await pairCancellations(trx, id, [...new Set(invoices.flatMap((invoiceId) => invoiceId ?? []))]);
  return [...present];
}

function usesOf(db: Connection, installation: InstallationId, ids: readonly number[]) {
  return rows(
    db,
    knownUse,
    `select payment_id as "paymentId", invoice_id as "invoiceId", amount, state from prepayment_use
     where installation = ? and payment_id = any(?)`,
    [installation, ids],
  );
}

/** Removes the matches of payments, so that they can be matched again. */
export async function releaseMatches(
  trx: Connection,
  installation: InstallationId,
  payments: readonly number[],
): Promise<void> {
  if (payments.length === 0) return;
  await execute(trx, 'delete from prepayment_match where installation = ? and payment_id = any(?)', [
    installation,
    payments,
  ]);
  await execute(
    trx,
    `update prepayment_use set state = 'open', action_id = null
     where installation = ? and payment_id = any(?)`,
    [installation, payments],
  );
}

const useTypes = {
  ...{ payment_id: 'bigint', invoice_id: 'bigint', amount: 'numeric', recorded_at: 'timestamptz', version: 'int' },
  ...{ invoice_client_id: 'bigint', first_client_id: 'bigint' },
} as const;

async function saveUses(
  trx: Connection,
  installation: InstallationId,
  seen: Awaited<ReturnType<typeof readUses>>,
): Promise<void> {
  const ids = seen.map(({ payment }) => payment.id);
  const posted = await everPosted(trx, installation, 'payment', ids);
  const firstClients = await clientsFirstPosted(trx, installation, [...posted]);
  const { from, bindings } = rowsAsArrays(
    'seen',
    useTypes,
    seen.map(({ payment, version, invoiceClientId, recordedAt }) => ({
      payment_id: payment.id,
      invoice_id: payment.invoiceId,
      amount: payment.paid?.toFixed() ?? '0',
      recorded_at: recordedAt?.toISOString() ?? null,
      version,
      invoice_client_id: invoiceClientId,
      first_client_id: firstClients.get(payment.id) ?? invoiceClientId,
    })),
  );
  await execute(
    trx,
    `insert into prepayment_use as u (installation, payment_id, invoice_id, amount, recorded_at, version, invoice_client_id, first_client_id)
     select ?, payment_id, invoice_id, amount, recorded_at, version, invoice_client_id, first_client_id from ${from}
     on conflict (installation, payment_id) do update set invoice_id = excluded.invoice_id, amount = excluded.amount,
       recorded_at = excluded.recorded_at, version = excluded.version, invoice_client_id = excluded.invoice_client_id,
       -- Once posted, the client stays whose it was then.
       first_client_id = case when u.payment_id = any(?::bigint[]) then coalesce(u.first_client_id, excluded.first_client_id)
         else excluded.first_client_id end`,
    [installation, ...bindings, [...posted]],
  );
}

/** The client under which each payment's liability was first posted. */
async function clientsFirstPosted(
  db: Connection,
  installation: InstallationId,
  payments: readonly number[],
): Promise<Map<number, number>> {
  if (payments.length === 0) return new Map();
  const found = await rows(
    db,
    { id: integer, party: text },
    `select e.document_id as id, l.party_code as party from entry e join entry_line l on l.entry_id = e.id
     where e.installation = ? and e.kind = 'payment' and e.document_id = any(?) and e.n = 1
       and l.role = 'prepayment_liability' and l.party_code like 'client:%'`,
    [installation, payments],
  );
  return new Map(found.map(({ id, party }) => [id, Number(party.slice('client:'.length))]));
}

/**
 * Gives a cancellation the match of the payment that it cancels: the latest earlier payment on the same invoice, of the
 * same amount, without another cancellation. If that payment has no match, neither is matched.
 */
async function pairCancellations(
  trx: Connection,
  installation: InstallationId,
  invoices: readonly number[],
): Promise<void> {
  if (invoices.length === 0) return;
  const uses = await rows(
    trx,
    knownUse,
    `select payment_id as "paymentId", invoice_id as "invoiceId", amount, state from prepayment_use
     where installation = ? and invoice_id = any(?) order by invoice_id, payment_id`,
    [installation, invoices],
  );
  const cancelled: number[] = [];
  const open: number[] = [];
  const given: { payment_id: number; cancels: number }[] = [];
  for (const ofInvoice of Map.groupBy(uses, ({ invoiceId }) => invoiceId).values()) {
    const pairs = pairsOf(ofInvoice);
    const paired = new Set(pairs.flatMap(({ use, cancellation }) => [use, cancellation]));
    for (const each of ofInvoice) if (each.state === 'cancelled' && !paired.has(each)) open.push(each.paymentId);
    for (const { use, cancellation } of pairs) {
      if (use.state === 'open' || use.state === 'cancelled') {
        if (cancellation.state === 'open' || cancellation.state === 'cancelled')
          cancelled.push(use.paymentId, cancellation.paymentId);
      } else if (cancellation.state === 'open' || cancellation.state === 'cancelled') {
        given.push({ payment_id: cancellation.paymentId, cancels: use.paymentId });
      }
    }
  }
  await setState(trx, installation, 'open', open);
  await setState(trx, installation, 'cancelled', cancelled);
  if (given.length === 0) return;
  const { from, bindings } = rowsAsArrays('given', { payment_id: 'bigint', cancels: 'bigint' }, given);
  await execute(
    trx,
    `insert into prepayment_match (installation, payment_id, prepayment_id, amount)
     select m.installation, given.payment_id, m.prepayment_id, -m.amount
     from ${from} join prepayment_match m on m.installation = ? and m.payment_id = given.cancels
     on conflict do nothing`,
    [...bindings, installation],
  );
  await setState(
    trx,
    installation,
    'matched',
    given.map(({ payment_id }) => payment_id),
  );
}

interface KnownUse {
  paymentId: number;
  amount: string;
  state: (typeof useStates)[number];
}

/** Pairs the payments of one invoice, in order, with their cancellations. */
function pairsOf<Use extends KnownUse>(uses: readonly Use[]): { use: Use; cancellation: Use }[] {
  const standing = new Map<string, Use[]>();
  const pairs: { use: Use; cancellation: Use }[] = [];
  for (const each of uses) {
    const amount = new Money(each.amount);
    const key = amount.abs().toFixed();
    const before = standing.get(key) ?? [];
    if (!amount.isNegative()) standing.set(key, [...before, each]);
    else {
      const use = before.at(-1);
      if (use === undefined) continue;
      standing.set(key, before.slice(0, -1));
      pairs.push({ use, cancellation: each });
    }
  }
  return pairs;
}

async function setState(
  trx: Connection,
  installation: InstallationId,
  state: (typeof useStates)[number],
  payments: readonly number[],
): Promise<void> {
  if (payments.length === 0) return;
  await execute(trx, 'update prepayment_use set state = ? where installation = ? and payment_id = any(?)', [
    state,
    installation,
    payments,
  ]);
}

/** Gives cancellations the new match of their payments. Returns the cancellations. */
export async function cancellationsOf(
  trx: Connection,
  installation: InstallationId,
  payments: readonly number[],
): Promise<number[]> {
  if (payments.length === 0) return [];
  const found = await rows(
    trx,
    { invoiceId: integer },
    `select distinct invoice_id as "invoiceId" from prepayment_use
     where installation = ? and payment_id = any(?) and invoice_id is not null`,
    [installation, payments],
  );
  const invoices = found.map(({ invoiceId }) => invoiceId);
  const matchedBefore = await matchedOn(trx, installation, invoices);
  await pairCancellations(trx, installation, invoices);
  return [...(await matchedOn(trx, installation, invoices))].filter((id) => !matchedBefore.has(id));
}

async function matchedOn(
  db: Connection,
  installation: InstallationId,
  invoices: readonly number[],
): Promise<Set<number>> {
  const found = await rows(
    db,
    { id: integer },
    `select payment_id as id from prepayment_use
     where installation = ? and invoice_id = any(?) and state in ('matched', 'set')`,
    [installation, invoices],
  );
  return new Set(found.map(({ id }) => id));
}
