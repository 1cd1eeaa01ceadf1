// The people of an invented clinic: code lists, custom fields, its clients' phone numbers, preferences and animals.
// They are drawn from a separate random stream.
import type { Clinic } from './clinic.ts';
import { breedList, diagnosisList, speciesList } from './code-lists.ts';
import { dec, fixed } from './money.ts';
import { type NewPatient, newPatient } from './people.ts';
import type { Client } from './records.ts';
import { Rng } from './rng.ts';
import type { CodeListEntry } from './state/people.ts';
import type { Table } from './table.ts';
import { addDays } from './zone.ts';

const petNames = [
  ...['Rekku', 'Misse', 'Tassu', 'Musti', 'Viiru', 'Halla'],
  ...['Nuppu', 'Turre', 'Sulo', 'Pilvi', 'Kaneli', 'Ruska'],
];
const colors = ['black', 'brown', 'grey', 'white', 'tricolour', 'tabby'];
const insurers = ['', '', '', 'Turva Animal Insurance', 'Suoja Mutual'];

/** Fills the tables of clients and patients. The same seed gives the same records. */
export const openPeople = (clinic: Clinic, seed: number): void => {
  const rng = new Rng(seed, 'people');
  openCodeLists(clinic, rng);
  openCustomFields(clinic);
  for (const name of ['Insured', 'Nervous', 'Breeder']) clinic.insert(clinic.people.tags, { name });
  for (const client of clinic.clients.all()) {
    openClient(clinic, rng, client);
    const isFarm = client.customer_type === 1 && rng.chance(0.5);
    const count = rng.weighted([
      [1, 70],
      [2, 22],
      [3, 8],
    ] as const);
    for (let n = 0; n < count; n++) clinic.insert(clinic.registers.patients, inventPatient(clinic, rng, client.id));
    if (isFarm) clinic.insert(clinic.registers.patients, inventHerd(clinic, rng, client.id));
  }
};

/** Ids start at a different number in each installation, and the entries are in a different order. */
const openCodeLists = (clinic: Clinic, rng: Rng): void => {
  const { species, breeds, diagnoses } = clinic.people;
  const open = <T extends CodeListEntry>(table: Table<T>, entries: Omit<T, 'id' | 'created' | 'modified'>[]): void => {
    table.nextId = rng.int(10, 900);
    for (const entry of shuffled(entries, rng)) clinic.insert<T>(table, entry);
  };
  open(
    species,
    speciesList.map(([display_code, label, equine]) => ({ display_code, label, equine })),
  );
  open(
    breeds,
    Object.entries(breedList).flatMap(([code, labels]) =>
      labels.map((label, at) => ({ display_code: `${code}${at + 1}`, label })),
    ),
  );
  open(
    diagnoses,
    Object.entries(diagnosisList).map(([display_code, label]) => ({ display_code, label })),
  );
};

const shuffled = <T>(values: readonly T[], rng: Rng): T[] =>
  values
    .map((value) => [rng.next(), value] as const)
    .sort(([a], [b]) => a - b)
    .map(([, value]) => value);

const openCustomFields = (clinic: Clinic): void => {
  const options = (...names: string[]) => names.map((name, at) => ({ id: at + 1, name }));
  const { customFields } = clinic.people;
  clinic.insert(customFields, { label: 'Loyalty number', data_type: 'text', model: 'client', options: [] });
  clinic.insert(customFields, {
    ...{ label: 'Found us through', data_type: 'select', model: 'client' },
    options: options('A friend', 'The web', 'A breeder'),
  });
  clinic.insert(customFields, { label: 'Next reminder', data_type: 'date', model: 'client', options: [] });
  clinic.insert(customFields, { label: 'Height at the withers', data_type: 'number', model: 'patient', options: [] });
  clinic.insert(customFields, {
    ...{ label: 'Allergies', data_type: 'multi_select', model: 'patient' },
    options: options('Chicken', 'Grain', 'Pollen', 'House dust mite'),
  });
  clinic.insert(customFields, { label: 'Bites', data_type: 'boolean', model: 'patient', options: [] });
};

const openClient = (clinic: Clinic, rng: Rng, client: Client): void => {
  const { phoneNumbers, clientFieldValues, customFields } = clinic.people;
  if (rng.chance(0.9)) {
    const phone_number = `+35840${rng.int(1_000_000, 9_999_999)}`;
    clinic.insert(phoneNumbers, { client: client.id, phone_number, type_code: 1 });
  }
  if (rng.chance(0.15)) {
    const phone_number = `+3589${rng.int(100_000, 999_999)}`;
    clinic.insert(phoneNumbers, { client: client.id, phone_number, type_code: 0 });
  }
  if (rng.chance(0.95)) clinic.updateQuietly(clinic.clients, client, { preferences_stated_at: client.created });
  const loyalty = customFields.all()[0];
  if (loyalty && rng.chance(0.2)) {
    clinic.insert(clientFieldValues, { owner: client.id, field: loyalty.id, value: `L${rng.int(10_000, 99_999)}` });
  }
};

const byCode = <T extends CodeListEntry>(table: Table<T>, code: string): T =>
  table.all().find(({ display_code }) => display_code === code) as T;

const inventPatient = (clinic: Clinic, rng: Rng, client: number): NewPatient => {
  const { species, breeds, tags } = clinic.people;
  const code = rng.weighted([
    ['DOG', 52],
    ['CAT', 34],
    ['HOR', 8],
    ['RAB', 4],
    ['GUI', 2],
  ] as const);
  const { equine, id: species_code } = byCode(species, code);
  const labels = breedList[code] ?? [];
  const breed_code =
    labels.length === 0 || rng.chance(0.1) ? null : byCode(breeds, `${code}${rng.int(1, labels.length)}`).id;
  const insurance_company = rng.pick(insurers);
  const isDead = rng.chance(0.03);
  const date_of_birth = addDays(clinic.today(), -rng.int(60, 5000));
  return {
    ...newPatient(client, rng.pick(petNames), species_code),
    breed_code,
    gender_code: equine ? rng.int(5, 7) : rng.int(1, 4),
    weight: fixed(dec(equine ? rng.int(3500, 6500) : rng.int(20, 450)).div(10), 2),
    date_of_birth,
    deceased: isDead ? clinic.today() : null,
    reason_of_death: isDead ? 'Old age' : '',
    microchip: rng.chance(0.6) ? `2460980${rng.int(10_000_000, 99_999_999)}` : null,
    archived: rng.chance(0.02),
    home_department: rng.chance(0.7) ? rng.pick([...clinic.departments.keys()]) : null,
    color: rng.pick(colors),
    insurance_company,
    insurance: insurance_company === '' ? '' : `V-${rng.int(100_000, 999_999)}`,
    tags: insurance_company === '' ? [] : [tags.all()[0]?.id ?? 0],
  };
};

const inventHerd = (clinic: Clinic, rng: Rng, client: number): NewPatient => ({
  ...newPatient(client, 'Herd', byCode(clinic.people.species, 'CAL').id),
  breed_code: byCode(clinic.people.breeds, 'CAL1').id,
  herd_size: rng.int(8, 90),
  holding_place_number: `FI${rng.int(10_000_000, 99_999_999)}`,
});
