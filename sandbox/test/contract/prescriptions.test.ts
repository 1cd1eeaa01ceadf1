import { beforeEach, describe, expect, test } from 'vitest';
import { type Reply, refTo, useSandbox } from './harness.ts';

let nowMs = 0;
const api = useSandbox({
  now: () => new Date(nowMs),
  quirks: { timestamps: 'zulu' },
  applications: [
    {
      clientId: 'shop',
      clientSecret: 'shop-secret',
      name: 'Shop',
      permissions: ['Financial: Invoices'],
      scopes: ['read write'],
    },
  ],
});
const clinic = () => api().sandbox.clinic;
const path = 'eprescription/prescription/';
const veterinarian = () =>
  clinic()
    .registers.users.all()
    .find((user) => user.is_veterinarian)?.id ?? 0;
const patientOf = (client: number) => clinic().registers.patients.of(client)[0]?.id ?? 0;
const item = (fields: object = {}) => ({
  name: 'Kivuton 50 mg',
  patients: [patientOf(2001)],
  strength: '50 mg',
  instructions: 'One tablet a day with food',
  quantity_packages: 2,
  valid_until: '2026-05-20',
  ...fields,
});
const body = (fields: object = {}) => ({
  client_id: 2001,
  department_id: 11,
  prescriber_id: veterinarian(),
  issue_time: '2026-05-20T14:30:00+03:00',
  prescription_items: [item()],
  ...fields,
});
const create = async (fields: object = {}): Promise<Reply['json']> => {
  const created = await api().send('POST', path, body(fields));
  expect([created.status, created.text]).toEqual([201, expect.any(String)]);
  return created.json;
};
/** The path of a url-reference, relative to the API. */
const at = (url: string) => url.split('/api/0.1/')[1] ?? '';

beforeEach(() => {
  nowMs = Date.parse('2026-05-20T12:00:00.000Z');
});

describe('practice-api "Online prescription"', () => {
  test('create answers every field of the list, and no other; defaults: status 1 Draft, no consultation, no remarks', async () => {
    const prescription = await create();
    const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const user = expect.stringMatching(/\/user\/\d+\/$/);
    expect(prescription).toEqual({
      url: expect.stringMatching(/\/eprescription\/prescription\/\d+\/$/),
      consultation: null,
      prescriber: api().ref('user', veterinarian()),
      department: api().ref('department', 11),
      created: '2026-05-20T12:00:00.000000Z',
      modified: '2026-05-20T12:00:00.000000Z',
      status: 1,
      client: api().ref('client', 2001),
      pharmacy_id: null,
      archived: false,
      patients: [api().ref('patient', patientOf(2001))],
      items: [expect.stringMatching(/\/eprescription\/prescription_item\/\d+\/$/)],
      uuid,
      prescription_set_uuid: uuid,
      invoice: null,
      remarks: '',
      created_user: user,
      modified_user: user,
      modified_session: null,
      issue_time: '2026-05-20T11:30:00.000000Z',
      is_order: false,
      is_payment: false,
      prescription_order: null,
      payment_details: null,
    });
    expect((await api().get(at(prescription.url))).json).toEqual(prescription);
  });

  test.each([
    ['2026-05-19T08:00:00Z', '2026-05-19T08:00:00.000000Z'],
    ['2026-05-21T08:00:00', '2026-05-21T05:00:00.000000Z'],
  ])('issue_time %s is stored as it was sent', async (issue_time, stored) => {
    const prescription = await create({ issue_time, status: 3 });
    expect(prescription.issue_time).toBe(stored);
    expect((await api().get(at(prescription.url))).json.issue_time).toBe(stored);
  });

  test('a request as specified is answered with its medicines', async () => {
    const prescription = await create();
    const written = await Promise.all(prescription.items.map((url: string) => api().get(at(url))));
    expect(written.map(({ json }) => json.name)).toEqual(['Kivuton 50 mg']);
  });

  test('an item answers every field of the list, and no other; repeat_number defaults to 1', async () => {
    const prescription = await create({ prescription_items: [item(), item({ repeat_number: 3 })] });
    const [first, second] = prescription.items.map(at);
    const patient = clinic().registers.patients.get(patientOf(2001));
    expect((await api().get(first)).json).toEqual({
      url: prescription.items[0],
      name: 'Kivuton 50 mg',
      package_size: null,
      product_id: null,
      product_nplid: null,
      article_id: null,
      article_nplpackid: null,
      row_id: expect.any(String),
      license_id: null,
      pharmacy_id: null,
      prescription: prescription.url,
      created: '2026-05-20T12:00:00.000000Z',
      modified: '2026-05-20T12:00:00.000000Z',
      valid_until: '2026-05-20',
      indication: null,
      dosage_form: null,
      strength: '50 mg',
      quantity: null,
      unit_description: null,
      package_content: null,
      quantity_packages: 2,
      patients: [api().ref('patient', patientOf(2001))],
      prescribed_medicine: null,
      latest_dispensing: null,
      instructions: 'One tablet a day with food',
      language: 'en',
      repeat_number: 1,
      repeat_timevalue: null,
      repeat_timeunit: null,
      patient_identification: patient?.microchip ?? null,
      patient_id_qualifier: patient?.microchip ? 'microchip' : null,
      patient_species: clinic().people.species.get(patient?.species_code ?? 0)?.label,
      supplimentary_information: null,
      created_user: prescription.created_user,
      modified_user: prescription.created_user,
      copied_from: null,
    });
    expect((await api().get(second)).json.repeat_number).toBe(3);
  });

  test('a prescription of a consultation of the same client', async () => {
    const { consultations } = clinic().care;
    const patients = [patientOf(2001)];
    const [times, status] = [
      { started: nowMs, finished: null, admitted_time: nowMs, first_entry: null, ended: null },
      8,
    ];
    const held = clinic().insert(consultations, {
      ...{ ...times, status, client: 2001, patients, complaint: '', type: 1, invoice: null, department: 11 },
      ...{ supervising_veterinarian: veterinarian(), reporting_dimension_1: null, reporting_dimension_2: null },
    });
    const made = await create({
      client_id: held.client,
      consultation_id: held.id,
      prescription_items: [item({ patients })],
    });
    expect(made.consultation).toBe(api().ref('consultation', held.id));
    const others = clinic()
      .clients.all()
      .find((client) => client.id !== held.client)?.id;
    const theirs = { client_id: others, consultation_id: held.id };
    const refused = await api().send('POST', path, body(theirs));
    expect(refused.json).toEqual({ consultation_id: [expect.any(String)] });
  });

  test.each<[string, object, string]>([
    ['no client_id', { client_id: undefined }, 'client_id'],
    ['an unknown client', { client_id: 1 }, 'client_id'],
    ['no department_id', { department_id: undefined }, 'department_id'],
    ['an unknown department', { department_id: 99 }, 'department_id'],
    ['no prescriber_id', { prescriber_id: undefined }, 'prescriber_id'],
    ['an unknown prescriber', { prescriber_id: 999_999 }, 'prescriber_id'],
    ['no issue_time', { issue_time: undefined }, 'issue_time'],
    ['an issue_time of null', { issue_time: null }, 'issue_time'],
    ['an issue_time that is none', { issue_time: 'today' }, 'issue_time'],
    ['no prescription_items', { prescription_items: undefined }, 'prescription_items'],
    ['an empty array of prescription_items', { prescription_items: [] }, 'prescription_items'],
    ['an unknown status', { status: 9 }, 'status'],
    ['an unknown consultation', { consultation_id: 1 }, 'consultation_id'],
  ])('%s is refused', async (_case, fields, field) => {
    const refused = await api().send('POST', path, body(fields));
    expect([refused.status, refused.json]).toEqual([400, { [field]: [expect.any(String)] }]);
  });

  test('who is no veterinarian cannot prescribe', async () => {
    const assistant = clinic()
      .registers.users.all()
      .find((user) => !user.is_veterinarian);
    const refused = await api().send('POST', path, body({ prescriber_id: assistant?.id }));
    expect(refused.json).toEqual({ prescriber_id: ['Only a veterinarian can prescribe.'] });
  });

  const required = ['name', 'patients', 'strength', 'instructions', 'quantity_packages', 'valid_until'];
  test.each<[string, object]>([
    ...required.map((field): [string, object] => [`without ${field}`, { [field]: undefined }]),
    ['without patients', { patients: [] }],
    ["with another client's patient", { patients: [20_002, 20_399] }],
    ['with an unknown patient', { patients: [1] }],
    ['of no packages', { quantity_packages: 0 }],
    ['dispensed no time', { repeat_number: 0 }],
    ['that is no longer valid', { valid_until: '2026-05-19' }],
    ['until a date that does not exist', { valid_until: '2026-06-31' }],
  ])('an item %s is refused, and nothing is written', async (_case, fields) => {
    const before = [clinic().online.prescriptions.size, clinic().online.prescriptionItems.size];
    const refused = await api().send('POST', path, body({ prescription_items: [item(), item(fields)] }));
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, ['prescription_items']]);
    expect([clinic().online.prescriptions.size, clinic().online.prescriptionItems.size]).toEqual(before);
  });
});

describe('practice-api "Prescription status" and "Endpoints: Online prescriptions"', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])('status %i may be set, on create and by PATCH', async (status) => {
    expect((await create({ status })).status).toBe(status);
    const { url } = await create();
    nowMs += 60_000;
    const changed = await api().send('PATCH', at(url), { status });
    expect([changed.status, changed.json.status]).toEqual([200, status]);
    expect(changed.json.modified).toBe('2026-05-20T12:01:00.000000Z');
    expect(changed.json.issue_time).toBe('2026-05-20T11:30:00.000000Z');
    expect((await api().get(at(url))).json).toEqual(changed.json);
  });

  test('remarks may be changed; the time of issue stays', async () => {
    const { url, issue_time } = await create({ status: 3, remarks: 'a' });
    nowMs += 60_000;
    const changed = (await api().send('PATCH', at(url), { status: 4, remarks: '' })).json;
    expect(changed).toMatchObject({ status: 4, remarks: '', issue_time });
    expect((await api().send('PATCH', at(url), {})).json).toMatchObject({ status: 4, remarks: '' });
  });

  test.each([
    { client_id: 2002 },
    { issue_time: '2026-05-21' },
    { prescription_items: [] },
    { status: 2, is_payment: true },
    { status: 9 },
    { status: null },
  ])('PATCH of %o is refused and changes nothing', async (changes) => {
    const prescription = await create();
    const refused = await api().send('PATCH', at(prescription.url), changes);
    expect(refused.status).toBe(400);
    expect((await api().get(at(prescription.url))).json).toEqual(prescription);
  });

  test.each(['PUT', 'DELETE'])('%s is not supported', async (method) => {
    const { url, items } = await create();
    for (const one of [url, ...items]) {
      const refused = await api().send(method, at(one), method === 'PUT' ? body() : undefined);
      expect([refused.status, refused.json]).toEqual([405, { detail: `Method "${method}" not allowed.` }]);
    }
    expect((await api().send('PATCH', at(items[0]), { name: 'x' })).status).toBe(405);
    expect((await api().get(at(url))).status).toBe(200);
  });

  test('a prescription and an item that do not exist are 404', async () => {
    expect((await api().get(`${path}1/`)).status).toBe(404);
    expect((await api().send('PATCH', `${path}1/`, { status: 2 })).status).toBe(404);
    expect((await api().get('eprescription/prescription_item/1/')).status).toBe(404);
  });

  test('"Authentication": the permission group must include the e-prescription permissions', async () => {
    const { url } = await create();
    const credentials = Buffer.from('shop:shop-secret').toString('base64');
    const issued = await fetch(`${api().sandbox.url}/4711/oauth2/token/`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
      headers: { authorization: `Basic ${credentials}` },
    });
    const { access_token } = (await issued.json()) as { access_token: string };
    const headers = { authorization: `Bearer ${access_token}` };
    const answers = [
      await fetch(url, { headers }),
      await fetch(api().ref('department/11', 0).replace('/0/', '/settings/'), { headers }),
      await api().send('POST', path, body(), headers),
      await api().send('PATCH', at(url), { status: 2 }, headers),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  });

  test('a counter sale of the fee is named by the newest prescription that has none, and whether it is paid', async () => {
    const [, url] = [await create(), (await create()).url];
    await create({ status: 6 });
    const fee = clinic().department(11).prescription_fee_item;
    const draft = (
      await api().send('POST', 'countersale/', { department: refTo('department', 11), client: refTo('client', 2001) })
    ).json;
    await api().send('POST', `countersale/${draft.id}/items/`, { item: refTo('item', fee ?? 0), quantity: 1 });
    expect((await api().get(at(url))).json).toMatchObject({ invoice: null, is_payment: false, payment_details: null });
    const sale = await api().send('POST', `countersale/${draft.id}/finalize/`);
    expect([sale.status, sale.json.total_with_vat]).toEqual([200, 12.55]);
    const details = { invoice: sale.json.url, total_with_vat: '12.55' };
    expect((await api().get(at(url))).json).toMatchObject({
      ...{ invoice: sale.json.url, is_payment: false },
      payment_details: { ...details, paid: false },
    });
    clinic().pay(sale.json.id, { payment_type: 0 });
    expect((await api().get(at(url))).json).toMatchObject({
      ...{ invoice: sale.json.url, is_payment: true },
      payment_details: { ...details, paid: true },
    });
  });
});
