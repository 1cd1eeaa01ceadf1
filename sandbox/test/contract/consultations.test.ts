import { beforeEach, describe, expect, test } from 'vitest';
import { readyConsultation } from '../../src/care.ts';
import { newPatient } from '../../src/people.ts';
import { refTo, useSandbox } from './harness.ts';

const now = '2026-05-20T12:00:00.000Z';
const api = useSandbox({ invoices: 40, now: () => new Date(now), quirks: { timestamps: 'zulu' } });
const clinic = () => api().sandbox.clinic;
const ref = (path: string, id: number) => api().ref(path, id);

/** A client with a horse, whose home is department 12, and with a herd of 30. */
let client: number;
let horse: number;
let herd: number;

beforeEach(() => {
  const owner = clinic()
    .clients.all()
    .find((one) => one.customer_type === 0);
  client = owner?.id ?? 0;
  const { patients } = clinic().registers;
  const species = clinic().people.species.all()[0]?.id ?? 0;
  horse = clinic().insert(patients, { ...newPatient(client, 'Halla', species), home_department: 12 }).id;
  herd = clinic().insert(patients, { ...newPatient(client, 'Herd', species), herd_size: 30 }).id;
});

const bodyOf = (fields: object = {}) => ({
  client: ref('client', client),
  patients: [ref('patient', horse)],
  ...fields,
});
const open = async (fields: object = {}) => (await api().send('POST', 'consultation/', bodyOf(fields))).json;
const move = (id: number, status: unknown) => api().send('POST', `consultation/${id}/update_status/`, { status });
const itemNamed = (name: string): number =>
  clinic()
    .registers.items.all()
    .find((item) => item.name === name)?.id ?? 0;
const itemOf = (consultation: number, name: string, fields: object = {}) => ({
  consultation: ref('consultation', consultation),
  patients: [ref('patient', horse)],
  item: ref('item', itemNamed(name)),
  quantity: '2',
  vat_percentage: '25.5',
  ...fields,
});
const add = (consultation: number, kind: string, name: string, fields: object = {}, query = '') =>
  api().send('POST', `consultation/${consultation}/${kind}/${query}`, itemOf(consultation, name, fields));

describe('practice-api "Consultation"', () => {
  test('created with its fields; status cannot be set, and is 0 Admitted', async () => {
    const created = await api().send('POST', 'consultation/', {
      ...bodyOf({ started: '2026-05-20T10:00:00+03:00', finished: null, complaint: 'Limps', type: 3, status: 10 }),
      ...{ supervising_veterinarian: ref('user', 1), department: ref('department', 13) },
    });
    expect(created.status).toBe(201);
    expect(created.json).toMatchObject({
      ...{ client: ref('client', client), patients: [ref('patient', horse)], complaint: 'Limps', type: 3, status: 0 },
      ...{ started: '2026-05-20T07:00:00.000000Z', finished: null, first_entry: null, ended: null, invoice: null },
      ...{ supervising_veterinarian: ref('user', 1), department: ref('department', 13), consultation_items: [] },
      ...{ reporting_dimension_1: null, reporting_dimension_2: null },
    });
    const { id, url } = created.json;
    expect(url).toBe(ref('consultation', id));
    expect((await api().get(`consultation/${id}/`)).json).toEqual(created.json);
    expect((await api().get('consultation/1/')).status).toBe(404);
    const patient = (await api().get('patient/', { id__in: horse })).json.results[0];
    expect(patient.last_consultation).toBe(url);
  });

  test('the veterinarian defaults to the authenticated user, the department to the home of the patient', async () => {
    const created = await open({ patients: [ref('patient', herd), ref('patient', horse)] });
    expect(created.department).toBe(ref('department', 12));
    const user = clinic().registers.users.get(Number(created.supervising_veterinarian.split('/').at(-2)));
    expect(user).toMatchObject({ first_name: 'accounting', is_veterinarian: false });
    expect((await open()).supervising_veterinarian).toBe(created.supervising_veterinarian);
    expect((await open({ patients: [ref('patient', herd)] })).department).toBe(ref('department', 11));
  });

  test.each([
    ['no client', { client: undefined }, 'client'],
    ['no patients', { patients: undefined }, 'patients'],
    ['an empty list of patients', { patients: [] }, 'patients'],
    ['a client that does not exist', { client: refTo('client', 1) }, 'client'],
    ['a patient that does not exist', { patients: [refTo('patient', 1)] }, 'patients'],
    ["another client's patient", { patients: [refTo('patient', 20050)] }, 'patients'],
    ['an unknown type', { type: 6 }, 'type'],
    ['an end before the start', { started: now, finished: '2026-05-20T11:59:59Z' }, 'finished'],
    ['an unknown department', { department: refTo('department', 99) }, 'department'],
    ['an unknown veterinarian', { supervising_veterinarian: refTo('user', 999) }, 'supervising_veterinarian'],
  ])('refused: %s', async (_case, fields, field) => {
    const refused = await api().send('POST', 'consultation/', bodyOf(fields));
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, [field]]);
  });

  test('"Errors": without valid communication preferences the error is keyed by client, where the department asks for them', async () => {
    const owner = clinic().clients.get(client);
    if (!owner) throw new Error('no client');
    clinic().update(clinic().clients, owner, { preferences_stated_at: null });
    expect((await api().send('POST', 'consultation/', bodyOf())).status).toBe(201);
    await api().send('PATCH', 'settings/department/12/', { enable_communication_preferences: true });
    const refused = await api().send('POST', 'consultation/', bodyOf());
    expect(refused.status).toBe(400);
    expect(refused.json).toEqual({ client: [expect.stringContaining('communication preferences')] });
    await api().send('PATCH', `client/${client}/`, { no_sms: true });
    expect((await api().send('POST', 'consultation/', bodyOf())).status).toBe(201);
    await api().send('PATCH', 'settings/department/12/', { enable_communication_preferences: false });
  });

  test('"Endpoints: Consultations": the list has every filter', async () => {
    const mine = await open({ started: '2030-01-02T08:00:00Z', supervising_veterinarian: ref('user', 2) });
    await move(mine.id, 8);
    const found = async (query: Record<string, string | number>): Promise<boolean> => {
      const answer = await api().get('consultation/', { ...query, id__gt: mine.id - 1 });
      expect(answer.status).toBe(200);
      return answer.json.results.some((one: { id: number }) => one.id === mine.id);
    };
    const filters: [string, string | number, string | number][] = [
      ['status__is', 8, 0],
      ['client__is', client, client + 1],
      ['patients__is', horse, herd],
      ['department__is', 12, 11],
      ['started__gte', '2030-01-02T08:00:00Z', '2030-01-02T08:00:01Z'],
      ['started__lte', '2030-01-02T08:00:00Z', '2030-01-02T07:59:59Z'],
      ['modified__gte', now, '2026-05-20T12:00:01Z'],
      ['supervising_veterinarian__is', 2, 1],
    ];
    for (const [name, hit, miss] of filters) {
      expect([name, await found({ [name]: hit }), await found({ [name]: miss })]).toEqual([name, true, false]);
    }
  });
});

describe('practice-api "Consultation status"', () => {
  const statuses = [0, 5, 6, 7, 8, 9, 10, 11];
  const allowed = new Set(['0>8', '8>10', '5>10']);
  const rows = statuses.flatMap((from) => statuses.map((to) => [from, to, allowed.has(`${from}>${to}`)] as const));

  test.each(rows)('from %i to %i: %s', async (from, to, isAllowed) => {
    const { id } = await open();
    const consultation = clinic().care.consultations.get(id);
    if (!consultation) throw new Error('no consultation');
    clinic().update(clinic().care.consultations, consultation, { status: from });
    const answer = await move(id, to);
    expect(answer.status).toBe(isAllowed ? 200 : 400);
    if (!isAllowed) expect(answer.json).toEqual({ status: [expect.any(String)] });
    expect((await api().get(`consultation/${id}/`)).json.status).toBe(isAllowed ? to : from);
  });

  test.each([[1], [99], ['ten'], [undefined]])('%s is no status', async (status) => {
    const refused = await move((await open()).id, status);
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, ['status']]);
  });

  test('an unknown consultation is 404', async () => {
    expect((await move(1, 8)).status).toBe(404);
  });

  test('8 In Progress to 10: the invoice is made of the items, with accounts, VAT groups and dimensions', async () => {
    const { id } = await open({ reporting_dimension_1: 'FIELD', reporting_dimension_2: 'HORSE' });
    await move(id, 8);
    const price = (name: string) => Number(clinic().registers.items.get(itemNamed(name))?.price_with_vat);
    await add(id, 'procedures', 'Anaesthesia', { quantity: 1 });
    await add(id, 'medicines', 'Antibiotic course', { quantity: '2.5', vat_percentage: 13.5, usage_type: 2 });
    const done = (await move(id, 10)).json;
    expect(done).toMatchObject({ status: 10, ended: '2026-05-20T12:00:00.000000Z', first_entry: expect.any(String) });
    const invoiceId = Number(done.invoice.split('/').at(-2));
    const invoice = (await api().get('invoice/', { id__in: invoiceId })).json.results[0];
    expect(invoice).toMatchObject({
      ...{ status: 3, invoice_prefix: 'RA', invoice_date: '2026-05-20', credit_note: false, countersale: false },
      ...{ client: ref('client', client), department: ref('department', 12), consultation: done.url },
      payer_name: clinic().clients.get(client)?.payer.payer_name,
    });
    expect(invoice.invoice_number).toBeGreaterThan(0);
    const query = { invoice__is: invoiceId, expose_invoicerow_vat_group: 'true' };
    const { results } = (await api().get('invoicerow/', query)).json;
    expect(results).toMatchObject([
      {
        ...{ name: 'Anaesthesia', quantity: 1, account_number: '3010', vat_percentage: 25.5 },
        ...{ reporting_dimension_1: 'SURG', reporting_dimension_2: 'HORSE', reporting_dimension_3: null },
        invoicerow_vat_group: { name: 'VAT 25.5 %', percentage: 25.5, account_number: '2931' },
      },
      {
        ...{ name: 'Antibiotic course', quantity: 2.5, account_number: '3100', vat_percentage: 13.5 },
        ...{ reporting_dimension_1: 'FIELD', reporting_dimension_2: 'HORSE' },
        invoicerow_vat_group: { name: 'VAT 13.5 %', percentage: 13.5, account_number: '2932' },
      },
    ]);
    expect(results[0].sum_total).toBeCloseTo(price('Anaesthesia'), 4);
    expect(results[1].sum_total).toBeCloseTo(price('Antibiotic course') * 2.5, 4);
    expect(invoice.total_with_vat).toBeCloseTo(price('Anaesthesia') + price('Antibiotic course') * 2.5, 1);
    expect((await add(id, 'foods', 'Diet food, tin', { vat_percentage: 14 })).json).toHaveProperty('consultation');
  });

  test('5 Ready for Discharge to 10 makes the invoice as well; without items there is none', async () => {
    const { id } = await open();
    await move(id, 8);
    await add(id, 'procedures', 'Vaccination');
    readyConsultation(clinic(), id);
    expect((await move(id, 10)).json.invoice).toMatch(/\/invoice\/\d+\/$/);
    const empty = await open();
    await move(empty.id, 8);
    expect((await move(empty.id, 10)).json).toMatchObject({ status: 10, invoice: null });
  });

  test('where the installation makes drafts of them, the invoice waits for staff to finalise it', async () => {
    api().sandbox.setQuirks({ consultationInvoice: 'draft' });
    const { id } = await open();
    await move(id, 8);
    await add(id, 'procedures', 'Vaccination');
    const done = (await move(id, 10)).json;
    api().sandbox.setQuirks({ consultationInvoice: 'final' });
    const invoiceId = Number(done.invoice.split('/').at(-2));
    const draft = (await api().get('invoice/', { id__in: invoiceId })).json.results[0];
    expect(draft).toMatchObject({ status: 0, invoice_number: null, invoice_prefix: '' });
    clinic().finaliseDraft(invoiceId);
    const final = (await api().get('invoice/', { id__in: invoiceId })).json.results[0];
    expect(final).toMatchObject({ status: 3, invoice_prefix: 'RA', total_with_vat: draft.total_with_vat });
  });

  test('"Department settings": finalising on a locked day is refused and leaves the consultation in progress', async () => {
    const { id } = await open({ department: ref('department', 11) });
    await move(id, 8);
    await add(id, 'procedures', 'Vaccination');
    await api().send('PATCH', 'settings/department/11/', { financial_period_lock_date: '2026-05-21' });
    const refused = await move(id, 10);
    await api().send('PATCH', 'settings/department/11/', { financial_period_lock_date: null });
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, ['non_field_errors']]);
    expect((await api().get(`consultation/${id}/`)).json).toMatchObject({ status: 8, invoice: null });
  });
});

describe('practice-api "Consultation items (sub-resources)"', () => {
  const usage = { usage_type: 1, usage_size: 2 };
  test.each([
    ['medicines', 'Worming tablets', 2, { ...usage, instructions: 'One daily' }],
    ['procedures', 'Vaccination', 1, {}],
    ['supplies', 'Bandage material', 3, usage],
    ['foods', 'Diet food, tin', 4, {}],
  ])('%s: added, listed, and on the flat list by type_code', async (kind, name, typeCode, own) => {
    const { id } = await open();
    const vat_percentage = kind === 'medicines' || kind === 'foods' ? '14' : '25.5';
    const added = await add(id, kind, name, { ...own, vat_percentage });
    expect(added.status).toBe(201);
    expect(added.json).toMatchObject({
      ...{ consultation: ref('consultation', id), patients: [ref('patient', horse)], quantity: '2.0000' },
      ...{ item: ref('item', itemNamed(name)), type_code: typeCode, usage_type: null, usage_size: null, ...own },
      instructions: kind === 'medicines' ? 'One daily' : '',
    });
    expect((await api().get(`consultation/${id}/${kind}/`)).json.results).toEqual([added.json]);
    const flat = (await api().get('consultationitem/', { type_code: typeCode, id__gt: added.json.id - 1 })).json;
    expect(flat.results).toEqual([added.json]);
    const others = await api().get('consultationitem/', { type_code: (typeCode % 6) + 1, id__gt: added.json.id - 1 });
    expect(others.json.results).toEqual([]);
    expect((await api().get(`consultation/${id}/`)).json.consultation_items).toEqual([added.json.url]);
    expect((await api().get('consultationitem/', { type_code: 7 })).json).toHaveProperty('type_code');
    expect((await api().get(`consultation/1/${kind}/`)).status).toBe(404);
  });

  test.each([
    ['another consultation', { consultation: refTo('consultation', 1) }, 'consultation'],
    ['no consultation', { consultation: undefined }, 'consultation'],
    ['no patients', { patients: [] }, 'patients'],
    ['a patient that is not part of it', { patients: [refTo('patient', 20050)] }, 'patients'],
    ['a type-specific URL', { item: refTo('medicine', 6011) }, 'item'],
    ['an item that does not exist', { item: refTo('item', 1) }, 'item'],
    ['an item of another kind', { item: refTo('item', 6001) }, 'item'],
    ['no quantity', { quantity: undefined }, 'quantity'],
    ['a quantity of zero', { quantity: '0' }, 'quantity'],
    ['no VAT percentage', { vat_percentage: undefined }, 'vat_percentage'],
    ['a VAT percentage that the clinic has no group for', { vat_percentage: '24' }, 'vat_percentage'],
    ['an unknown usage type', { usage_type: 5 }, 'usage_type'],
    ['an unknown usage size', { usage_size: 3 }, 'usage_size'],
  ])('a medicine is refused: %s', async (_case, fields, field) => {
    const { id } = await open();
    const refused = await add(id, 'medicines', 'Worming tablets', { vat_percentage: 14, ...fields });
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, [field]]);
    expect((await api().get(`consultation/${id}/medicines/`)).json.count).toBe(0);
  });

  test.each([
    ['a farm visit to a herd of 30', 3, '', '60.0000'],
    ['a farm visit with no_multiplier', 3, '?no_multiplier=true', '2.0000'],
    ['no farm visit', 1, '', '2.0000'],
  ])('the herd-size multiplier: %s', async (_case, type, query, quantity) => {
    const { id } = await open({ type, patients: [ref('patient', herd), ref('patient', horse)] });
    const one = await add(id, 'procedures', 'Vaccination', { patients: [ref('patient', herd)] }, query);
    expect(one.json.quantity).toBe(quantity);
    const both = await add(
      id,
      'procedures',
      'Vaccination',
      { patients: [ref('patient', herd), ref('patient', horse)] },
      query,
    );
    // The horse has no herd, so it counts as one animal.
    expect(both.json.quantity).toBe(quantity === '60.0000' ? '62.0000' : '2.0000');
  });

  test('"/item/": generic items, whose url is the item of a consultation item', async () => {
    const list = (await api().get('item/', { type_code__is: 2, name__icontains: 'worm' })).json;
    expect(list.results).toMatchObject([
      { name: 'Worming tablets', type_code: 2, vat_percentage: '13.50', account_number: '3100' },
    ]);
    const { id } = await open();
    const body = { ...itemOf(id, ''), item: list.results[0].url, vat_percentage: 14 };
    expect((await api().send('POST', `consultation/${id}/medicines/`, body)).status).toBe(201);
  });
});

describe('practice-api "Consultation diagnosis", "Consultation note and discharge instruction"', () => {
  test('a diagnosis keeps code and name as sent: they are never filled in, and must be sent', async () => {
    const { id } = await open();
    const entry = clinic().people.diagnoses.all()[0];
    const post = (fields: object) =>
      api().send('POST', `consultation/${id}/consultationdiagnosis/`, {
        ...{ consultation: ref('consultation', id), patient: ref('patient', horse) },
        ...{ diagnosis: entry?.id, code: '', name: '', ...fields },
      });
    expect((await post({ code: undefined })).json).toEqual({ code: ['This field is required.'] });
    expect((await post({ name: undefined })).json).toEqual({ name: ['This field is required.'] });
    const bare = await post({});
    expect([bare.status, bare.json.code, bare.json.name]).toEqual([201, '', '']);
    const whole = await post({ code: 'X1', name: 'Colic', category: 1, type: 1 });
    expect(whole.json).toMatchObject({ diagnosis: entry?.id, code: 'X1', name: 'Colic', category: 1, type: 1 });
    const own = await post({ diagnosis: ref('listitem', 77) });
    expect(own.json.diagnosis).toBe(ref('listitem', 77));
    const list = (await api().get(`consultation/${id}/consultationdiagnosis/`)).json.results;
    expect(list).toEqual([bare.json, whole.json, own.json]);
    expect((await post({ diagnosis: 1 })).json).toHaveProperty('diagnosis');
    expect((await post({ category: 2 })).json).toHaveProperty('category');
    expect((await post({ type: 2 })).json).toHaveProperty('type');
    expect((await post({ patient: ref('patient', herd) })).json).toHaveProperty('patient');
    expect((await post({ consultation: ref('consultation', 1) })).json).toHaveProperty('consultation');
  });

  test('notes of three types, and discharge instructions', async () => {
    const { id } = await open();
    const patient = ref('patient', horse);
    for (const type of [0, 1, 2]) {
      const note = await api().send('POST', `consultation/${id}/consultationnote/`, { patient, text: 'Calm', type });
      expect([note.status, note.json.type, note.json.patient]).toEqual([201, type, patient]);
    }
    expect((await api().get(`consultation/${id}/consultationnote/`)).json.count).toBe(3);
    const path = `consultation/${id}/consultationdischargeinstruction/`;
    const instruction = await api().send('POST', path, { patient, text: 'Rest for two weeks' });
    expect(instruction.status).toBe(201);
    expect((await api().get(path)).json.results).toEqual([instruction.json]);
    const wrong = await api().send('POST', `consultation/${id}/consultationnote/`, { patient, text: 'x', type: 3 });
    expect(wrong.json).toHaveProperty('type');
    expect((await api().send('POST', path, { patient })).json).toEqual({ text: ['This field is required.'] });
    expect((await api().send('POST', path, { text: 'x' })).json).toHaveProperty('patient');
  });
});
