// Records that cannot be posted as they are told, or that PostgreSQL refuses: each holds its own document and no other.

export interface Poison {
  list: 'invoice' | 'invoicerow' | 'invoicepayment' | 'unallocatedpayment';
  /** Members of the record as JSON text, in place of its own. */
  members: Record<string, string>;
}

const vatGroup = (percentage: string) => `{"id":1,"name":"x","account_number":"2930","percentage":${percentage}}`;

const lists = ['invoice', 'invoicerow', 'invoicepayment', 'unallocatedpayment'] as const;
const everyList = (name: string, members: Record<string, string>): [string, Poison][] =>
  lists.map((list) => [`${list}: ${name}`, { list, members }]);

export const poisons: Record<string, Poison> = {
  'a payment of the last second of 9999': { list: 'invoicepayment', members: { date_added: '"9999-12-31T23:59:59Z"' } },
  'a payment of the year 0': { list: 'invoicepayment', members: { date_added: '"0000-01-01T00:00:00Z"' } },
  'a payment of 30 February': { list: 'invoicepayment', members: { date_added: '"2026-02-30"' } },
  'a payment of an object': { list: 'invoicepayment', members: { paid: '{"amount":"1.00"}' } },
  'a payment of 1e30': { list: 'invoicepayment', members: { paid: '1e30' } },
  'a payment of 1e999999999': { list: 'invoicepayment', members: { paid: '"1e999999999"' } },
  'a payment of 140,000 digits': { list: 'invoicepayment', members: { paid: '9'.repeat(140_000) } },
  'an invoice due in the last second of 9999': {
    list: 'invoice',
    members: { invoice_due_date: '"9999-12-31T23:59:59Z"' },
  },
  'an invoice of the year 10000': { list: 'invoice', members: { invoice_date: '"9999-12-31T23:59:59Z"' } },
  'an invoice of a date that is none': { list: 'invoice', members: { invoice_date: '"2026-13-41"' } },
  'an invoice with an unknown status': { list: 'invoice', members: { status: '77' } },
  'an invoice of NaN': { list: 'invoice', members: { total_with_vat: 'NaN' } },
  'an invoice with decimal commas': { list: 'invoice', members: { total: '"1,00"' } },
  'an invoice of no department that can be read': { list: 'invoice', members: { department: '"nowhere"' } },
  'a VAT rate of 17,000 decimals': {
    list: 'invoicerow',
    members: { invoicerow_vat_group: vatGroup(`"0.${'1'.repeat(17_000)}"`) },
  },
  'a VAT rate of Infinity': { list: 'invoicerow', members: { invoicerow_vat_group: vatGroup('-Infinity') } },
  'a row of 31 digits': { list: 'invoicerow', members: { sum: '1234567890123456789012345678901' } },
  'a row whose sum is missing': { list: 'invoicerow', members: { sum: 'null' } },
  'a prepayment of NaN': { list: 'unallocatedpayment', members: { paid: 'NaN' } },
  'a prepayment of a client beyond 2^53': {
    list: 'unallocatedpayment',
    members: { client: '"http://x/client/90071992547409930000/"' },
  },
  'a prepayment of 17,000 decimals': { list: 'unallocatedpayment', members: { paid: `"1.${'0'.repeat(17_000)}1"` } },
  'a prepayment with an unknown status': {
    list: 'unallocatedpayment',
    members: { status: '"Hostile \\u202e\\u0000"' },
  },
  ...Object.fromEntries([
    ...everyList('600 KB of text', { remark: `"${'x'.repeat(600_000)}"` }),
    ...everyList('50,000 values', { remark: `[${'1,'.repeat(50_000)}1]` }),
    ...everyList('nested 5,000 deep', { remark: `${'['.repeat(5_000)}${']'.repeat(5_000)}` }),
  ]),
};

/** Oddities that are nobody's business: the document is posted. */
export const harmless: Record<string, Poison> = Object.fromEntries([
  ...everyList('a NUL and half a character', { remark: '"a\\u0000b\\ud83d\\udc00\\ud83d"' }),
  ...everyList('an unknown number of 5,000 digits', { remark: '9'.repeat(5_000) }),
  ...everyList('an unknown date of 9999', { remark: '"9999-12-31T23:59:59Z"' }),
  ...everyList('__proto__ and constructor', { __proto__x: '1', constructor: '{"prototype":null}' }),
  ...everyList('an unknown 1e400', { remark: '1e400' }),
]);

/** The record's text with the poison's members in place of its own. */
export function poisoned(record: Record<string, unknown>, { members }: Poison): string {
  const own = Object.fromEntries(Object.entries(record).filter(([name]) => !Object.hasOwn(members, name)));
  const added = Object.entries(members).map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  return `${JSON.stringify(own).slice(0, -1)},${added.join(',')}}`;
}
