// The oracle's reading of R5 with `at_receipt`: VAT of a prepayment at receipt, and its return with each use and
// refund.
import type { Prepayment } from '../../sandbox/src/records.ts';
import type { MappingData, PrepaymentGroup } from './conditions.ts';
import { accountOfVat } from './oracle-accounts.ts';
import { D } from './oracle-cents.ts';
import type { ExpectedLine } from './oracle-terms.ts';

/** The VAT in a prepayment's entry in force. */
export interface ReceivedVat {
  vat: D;
  paid: D;
  account: string;
  suspended: string;
  group: string;
  rate: string;
}

/** The amount of a prepayment that an entry in force used; negative if the entry returned money to the prepayment. */
export interface Share {
  prepayment: number;
  hasVat: boolean;
}

/** The oracle's view of prepayments in the books. */
export interface Received {
  vatOf(prepayment: number): ReceivedVat | null;
  /**
   * Documents with an entry in force that were posted before this document's first posting. If this document was never
   * posted, all documents with an entry in force.
   */
  postedBefore(document: string): string[];
}

/**
 * The VAT with which a prepayment must be posted. Null if no VAT is posted; `unmapped` if the mapping has no account.
 */
export function vatAtReceipt(
  { payment_type, department, paid }: Prepayment,
  date: string,
  mapping: MappingData,
  decimals: number,
): ReceivedVat | 'unmapped' | null {
  const policy = mapping.policies.prepayment_vat;
  if (policy === undefined || policy === 'listed' || date < policy.at_receipt || new D(paid).isNegative()) return null;
  const group: PrepaymentGroup | undefined =
    policy.departments?.[department] ?? policy.payment_types?.[payment_type] ?? policy.group;
  if (group === undefined) return null;
  const vat = new D(paid).times(group.rate).dividedBy(new D(group.rate).plus(100)).toDecimalPlaces(decimals);
  const account = accountOfVat(mapping, { group: group.name, rate: group.rate }, [], date);
  const suspended = mapping.roles.prepayment_vat ?? '';
  if (!account || !suspended) return 'unmapped';
  // VAT of less than half a unit gives an entry without VAT, which gives nothing back.
  if (vat.isZero()) return null;
  return { vat, paid: new D(paid), account, suspended, group: group.name, rate: group.rate };
}

/** VAT lines, debit positive on `prepayment_vat`. `gross` is the amount that contains the VAT. */
export function vatLines(
  vat: D,
  gross: D,
  { account, suspended, group, rate }: Pick<ReceivedVat, 'account' | 'suspended' | 'group' | 'rate'>,
  common: Pick<ExpectedLine, 'party' | 'department'>,
): ExpectedLine[] {
  if (vat.isZero()) return [];
  const none = {
    snapshot: [null, null],
    tags: [null, null, null, null, null, null],
    paymentType: null,
    receivable: null,
  };
  const base = gross.minus(vat).abs().toFixed();
  return [
    { ...common, ...none, role: 'prepayment_vat', account: suspended, amount: vat, vat: { group, rate, base: null } },
    { ...common, ...none, role: 'vat', account, amount: vat.negated(), vat: { group, rate, base } },
  ];
}

/** The amount that a document takes from a prepayment now, with its VAT. */
export function shareOf(
  document: string,
  prepayment: number,
  amount: D,
  decimals: number,
  received: Received,
  takenBy: (document: string) => { prepayment: number; amount: D } | null,
): { share: Share; vat: D; of: ReceivedVat | null } {
  const before = received.postedBefore(document).flatMap((other) => takenBy(other) ?? []);
  const usedBefore = before.reduce(
    (sum, one) => (one.prepayment === prepayment ? sum.plus(one.amount) : sum),
    new D(0),
  );
  const of = received.vatOf(prepayment);
  const share = { prepayment, hasVat: of !== null };
  if (of === null) return { share, vat: new D(0), of };
  const upTo = (used: D) => of.vat.times(used).dividedBy(of.paid).toDecimalPlaces(decimals);
  return { share, vat: upTo(usedBefore.plus(amount)).minus(upTo(usedBefore)), of };
}
