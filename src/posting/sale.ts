import { type Line, lineOf } from '../domain/entry.ts';
import { type Money, sum, zero } from '../domain/money.ts';
import { revenueAccount, roleAccount, vatAccount, vatNotDueAccount } from '../mapping/look-ups.ts';
import { vatKindOf } from '../mapping/vat-groups.ts';
import type { InvoiceRecord, RowRecord } from '../records/types.ts';
import type { CalendarDate } from '../terms.ts';
import { postingFindings } from '../texts/findings/posting.ts';
import type { Findings } from './findings.ts';
import { type CompleteRow, flips, groupRows, type NetGroup, type VatGroup } from './groups.ts';
import { type Fact, unordered } from './hash.ts';
import type { InvoiceParty } from './party.ts';
import { proveTotals, reviewVatRates, type Totals } from './proofs.ts';
import { type Settled, settle, settleAfter } from './settle.ts';
import type { InvoiceFacts, PostingContext } from './types.ts';
import { isDueWithPayment } from './vat-due-policy.ts';
import { reviewBuyer, reviewValidity, vatDay } from './vat-groups.ts';
import { proveVouchers } from './vouchers.ts';

/** The lines of an entry, and their facts for the input hash. */
export interface Posting {
  lines: Line[];
  facts: Fact[];
}

/**
 * R1, R2, R11: the receivable, against revenue or a liability for each net group, and VAT for each VAT group. Null if a
 * finding holds the document.
 */
export function sell(
  facts: InvoiceFacts,
  totalWithVat: Money,
  shared: InvoiceParty,
  context: PostingContext,
  findings: Findings,
): Posting | null {
  const { decimals } = context;
  const total = findings.amount(facts.invoice.total, 'total', context);
  const totalVat = findings.amount(facts.invoice.totalVat, 'total_vat', context);
  if (!total || !totalVat) return null;
  const totals = { total, totalVat, totalWithVat };
  const rows = proveRows(facts, totals, context, findings);
  if (!rows) return null;
  reviewVatRates(rows, decimals, findings);

  const groups = groupRows(rows);
  const day = vatDay(facts, context);
  // If the first original of a credit note is unknown, the credit note's date selects the rules, and validity is not
  // checked.
  const on = day ?? findings.documentDate;
  const liabilities = proveVouchers(groups.net, shared.departmentId, on, context, findings);
  reviewValidity(taking(groups, liabilities), day, context, findings);
  const net = groups.net.filter(({ exact }) => !exact.isZero());
  const vat = groups.vat.filter(({ exact }) => !exact.isZero());
  reviewBuyer(
    net.filter((group) => !liabilities.has(group)),
    facts,
    on,
    context,
    findings,
  );
  const flip = flips(totalWithVat, totalVat, rows);
  const exactFirst = (group: NetGroup) => liabilities.has(group);
  const settledNet = settleAfter(net, exactFirst, totalWithVat.minus(totalVat), decimals, flip);
  const settledVat = settle(vat, totalVat, decimals, flip);
  if (!settledNet || !settledVat) {
    return findings.holdAndRefetch(
      'cents_unsettled',
      postingFindings.centsUnsettled({
        net: totalWithVat.minus(totalVat).toFixed(decimals),
        vat: totalVat.toFixed(decimals),
      }),
    );
  }
  const lines = saleLines(
    facts.invoice,
    totalWithVat,
    { net: settledNet, vat: settledVat, liabilities, on },
    shared,
    context,
    findings,
  );
  if (findings.holding.length > 0) return null;
  // The mapping may decide which group gets a cent. The hashed facts must not depend on that choice, because a change
  // of the mapping alone must not post a document again.
  const regardless = liabilities.size === 0 ? null : settle(net, totalWithVat.minus(totalVat), decimals, flip);
  return { lines, facts: ['sale', ...saleFacts(regardless ?? settledNet, settledVat)] };
}

/** The rows, if they are complete and fresh (P1, P2). Null otherwise. */
function proveRows(
  facts: InvoiceFacts,
  totals: Totals,
  context: PostingContext,
  findings: Findings,
): CompleteRow[] | null {
  if (!facts.rowsFresh) {
    return findings.holdAndRefetch('rows_stale', postingFindings.rowsStale({ modified: facts.invoice.modified ?? '' }));
  }
  const isZero = totals.total.isZero() && totals.totalVat.isZero() && totals.totalWithVat.isZero();
  if (facts.rows.length === 0 && !isZero) {
    return findings.holdAndRefetch(
      'rows_missing',
      postingFindings.rowsMissing({ total: totals.totalWithVat.toFixed() }),
    );
  }
  for (const { id: row, defects } of facts.rows)
    findings.defects(defects, ({ field, message }) => postingFindings.fieldOfRow({ row, field, message }));
  if (findings.holding.length > 0) return null;
  const rows = facts.rows.filter(isComplete);
  if (rows.length < facts.rows.length) return findings.hold('amount_missing', postingFindings.rowWithoutAmount);
  proveTotals(totals, rows, context.decimals, findings);
  return findings.holding.length > 0 ? null : rows;
}

function isComplete(row: RowRecord): row is CompleteRow {
  return row.sum !== null && row.sumVat !== null && row.sumTotal !== null;
}

/** An invoice's groups with their settled amounts. */
interface Sold {
  net: Settled<NetGroup>[];
  vat: Settled<VatGroup>[];
  /** Net groups that are posted to a liability. */
  liabilities: ReadonlySet<NetGroup>;
  /** The day that selects the rules of the mapping. */
  on: CalendarDate | null;
}

/** The VAT groups of a sale. VAT groups that occur only on gift cards and vouchers are left out. */
function taking(groups: ReturnType<typeof groupRows>, liabilities: ReadonlySet<NetGroup>): VatGroup[] {
  const sold = new Set(groups.net.filter((one) => !one.exact.isZero() && !liabilities.has(one)).map(({ vat }) => vat));
  return groups.vat.filter((group) => sold.has(group) || !group.exact.isZero());
}

function saleLines(
  invoice: InvoiceRecord,
  totalWithVat: Money,
  { net, vat, liabilities, on }: Sold,
  shared: InvoiceParty,
  context: PostingContext,
  findings: Findings,
): Line[] {
  const { mapping } = context;
  const common = { rule: invoice.creditNote ? 'R2' : 'R1', party: shared.party, departmentId: shared.departmentId };
  const lines: (Line | null)[] = [];
  // Nothing is ever paid on a total of zero, so its VAT is due at once.
  const isNotDue = isDueWithPayment(mapping.policies.vat_due, on) && !totalWithVat.isZero();
  if (!totalWithVat.isZero()) {
    const receivable = findings.account(roleAccount(mapping, 'receivable'));
    if (receivable)
      lines.push(lineOf(totalWithVat, { ...common, ...receivable, ...shared.receivable, role: 'receivable' }));
  }
  for (const { group, amount } of net) {
    if (amount.isZero()) continue;
    const account = findings.account(
      revenueAccount(mapping, group.accountNumber, shared.departmentId, { ...group, date: on }),
    );
    if (!account) continue;
    // A group without a VAT line has its base on the revenue line, because the VAT return also includes 0 % groups.
    const hasVatLine = vat.some(({ group: { key }, amount: tax }) => key === group.vat.key && !tax.isZero());
    const { dimensions, internal, rowIds } = group;
    // Groups outside VAT and liabilities are in no VAT return, so they have no base.
    const isOutside = liabilities.has(group) || vatKindOf(mapping, group.vat, on) === 'outside';
    const base = hasVatLine || isOutside ? null : amount.abs();
    const tags = { group: group.vat.name, rate: group.vat.rate, base };
    lines.push(lineOf(amount.negated(), { ...common, ...account, dimensions, internal, rowIds, vat: tags }));
  }
  for (const { group, amount } of vat) {
    if (amount.isZero()) continue;
    const owed = findings.account(vatAccount(mapping, { ...group, date: on }, shared.departmentId));
    const sold = net.filter((one) => one.group.vat.key === group.key && !liabilities.has(one.group));
    const credited = sum(sold.map(({ amount: base }) => base));
    const base = amount.lessThan(0) ? zero.minus(credited) : credited;
    const { rowIds } = group;
    const tags = { group: group.name, rate: group.rate, base };
    if (!isNotDue) {
      if (owed) lines.push(lineOf(amount.negated(), { ...common, ...owed, role: 'vat', rowIds, vat: tags }));
      continue;
    }
    // Payments do not know the accounts that the rows name.
    findings.account(vatAccount(mapping, { ...group, accounts: [], date: on }, shared.departmentId));
    const notDue = findings.account(vatNotDueAccount(mapping, { ...group, date: on }));
    const fields = { ...common, role: 'vat_not_due' as const, rowIds, vat: { ...tags, base: null } };
    if (notDue) lines.push(lineOf(amount.negated(), { ...fields, ...notDue }));
  }
  return lines.filter((line) => line !== null);
}

/** The facts of the lines. A group that is settled to zero has no line and no facts. */
function saleFacts(net: Settled<NetGroup>[], vat: Settled<VatGroup>[]): Fact[] {
  return [
    unordered(
      net
        .filter(({ amount }) => !amount.isZero())
        .map(({ group: { accountNumber, dimensions, internal, vat: own }, amount }) => [
          accountNumber,
          dimensions,
          [internal.account, internal.dimension1, internal.dimension2],
          own.name,
          own.rate,
          amount,
        ]),
    ),
    unordered(
      vat
        .filter(({ amount }) => !amount.isZero())
        .map(({ group, amount }) => [group.name, group.rate, unordered(group.accounts), amount]),
    ),
  ];
}
