import { beforeAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../src/index.ts';
import { callApi, refTo, useSandbox } from './harness.ts';

const nowMs = { value: Date.parse('2026-05-20T12:00:00.000Z') };
const api = useSandbox({ now: () => new Date(nowMs.value) });

interface Code {
  id: number;
  display_code: string;
  label: string;
}
const codeList = async (name: string): Promise<Code[]> =>
  (await api().get(`codelist/${name}/`, { page_size: 1000 })).json.results;

let dog: Code;
let horse: Code;
let spitz: Code;
let owner: string;
beforeAll(async () => {
  const find = (codes: Code[], label: string) => codes.find((code) => code.label === label) as Code;
  dog = find(await codeList('species'), 'Dog');
  horse = find(await codeList('species'), 'Horse');
  spitz = find(await codeList('breeds'), 'Finnish Spitz');
  owner = (await api().send('POST', 'client/', { lastname: 'Owner' })).json.url;
});

const create = (fields: object) =>
  api().send('POST', 'patient/', { client: owner, name: 'Rekku', species: dog.id, ...fields });

describe('practice-api "Patient": create', () => {
  test('species, breed and gender are written as codes and read as names', async () => {
    const created = await create({ breed: spitz.id, gender: 2, date_of_birth: '2020-02-29' });
    expect(created.status).toBe(200);
    const none = Object.fromEntries(
      [
        ...['official_name', 'old_patient_id', 'remarks', 'insurance', 'insurance_company', 'color', 'critical_notes'],
        ...['additional_identification', 'reason_of_death', 'stable_name', 'street_address', 'street_address_2'],
        ...['zip_code', 'city', 'passport_number', 'register_number', 'holding_place_number', 'animal_code'],
      ].map((name) => [name, '']),
    );
    const unknown = Object.fromEntries(
      [
        ...['weight', 'deceased', 'microchip', 'home_department', 'date_of_registration', 'date_imported'],
        ...['herd_size', 'microchip_date', 'last_consultation', 'picture'],
      ].map((name) => [name, null]),
    );
    expect(created.json).toEqual({
      ...none,
      ...unknown,
      id: expect.any(Number),
      url: api().ref('patient', created.json.id),
      client: owner,
      name: 'Rekku',
      ...{ species: 'Dog', species_code: dog.id, breed: 'Finnish Spitz', breed_code: spitz.id },
      ...{ gender: 'Female', gender_code: 2, date_of_birth: '2020-02-29' },
      ...{ archived: false, not_for_food: false, imported: false, private: false },
      ...{ visible_departments: [], visible_department_groups: [], patient_extras: [], tags_rel: [], fields_rel: [] },
      ...{ created: expect.any(String), modified: expect.any(String) },
    });
    expect((await api().get(`patient/${created.json.id}/`)).json).toEqual(created.json);
  });

  test.each([
    ['Male', 1, 'Male'],
    ['Female', 2, 'Female'],
    [2, 2, 'Female'],
    ['2', 2, 'Female'],
    [0, 0, 'Unknown'],
    ['Neutered male', 3, 'Neutered male'],
  ])('gender %j is accepted as name or code', async (gender, code, name) => {
    expect((await create({ gender })).json).toMatchObject({ gender: name, gender_code: code });
  });

  test.each(['Stallion', 'Mare', 'Gelding', 5, 6, 7])('gender %j exists for equine patients only', async (gender) => {
    const refused = await create({ gender });
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, ['gender']]);
    const created = await create({ species: horse.id, gender });
    expect([created.status, created.json.gender_code]).toEqual([200, expect.any(Number)]);
    const moved = await api().send('PATCH', `patient/${created.json.id}/`, { species: dog.id });
    expect([moved.status, Object.keys(moved.json)]).toEqual([400, ['gender']]);
  });

  test.each([
    [{ client: undefined }, 'client'],
    [{ client: refTo('client', 1) }, 'client'],
    [{ name: '' }, 'name'],
    [{ species: undefined }, 'species'],
    [{ species: 'Dog' }, 'species'],
    [{ species: 999_999 }, 'species'],
    [{ breed: 999_999 }, 'breed'],
    [{ gender: 'Other' }, 'gender'],
    [{ gender: 99 }, 'gender'],
    [{ weight: '-1' }, 'weight'],
    [{ date_of_birth: '2025-02-29' }, 'date_of_birth'],
    [{ home_department: refTo('department', 99) }, 'home_department'],
    [{ visible_departments: [refTo('department', 11), refTo('department', 99)] }, 'visible_departments'],
    [{ herd_size: 0 }, 'herd_size'],
    [{ fields_rel: [{ field_id: 999_999, value: '' }] }, 'fields_rel'],
  ])('%j is refused by its field', async (fields, field) => {
    const { patients } = api().sandbox.clinic.registers;
    const count = patients.size;
    const refused = await create(fields);
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, [field]]);
    expect(patients.size).toBe(count);
  });
});

describe('practice-api "Patient": change', () => {
  test('PATCH sets what it names; a date of death is set, and null makes the patient live again', async () => {
    const patient = (await create({})).json;
    const path = `patient/${patient.id}/`;
    nowMs.value += 1000;
    const changes = {
      ...{ microchip: '246098100000001', weight: '12.5', deceased: '2026-05-19', reason_of_death: 'Old age' },
      ...{ home_department: api().ref('department', 12), visible_departments: [api().ref('department', 12)] },
      ...{ herd_size: 12, private: true, insurance: 'V-1', passport_number: 'P-1', color: 'red' },
    };
    const changed = (await api().send('PATCH', path, changes)).json;
    expect(changed).toEqual({ ...patient, ...changes, weight: '12.500', modified: expect.any(String) });
    expect(Date.parse(changed.modified)).toBe(nowMs.value);
    expect((await api().send('PATCH', path, { deceased: null, microchip: null, weight: null })).json).toMatchObject({
      ...{ deceased: null, microchip: null, weight: null },
    });
    expect((await api().send('PATCH', 'patient/1/', {})).status).toBe(404);
  });

  test('a patient that moves to another client is listed there', async () => {
    const patient = (await create({})).json;
    const other = (await api().send('POST', 'client/', { lastname: 'Next owner' })).json;
    await api().send('PATCH', `patient/${patient.id}/`, { client: other.url });
    expect((await api().get('patient/', { client__is: other.id })).json.results).toMatchObject([{ id: patient.id }]);
    const left = (await api().get('patient/', { client__is: Number(owner.split('/').at(-2)), page_size: 1000 })).json;
    expect(left.results.map(({ id }: { id: number }) => id)).not.toContain(patient.id);
  });

  test('Conventions 7: archived is the soft delete; there is no other', async () => {
    const { id } = (await create({})).json;
    expect((await api().send('DELETE', `patient/${id}/`)).status).toBe(405);
    expect((await api().send('PATCH', `patient/${id}/`, { archived: true })).json.archived).toBe(true);
    expect((await api().get('patient/', { id__is: id, archived__is: 'false' })).json.count).toBe(0);
  });
});

describe('practice-api "Endpoints: Patients": filters', () => {
  let client = 0;
  const made: Record<string, number> = {};
  beforeAll(async () => {
    client = (await api().send('POST', 'client/', { lastname: 'Many' })).json.id;
    const patients = {
      rekku: { name: 'Rekku', microchip: '246098100000099', date_of_birth: '2020-01-01' },
      old: { name: 'Old Rekku', deceased: '2026-01-01', date_of_birth: '2005-05-05' },
      horse: { name: 'Liinaharja', species: horse.id, date_of_birth: '2019-12-31' },
      gone: { name: 'Gone', archived: true },
    };
    for (const [key, fields] of Object.entries(patients))
      made[key] = (await create({ client: refTo('client', client), ...fields })).json.id;
  });

  test.each([
    ['', ['rekku', 'old', 'horse', 'gone']],
    ['archived__is=false&deceased__is_null=true', ['rekku', 'horse']],
    ['deceased__is_null=false', ['old']],
    ['name__icontains=REKKU', ['rekku', 'old']],
    ['microchip__is=246098100000099', ['rekku']],
    ['microchip__is=24609810000009', []],
    ['species__is=HORSE', ['horse']],
    ['species_code__is=HORSE', ['horse']],
    ['date_of_birth__gte=2019-12-31', ['rekku', 'horse']],
    ['date_of_birth__gte=2020-01-01', ['rekku']],
  ])('%s', async (query, expected) => {
    const search = new URLSearchParams(query.replace('HORSE', String(horse.id)));
    const { results } = (await api().get('patient/', { client__is: client, ...Object.fromEntries(search) })).json;
    expect(results.map(({ id }: { id: number }) => id)).toEqual(expected.map((key) => made[key]));
  });

  test('modified__gte: delta synchronisation', async () => {
    nowMs.value += 60_000;
    await api().send('PATCH', `patient/${made.horse}/`, { weight: 500 });
    const { results } = (await api().get('patient/', { modified__gte: new Date(nowMs.value).toISOString() })).json;
    expect(results.map(({ id }: { id: number }) => id)).toEqual([made.horse]);
  });
});

describe('practice-api "Endpoints: Patients" and "Errors": bulk create', () => {
  const good = (name: string) => ({ client: owner, name, species: dog.id });
  const bulk = (patients: unknown, query = '') => api().send('POST', `patient/bulk/${query}`, patients);
  const names = (answer: { created: { name: string }[] }) => answer.created.map(({ name }) => name);

  test('201: all created', async () => {
    const answer = await bulk([good('A'), good('B')]);
    expect([answer.status, names(answer.json), answer.json.failed]).toEqual([201, ['A', 'B'], []]);
    expect((await api().get(`patient/${answer.json.created[1].id}/`)).json).toEqual(answer.json.created[1]);
  });

  test('400 without force_push where one fails: none is created', async () => {
    const count = api().sandbox.clinic.registers.patients.size;
    const answer = await bulk([good('A'), { ...good('B'), name: '' }]);
    expect([answer.status, answer.json]).toEqual([
      400,
      { created: [], failed: [{ index: 1, errors: { name: ['This field may not be blank.'] } }] },
    ]);
    expect(api().sandbox.clinic.registers.patients.size).toBe(count);
  });

  test('207 with force_push=true if some patients fail: the answer lists them', async () => {
    const patients = [
      { ...good('A'), species: 999_999 },
      good('B'),
      { client: owner },
      { ...good('D'), gender: 'Mare' },
    ];
    const answer = await bulk(patients, '?force_push=true');
    expect([answer.status, names(answer.json)]).toEqual([207, ['B']]);
    expect(answer.json.failed).toEqual([
      { index: 0, errors: { species: [expect.any(String)] } },
      { index: 2, errors: { name: ['This field is required.'], species: ['This field is required.'] } },
      { index: 3, errors: { gender: [expect.any(String)] } },
    ]);
  });

  test.each(['', '?force_push=true'])('400 where all fail (%s)', async (query) => {
    const answer = await bulk([{}, { ...good('B'), client: refTo('client', 1) }], query);
    expect([answer.status, answer.json.created, answer.json.failed.length]).toEqual([400, [], 2]);
  });

  test.each([[[]], [{}], ['text'], [[1]]])('%j is no array of patients', async (body) => {
    expect((await bulk(JSON.stringify(body))).status).toBe(400);
  });

  test('at most 500 patients a call', async () => {
    expect((await bulk(Array.from({ length: 501 }, () => good('A')))).status).toBe(400);
    expect((await bulk(Array.from({ length: 500 }, () => good('A')))).status).toBe(201);
  });
});

describe('practice-api "Endpoints: Patients": code lists', () => {
  test.each(['species', 'breeds', 'diagnoses'])(
    '/codelist/%s/ has id, display_code and label, with pages',
    async (name) => {
      const page = (await api().get(`codelist/${name}/`, { page_size: 2 })).json;
      expect(page).toMatchObject({ num_pages: Math.ceil(page.count / 2), previous: null });
      expect(page.results).toHaveLength(2);
      for (const entry of page.results) {
        expect(entry).toEqual({ id: expect.any(Number), display_code: expect.any(String), label: expect.any(String) });
      }
    },
  );

  test('codes differ by installation', async () => {
    const other = callApi(await startSandbox({ invoices: 10, seed: 2, checkAnswers: true }));
    try {
      const theirs = (await other.get('codelist/species/')).json.results as Code[];
      expect(theirs.find(({ label }) => label === 'Dog')?.id).not.toBe(dog.id);
      expect(theirs.map(({ label }) => label).sort()).toEqual(
        (await codeList('species')).map(({ label }) => label).sort(),
      );
    } finally {
      await other.sandbox.stop();
    }
  });
});
