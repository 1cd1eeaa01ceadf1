import { integer, nullable, numeric } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { businessDate, dateIn } from '../domain/dates.ts';
import { Money, zero } from '../domain/money.ts';
import type { CalendarDate } from '../terms.ts';
import { unexplained } from './changes-of-prepayments.ts';
import { type Followed, readUses } from './seen-uses.ts';

/**
 * Limits: uses with proposals, prepayments that are read, and prepayments of other clients that are listed for each
 * use.
 */
const usesAtMost = 1_000;
const prepaymentsAtMost = 5_000;
const othersAtMost = 3;

/** A prepayment with an unexplained drop of its unused amount. */
export interface Candidate {
  prepaymentId: number;
  clientId: number | null;
  /** The unexplained amount that was not yet proposed for an earlier use. */
  left: Money;
  receivedOn: CalendarDate | null;
}

/** A payment of type 8 without a match. */
export interface OpenUse {
  paymentId: number;
  invoiceId: number | null;
  /** The client of the payment's invoice. */
  clientId: number | null;
  amount: Money;
  usedOn: CalendarDate | null;
}

/** Prepayments that an accountant can match with a payment. */
export interface Proposal extends OpenUse {
  /** Prepayments of the same client that cover the payment, the oldest first. Empty if they do not cover it. */
  own: Candidate[];
  /**
   * If `own` is empty: prepayments of other clients that cover the payment. The one with the smallest remainder is
   * first.
   */
  others: Candidate[];
}

/** Proposes matches for uses without a match, by day and id (`problems match`). The accountant decides. */
export async function proposeMatches(db: Connection, installation: Followed): Promise<Proposal[]> {
  return proposals(await openUses(db, installation), await candidates(db, installation));
}

/**
 * For each use: prepayments of its client, the oldest first, or else those of other clients. An amount is proposed only
 * once.
 */
export function proposals(uses: readonly OpenUse[], all: readonly Candidate[]): Proposal[] {
  const oldestFirst = all
    .map((candidate) => ({ ...candidate }))
    .sort((a, b) => compared(a.receivedOn ?? '', b.receivedOn ?? '') || a.prepaymentId - b.prepaymentId);
  const byDay = uses.toSorted((a, b) => compared(a.usedOn ?? '', b.usedOn ?? '') || a.paymentId - b.paymentId);
  return byDay.map((use) => {
    const fits = oldestFirst.filter(
      ({ left, receivedOn }) =>
        left.greaterThan(zero) && receivedOn !== null && use.usedOn !== null && receivedOn <= use.usedOn,
    );
    const own = covering(use, fits);
    const others = own.length > 0 ? [] : fits.filter(({ left }) => !left.lessThan(use.amount));
    return {
      ...use,
      own,
      others: others
        .toSorted((a, b) => a.left.comparedTo(b.left))
        .slice(0, othersAtMost)
        .map((candidate) => ({ ...candidate })),
    };
  });
}

/**
 * Takes the use's amount from its client's prepayments and returns the parts. Returns an empty list if they do not
 * cover it.
 */
function covering({ clientId, amount }: OpenUse, fits: readonly Candidate[]): Candidate[] {
  const taken: Candidate[] = [];
  let missing = amount;
  const own = clientId === null ? [] : fits.filter((candidate) => candidate.clientId === clientId);
  for (const candidate of own) {
    if (missing.isZero()) break;
    const share = candidate.left.lessThan(missing) ? candidate.left : missing;
    taken.push({ ...candidate, left: share });
    missing = missing.minus(share);
  }
  if (!missing.isZero()) return [];
  for (const { prepaymentId, left } of taken) {
    const candidate = own.find((each) => each.prepaymentId === prepaymentId);
    if (candidate) candidate.left = candidate.left.minus(left);
  }
  return taken;
}

async function openUses(db: Connection, installation: Followed): Promise<OpenUse[]> {
  const open = await rows(
    db,
    { paymentId: integer, invoiceId: nullable(integer), clientId: nullable(integer), amount: numeric },
    `select payment_id as "paymentId", invoice_id as "invoiceId", invoice_client_id as "clientId", amount
     from prepayment_use where installation = ? and state = 'open' and amount > 0 order by payment_id limit ${usesAtMost}`,
    [installation.id],
  );
  const ids = open.map(({ paymentId }) => paymentId);
  const seen = await readUses(db, installation, ids);
  const days = new Map(seen.map(({ payment: { id, dateAdded } }) => [id, dateAdded]));
  return open.map(({ amount, ...use }) => {
    const added = days.get(use.paymentId) ?? null;
    return {
      ...use,
      amount: new Money(amount),
      usedOn: added === null ? null : businessDate(added, installation.timezone),
    };
  });
}

async function candidates(db: Connection, { id, timezone, dialect }: Followed): Promise<Candidate[]> {
  const dropped = await rows(
    db,
    { id: integer },
    `select distinct prepayment_id as id from prepayment_change where installation = ?
     order by id desc limit ${prepaymentsAtMost}`,
    [id],
  );
  const ids = dropped.map((each) => each.id);
  const found = await unexplained(db, id, 'prepayment_id', ids, dialect.prepayment.refund_lowers_unused_amount);
  return found.map(({ id: prepaymentId, clientId, amount, createdAt }) => ({
    ...{ prepaymentId, clientId, left: amount },
    receivedOn: createdAt === null ? null : dateIn(timezone, createdAt),
  }));
}

function compared(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
