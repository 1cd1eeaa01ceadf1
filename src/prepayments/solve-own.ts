import { integer, numeric } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { businessDate, dateIn } from '../domain/dates.ts';
import { Money } from '../domain/money.ts';
import { takeFromChanges, unexplained } from './changes-of-prepayments.ts';
import { type OwnPrepayment, type OwnUse, ownClientMatches, type TakenFrom } from './own-client.ts';
import { type Followed, readUses } from './seen-uses.ts';
import type { MatchScope } from './solve.ts';
import { storeFound } from './store-uses.ts';

/**
 * Matches clients with their own prepayments (ACCOUNTING R7 "Own client first"), stores the matches, and marks the
 * payments to be judged again. It reads all unmatched uses and prepayments of each client in `scope`. Returns the new
 * matches.
 */
export async function findOwnMatches(trx: Connection, installation: Followed, scope: MatchScope): Promise<TakenFrom[]> {
  const clients = await clientsConcerned(trx, installation, scope);
  const uses = await unmatchedByClient(trx, installation, clients);
  const prepayments = await ownPrepayments(trx, installation, [...uses.keys()]);
  const taken = [...uses].flatMap(([client, own]) => ownClientMatches(own, prepayments.get(client) ?? []) ?? []);
  await storeFound(trx, installation.id, taken);
  await takeFromChanges(trx, installation.id, taken);
  return taken;
}

/**
 * The clients of these prepayments, of these payments' invoices, past ones included, and of the prepayments that they
 * used.
 */
async function clientsConcerned(
  db: Connection,
  { id }: Followed,
  { payments, prepayments }: MatchScope,
): Promise<number[]> {
  const found = await rows(
    db,
    { client: integer },
    `select client from (
       select invoice_client_id as client from prepayment_use where installation = ? and payment_id = any(?)
       union
       select first_client_id from prepayment_use where installation = ? and payment_id = any(?)
       union
       select client_id from prepayment_balance where installation = ? and prepayment_id = any(?)
       union
       select b.client_id from prepayment_match m
       join prepayment_balance b on b.installation = m.installation and b.prepayment_id = m.prepayment_id
       where m.installation = ? and m.payment_id = any(?)) c
     where client is not null`,
    [id, payments, id, payments, id, prepayments, id, payments],
  );
  return found.map(({ client }) => client);
}

/** The unmatched uses on these clients' invoices. Uses that an accountant marked as unknown are left out. */
export async function unmatchedByClient(
  db: Connection,
  installation: Followed,
  clients: readonly number[],
): Promise<Map<number, OwnUse[]>> {
  if (clients.length === 0) return new Map();
  const open = await rows(
    db,
    { paymentId: integer, client: integer, amount: numeric },
    `select payment_id as "paymentId", invoice_client_id as client, amount from prepayment_use
     where installation = ? and state = 'open' and action_id is null and invoice_client_id = any(?) order by payment_id`,
    [installation.id, clients],
  );
  const ids = open.map(({ paymentId }) => paymentId);
  const days = new Map(
    (await readUses(db, installation, ids)).map(({ payment: { id, dateAdded } }) => [
      id,
      dateAdded === null ? null : businessDate(dateAdded, installation.timezone),
    ]),
  );
  const uses = Map.groupBy(open, ({ client }) => client);
  return new Map(
    [...uses].map(([client, own]) => [
      client,
      own.map(({ paymentId, amount }) => ({
        ...{ paymentId, amount: new Money(amount) },
        usedOn: days.get(paymentId) ?? null,
      })),
    ]),
  );
}

/** The prepayments of these clients. */
export async function ownPrepayments(
  db: Connection,
  { id, timezone, dialect }: Followed,
  clients: readonly number[],
): Promise<Map<number | null, OwnPrepayment[]>> {
  if (clients.length === 0) return new Map();
  const refundsLower = dialect.prepayment.refund_lowers_unused_amount;
  const found = await unexplained(db, id, 'client_id', clients, refundsLower);
  const byClient = Map.groupBy(found, ({ clientId }) => clientId);
  return new Map(
    [...byClient].map(([client, own]) => [
      client,
      own.map(({ id: prepaymentId, amount, createdAt }) => ({
        ...{ prepaymentId, unexplained: amount },
        receivedOn: createdAt === null ? null : dateIn(timezone, createdAt),
      })),
    ]),
  );
}
