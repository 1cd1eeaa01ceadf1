// Records that cannot be posted as shown, or that PostgreSQL refuses. Each must hold only its document.

export interface Poison {
  list: 'invoice' | 'invoicerow' | 'invoicepayment' | 'unallocatedpayment';
  /** Members of the record as JSON text, which replace the original ones. */
  members: Record<string, string>;
  /** True if the answer also has the unchanged record. */
  twice?: true;
  /** True if no document can be made of the record, which must be put aside. */
  unusable?: true;
}

const vatGroup = (percentage: string) => `{"id":1,"name":"x","account_number":"2930","percentage":${percentage}}`;

const lists = ['invoice', 'invoicerow', 'invoicepayment', 'unallocatedpayment'] as const;
const everyList = (
  name: string,
  members: Record<string, string>,
  more: Pick<Poison, 'unusable'> = {},
): [string, Poison][] => lists.map((list) => [`${list}: ${name}`, { list, members, ...more }]);

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
  'an invoice of a client of another installation': {
    list: 'invoice',
    members: { client: '"http://x/999999/api/0.1/client/2001/"' },
  },
  'a payment on an invoice of another installation': {
    list: 'invoicepayment',
    members: { invoice: '"http://x/4711/../999999/api/0.1/invoice/10001/"' },
  },
  'a prepayment of a client who is a patient': {
    list: 'unallocatedpayment',
    members: { client: '"banana/2001"' },
  },
  'a payment in two versions': { list: 'invoicepayment', members: { paid: '"77.77"' }, twice: true },
  'a prepayment in two versions': { list: 'unallocatedpayment', members: { paid: '"77.77"' }, twice: true },
  'an invoice in two versions': { list: 'invoice', members: { total_with_vat: '"77.77"' }, twice: true },
  'a row in two versions': { list: 'invoicerow', members: { sum: '77.77' }, twice: true },
  'a prepayment with an unknown status': {
    list: 'unallocatedpayment',
    members: { status: '"Hostile \\u202e\\u0000"' },
  },
  ...Object.fromEntries([
    ...(['9007199254740993', '-7', '0', '"x7"', '7.5', 'null'] as const).flatMap((id) =>
      everyList(`an id of ${id}`, { id }, { unusable: true }),
    ),
    ...everyList(
      'the address of another installation',
      { url: '"http://x/999999/api/0.1/invoice/7/"' },
      { unusable: true },
    ),
    ...everyList('the address of something', { url: '"banana/2001"' }, { unusable: true }),
    ...everyList('600 KB of text', { remark: `"${'x'.repeat(600_000)}"` }),
    ...everyList('50,000 values', { remark: `[${'1,'.repeat(50_000)}1]` }),
    ...everyList('nested 5,000 deep', { remark: `${'['.repeat(5_000)}${']'.repeat(5_000)}` }),
  ]),
};

/** Well-formed amounts above 10,000,000, the largest that vetledger posts. Only their size is wrong. */
export const amounts: Record<string, Poison> = {
  'a payment of 10,000,000.01': { list: 'invoicepayment', members: { paid: '"10000000.01"' } },
  'a prepayment of 10,000,000.01': { list: 'unallocatedpayment', members: { paid: '"10000000.01"' } },
  'a prepayment of -1e12': { list: 'unallocatedpayment', members: { paid: '-1e12' } },
  'an invoice of 20,000,000 VAT': { list: 'invoice', members: { total_vat: '20000000' } },
  'a row of 20,000,000': { list: 'invoicerow', members: { sum: '20000000' } },
};

/** Unusual records that are posted all the same. */
export const harmless: Record<string, Poison> = Object.fromEntries([
  ...everyList('a NUL and half a character', { remark: '"a\\u0000b\\ud83d\\udc00\\ud83d"' }),
  ...everyList('an unknown number of 5,000 digits', { remark: '9'.repeat(5_000) }),
  ...everyList('an unknown date of 9999', { remark: '"9999-12-31T23:59:59Z"' }),
  ...everyList('__proto__ and constructor', { __proto__x: '1', constructor: '{"prototype":null}' }),
  ...everyList('an unknown 1e400', { remark: '1e400' }),
]);

/** The JSON text of the record with the replaced members. */
export function poisoned(record: Record<string, unknown>, { members, twice }: Poison): string {
  const own = Object.fromEntries(Object.entries(record).filter(([name]) => !Object.hasOwn(members, name)));
  const added = Object.entries(members).map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  const text = `${JSON.stringify(own).slice(0, -1)},${added.join(',')}}`;
  return twice ? `${JSON.stringify(record)},${text}` : text;
}
