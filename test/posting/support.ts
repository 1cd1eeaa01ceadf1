import type { DraftEntry, Line } from '../../src/domain/entry.ts';
import { Money } from '../../src/domain/money.ts';
import { parseMapping } from '../../src/mapping/parse.ts';
import type { Mapping } from '../../src/mapping/schema.ts';
import type {
  Decision,
  InvoiceFacts,
  PaymentFacts,
  PostedBefore,
  PostingContext,
  PrepaymentFacts,
} from '../../src/posting/types.ts';
import type { InvoiceRecord, PaymentRecord, PrepaymentRecord, RowRecord } from '../../src/records/types.ts';
import { accountsByRole } from '../support/accounts.ts';

export const money = (text: string) => new Money(text);
const maybe = (text: string | null) => (text === null ? null : money(text));

/** A complete mapping with revenue accounts and VAT by group name. `changes` replaces whole sections. */
export function mappingOf(changes: Record<string, unknown> = {}): Mapping {
  const vat = { VAT24: 'vat24', VAT14: 'vat14', '*': 'vat' };
  const result = parseMapping({ roles: accountsByRole, revenue: 'same', vat, cash_customer: 'CASH', ...changes });
  if ('errors' in result) throw new Error(result.errors.join('; '));
  return result.mapping;
}

export function contextOf(changes: Partial<PostingContext> = {}): PostingContext {
  return {
    installation: 4711,
    timezone: 'Europe/Helsinki',
    currency: 'EUR',
    decimals: 2,
    startDate: null,
    mapping: mappingOf(),
    closedThrough: null,
    sourceLockDates: new Map(),
    ...changes,
  };
}

/** An invoice's totals as texts: net, VAT, with VAT. */
export type Totals = [string, string, string];

export function invoiceOf(
  [total, totalVat, totalWithVat]: Totals,
  changes: Partial<InvoiceRecord> = {},
): InvoiceRecord {
  return {
    kind: 'invoice',
    id: 1,
    status: 3,
    number: '1001',
    prefix: 'A',
    invoiceDate: '2026-01-15',
    dueDate: '2026-01-29',
    created: '2026-01-15T09:00:00+02:00',
    modified: '2026-01-15T09:00:00+02:00',
    creditNote: false,
    countersale: false,
    total: money(total),
    totalVat: money(totalVat),
    totalWithVat: money(totalWithVat),
    dueSum: null,
    bankReference: '10016',
    clientId: 7,
    departmentId: 11,
    originalInvoiceId: null,
    consolidatedInvoiceIds: [],
    payer: { name: 'Aino Harjula', vatNumber: null, countryCode: 'FI' },
    defects: [],
    ...changes,
  };
}

/** The group VAT24 at 24 % for `24`. */
export function vatGroup(rate: string, name = `VAT${rate}`) {
  return { name, rate: money(rate), account: `own-${name}` };
}

let nextRowId = 0;
/** A row: account, net, VAT, with VAT. The default group is VAT24. */
export function rowOf(
  account: string | null,
  sum: string | null,
  sumVat: string | null,
  sumTotal: string | null,
  changes: Partial<RowRecord> = {},
): RowRecord {
  nextRowId += 1;
  return {
    kind: 'row',
    id: nextRowId,
    invoiceId: 1,
    name: 'a row',
    sum: maybe(sum),
    sumVat: maybe(sumVat),
    sumTotal: maybe(sumTotal),
    accountNumber: account,
    dimensions: [null, null, null],
    internal: { account: null, dimension1: null, dimension2: null },
    vatGroup: vatGroup('24'),
    vatPercentage: null,
    creditedRowId: null,
    modified: null,
    defects: [],
    ...changes,
  };
}

export function invoiceFacts(
  invoice: InvoiceRecord,
  rows: RowRecord[],
  changes: Partial<InvoiceFacts> = {},
): InvoiceFacts {
  return { kind: 'invoice', invoice, rows, rowsFresh: true, payments: [], memberPayments: [], gone: false, ...changes };
}

export function paymentOf(
  paymentType: number | null,
  paid: string | null,
  changes: Partial<PaymentRecord> = {},
): PaymentRecord {
  return {
    kind: 'payment',
    id: 50,
    invoiceId: 1,
    paymentType,
    paid: maybe(paid),
    dateAdded: '2026-01-20T12:00:00+02:00',
    modified: '2026-01-20T12:00:00+02:00',
    defects: [],
    ...changes,
  };
}

export function paymentFacts(
  payment: PaymentRecord,
  invoice: InvoiceRecord | null = invoice1001().invoice,
  changes: Partial<PaymentFacts> = {},
): PaymentFacts {
  return { kind: 'payment', payment, invoice, gone: false, ...changes };
}

export function prepaymentFacts(
  paymentType: number | null,
  paid: string | null,
  changes: Partial<PrepaymentRecord> = {},
  gone = false,
): PrepaymentFacts {
  const prepayment: PrepaymentRecord = {
    kind: 'prepayment',
    id: 90,
    clientId: 7,
    departmentId: 11,
    paymentType,
    paid: maybe(paid),
    unusedAmount: null,
    refundsId: null,
    status: null,
    created: '2026-01-10T12:00:00+02:00',
    modified: null,
    description: null,
    externalId: null,
    defects: [],
    ...changes,
  };
  return { kind: 'prepayment', prepayment, gone };
}

/** Invoice 1001 of ACCOUNTING's example 1. */
export function invoice1001(changes: Partial<InvoiceRecord> = {}, firstAccount = '3000'): InvoiceFacts {
  return invoiceFacts(invoiceOf(['150.00', '31.00', '181.00'], changes), [
    rowOf(firstAccount, '100.00', '24.00', '124.00', { id: 101, dimensions: ['SURG', null, null] }),
    rowOf('3010', '50.00', '7.00', '57.00', { id: 102, vatGroup: vatGroup('14') }),
  ]);
}

export const nothingBefore: PostedBefore = { inForce: null, everPosted: false, state: null, documentDate: null };

/** The state of the books after a decision, as the ledger would store it. */
export function booksAfter(decision: Decision, n = decision.entries.length): PostedBefore {
  const last = decision.entries.at(-1);
  const inForce = last && last.reverses === null ? { ...last, id: entryId(last, n) } : null;
  return {
    inForce,
    everPosted: decision.entries.length > 0,
    state: decision.state,
    documentDate: decision.documentDate,
  };
}

function entryId(entry: DraftEntry, n: number): string {
  return `4711/${entry.document.kind}/${entry.document.id}/${n}`;
}

/** The amount of a line, debit positive, computed from its side without the tested code. */
export function signedAmount(line: Line): Money {
  return line.side === 'debit' ? line.amount : money('0').minus(line.amount);
}

/** Entries in the style of hledger, lines sorted by account: `account  [tags]  amount`. */
export function render(entries: DraftEntry[], decimals = 2): string {
  return entries
    .map((entry) => {
      const lines = entry.lines
        .map((line) => [line.account, tagsOf(line), signedAmount(line).toFixed(decimals)].filter(Boolean).join('  '))
        .sort();
      return [`${entry.date} ${entry.description}`, ...lines.map((line) => `    ${line}`)].join('\n');
    })
    .join('\n');
}

function tagsOf(line: Line): string {
  const { dimensions, internal, vat, paymentType } = line;
  const tags = [...dimensions, internal.account, internal.dimension1, internal.dimension2].filter(
    (tag) => tag !== null,
  );
  if (vat) tags.push(`${vat.group ?? '-'} ${vat.rate?.toFixed() ?? '-'}%`);
  if (vat?.base) tags.push(`base ${vat.base.toFixed()}`);
  if (paymentType !== null) tags.push(`type ${paymentType}`);
  return tags.length > 0 ? `[${tags.join(', ')}]` : '';
}

/** Balance per account, without zero balances. */
export function balances(entries: DraftEntry[]): Record<string, string> {
  const totals = new Map<string, Money>();
  for (const line of entries.flatMap(({ lines }) => lines)) {
    totals.set(line.account, (totals.get(line.account) ?? money('0')).plus(signedAmount(line)));
  }
  return Object.fromEntries(
    [...totals].filter(([, total]) => !total.isZero()).map(([account, total]) => [account, total.toFixed(2)]),
  );
}
