import { instant, integer, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { Money } from '../domain/money.ts';
import type { InstallationId } from '../terms.ts';
import { useStates } from './track-uses.ts';

/** The amount that a payment of type 8 took from one prepayment, and how the match was found. */
export interface KnownMatch {
  paymentId: number;
  invoiceId: number | null;
  /** The matched prepayment. Null if the payment has no match. */
  prepaymentId: number | null;
  /**
   * The amount of the match, or of the payment if it has no match. Negative if the payment returns money to the
   * prepayment.
   */
  amount: Money;
  /**
   * `set`: an accountant chose it. `matched`: found automatically. `cancelled`: the payment and its cancellation have
   * no match.
   */
  state: (typeof useStates)[number];
  setBy: string | null;
  setReason: string | null;
  setAt: Date | null;
}

const shape = {
  ...{ paymentId: integer, invoiceId: nullable(integer), prepaymentId: nullable(integer), amount: numeric },
  ...{ state: oneOf(useStates), setBy: nullable(text), setReason: nullable(text), setAt: nullable(instant) },
};
const columns = `u.payment_id as "paymentId", u.invoice_id as "invoiceId", m.prepayment_id as "prepaymentId",
  coalesce(m.amount, u.amount) as amount, u.state, a.acted_by as "setBy", a.reason as "setReason", a.acted_at as "setAt"`;

/** The payments that are matched with a prepayment, by id. */
export async function usesOfPrepayment(
  db: Connection,
  installation: InstallationId,
  prepayment: number,
): Promise<KnownMatch[]> {
  const found = await rows(
    db,
    shape,
    `select ${columns} from prepayment_match m
     join prepayment_use u on u.installation = m.installation and u.payment_id = m.payment_id
     left join action_done a on a.id = u.action_id
     where m.installation = ? and m.prepayment_id = ? order by u.payment_id`,
    [installation, prepayment],
  );
  return found.map((each) => ({ ...each, amount: new Money(each.amount) }));
}

/**
 * The amounts that a payment of type 8 took: one line per prepayment, or one line without a prepayment if it has no
 * match.
 */
export async function matchOfPayment(
  db: Connection,
  installation: InstallationId,
  payment: number,
): Promise<KnownMatch[]> {
  const found = await rows(
    db,
    shape,
    `select ${columns} from prepayment_use u
     left join prepayment_match m on m.installation = u.installation and m.payment_id = u.payment_id
     left join action_done a on a.id = u.action_id
     where u.installation = ? and u.payment_id = ? order by m.prepayment_id`,
    [installation, payment],
  );
  return found.map((each) => ({ ...each, amount: new Money(each.amount) }));
}

/** Refunds that name a prepayment as their original, by id; amounts positive. */
export async function refundsOfPrepayment(
  db: Connection,
  installation: InstallationId,
  prepayment: number,
): Promise<{ id: number; amount: Money }[]> {
  const found = await rows(
    db,
    { id: integer, amount: numeric },
    'select refund_id as id, amount from prepayment_refund where installation = ? and original_id = ? order by refund_id',
    [installation, prepayment],
  );
  return found.map(({ id, amount }) => ({ id, amount: new Money(amount) }));
}
