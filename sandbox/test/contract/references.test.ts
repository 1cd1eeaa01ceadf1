// practice-api "Conventions" 2: references are absolute URLs `{api}/<resource>/<id>/`. Refusals use the words of Django
// REST Framework's hyperlinked fields.
import { describe, expect, test } from 'vitest';
import type { Consultation } from '../../src/state/care.ts';
import { useSandbox } from './harness.ts';

const api = useSandbox({ invoices: 40, now: () => new Date('2026-05-20T12:00:00Z') });
const noMatch = 'Invalid hyperlink - No URL match.';
const otherMatch = 'Invalid hyperlink - Incorrect URL match.';
const missing = 'Invalid hyperlink - Object does not exist.';
const here = () => `${api().sandbox.url}/4711/api/0.1`;

/** The API's answer to a reference to a client, in a request whose other fields are valid. */
const phoneOf = async (client: unknown) => {
  const reply = await api().send('POST', 'phonenumber/', { client, phone_number: '+358401234567' });
  return reply.status === 201 ? reply.json.client : { status: reply.status, ...reply.json };
};

describe('a reference names this installation and its resource', () => {
  test.each([
    ['as the API gives it', () => `${here()}/client/2001/`],
    ['with a query', () => `${here()}/client/2001/?format=json`],
    ['of another host', () => 'https://app.internal/4711/api/0.1/client/2001/'],
    ['behind a path', () => 'https://vets.example/eu/1/4711/api/0.1/client/2001/'],
    ['by an IPv6 address', () => 'http://[::1]:8090/4711/api/0.1/client/2001/'],
    ['by http', () => 'http://vets.example:8080/4711/api/0.1/client/2001/'],
  ])('%s', async (_what, reference) => {
    expect(await phoneOf(reference())).toBe(api().ref('client', 2001));
  });

  test.each<[string, () => unknown, string]>([
    ['another resource', () => `${here()}/invoice/10001/`, otherMatch],
    ['an action of the resource', () => `${here()}/client/2001/custom_field_values/`, otherMatch],
    ['another resource that is shown as well', () => `${here()}/user/1/`, otherMatch],
    ['a record that does not exist', () => `${here()}/client/999999/`, missing],
    ['an id of too many digits', () => `${here()}/client/20010000000000000000/`, missing],
    ['another installation', () => 'http://127.0.0.1/4712/api/0.1/client/2001/', noMatch],
    ['another version', () => 'http://127.0.0.1/4711/api/0.2/client/2001/', noMatch],
    ['no trailing slash', () => `${here()}/client/2001`, noMatch],
    ['dots', () => `${here()}/client/2001/../2002/`, noMatch],
    ['dots before it', () => `${here()}/x/../client/2001/`, noMatch],
    ['words after it', () => `${here()}/client/2001/ banana`, noMatch],
    ['a fragment', () => `${here()}/client/2001/#x`, noMatch],
    ['percent-encoded digits', () => `${here()}/client/%32001/`, noMatch],
    ['a hexadecimal id', () => `${here()}/client/0x7d1/`, noMatch],
    ['digits of another script', () => `${here()}/client/２００１/`, noMatch],
    ['a word and an id', () => 'banana/2001', noMatch],
    ['another scheme', () => 'ftp://127.0.0.1/4711/api/0.1/client/2001/', noMatch],
    ['no address in brackets', () => 'http://[b]/4711/api/0.1/client/2001/', noMatch],
    ['a path', () => '/4711/api/0.1/client/2001/', noMatch],
    ['a name and password', () => 'http://a:b@127.0.0.1/4711/api/0.1/client/2001/', noMatch],
    ['a bare id as text', () => '2001', noMatch],
    ['nothing', () => '', 'This field may not be null.'],
    ['null', () => null, 'This field may not be null.'],
    ['undefined', () => undefined, 'This field is required.'],
    ['a bare id', () => 2001, 'Incorrect type. Expected URL string, received int.'],
    ['a number with decimals', () => 2001.5, 'Incorrect type. Expected URL string, received float.'],
    ['true', () => true, 'Incorrect type. Expected URL string, received bool.'],
    ['a list', () => [`${here()}/client/2001/`], 'Incorrect type. Expected URL string, received list.'],
    ['an object', () => ({ id: 2001 }), 'Incorrect type. Expected URL string, received dict.'],
  ])('%s is refused', async (_what, reference, message) => {
    expect(await phoneOf(reference())).toEqual({ status: 400, client: [message] });
  });

  test('a payment is not booked on the invoice whose id a client happens to have', async () => {
    const reply = await api().send('POST', 'invoicepayment/', {
      ...{ invoice: `${here()}/client/10030/`, payment_type: 0, paid: '1.00', date_added: '2026-05-20T10:00:00Z' },
    });
    expect([reply.status, reply.json]).toEqual([400, { invoice: [otherMatch] }]);
  });

  test('in lists, and inside lists of objects', async () => {
    const opened = await api().send('POST', 'consultation/', { client: api().ref('client', 2001), patients: [1] });
    expect(opened.json).toEqual({ patients: ['0: Incorrect type. Expected URL string, received int.'] });
    const credited = await api().send('POST', 'invoice/10001/partial_refund/', {
      invoice_rows: [{ invoice_row: `${here()}/invoice/10001/` }],
    });
    expect(credited.json).toEqual({ invoice_rows: [`0.invoice_row: ${otherMatch}`] });
  });

  test('in each patient of a bulk request', async () => {
    const [species] = api().sandbox.clinic.people.species.all();
    const reply = await api().send('POST', 'patient/bulk/', [{ client: 2001, name: 'Musti', species: species?.id }]);
    expect(reply.json.failed).toEqual([
      { index: 0, errors: { client: ['Incorrect type. Expected URL string, received int.'] } },
    ]);
  });
});

describe('the quirk bareIds', () => {
  test('takes ids, and the same references as before', async () => {
    api().sandbox.setQuirks({ bareIds: true });
    try {
      expect(await phoneOf(2001)).toBe(api().ref('client', 2001));
      expect(await phoneOf('2001')).toBe(api().ref('client', 2001));
      expect(await phoneOf(api().ref('client', 2001))).toBe(api().ref('client', 2001));
      expect(await phoneOf(999_999)).toEqual({ status: 400, client: ['Invalid pk "999999" - object does not exist.'] });
      expect(await phoneOf(`${here()}/user/1/`)).toEqual({ status: 400, client: [otherMatch] });
      expect(await phoneOf('banana/2001')).toEqual({ status: 400, client: [noMatch] });
    } finally {
      api().sandbox.setQuirks({ bareIds: false });
    }
  });
});

describe('other fields that name records', () => {
  const consultation = () => api().sandbox.clinic.care.consultations.all().at(-1) as Consultation;
  const diagnose = async (diagnosis: unknown) => {
    const { id, patients } = consultation();
    const body = { patient: api().ref('patient', patients[0] as number), diagnosis, code: 'K05', name: 'Gingivitis' };
    const reply = await api().send('POST', `consultation/${id}/consultationdiagnosis/`, body);
    return reply.status === 201 ? reply.json.diagnosis : reply.json;
  };

  test('a diagnosis is an id of the code list or a listitem', async () => {
    const code = api().sandbox.clinic.people.diagnoses.all()[0]?.id as number;
    expect(await diagnose(code)).toBe(code);
    expect(await diagnose(api().ref('listitem', 77))).toBe(api().ref('listitem', 77));
    expect(await diagnose(api().ref('client', 2001))).toEqual({ diagnosis: [otherMatch] });
    expect(await diagnose('http://127.0.0.1/4712/api/0.1/listitem/77/')).toEqual({ diagnosis: [noMatch] });
    expect(await diagnose(987_654)).toEqual({ diagnosis: ['The code list has no diagnosis 987654.'] });
  });

  test('an item is the generic one, not a type-specific URL', async () => {
    const sale = await api().send('POST', 'countersale/', { department: api().ref('department', 11) });
    const add = (item: string) => api().send('POST', `countersale/${sale.json.id}/items/`, { item, quantity: '1' });
    const food = api()
      .sandbox.clinic.registers.items.all()
      .find(({ shop }) => shop)?.id as number;
    expect((await add(`${here()}/foods/${food}/`)).json).toEqual({ item: [otherMatch] });
    expect((await add(api().ref('item', food))).status).toBe(201);
  });

  test('fields that the specification calls integer stay integers', async () => {
    const reply = await api().send('POST', 'eprescription/prescription/', {
      ...{ client_id: api().ref('client', 2001), department_id: 11, prescriber_id: 1 },
    });
    expect(reply.json).toMatchObject({ client_id: ['A valid integer is required.'] });
  });
});

describe('a filter whose value is a record takes its id or a reference', () => {
  const count = async (value: string, path = 'invoice/', filter = 'client__is') => {
    const reply = await api().get(path, { [filter]: value });
    return reply.status === 200 ? reply.json.count : reply.json;
  };

  test('of this installation and resource', async () => {
    const client = api()
      .sandbox.clinic.invoices.all()
      .find((invoice) => invoice.client !== null)?.client as number;
    const expected = api()
      .sandbox.clinic.invoices.all()
      .filter((invoice) => invoice.client === client).length;
    expect(await count(String(client))).toBe(expected);
    expect(await count(api().ref('client', client))).toBe(expected);
    expect(await count(`https://app.internal/4711/api/0.1/client/${client}/?format=json`)).toBe(expected);
  });

  test.each([
    ['another resource', () => `${here()}/invoice/10001/`, otherMatch],
    ['another installation', () => 'http://127.0.0.1/4712/api/0.1/client/2001/', noMatch],
    ['a word', () => 'banana/2001', noMatch],
    ['a word alone', () => 'banana', noMatch],
  ])('%s is refused', async (_what, value, message) => {
    expect(await count(value())).toEqual({ client__is: [message] });
  });

  test('several of them in one list', async () => {
    const [first, second] = [api().sandbox.clinic.invoices.all()[0]?.id, api().sandbox.clinic.invoices.all()[1]?.id];
    const rows = api()
      .sandbox.clinic.invoiceRows.all()
      .filter(({ invoice }) => [first, second].includes(invoice));
    const both = `${first},${api().ref('invoice', second as number)}`;
    expect(await count(both, 'invoicerow/', 'invoice__in')).toBe(rows.length);
    const wrong = `${first},${here()}/client/2001/`;
    expect(await count(wrong, 'invoicerow/', 'invoice__in')).toEqual({ invoice__in: [otherMatch] });
  });

  test('a filter that is no record takes numbers only', async () => {
    expect(await count(api().ref('invoice', 10_001), 'invoice/', 'id__is')).toEqual({ id__is: ['Enter a number.'] });
  });
});

test('the description says what a reference is', async () => {
  // biome-ignore lint/suspicious/noExplicitAny: a contract test reads whatever the wire brings.
  const document = (await (await fetch(`${api().sandbox.url}/schema/`)).json()) as any;
  const { type, format, pattern } = document.components.schemas.PhoneNumberInput.properties.client;
  expect([type, format]).toEqual(['string', 'uri']);
  expect(api().ref('client', 2001)).toMatch(new RegExp(pattern));
  expect('http://127.0.0.1/4712/api/0.1/client/2001/').not.toMatch(new RegExp(pattern));
});
