import { beforeAll, describe, expect, test } from 'vitest';
import { refTo, useSandbox } from './harness.ts';

const nowMs = { value: Date.parse('2026-05-20T12:00:00.000Z') };
const api = useSandbox({ now: () => new Date(nowMs.value) });

const create = async (body: object) => (await api().send('POST', 'client/', body)).json;
const ids = async (query: Record<string, string | number>): Promise<number[]> =>
  (await api().get('client/', { id__gt: before, ...query })).json.results.map((client: { id: number }) => client.id);

/** The clients of this file have higher ids. */
let before = 0;
const made: Record<string, number> = {};

describe('practice-api "Client" and "Endpoints: Clients, phone numbers, custom fields": filters', () => {
  beforeAll(async () => {
    before = api().sandbox.clinic.clients.all().at(-1)?.id ?? 0;
    const clients = {
      aino: { firstname: 'Aino', lastname: 'Xylander', email: 'aino@example.org' },
      eero: { firstname: 'Eero', lastname: 'Ainola', email: 'eero@example.org' },
      stable: { organization_name: 'Aino Stables Oy', email: 'stable@example.org', customer_type: 1 },
      gone: { firstname: 'Gone', lastname: 'Away', archived: true },
    };
    for (const [key, body] of Object.entries(clients)) made[key] = (await create(body)).id;
    const phone = (client: number, phone_number: string, type_code: number) =>
      api().send('POST', 'phonenumber/', { client: api().ref('client', client), phone_number, type_code });
    await phone(made.aino as number, '+358 40 555 1234', 1);
    await phone(made.aino as number, '+35891112222', 0);
    await phone(made.eero as number, '+46705551234', 1);
    const species = (await api().get('codelist/species/')).json.results[0].id;
    const patient = (client: number, fields: object) =>
      api().send('POST', 'patient/', { client: api().ref('client', client), name: 'Pet', species, ...fields });
    await patient(made.aino as number, {});
    await patient(made.eero as number, { deceased: '2026-01-01' });
    await patient(made.stable as number, { archived: true });
  });

  test.each([
    ['firstname__icontains=AIN', ['aino']],
    ['lastname__icontains=ain', ['eero']],
    ['organization_name__icontains=stables', ['stable']],
    ['firstname__icontains=ain&lastname__icontains=ain', []],
    ['firstname__icontains=ain&lastname__icontains=ain&filter_type=or', ['aino', 'eero']],
    ['firstname__icontains=ain&lastname__icontains=ain&organization_name__icontains=ain&filter_type=or', 'all three'],
    ['firstname__icontains=ain&organization_name__icontains=ain&filter_type=or&email__is=aino@example.org', ['aino']],
    ['email__is=eero@example.org', ['eero']],
    ['email__is=eero@example', []],
    ['phone_number__icontains=5551234', ['aino', 'eero']],
    ['phone_number__icontains=1112', ['aino']],
    ['archived__is=false', ['aino', 'eero', 'stable']],
    ['archived__is=true', ['gone']],
    ['has_living_patient__is=true', ['aino']],
    ['has_living_patient__is=false', ['eero', 'stable', 'gone']],
  ] as const)('%s', async (query, expected) => {
    const wanted = expected === 'all three' ? ['aino', 'eero', 'stable'] : expected;
    expect(await ids(Object.fromEntries(new URLSearchParams(query)))).toEqual(wanted.map((key) => made[key]));
  });

  test('id__gt and modified__gte: delta synchronisation', async () => {
    expect(await ids({ id__gt: made.eero as number })).toEqual([made.stable, made.gone]);
    nowMs.value += 60_000;
    await api().send('PATCH', `client/${made.eero}/`, { no_sms: true });
    expect(await ids({ modified__gte: new Date(nowMs.value).toISOString() })).toEqual([made.eero]);
  });
});

describe('practice-api "Client": create and change', () => {
  test('create answers the client; an invoice of it takes its names as payer', async () => {
    const body = { firstname: 'Oona', lastname: 'Öhman', email: 'oona@example.org', country: 'SE', customer_type: 0 };
    const created = await api().send('POST', 'client/', body);
    expect(created.status).toBe(201);
    expect(created.json).toEqual({
      ...{ ...body, id: expect.any(Number), url: api().ref('client', created.json.id), organization_name: '' },
      ...{ no_sms: false, no_email: false, archived: false, modified: expect.any(String), fields_rel: [] },
    });
    expect((await api().get(`client/${created.json.id}/`)).json).toEqual(created.json);
    const { clinic } = api().sandbox;
    const invoice = clinic.createInvoice({ client: created.json.id, rows: [{ sum: '10.00' }] });
    expect(invoice).toMatchObject({ payer_name: 'Oona Öhman', payer_country: 'Sweden', payer_country_code: 'SE' });
    await api().send('PATCH', `client/${created.json.id}/`, { lastname: 'Berg' });
    expect(clinic.invoice(invoice.id).payer_name).toBe('Oona Öhman');
    const later = clinic.createInvoice({ client: created.json.id, rows: [{ sum: '10.00' }] });
    expect(later.payer_name).toBe('Oona Berg');
  });

  test('PATCH changes only what it names; read-only fields stay', async () => {
    const client = await create({ lastname: 'Patch', email: 'a@example.org' });
    const changed = await api().send('PATCH', `client/${client.id}/`, {
      email: 'b@example.org',
      no_email: true,
      id: 1,
    });
    expect([changed.status, changed.json]).toEqual([
      200,
      { ...client, email: 'b@example.org', no_email: true, modified: expect.any(String) },
    ]);
  });

  test('Conventions 7: archived is the soft delete; there is no other', async () => {
    const { id } = await create({ lastname: 'Leaving' });
    expect((await api().send('DELETE', `client/${id}/`)).status).toBe(405);
    expect((await api().send('PATCH', `client/${id}/`, { archived: true })).json.archived).toBe(true);
    expect((await api().get('client/', { id__is: id, archived__is: 'false' })).json.count).toBe(0);
    expect((await api().get(`client/${id}/`)).json.archived).toBe(true);
  });

  test.each([
    [{}, 'lastname'],
    [{ lastname: ' ' }, 'lastname'],
    [{ lastname: 'A', country: 'Finland' }, 'country'],
    [{ lastname: 'A', country: 'QQ' }, 'country'],
    [{ lastname: 'A', email: 'no address' }, 'email'],
    [{ lastname: 'A', customer_type: 5 }, 'customer_type'],
    [{ lastname: 'A', no_sms: 'perhaps' }, 'no_sms'],
    [{ lastname: 'A', fields_rel: 'x' }, 'fields_rel'],
    [{ lastname: 'A', fields_rel: [{ field_id: 999_999, value: 'x' }] }, 'fields_rel'],
  ])('%j is refused by its field', async (body, field) => {
    const count = api().sandbox.clinic.clients.size;
    const refused = await api().send('POST', 'client/', body);
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, [field]]);
    expect(api().sandbox.clinic.clients.size).toBe(count);
  });

  test('a client that does not exist answers 404', async () => {
    for (const path of ['client/1/', 'client/1/custom_field_values/']) {
      expect((await api().get(path)).json).toEqual({ detail: 'Not found.' });
    }
    expect((await api().send('PATCH', 'client/1/', { lastname: 'A' })).status).toBe(404);
  });
});

describe('practice-api "Phone number"', () => {
  test('numbers are kept by client, in the international format', async () => {
    const { id } = await create({ lastname: 'Called' });
    const client = api().ref('client', id);
    const mobile = await api().send('POST', 'phonenumber/', { client, phone_number: '+358 40-123 4567' });
    expect([mobile.status, mobile.json]).toEqual([
      201,
      { id: expect.any(Number), url: expect.any(String), client, phone_number: '+358401234567', type_code: 1 },
    ]);
    const landline = { client, phone_number: '+3589123456', type_code: 0 };
    expect((await api().send('POST', 'phonenumber/', landline)).json.type_code).toBe(0);
    const listed = (await api().get('phonenumber/', { client__is: id })).json;
    expect(listed.results.map((one: { phone_number: string }) => one.phone_number)).toEqual([
      '+358401234567',
      '+3589123456',
    ]);
    expect((await api().get(`phonenumber/${mobile.json.id}/`)).json).toEqual(mobile.json);
    expect((await api().get('phonenumber/1/')).status).toBe(404);
  });

  test.each([
    [{ phone_number: '+358401234567' }, 'client'],
    [{ client: refTo('client', 1), phone_number: '+358401234567' }, 'client'],
    [{ client: refTo('client', 2001) }, 'phone_number'],
    [{ client: refTo('client', 2001), phone_number: '0401234567' }, 'phone_number'],
    [{ client: refTo('client', 2001), phone_number: '+358401234567', type_code: 2 }, 'type_code'],
  ])('%j is refused by its field', async (body, field) => {
    const refused = await api().send('POST', 'phonenumber/', body);
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, [field]]);
  });
});

describe('practice-api "Custom fields"', () => {
  const definitions = async () => (await api().get('custom_fields/')).json.results;
  const fieldOf = async (model: string, data_type: string) =>
    (await definitions()).find(
      (field: Record<string, unknown>) => field.model === model && field.data_type === data_type,
    );

  test('definitions have an id, a label, a data type and a model', async () => {
    const found = await definitions();
    expect(new Set(found.map((field: { model: string }) => field.model))).toEqual(new Set(['client', 'patient']));
    expect(found[0]).toEqual({
      ...{ id: expect.any(Number), label: 'Loyalty number', data_type: 'text', model: 'client', options: [] },
    });
  });

  test('fields_rel is written and read; a second value of the field replaces the first', async () => {
    const text = await fieldOf('client', 'text');
    const select = await fieldOf('client', 'select');
    const [friend, web] = select.options;
    const client = await create({
      lastname: 'Custom',
      fields_rel: [
        { field_id: text.id, value: 'L1' },
        { field_id: select.id, value: [{ id: friend.id, name: friend.name }] },
      ],
    });
    expect(client.fields_rel).toEqual([
      { id: expect.any(Number), field_id: text.id, name: text.label, value: 'L1' },
      { id: expect.any(Number), field_id: select.id, name: select.label, value: [friend] },
    ]);
    const fields_rel = [{ field_id: select.id, value: [web] }];
    const changed = (await api().send('PATCH', `client/${client.id}/`, { fields_rel })).json;
    expect(changed.fields_rel).toEqual([client.fields_rel[0], { ...client.fields_rel[1], value: [web] }]);
    const listed = (await api().get('client/', { id__is: client.id })).json.results[0];
    expect(listed.fields_rel).toEqual(changed.fields_rel);
  });

  test.each(['client', 'patient'] as const)(
    'POST /%s/{id}/custom_field_values/ creates a value, then updates it, and the record counts as modified',
    async (model) => {
      const { clinic } = api().sandbox;
      const owner =
        model === 'client' ? (await create({ lastname: 'Values' })).id : clinic.registers.patients.all()[0]?.id;
      const field = await fieldOf(model, model === 'client' ? 'date' : 'number');
      const path = `${model}/${owner}/custom_field_values/`;
      const [first, second] = model === 'client' ? ['2026-07-01', '2026-08-01'] : ['54.5', '55'];
      nowMs.value += 1000;
      const created = await api().send('POST', path, { field_id: field.id, value: first });
      expect([created.status, created.json]).toEqual([
        201,
        { id: expect.any(Number), field_id: field.id, name: field.label, value: first },
      ]);
      const updated = await api().send('POST', path, { field_id: field.id, value: second });
      expect([updated.status, updated.json]).toEqual([200, { ...created.json, value: second }]);
      expect((await api().get(path)).json).toMatchObject({ count: 1, results: [updated.json] });
      const record = (await api().get(`${model}/${owner}/`)).json;
      expect(record.fields_rel).toEqual([updated.json]);
      expect(Date.parse(record.modified)).toBe(nowMs.value);
    },
  );

  test.each([
    ['client', 'date', 'tomorrow', 'value'],
    ['client', 'text', [], 'value'],
    ['client', 'select', 'A friend', 'value'],
    ['client', 'select', [{ id: 99, name: 'Nobody' }], 'value'],
    [
      'client',
      'select',
      [
        { id: 1, name: 'A friend' },
        { id: 2, name: 'The web' },
      ],
      'value',
    ],
    ['patient', 'number', 'tall', 'value'],
    ['patient', 'boolean', 'perhaps', 'value'],
    ['patient', 'multi_select', [{ id: 77, name: 'Air' }], 'value'],
  ])('a %s field of type %s refuses %j', async (model, type, value, at) => {
    const owner = model === 'client' ? 2001 : 20_001;
    const field = await fieldOf(model, type);
    const refused = await api().send('POST', `${model}/${owner}/custom_field_values/`, { field_id: field.id, value });
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, [at]]);
  });

  test('a definition of the other model is refused', async () => {
    const field = await fieldOf('patient', 'boolean');
    const refused = await api().send('POST', 'client/2001/custom_field_values/', { field_id: field.id, value: 'true' });
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, ['field_id']]);
  });

  test('several options of a multi-select field are stored as the definition names them', async () => {
    const field = await fieldOf('patient', 'multi_select');
    const [first, , third] = field.options;
    const value = [
      { id: third.id, name: 'another name' },
      { id: first.id, name: first.name },
    ];
    const stored = await api().send('POST', 'patient/20002/custom_field_values/', { field_id: field.id, value });
    expect(stored.json.value).toEqual([first, third]);
  });
});
