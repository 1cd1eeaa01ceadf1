import { describe, expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { atOnce } from '../../src/domain/slices.ts';
import { readJson } from '../../src/records/json.ts';
import { readListBody } from '../../src/records/list-body.ts';
import { originOf, parseRecord } from '../../src/records/schema.ts';

const dialect = loadDialect();
const api = 'https://clinic.example/4711/api/0.1';

/** A record as JSON text with some members replaced, so that every case shows the JSON itself. */
function wire(fields: Record<string, string>): unknown {
  return readJson(
    `{${Object.entries(fields)
      .map(([name, json]) => `"${name}":${json}`)
      .join(',')}}`,
  );
}

const invoice = {
  id: '11',
  status: '3',
  invoice_number: '9007199254740993',
  invoice_prefix: '"HEL"',
  invoice_date: '"2026-01-31T22:30:00+00:00"',
  invoice_due_date: '"2026-02-14"',
  created: '"2026-01-31T22:30:00Z"',
  modified: '"2026-02-01T08:00:00.123456Z"',
  credit_note: 'false',
  countersale: 'false',
  total: '150.00',
  total_vat: '"31.00"',
  total_with_vat: '181.0000',
  due_sum: '181',
  reference_number: '"12345"',
  client: `"${api}/client/5/"`,
  department: `"${api}/department/2/"`,
  credit_note_original_invoice: 'null',
  consolidated_invoices: '[]',
  payer_name: '"Maija Meikäläinen"',
  payer_organization_name: '"Talli Oy"',
  payer_vat_number: '"FI01234567"',
  payer_register_number: '"0123456-7"',
  payer_country_code: '"FI"',
  something_new: '{"kept":"elsewhere"}',
};

const parseInvoice = (changes: Record<string, string> = {}) =>
  parseRecord('invoice', wire({ ...invoice, ...changes }), dialect);

test('an invoice', () => {
  const record = parseInvoice();
  expect({
    ...record,
    total: record.total?.toString(),
    totalVat: record.totalVat?.toString(),
    totalWithVat: record.totalWithVat?.toString(),
    dueSum: record.dueSum?.toString(),
  }).toEqual({
    kind: 'invoice',
    id: 11,
    status: 3,
    number: '9007199254740993',
    prefix: 'HEL',
    invoiceDate: '2026-01-31T22:30:00+00:00',
    dueDate: '2026-02-14',
    created: '2026-01-31T22:30:00Z',
    modified: '2026-02-01T08:00:00.123456Z',
    creditNote: false,
    countersale: false,
    total: '150',
    totalVat: '31',
    totalWithVat: '181',
    dueSum: '181',
    bankReference: '12345',
    clientId: 5,
    departmentId: 2,
    originalInvoiceId: null,
    consolidatedInvoiceIds: [],
    payer: { name: 'Talli Oy', vatNumber: 'FI01234567', registerNumber: '0123456-7', countryCode: 'FI' },
    defects: [],
  });
});

test('a row, with its VAT group and its second set of tags', () => {
  const record = parseRecord(
    'row',
    wire({
      id: '"7"',
      invoice: `"${api}/invoice/11/"`,
      name: '"Surgery"',
      sum: '33.3333',
      sum_vat: '8.0000',
      sum_total: '41.3333',
      account_number: '3000',
      reporting_dimension_1: '"SURG"',
      reporting_dimension_2: 'null',
      invoice_row_extra: '{"account_number":"9000","reporting_dimension_1":"A","reporting_dimension_2":""}',
      invoicerow_vat_group: '{"name":"ALV 24","percentage":"24.00","account_number":"2930"}',
      vat_percentage: '24',
      credited_invoicerow: '3',
    }),
    dialect,
  );
  expect(record).toMatchObject({
    id: 7,
    invoiceId: 11,
    accountNumber: '3000',
    dimensions: ['SURG', null, null],
    internal: { account: '9000', dimension1: 'A', dimension2: null },
    vatGroup: { name: 'ALV 24', account: '2930' },
    creditedRowId: 3,
    defects: [],
  });
  expect(record.vatGroup?.rate?.toString()).toBe('24');
  expect([record.sum, record.sumVat, record.sumTotal].map(String)).toEqual(['33.3333', '8', '41.3333']);
});

test('a row without a VAT group is none without a rate', () => {
  const record = parseRecord('row', wire({ id: '7', sum: '1', sum_vat: '0', sum_total: '1' }), dialect);
  expect(record).toMatchObject({ vatGroup: null, vatPercentage: null, defects: [] });
});

test('a payment', () => {
  const record = parseRecord(
    'payment',
    wire({ id: '4', invoice: '11', payment_type: '"15"', paid: '"-100.00"', date_added: '"2026-02-01T10:00:00"' }),
    dialect,
  );
  expect(record).toMatchObject({ invoiceId: 11, paymentType: 15, dateAdded: '2026-02-01T10:00:00', defects: [] });
  expect(record.paid?.toString()).toBe('-100');
});

describe('a prepayment', () => {
  const prepayment = {
    id: '9',
    client: '5',
    department: '2',
    payment_type: '7',
    paid: '"200.00"',
    unused_amount: '"0"',
  };
  const parse = (changes: Record<string, string>) =>
    parseRecord('prepayment', wire({ ...prepayment, ...changes }), dialect);

  test('with the refunded prepayment and its external id', () => {
    const record = parse({
      refunds: `"${api}/unallocatedpayment/8/"`,
      external_info: '{"external_id":"E-1","till":3}',
    });
    expect(record).toMatchObject({ clientId: 5, departmentId: 2, refundsId: 8, externalId: 'E-1', defects: [] });
  });

  test.each([
    ['absent', {}, null, 0],
    ['null', { status: 'null' }, null, 0],
    ['as the source writes it', { status: '"Fully used"' }, 'fully used', 0],
    ['in capitals', { status: '"PENDING"' }, 'pending', 0],
    ['one that nobody knows', { status: '"Frozen"' }, 'frozen', 1],
  ])('status %s', (_, changes: Record<string, string>, status, defects) => {
    const record = parse(changes);
    expect(record.status).toBe(status);
    expect(record.defects).toHaveLength(defects);
  });
});

describe('references', () => {
  test.each([
    ['an absolute URL', `"${api}/client/5/"`, 5],
    ['without its last slash', `"${api}/client/5"`, 5],
    ['with a query', `"${api}/client/5/?format=json"`, 5],
    ['on another host', '"http://10.0.0.1:8000/api/0.1/client/5/"', 5],
    ['a bare id', '5', 5],
    ['a bare id as text', '"5"', 5],
    ['an object with an id', '{"id":5,"name":"x"}', 5],
    ['an object with a url', `{"url":"${api}/client/5/"}`, 5],
    ['null', 'null', null],
  ])('%s', (_, json, id) => {
    const record = parseInvoice({ client: json });
    expect(record.clientId).toBe(id);
    expect(record.defects).toEqual([]);
  });

  test.each([
    ['an address without an id', `"${api}/client/"`],
    ['0', '0'],
    ['a fraction', '5.5'],
    ['beyond 2^53', '9007199254740993'],
    ['a truth', 'true'],
    ['a list', '[5]'],
  ])('%s is a defect', (_, json) => {
    const record = parseInvoice({ client: json });
    expect(record.clientId).toBeNull();
    expect(record.defects).toEqual([
      { code: 'field_invalid', field: 'client', message: expect.stringContaining('is not a reference') },
    ]);
  });

  test('members of a consolidated invoice', () => {
    expect(parseInvoice({ consolidated_invoices: `["${api}/invoice/3/",4]` }).consolidatedInvoiceIds).toEqual([3, 4]);
    expect(parseInvoice({ consolidated_invoices: '[3,"x"]' })).toMatchObject({
      consolidatedInvoiceIds: [],
      defects: [{ field: 'consolidated_invoices' }],
    });
  });
});

describe('amounts', () => {
  test.each([
    ['a string', '"12.50"', '12.5'],
    ['a number', '12.5000', '12.5'],
    ['an exponent', '1e2', '100'],
    ['negative zero', '-0.0', '0'],
    ['more digits than a float has', '0.1234567890123456789', '0.1234567890123456789'],
  ])('%s', (_, json, exact) => {
    const record = parseInvoice({ total_with_vat: json });
    expect(record.totalWithVat?.toString()).toBe(exact);
    expect(record.defects).toEqual([]);
  });

  test.each([
    ['null', 'null', 'is missing'],
    ['a decimal comma', '"12,50"', 'is not a decimal number ("12,50")'],
    ['empty', '""', 'is not a decimal number ("")'],
    ['not a number', '"NaN"', 'is not a decimal number ("NaN")'],
    ['an object', '{"amount":1}', 'is not a decimal number ({"amount":1})'],
    ['a truth', 'true', 'is not a decimal number (true)'],
  ])('%s is null and named', (_, json, message) => {
    const record = parseInvoice({ total_with_vat: json });
    expect(record.totalWithVat).toBeNull();
    expect(record.defects).toEqual([
      { code: json === 'null' ? 'amount_missing' : 'amount_invalid', field: 'total_with_vat', message },
    ]);
  });

  test('due_sum may be absent', () => {
    expect(parseInvoice({ due_sum: 'null' })).toMatchObject({ dueSum: null, defects: [] });
  });
});

test.each([
  ['true', 'true', true],
  ['"True"', '"True"', true],
  ['1', '1', true],
  ['"1"', '"1"', true],
  ['false', 'false', false],
  ['0', '0', false],
  ['null', 'null', false],
])('credit_note %s', (_, json, creditNote) => {
  expect(parseInvoice({ credit_note: json })).toMatchObject({ creditNote, defects: [] });
});

test('a flag that is neither true nor false is a defect', () => {
  expect(parseInvoice({ credit_note: '"maybe"' })).toMatchObject({ defects: [{ field: 'credit_note' }] });
});

test('characters that PostgreSQL refuses are replaced; a blank text is null', () => {
  const record = parseInvoice({ payer_organization_name: '"  "', payer_name: '"a\\u0000b\\ud800"' });
  expect(record.payer.name).toBe('a\ufffdb\ufffd');
});

test.each([
  ['no id', { id: 'null' }],
  ['id 0', { id: '0' }],
  ['a fraction', { id: '1.5' }],
  ['text', { id: '"abc"' }],
  ['an object', { id: '{}' }],
])('a record with %s is malformed', (_, changes: Record<string, string>) => {
  expect(() => parseInvoice(changes)).toThrow(expect.objectContaining({ code: 'malformed_record' }));
});

test('a record that is not an object is malformed', () => {
  expect(() => parseRecord('payment', readJson('[1]'), dialect)).toThrow(
    expect.objectContaining({ code: 'malformed_record' }),
  );
});

describe('the envelope of a list', () => {
  test.each([
    ['a number', '{"count":2,"results":[{},{}]}'],
    ['a text', '{"count":"2","results":[{},{}],"next":null}'],
  ])('its count as %s', (_, text) => {
    expect(atOnce(readListBody('invoice', text, (value) => value))).toEqual({ count: 2, results: [{}, {}] });
  });

  test.each([
    ['a bare list', '[]'],
    ['no count', '{"results":[]}'],
    ['a negative count', '{"count":-1,"results":[]}'],
    ['no results', '{"count":0}'],
    ['results of another kind', '{"count":1,"results":{"id":1}}'],
    ['null', 'null'],
  ])('%s is no envelope', (_, text) => {
    expect(() => atOnce(readListBody('invoice', text, (value) => value))).toThrow(
      expect.objectContaining({ code: 'malformed_response' }),
    );
  });
});

test('an installation with other field names', () => {
  const other = loadDialect({ fields: { payment: { id: 'pk', paid: 'money.amount' } } });
  expect(String(parseRecord('payment', readJson('{"pk":3,"money":{"amount":"1.10"},"invoice":1}'), other).paid)).toBe(
    '1.1',
  );
});

test.each([
  ['a url-reference', `"${api}/consultation/90012/"`, { consultation: 90_012, url: `${api}/consultation/90012/` }],
  ['an id', '90012', { consultation: 90_012, url: null }],
  ['an object', `{"id":5,"url":"${api}/consultation/5/"}`, { consultation: 5, url: `${api}/consultation/5/` }],
  ['none', 'null', null],
  ['something else', '"soon"', null],
])('the consultation of an invoice as %s, which is no defect either way', (_case, consultation, origin) => {
  const value = wire({ id: '11', total: '1', total_vat: '0', total_with_vat: '1', consultation });
  expect(originOf(value, dialect)).toEqual(origin);
  expect(parseRecord('invoice', value, dialect).defects).toEqual([]);
});
