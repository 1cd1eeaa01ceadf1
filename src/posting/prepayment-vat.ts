import { type DraftEntry, type EntryShare, type Line, lineOf, type Party } from '../domain/entry.ts';
import { Money, roundHalfEven, zero } from '../domain/money.ts';
import { postgresText } from '../domain/text.ts';
import { roleAccount, vatAccount } from '../mapping/look-ups.ts';
import type { PrepaymentRecord } from '../records/types.ts';
import type { CalendarDate } from '../terms.ts';
import type { Findings } from './findings.ts';
import type { PostingContext, PrepaymentShare } from './types.ts';

const hundred = new Money(100);

/** The common fields of VAT lines on a prepayment. */
interface Common {
  rule: string;
  party: Party;
  departmentId: number | null;
}

/**
 * R5 with `at_receipt`: the VAT included in the amount received, rounded half-even, against `prepayment_vat`. Empty if
 * the policy does not apply on that day or names no group. A group without a VAT account holds the document.
 */
export function vatAtReceipt(
  { paymentType, departmentId }: PrepaymentRecord,
  paid: Money,
  date: CalendarDate,
  common: Common,
  { mapping, decimals }: PostingContext,
  findings: Findings,
): Line[] {
  const policy = mapping.policies.prepayment_vat;
  if (policy === 'listed' || date < policy.from) return [];
  const group =
    (departmentId === null ? undefined : policy.departments[String(departmentId)]) ??
    (paymentType === null ? undefined : policy.payment_types[String(paymentType)]) ??
    policy.group;
  if (group === undefined) return [];
  const rate = new Money(group.rate);
  const vat = roundHalfEven(paid.times(rate).dividedBy(hundred.plus(rate)), decimals);
  const suspended = findings.account(roleAccount(mapping, 'prepayment_vat'));
  const owed = findings.account(vatAccount(mapping, { name: group.name, rate, accounts: [], date }, departmentId));
  if (!suspended || !owed) return [];
  const accounts = { suspended: { ...suspended }, owed: { ...owed } };
  return vatLines(vat, paid, { group: group.name, rate }, accounts, common);
}

/**
 * R6 and R7 with `at_receipt`: the VAT that each original returns, with the accounts, group and rate of its entry.
 * An original that was posted without VAT returns none.
 */
export function vatGivenBack(
  shares: readonly PrepaymentShare[],
  common: Common,
  { decimals }: PostingContext,
): { lines: Line[]; shares: EntryShare[] } {
  const lines: Line[] = [];
  const kept: EntryShare[] = [];
  for (const share of shares) {
    const { prepaymentId, amount, usedBefore, vat: of } = share;
    const vat = vatOfShare(share, decimals);
    kept.push({ prepaymentId, usedBefore, amount, vat, hasVat: of !== null });
    if (of === null) continue;
    const { suspendedAccount, account, group, rate } = of;
    const accounts = {
      suspended: { account: suspendedAccount, mappedBy: `prepayment ${prepaymentId}` },
      owed: { account, mappedBy: `prepayment ${prepaymentId}` },
    };
    lines.push(...vatLines(vat.negated(), amount.negated(), { group, rate }, accounts, common));
  }
  return { lines, shares: kept };
}

/** The VAT that a share returns: the VAT of all use up to it, less the VAT of the use before it. */
export function vatOfShare(
  { usedBefore, amount, vat: of }: Omit<PrepaymentShare, 'prepaymentId'>,
  decimals: number,
): Money {
  if (of === null) return zero;
  const upTo = (used: Money) => partOf(of.amount, used, of.paid, decimals);
  return upTo(usedBefore.plus(amount)).minus(upTo(usedBefore));
}

/**
 * Whether two entries of a document return the same VAT on the same accounts. The returned VAT is not a fact of the
 * source: it depends on the prepayments' entries in force and on earlier use (ACCOUNTING R5).
 */
export function givesBackTheSame(one: Pick<DraftEntry, 'lines'>, other: Pick<DraftEntry, 'lines'>): boolean {
  return givenBackText(one) === givenBackText(other);
}

function givenBackText({ lines }: Pick<DraftEntry, 'lines'>): string {
  const given = lines.filter(({ rule, role }) => givingBack.has(rule) && (role === 'vat' || role === 'prepayment_vat'));
  return given
    .map(({ account, role, side, amount, vat }) => {
      const { group = null, rate = null, base = null } = vat ?? {};
      return JSON.stringify([account, role, side, amount, postgresText(group ?? ''), rate, base]);
    })
    .sort()
    .join('\n');
}

const givingBack: ReadonlySet<string> = new Set(['R6', 'R7']);

/**
 * The part of an original's VAT that belongs to the used amount. It may exceed the VAT while a replaced use is not yet
 * known to be gone; the reversal of that use corrects it.
 */
function partOf(vat: Money, used: Money, paid: Money, decimals: number): Money {
  return roundHalfEven(vat.times(used).dividedBy(paid), decimals);
}

interface Accounts {
  suspended: { account: string; mappedBy: string };
  owed: { account: string; mappedBy: string };
}

/** The two lines of an amount of VAT. `gross` includes the VAT. The base is on the VAT line, in its direction. */
function vatLines(
  vat: Money,
  gross: Money,
  { group, rate }: { group: string | null; rate: Money | null },
  { suspended, owed }: Accounts,
  common: Common,
): Line[] {
  const base = gross.minus(vat);
  const lines = [
    lineOf(vat, { ...common, ...suspended, role: 'prepayment_vat', vat: { group, rate, base: null } }),
    lineOf(vat.negated(), {
      ...common,
      ...owed,
      role: 'vat',
      vat: { group, rate, base: vat.isNegative() ? base.negated() : base },
    }),
  ];
  return lines.filter((line) => line !== null);
}
