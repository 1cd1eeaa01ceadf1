import { roundHalfEven, sum } from '../domain/money.ts';
import type { SpecCase, WrittenRecord } from '../mapping/specs.ts';
import { creditChain } from '../posting/originals.ts';
import type { DocumentFacts } from '../posting/types.ts';
import type { Dialect } from '../records/dialect.ts';
import { parseRecord } from '../records/schema.ts';
import { consolidatedPayment } from '../records/source-codes.ts';
import { amount } from '../records/values.ts';

/** A case's records as facts for posting. A field that is not written has the value of an ordinary document. */
export function specFacts(spec: SpecCase, decimals: number, dialect: Dialect): DocumentFacts[] {
  const { fields } = dialect;
  const parsed = spec.invoices.map(({ rows: written, ...invoice }, index) => {
    const rows = written.map((row, at) => completeRow(row, at, index, dialect));
    const totals = totalsOf(rows, decimals, dialect);
    const defaults = {
      [fields.invoice.id]: index + 1,
      [fields.invoice.status]: 3,
      [fields.invoice.number]: `${1001 + index}`,
      [fields.invoice.client]: 1,
      ...totals,
    };
    return {
      invoice: parseRecord('invoice', { ...defaults, ...invoice }, dialect),
      rows: rows.map((row) => parseRecord('row', row, dialect)),
    };
  });
  const payments = spec.payments.map((payment, index) =>
    parseRecord(
      'payment',
      { [fields.payment.id]: index + 1, [fields.payment.invoice]: parsed[0]?.invoice.id ?? null, ...payment },
      dialect,
    ),
  );
  const prepayments = spec.prepayments.map((prepayment, index) =>
    parseRecord(
      'prepayment',
      { [fields.prepayment.id]: index + 1, [fields.prepayment.client]: 1, ...prepayment },
      dialect,
    ),
  );
  const byId = new Map(parsed.map(({ invoice }) => [invoice.id, invoice]));
  return [
    ...parsed.map(({ invoice, rows }): DocumentFacts => {
      const members = new Set(invoice.consolidatedInvoiceIds);
      const chain = creditChain(invoice, (id) => byId.get(id));
      return {
        kind: 'invoice',
        invoice,
        rows,
        rowsFresh: true,
        payments: payments.filter(({ invoiceId }) => invoiceId === invoice.id),
        memberPayments: payments.filter(
          ({ invoiceId, paymentType }) =>
            paymentType === consolidatedPayment && invoiceId !== null && members.has(invoiceId),
        ),
        originalDate: chain.first?.invoiceDate ?? null,
        creditCircle: chain.circle,
        gone: false,
      };
    }),
    ...payments.map((payment): DocumentFacts => {
      const invoice = parsed.find(({ invoice: { id } }) => id === payment.invoiceId)?.invoice ?? null;
      return { kind: 'payment', payment, invoice, gone: false };
    }),
    ...prepayments.map((prepayment): DocumentFacts => ({ kind: 'prepayment', prepayment, gone: false })),
  ];
}

/** Adds a row's id, and its gross amount from net and VAT, unless they are written. */
function completeRow(row: WrittenRecord, index: number, invoice: number, dialect: Dialect): WrittenRecord {
  const names = dialect.fields.row;
  const gross = sumOf([row], names.sum).plus(sumOf([row], names.sum_vat));
  const defaults = {
    [names.id]: (invoice + 1) * 1000 + index + 1,
    [names.sum_vat]: '0',
    [names.sum_total]: gross.toFixed(),
  };
  return { ...defaults, ...row };
}

/** An invoice's totals as the source calculates them: each sum is rounded half-even separately (field-notes: Invoice row). */
function totalsOf(rows: WrittenRecord[], decimals: number, { fields }: Dialect): WrittenRecord {
  const total = (field: string) => roundHalfEven(sumOf(rows, field), decimals).toFixed(decimals);
  return {
    [fields.invoice.total]: total(fields.row.sum),
    [fields.invoice.total_vat]: total(fields.row.sum_vat),
    [fields.invoice.total_with_vat]: total(fields.row.sum_total),
  };
}

function sumOf(rows: WrittenRecord[], field: string) {
  return sum(rows.flatMap((row) => amount.read(row[field] ?? '') ?? []));
}
