// Collects real events of the sandbox and derives their schema, so that the tables of payloads can be compared with
// them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clinic } from '../../src/clinic.ts';
import { maxErrors } from '../../src/supply/catalog-csv.ts';
import { archiveWholesaler, changeCredentials, connectWholesaler } from '../../src/supply/credentials.ts';
import { draftOrder, sendOrder } from '../../src/supply/orders.ts';
import { pendingUpload, processCatalog } from '../../src/supply/uploads.ts';
import type { Operations, Schema } from './schemas.ts';

const header = 'product_type,product_number,product_name,wholesale_price';

/** Plays the events of a wholesaler in a clinic. Every field is set once and left out once. Returns the sent bodies. */
export const sentEvents = async (clinic: Clinic): Promise<{ event: string }[]> => {
  const register = (fields: object) =>
    clinic.insert(clinic.supply.available, {
      ...{ name: 'Tukku', email: null, register_number: null, owner: 'wholesaler-client' },
      ...{ webhook_callback_url: 'https://tukku.example/hooks', verification_salt: 'x'.repeat(16), ...fields },
    }).id;
  const full = connectWholesaler(clinic, register({ email: 'api@tukku.example', register_number: '1234567-8' }), {
    ...{ customer_number: '77', customer_username: 'u', customer_password: 'p', department: 11 },
  });
  changeCredentials(clinic, full.id, { customer_number: '78' });
  const blank = connectWholesaler(clinic, register({}));
  changeCredentials(clinic, blank.id, { customer_username: 'v' });
  changeCredentials(clinic, blank.id, { customer_username: null });
  const line = { product_number: 'AB-1', product_name: 'Kivuton', quantity: '2.000' };
  const notes = { unit: 'pkg', barcode: '6400000000017', notes: 'cold' };
  for (const order of [
    draftOrder(clinic, { wholesaler: full.id, notes: 'to the back door', lines: [{ ...line, ...notes }] }),
    draftOrder(clinic, { wholesaler: blank.id, lines: [line] }),
  ]) {
    sendOrder(clinic, order.id);
  }
  const folder = mkdtempSync(join(tmpdir(), 'vetledger-events-'));
  const rows = (...all: string[]): string => [header, ...all].join('\n');
  try {
    for (const text of [
      rows('Medicine,AB-1,Kivuton,12.50'),
      rows('Medicine,AB-1,Kivuton,12.50', 'Medicine,,Kivuton,12.50'),
      '',
      rows(...Array.from({ length: maxErrors + 1 }, () => 'Medicine,,Kivuton,12.50')),
    ]) {
      const file = join(folder, 'catalog.csv');
      writeFileSync(file, text);
      const upload = pendingUpload(clinic, full, { filename: 'catalog.csv', content_type: 'text/csv' });
      await processCatalog(clinic, upload, file, (token) => `https://practice.example/report/${token}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  archiveWholesaler(clinic, full.id);
  return clinic.supply.events.all().map(({ body }) => JSON.parse(body) as { event: string });
};

/** The common schema of some values. Each scalar lists its values. */
const shapeOf = (values: readonly unknown[]): Schema => {
  const objects = values.filter((one) => typeof one === 'object' && one !== null && !Array.isArray(one)) as object[];
  const arrays = values.filter(Array.isArray);
  const scalars = values.filter((one) => one === null || typeof one !== 'object');
  const names = [...new Set(objects.flatMap(Object.keys))];
  const member = (name: string) =>
    objects.flatMap((one) => (Object.hasOwn(one, name) ? [(one as Record<string, unknown>)[name]] : []));
  const found: Schema[] = [
    ...(scalars.length > 0 ? [{ enum: [...new Set(scalars)] }] : []),
    ...(arrays.length > 0 ? [{ type: 'array', items: shapeOf(arrays.flat()) }] : []),
    ...(objects.length > 0
      ? [
          {
            type: 'object',
            properties: Object.fromEntries(names.map((name) => [name, shapeOf(member(name))])),
            required: names.filter((name) => objects.every((one) => Object.hasOwn(one, name))),
          },
        ]
      : []),
  ];
  return found.length === 1 ? (found[0] as Schema) : { anyOf: found };
};

/** Presents events as operations `EVENT order.placed` whose answer is the payload. */
export const eventOperations = (events: readonly { event: string }[]): Operations =>
  new Map(
    Object.entries(Object.groupBy(events, ({ event }) => event)).map(([event, all]) => [
      `EVENT ${event}`,
      { responses: { 200: { content: { 'application/json': { schema: shapeOf(all ?? []) } } } } },
    ]),
  );
