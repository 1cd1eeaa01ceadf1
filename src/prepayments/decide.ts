import { type ActedBy, recordAction } from '../actions/record.ts';
import { integer, nullable, numeric } from '../db/columns.ts';
import { type Connection, execute, maybeRow, rows } from '../db/rows.ts';
import { markKnown } from '../documents/mark.ts';
import { UserError } from '../domain/errors.ts';
import { Money, sum, zero } from '../domain/money.ts';
import type { InstallationId } from '../terms.ts';
import { matchErrors } from '../texts/errors/prepayments.ts';
import { takeFromChanges } from './changes-of-prepayments.ts';
import { takeTurn } from './follow.ts';
import type { TakenFrom } from './own-client.ts';
import { storeTaken } from './store-uses.ts';
import { cancellationsOf, releaseMatches } from './track-uses.ts';

/** An accountant's decision about which prepayments a payment used. An empty list means that they are unknown. */
export interface MatchDecision extends ActedBy {
  payment: number;
  prepayments: readonly number[];
}

/**
 * Stores the match that an accountant chose (ACCOUNTING R7), replaces an automatic match, and marks the payment and its
 * cancellation to be judged again. With several prepayments, each takes its unexplained drop, in the given order; the
 * last one takes the rest. Throws UserError if the payment or a prepayment is unknown, or if the prepayments belong to
 * several clients.
 */
export async function setMatch(
  trx: Connection,
  installation: InstallationId,
  { payment, prepayments, ...by }: MatchDecision,
): Promise<{ clientId: number | null }> {
  await takeTurn(trx, installation);
  const { amount, clientId } = await checkMatch(trx, installation, { payment, prepayments });
  const input = { payment, prepayments };
  const { id: action } = await recordAction(trx, { installation, kind: 'match_prepayment', by, input });
  const before = await cancelledWith(trx, installation, payment);
  await releaseMatches(trx, installation, [payment, ...before]);
  if (prepayments.length > 0) {
    const taken = await shares(trx, installation, { payment, amount }, prepayments);
    await storeTaken(trx, installation, taken);
    await takeFromChanges(trx, installation, taken);
  }
  await execute(trx, 'update prepayment_use set state = ?, action_id = ? where installation = ? and payment_id = ?', [
    prepayments.length > 0 ? 'set' : 'open',
    action,
    installation,
    payment,
  ]);
  const after = await cancellationsOf(trx, installation, [payment]);
  const marked = [...new Set([payment, ...before, ...after])].sort((a, b) => a - b);
  await markKnown(trx, installation, 'payment', marked);
  return { clientId };
}

/** The amount of a payment, and the client of the prepayments. Throws UserError if they cannot be matched. */
export async function checkMatch(
  db: Connection,
  installation: InstallationId,
  { payment, prepayments }: Pick<MatchDecision, 'payment' | 'prepayments'>,
): Promise<{ amount: Money; clientId: number | null }> {
  const use = await maybeRow(
    db,
    { amount: numeric },
    'select amount from prepayment_use where installation = ? and payment_id = ?',
    [installation, payment],
  );
  if (use === null) {
    throw new UserError(matchErrors.paymentUnknown({ payment, installation }), 1);
  }
  const amount = new Money(use.amount);
  if (amount.isNegative()) {
    throw new UserError(matchErrors.paymentIsCancellation({ payment }), 1);
  }
  return { amount, clientId: await clientOf(db, installation, prepayments) };
}

async function clientOf(
  db: Connection,
  installation: InstallationId,
  prepayments: readonly number[],
): Promise<number | null> {
  const found = await rows(
    db,
    { id: integer, clientId: nullable(integer) },
    `select prepayment_id as id, client_id as "clientId" from prepayment_balance
     where installation = ? and prepayment_id = any(?)`,
    [installation, prepayments],
  );
  const unknown = prepayments.find((id) => !found.some((each) => each.id === id));
  if (unknown !== undefined) {
    throw new UserError(matchErrors.prepaymentUnknown({ prepayment: unknown, installation }), 1);
  }
  const [first, ...others] = found;
  if (others.some(({ clientId }) => clientId !== first?.clientId)) {
    throw new UserError(matchErrors.severalClients(), 1);
  }
  return first?.clientId ?? null;
}

/** Cancellations that share the match of this payment. */
async function cancelledWith(db: Connection, installation: InstallationId, payment: number): Promise<number[]> {
  const found = await rows(
    db,
    { id: integer },
    `select c.payment_id as id from prepayment_use u
     join prepayment_use c on c.installation = u.installation and c.invoice_id = u.invoice_id
       and c.amount = -u.amount and c.payment_id > u.payment_id and c.state = 'matched'
     where u.installation = ? and u.payment_id = ? and u.state in ('matched', 'set') order by c.payment_id limit 1`,
    [installation, payment],
  );
  return found.map(({ id }) => id);
}

async function shares(
  db: Connection,
  installation: InstallationId,
  { payment: paymentId, amount }: { payment: number; amount: Money },
  prepayments: readonly number[],
): Promise<TakenFrom[]> {
  const found = await rows(
    db,
    { id: integer, amount: numeric },
    'select prepayment_id as id, amount from prepayment_change where installation = ? and prepayment_id = any(?)',
    [installation, prepayments],
  );
  const taken: TakenFrom[] = [];
  let left = amount;
  for (const [at, prepaymentId] of prepayments.entries()) {
    const dropped = sum(found.flatMap((each) => (each.id === prepaymentId ? new Money(each.amount) : [])));
    const share = at === prepayments.length - 1 || dropped.greaterThan(left) ? left : dropped;
    if (share.greaterThan(zero)) taken.push({ paymentId, prepaymentId, amount: share });
    left = left.minus(share);
  }
  return taken;
}
