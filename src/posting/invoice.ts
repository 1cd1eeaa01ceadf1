import { businessDate } from '../domain/dates.ts';
import { entryDefect, type Line, lineOf } from '../domain/entry.ts';
import { type Money, sum, zero } from '../domain/money.ts';
import { revenueAccount, roleAccount, vatAccount } from '../mapping/look-ups.ts';
import type { InvoiceRecord, RowRecord } from '../records/types.ts';
import type { DocumentRef } from '../terms.ts';
import { capitalised, Findings, invoiceName } from './findings.ts';
import { type CompleteRow, flips, groupRows, type NetGroup, type VatGroup } from './groups.ts';
import { type Fact, inputHash, unordered } from './hash.ts';
import { type InvoiceSide, invoiceSide } from './party.ts';
import { proveTotals, reviewCollector, reviewDueSum, reviewVatRates, type Totals } from './proofs.ts';
import { settle } from './settle.ts';
import type { InvoiceFacts, Judgement, PostingContext } from './types.ts';

const finalized = 3;
const voided = 99;
/** Draft, sent, open, invoicing (practice-api: Invoice status). */
const notFinal = [0, 1, 2, 4];

/** What an invoice or credit note is by its present facts (ACCOUNTING R1, R2, R3, R9, R10, R11, start_date). */
export function judgeInvoice(facts: InvoiceFacts, context: PostingContext): Judgement {
  const { invoice } = facts;
  const name = capitalised(invoiceName(invoice));
  const findings = new Findings({ kind: 'invoice', id: invoice.id }, `${name} (id ${invoice.id})`);
  findings.documentDate = invoice.invoiceDate === null ? null : businessDate(invoice.invoiceDate, context.timezone);

  if (facts.gone) {
    if (invoice.status === finalized) findings.goneOpening(context);
    return findings.state('gone');
  }
  if (invoice.status !== null && notFinal.includes(invoice.status)) return findings.state('not_final');
  if (invoice.status !== finalized && invoice.status !== voided) {
    findings.hold('status_unknown', `its status is ${invoice.status ?? 'absent'}`);
    return findings.held();
  }
  if (findings.documentDate !== null && context.startDate !== null && findings.documentDate < context.startDate) {
    reviewOpening(facts, context.startDate, context, findings);
    return findings.state('before_start');
  }
  if (invoice.status === voided) return findings.state('voided');

  findings.date(invoice.invoiceDate, 'the invoice date', context);
  findings.defects(invoice.defects);
  const side = invoiceSide(invoice, context, findings);
  const totalWithVat = findings.amount(invoice.totalWithVat, 'total_with_vat', context);
  if (!side || !totalWithVat || findings.documentDate === null || findings.holding.length > 0) return findings.held();

  const posting =
    invoice.consolidatedInvoiceIds.length > 0
      ? collect(facts, totalWithVat, side, context, findings)
      : sell(facts, totalWithVat, side, context, findings);
  if (!posting) return findings.held();
  reviewDueSum(invoice, totalWithVat, facts.payments, findings);

  const defect = posting.lines.length === 0 ? null : entryDefect(posting, context.decimals);
  if (defect) {
    findings.hold('entry_unbalanced', defect);
    return findings.held();
  }
  const original = originalOf(invoice);
  const of = original ? ` of invoice id ${original.id}` : '';
  return findings.posted({
    document: { kind: 'invoice', id: invoice.id },
    date: findings.documentDate,
    documentDate: findings.documentDate,
    description: `${name}${of}`,
    reason: 'posted',
    reverses: null,
    original,
    inputHash: inputHash([
      'invoice',
      invoice.id,
      findings.documentDate,
      invoice.creditNote,
      original?.id ?? null,
      side.facts,
      totalWithVat,
      ...posting.facts,
    ]),
    lines: posting.lines,
  });
}

interface Posting {
  lines: Line[];
  facts: Fact[];
}

/** R10: what the members' payments of type 6 took off their receivables, the collector asks for. No revenue of its own. */
function collect(
  facts: InvoiceFacts,
  totalWithVat: Money,
  side: InvoiceSide,
  context: PostingContext,
  findings: Findings,
): Posting | null {
  reviewCollector(totalWithVat, facts.memberPayments, findings);
  if (totalWithVat.isZero()) return { lines: [], facts: ['collector'] };
  const receivable = findings.account(roleAccount(context.mapping, 'receivable'));
  const clearing = findings.account(roleAccount(context.mapping, 'consolidation_clearing'));
  if (!receivable || !clearing) return null;
  const common = { rule: 'R10', party: side.party, departmentId: side.departmentId };
  const lines = [
    lineOf(totalWithVat, { ...common, ...receivable, ...side.receivable, role: 'receivable' }),
    lineOf(totalWithVat.negated(), { ...common, ...clearing, role: 'consolidation_clearing' }),
  ];
  return { lines: lines.filter((line) => line !== null), facts: ['collector'] };
}

/** R1, R2, R11: receivable against revenue per net group and VAT per VAT group. */
function sell(
  facts: InvoiceFacts,
  totalWithVat: Money,
  side: InvoiceSide,
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
  const net = groups.net.filter(({ exact }) => !exact.isZero());
  const vat = groups.vat.filter(({ exact }) => !exact.isZero());
  const flip = flips(totalWithVat, totalVat, rows);
  const netAmounts = settle(net, totalWithVat.minus(totalVat), decimals, flip);
  const vatAmounts = settle(vat, totalVat, decimals, flip);
  if (!netAmounts || !vatAmounts) {
    return findings.holdAndRefetch(
      'cents_unsettled',
      `its rows cannot be settled to ${totalWithVat.minus(totalVat).toFixed(decimals)} net and ${totalVat.toFixed(decimals)} VAT`,
    );
  }
  const settledNet = net.map((group, index) => ({ group, amount: netAmounts[index]! }));
  const settledVat = vat.map((group, index) => ({ group, amount: vatAmounts[index]! }));
  const lines = saleLines(facts.invoice, totalWithVat, settledNet, settledVat, side, context, findings);
  if (findings.holding.length > 0) return null;
  return { lines, facts: ['sale', ...saleFacts(settledNet, settledVat)] };
}

type Settled<Group> = { group: Group; amount: Money }[];

/** P1 and P2. */
function proveRows(
  facts: InvoiceFacts,
  totals: Totals,
  context: PostingContext,
  findings: Findings,
): CompleteRow[] | null {
  if (!facts.rowsFresh) {
    return findings.holdAndRefetch('rows_stale', `its rows are older than its change of ${facts.invoice.modified}`);
  }
  const isZero = totals.total.isZero() && totals.totalVat.isZero() && totals.totalWithVat.isZero();
  if (facts.rows.length === 0 && !isZero) {
    return findings.holdAndRefetch('rows_missing', `it has no rows, and a total of ${totals.totalWithVat.toFixed()}`);
  }
  for (const row of facts.rows) findings.defects(row.defects, `row ${row.id}: `);
  if (findings.holding.length > 0) return null;
  const rows = facts.rows.filter(isComplete);
  if (rows.length < facts.rows.length) return findings.hold('amount_missing', 'a row lacks an amount');
  proveTotals(totals, rows, context.decimals, findings);
  return findings.holding.length > 0 ? null : rows;
}

function isComplete(row: RowRecord): row is CompleteRow {
  return row.sum !== null && row.sumVat !== null && row.sumTotal !== null;
}

function saleLines(
  invoice: InvoiceRecord,
  totalWithVat: Money,
  net: Settled<NetGroup>,
  vat: Settled<VatGroup>,
  side: InvoiceSide,
  context: PostingContext,
  findings: Findings,
): Line[] {
  const { mapping } = context;
  const common = { rule: invoice.creditNote ? 'R2' : 'R1', party: side.party, departmentId: side.departmentId };
  const lines: (Line | null)[] = [];
  if (!totalWithVat.isZero()) {
    const receivable = findings.account(roleAccount(mapping, 'receivable'));
    if (receivable)
      lines.push(lineOf(totalWithVat, { ...common, ...receivable, ...side.receivable, role: 'receivable' }));
  }
  for (const { group, amount } of net) {
    if (amount.isZero()) continue;
    const account = findings.account(revenueAccount(mapping, group.accountNumber, side.departmentId, group));
    // Where its group has no VAT line, the base travels on the revenue line (a 0 % group must reach the VAT return).
    const hasVatLine = vat.some(({ group: { key }, amount: tax }) => key === group.vat.key && !tax.isZero());
    const { dimensions, internal, rowIds } = group;
    const tags = { group: group.vat.name, rate: group.vat.rate, base: hasVatLine ? null : amount.abs() };
    if (account) {
      lines.push(
        lineOf(amount.negated(), { ...common, ...account, role: 'revenue', dimensions, internal, rowIds, vat: tags }),
      );
    }
  }
  for (const { group, amount } of vat) {
    if (amount.isZero()) continue;
    const account = findings.account(vatAccount(mapping, group, side.departmentId));
    const credited = sum(
      net.filter(({ group: { vat: own } }) => own.key === group.key).map(({ amount: base }) => base),
    );
    const base = amount.lessThan(0) ? zero.minus(credited) : credited;
    const { rowIds } = group;
    const tags = { group: group.name, rate: group.rate, base };
    if (account) lines.push(lineOf(amount.negated(), { ...common, ...account, role: 'vat', rowIds, vat: tags }));
  }
  return lines.filter((line) => line !== null);
}

/** What the lines say; a group settled to zero has no line, and nothing of it is posted. */
function saleFacts(net: Settled<NetGroup>, vat: Settled<VatGroup>): Fact[] {
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

function originalOf(invoice: InvoiceRecord): DocumentRef | null {
  if (!invoice.creditNote || invoice.originalInvoiceId === null) return null;
  return { kind: 'invoice', id: invoice.originalInvoiceId };
}

/**
 * A document before the cut-over belongs to the opening balances: whether it came or changed after them. Its `modified` moves
 * with each payment too, so a change is told of only where no payment since explains it.
 */
function reviewOpening(facts: InvoiceFacts, startDate: string, context: PostingContext, findings: Findings): void {
  const { invoice } = facts;
  const since = (text: string | null) => text !== null && (businessDate(text, context.timezone) ?? '') >= startDate;
  const paidSince = facts.payments.some((payment) => since(payment.dateAdded) || since(payment.modified));
  const dated = `it is dated ${findings.documentDate}, before start_date ${startDate}`;
  if (since(invoice.created)) findings.report('opening_changed', `${dated}, and was created on ${invoice.created}`);
  else if (since(invoice.modified) && (invoice.status === voided || !paidSince)) {
    const what = invoice.status === voided ? 'voided' : 'changed';
    findings.report('opening_changed', `${dated}, and was ${what} on ${invoice.modified}`);
  }
}
