// The oracle's reading of the remarks and proofs in ACCOUNTING, with the codes of docs/reference/PROBLEMS.md.
import type { Invoice, InvoiceRow } from '../../sandbox/src/records.ts';
import type { MappingData } from './conditions.ts';
import { type GroupKey, lineOfGroup } from './oracle-accounts.ts';
import { D, total0 } from './oracle-cents.ts';
import type { SeenRecord, SourceView } from './oracle-terms.ts';

/** Remarks of a posted invoice: about its payments, its sign, and the members of a consolidated invoice. */
export function invoiceRemarks({ source, damage }: SeenRecord<Invoice>, mirror: SourceView): string[] {
  const remarks: string[] = [];
  const total = new D(source.total_with_vat);
  const present = [...mirror.payments.values()].filter(({ gone }) => !gone);
  const own = present.filter(({ source: payment }) => payment.invoice === source.id);
  if (damage?.field !== 'due_sum') {
    const due = new D(source.due_sum);
    const isReadable = own.every((payment) => payment.damage?.field !== 'paid');
    const paid = total0(own.map(({ source: payment }) => payment.paid));
    if (isReadable && !due.equals(total.minus(paid))) remarks.push('due_sum_disagrees');
    // An open credit note is not overpaid.
    if (due.isNegative() && !due.isZero() && due.lessThan(total)) remarks.push('overpaid');
  }
  const namesOriginal = source.credit_note && source.credit_note_original_invoice !== null;
  if (total.lessThan(0) && !namesOriginal) remarks.push('negative_without_original');
  if (source.consolidated_invoices.length > 0) {
    const collected = source.consolidated_invoices.flatMap((member) =>
      present.flatMap(({ source: payment, damage: wrong }) =>
        payment.invoice === member &&
        payment.payment_type === 6 &&
        wrong?.field !== 'payment_type' &&
        wrong?.field !== 'paid'
          ? payment.paid
          : [],
      ),
    );
    if (!total0(collected).equals(total)) remarks.push('collector_disagrees');
  }
  return remarks;
}

/** Remarks of a sale. `sold` are the groups that are not liabilities; `day` is the day whose rules apply. */
export function saleRemarks(
  invoice: Invoice,
  rows: readonly InvoiceRow[],
  rateOf: (row: InvoiceRow) => string,
  { sold, isExpired, day, unit }: { sold: readonly GroupKey[]; isExpired: boolean; day: string; unit: D },
  mapping: MappingData,
): string[] {
  const disagrees = rows.some((row) =>
    new D(row.sum).times(rateOf(row)).dividedBy(100).minus(row.sum_vat).abs().greaterThan(unit),
  );
  const number = invoice.payer_vat_number.replaceAll(/\W/g, '').toUpperCase();
  const country = /^[A-Z]{2}/.exec(number)?.[0] ?? invoice.payer_country_code;
  const lacksNumber = (kind: string | undefined) => {
    const isEu = kind === 'eu_goods' || kind === 'eu_services';
    if (!isEu && kind !== 'reverse_charge') return false;
    return number === '' || (isEu && country === mapping.country);
  };
  return [
    ...(disagrees ? ['vat_rate_disagrees'] : []),
    ...(isExpired ? ['vat_rate_expired'] : []),
    ...(sold.some((key) => lacksNumber(lineOfGroup(mapping, key, day)?.kind)) ? ['eu_without_vat_number'] : []),
  ];
}

/** The payer's name on a document; null if it has none. */
export function payerName({ payer_organization_name, payer_name }: Invoice): string | null {
  return payer_organization_name.trim() || payer_name.trim() || null;
}
