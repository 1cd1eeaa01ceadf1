import { Money, roundHalfEven, sum } from '../src/domain/money.ts';

/** One invoice and its rows in the JSON of the practice API. */
export interface WireInvoice {
  invoice: string;
  rows: string[];
}

/** Three rows in two VAT groups, each with a different account; posted, they make six lines. */
const kinds = [
  { account: '3000', name: 'General', rate: '25.5', dimension: 'SURG' },
  { account: '3010', name: 'Reduced', rate: '13.5', dimension: null },
  { account: '3020', name: 'General', rate: '25.5', dimension: null },
];

/** Makes different invoices, the same at each call. Net amounts have four decimals, so that cents must be settled. */
export function wireInvoices(count: number): WireInvoice[] {
  let state = 20_260_101;
  const next = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state % below;
  };
  return Array.from({ length: count }, (_, index) => {
    const id = 10_001 + index;
    const rows = kinds.map(({ rate }, position) => {
      const net = new Money(next(4_000_000) + 10_000).dividedBy(10_000);
      const tax = net.times(rate).dividedBy(100).toDecimalPlaces(4);
      return { id: id * 10 + position, net, tax, all: net.plus(tax) };
    });
    const total = (amounts: Money[]) => roundHalfEven(sum(amounts), 2).toFixed(2);
    const day = String(1 + next(28)).padStart(2, '0');
    const modified = `2026-01-${day}T09:30:00.123456+02:00`;
    const withVat = total(rows.map(({ all }) => all));
    const invoice = `{"id":${id},"url":"https://clinic.example/4711/api/0.1/invoice/${id}/","status":3,"invoice_number":${id},
"invoice_prefix":"A","invoice_date":"2026-01-${day}","invoice_due_date":"2026-02-${day}","created":"${modified}","modified":"${modified}",
"credit_note":false,"countersale":false,"total":${total(rows.map(({ net }) => net))},"total_vat":${total(rows.map(({ tax }) => tax))},
"total_with_vat":${withVat},"due_sum":${withVat},"reference_number":"${id}7","client":"https://clinic.example/4711/api/0.1/client/${next(400)}1/",
"department":"https://clinic.example/4711/api/0.1/department/11/","credit_note_original_invoice":null,"consolidated_invoices":[],
"payer_name":"Client ${next(400)}","payer_organization_name":"","payer_vat_number":"","payer_country_code":"FI"}`;
    return { invoice, rows: rows.map((row, position) => rowText(id, row, kinds[position]!)) };
  });
}

function rowText(
  invoice: number,
  { id, net, tax, all }: { id: number; net: Money; tax: Money; all: Money },
  kind: (typeof kinds)[number],
): string {
  return `{"id":${id},"url":"https://clinic.example/4711/api/0.1/invoicerow/${id}/","invoice":"https://clinic.example/4711/api/0.1/invoice/${invoice}/",
"name":"Row ${id}","quantity":1.00,"price":${net.toFixed(4)},"sum":${net.toFixed(4)},"sum_vat":${tax.toFixed(4)},"sum_total":${all.toFixed(4)},
"vat_percentage":${kind.rate},"account_number":"${kind.account}","reporting_dimension_1":${JSON.stringify(kind.dimension)},
"reporting_dimension_2":null,"reporting_dimension_3":null,"credited_invoicerow":null,"modified":"2026-01-02T09:30:00+02:00",
"invoice_row_extra":{"account_number":null,"reporting_dimension_1":null,"reporting_dimension_2":null},
"invoicerow_vat_group":{"name":"${kind.name}","percentage":${kind.rate},"account_number":"293"}}`;
}
