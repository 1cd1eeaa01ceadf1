// Strict mode (quirk `strict`): the API refuses what the specification does not name. The refusal cites the section
// that describes the correct value.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { refTo, useSandbox } from './harness.ts';

const api = useSandbox({ invoices: 40, now: () => new Date('2026-05-20T12:00:00Z') });
beforeAll(() => api().sandbox.setQuirks({ strict: true }));
afterAll(() => api().sandbox.setQuirks({ strict: false }));

const people = 'Clients, phone numbers, custom fields';
const money = 'Invoices, payments, prepayments';
/** Valid requests by path. */
const good: Record<string, () => object> = {
  'phonenumber/': () => ({ client: refTo('client', 2001), phone_number: '+358401234567', type_code: 1 }),
  'invoicepayment/': () => ({
    ...{ invoice: refTo('invoice', api().sandbox.clinic.createInvoice({ rows: [{ sum: '10.00' }] }).id) },
    ...{ payment_type: 0, paid: '10.00', date_added: '2026-05-20T10:00:00Z' },
  }),
  'client/': () => ({ lastname: 'Strict', no_sms: false }),
  'appointment/': () => ({
    ...{ start: '2026-05-21T09:00:00+03:00', end: '2026-05-21T10:00:00', department: refTo('department', 11) },
    ...{ type: 'Consultation' },
  }),
};
const send = async (path: string, changes: object) => {
  const { status, json } = await api().send('POST', path, { ...good[path]?.(), ...changes });
  return { status, json };
};

describe('bodies', () => {
  test.each(Object.keys(good))('%s: what fits the specification is taken', async (path) => {
    expect((await send(path, {})).status).toBe(201);
  });

  test.each<[string, string, object, string, string]>([
    ['an unknown field', 'phonenumber/', { colour: 'red' }, 'colour', people],
    ['a prototype key', 'phonenumber/', JSON.parse('{"__proto__": {"x": 1}}'), '', people],
    ['a constructor key', 'phonenumber/', { constructor: {} }, 'constructor', people],
    ['a bare id', 'phonenumber/', { client: 2001 }, 'client', 'Conventions 2'],
    ['digits for an integer', 'phonenumber/', { type_code: '1' }, 'type_code', people],
    [
      '"True" for a boolean',
      'invoice/10001/full_refund/',
      { use_original_invoice_date: 'True' },
      'use_original_invoice_date',
      money,
    ],
    ['"true" for a boolean', 'client/', { no_sms: 'true' }, 'no_sms', people],
    ['1 for a boolean', 'client/', { no_sms: 1 }, 'no_sms', people],
    ['a date for a timestamp', 'invoicepayment/', { date_added: '2026-05-20' }, 'date_added', 'Conventions 4'],
    ['a blank for the T', 'invoicepayment/', { date_added: '2026-05-20 10:00:00' }, 'date_added', 'Conventions 4'],
    ['a plus sign', 'invoicepayment/', { paid: '+10.00' }, 'paid', money],
    ['a code as text', 'appointment/', { type: '1' }, 'type', 'Appointments and online booking'],
  ])('%s is refused', async (_what, path, changes, field, section) => {
    const body = JSON.stringify({ ...good[path]?.(), ...changes });
    const sent = field === '' ? body.replace('{', '{"__proto__": {"x": 1}, ') : body;
    const { status, json } = await api().send('POST', path, sent);
    const name = field === '' ? '__proto__' : field;
    expect([status, Object.keys(json)]).toEqual([400, [name]]);
    expect(json[name]).toEqual([expect.stringMatching(new RegExp(`^[A-Z].*\\. \\(practice-api: ${section}\\)$`))]);
  });

  test('an unknown field inside another is named', async () => {
    const fields_rel = [{ field_id: 1, value: 'x', note: 'y' }];
    expect(await send('client/', { fields_rel })).toEqual({
      ...{
        status: 400,
        json: {
          fields_rel: ['0.note: This field is not known. (practice-api: Clients, phone numbers, custom fields)'],
        },
      },
    });
  });

  test('a field where no body is expected', async () => {
    const sale = (await api().send('POST', 'countersale/', { department: refTo('department', 11) })).json;
    const finalize = (body: unknown) => api().send('POST', `countersale/${sale.id}/finalize/`, body);
    expect((await finalize({ date: '2026-05-20' })).json).toEqual({
      date: ['This field is not known. (practice-api: Online prescriptions)'],
    });
    expect((await finalize({})).json).toHaveProperty('non_field_errors');
    expect((await finalize(undefined)).json).toHaveProperty('non_field_errors');
  });

  test('patients in bulk, by index', async () => {
    const [species] = api().sandbox.clinic.people.species.all();
    const patient = { client: refTo('client', 2001), name: 'Rekku', species: species?.id };
    const { json } = await api().send('POST', 'patient/bulk/?force_push=true', [patient, { ...patient, age: 3 }]);
    expect(json.failed).toEqual([{ index: 1, errors: { age: ['This field is not known. (practice-api: Patients)'] } }]);
  });

  test('external_info takes any key', async () => {
    const { id } = api().sandbox.clinic.prepayments.all()[0] as { id: number };
    const write = (body: object) => api().send('PATCH', `unallocatedpayment/${id}/`, body);
    expect((await write({ external_info: { external_id: 'x', own: { key: [1] } } })).status).toBe(200);
    expect((await write({ external_id: 'x' })).status).toBe(400);
  });

  test('forms know text only', async () => {
    const form = async (fields: Record<string, string>) => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      return api().send('POST', 'accountnumber/', new URLSearchParams(fields).toString(), headers);
    };
    expect((await form({ number: '4711', archived: 'false', department: '' })).status).toBe(201);
    expect((await form({ number: '4711', archived: 'True' })).json).toHaveProperty('archived');
    expect((await form({ number: '4711', colour: 'red' })).json).toHaveProperty('colour');
  });
});

describe('queries', () => {
  test.each([
    ['client/', 'page=1&page_size=1000&modified__gte=2026-01-01T00:00:00Z'],
    ['client/', 'firstname__icontains=a&filter_type=or&archived__is=false'],
    ['invoice/', 'client__is=2001&invoice_date__gte=2026-01-01&status__is=3'],
    ['invoice/', `client__is=${encodeURIComponent(refTo('client', 2001))}&id__in=10001,10002`],
    ['invoicerow/', 'expose_invoicerow_vat_group&invoice__is=10001'],
  ])('%s?%s is taken', async (path, query) => {
    expect((await api().get(`${path}?${query}`)).status).toBe(200);
  });

  test.each([
    ['client/', 'colour__is=red', 'colour__is', 'Conventions 6'],
    ['client/', 'firstname__is=Aino', 'firstname__is', 'Conventions 6'],
    ['client/', 'ordering=id', 'ordering', people],
    ['client/2001/', 'format=json', 'format', people],
    ['client/', 'page_size=1001', 'page_size', 'Conventions 5'],
    ['client/', 'page_size=0', 'page_size', 'Conventions 5'],
    ['client/', 'archived__is=True', 'archived__is', 'Conventions 6'],
    ['client/', 'archived__is=1', 'archived__is', 'Conventions 6'],
    ['client/', 'archived__is=', 'archived__is', 'Conventions 6'],
    ['client/', 'modified__gte=2026-01-01', 'modified__gte', 'Conventions 6|Conventions 4'],
    ['client/', 'filter_type=and', 'filter_type', 'Conventions 6'],
    ['invoice/', 'invoice_date__gte=2026-01-01T00:00:00Z', 'invoice_date__gte', 'Conventions 6'],
    ['invoice/', 'client__is=banana', 'client__is', 'Conventions 2'],
    ['invoice/10001/full_refund/', 'x=1', 'x', money],
  ])('%s?%s is refused', async (path, query, field, section) => {
    const { status, json } = path.endsWith('refund/')
      ? await api().send('POST', `${path}?${query}`, {})
      : await api().get(`${path}?${query}`);
    expect([status, json]).toEqual([
      400,
      { [field]: [expect.stringMatching(new RegExp(`^[A-Z].*\\. \\(practice-api: (${section})\\)$`))] },
    ]);
  });

  test('the references of an installation that adds format=json can be followed', async () => {
    api().sandbox.setQuirks({ urlReferences: 'query' });
    const { url } = (await api().get('client/2001/')).json;
    const answer = await fetch(url, { headers: { authorization: 'Bearer sandbox-token' } });
    api().sandbox.setQuirks({ urlReferences: 'absolute' });
    expect([url.endsWith('?format=json'), answer.status]).toEqual([true, 200]);
  });
});

test('it is switched while the sandbox runs, and wins over bareIds', async () => {
  const phone = (client: unknown) => send('phonenumber/', { client });
  api().sandbox.setQuirks({ bareIds: true });
  expect((await phone(2001)).status).toBe(400);
  api().sandbox.setQuirks({ strict: false });
  expect((await phone(2001)).status).toBe(201);
  expect((await send('phonenumber/', { colour: 'red' })).status).toBe(201);
  expect((await api().get('client/?colour__is=red')).status).toBe(200);
  api().sandbox.setQuirks({ strict: true, bareIds: false });
});

test('/schema/ describes what is in force', async () => {
  // biome-ignore lint/suspicious/noExplicitAny: a contract test reads whatever the wire brings.
  const read = async (): Promise<any> => (await fetch(`${api().sandbox.url}/schema/`)).json();
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  const phoneOf = (document: any) => document.components.schemas.PhoneNumberInput;
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  const pageSizeOf = (document: any) =>
    document.paths['/client/'].get.parameters.find(({ name }: { name: string }) => name === 'page_size').schema;
  const strict = await read();
  expect(phoneOf(strict)).toMatchObject({ additionalProperties: false, properties: { type_code: { enum: [0, 1] } } });
  expect(pageSizeOf(strict)).toEqual({ type: 'integer', minimum: 1, maximum: 1000 });
  api().sandbox.setQuirks({ strict: false });
  const lenient = await read();
  api().sandbox.setQuirks({ strict: true });
  expect(phoneOf(lenient)).not.toHaveProperty('additionalProperties');
  expect(phoneOf(lenient).properties.type_code).toHaveProperty('anyOf');
});
