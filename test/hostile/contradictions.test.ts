import { afterEach, describe, expect, test } from 'vitest';
import type { InstallationConfig } from '../../src/config/load-config.ts';
import { pullById } from '../../src/sync/by-id.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { pullContextOf } from '../support/pull-context.ts';
import { startTamperingProxy, type TamperingProxy } from '../support/tampering.ts';

/** ACCOUNTING P6: an id has one content in one answer. */

let clinic: TestClinic;
let proxy: TamperingProxy;
afterEach(async () => {
  await clinic.stop();
  await proxy.stop();
});

interface Lie {
  list: 'invoice' | 'invoicerow' | 'invoicepayment' | 'unallocatedpayment';
  id: number;
  /** The member that differs in the second version. */
  change: Record<string, unknown>;
  /** True if answers to requests for a single record show both versions too. */
  always: boolean;
}

async function start(): Promise<void> {
  proxy = await startTamperingProxy();
  clinic = await startTestClinic({ seed: 5, invoices: 60, settings: { base_url: proxy.url } });
  proxy.target = clinic.sandbox.url;
}

/** From now on, answers show the record in two versions; `count` counts it once. */
function tellTwice({ list, id, change, always }: Lie): void {
  proxy.tamper = (answer, { path, method }) => {
    const [resource = '', query = ''] = path.split('?');
    if (method !== 'GET' || answer.status !== 200 || !resource.endsWith(`/${list}/`)) return answer;
    if (!always && new URLSearchParams(query).get('page_size') === '1') return answer;
    const page = JSON.parse(answer.body) as { results: Record<string, unknown>[] };
    const results = page.results.flatMap((one) => (one.id === id ? [one, { ...one, ...change }] : [one]));
    return { ...answer, body: JSON.stringify({ ...page, results }) };
  };
}

const held = () =>
  clinic.rows<{ document: string; state: string; code: string; message: string }>(
    `select kind || ' ' || id as document, state, problem_code as code, problem_message as message from document
     where problem_code is not null order by 1`,
  );

const entriesOf = async (document: string) =>
  (await clinic.rows(`select from entry where kind || ' ' || document_id = ?`, [document])).length;

type Made = Omit<Lie, 'always'> & { document: string };
const lies: [string, () => Made][] = [
  [
    'a payment',
    () => {
      const id = clinic.sandbox.clinic.invoicePayments.all().at(5)?.id ?? 0;
      return { list: 'invoicepayment', id, change: { paid: '12345.00' }, document: `payment ${id}` };
    },
  ],
  [
    'a prepayment',
    () => {
      const id = clinic.sandbox.clinic.prepayments.all().at(2)?.id ?? 0;
      return { list: 'unallocatedpayment', id, change: { paid: '12345.00' }, document: `prepayment ${id}` };
    },
  ],
  [
    'an invoice',
    () => {
      const id = clinic.sandbox.clinic.invoices.all().find(({ status }) => status === 3)?.id ?? 0;
      return { list: 'invoice', id, change: { total_with_vat: '12345.00' }, document: `invoice ${id}` };
    },
  ],
  [
    'a row',
    () => {
      const final = new Set(clinic.sandbox.clinic.invoices.all().flatMap(({ id, status }) => (status === 3 ? id : [])));
      const row = clinic.sandbox.clinic.invoiceRows.all().find(({ invoice }) => final.has(invoice));
      return { list: 'invoicerow', id: row?.id ?? 0, change: { sum: 12345 }, document: `invoice ${row?.invoice}` };
    },
  ],
];

describe.each(lies)('one answer with two versions of a record: %s', (_, made) => {
  test('asked for alone, it has one: that is believed', async () => {
    await start();
    tellTwice({ ...made(), always: false });
    expect((await clinic.sync()).error ?? null).toBeNull();
    expect(await held()).toEqual([]);
    expect(await clinic.rows('select from put_aside')).toEqual([]);
    expect(await clinic.wrongBooks()).toEqual([]);
  });

  test('asked for alone, it still has two: it is held, all others are posted, until it has one', async () => {
    await start();
    const { document, ...lie } = made();
    tellTwice({ ...lie, always: true });
    expect((await clinic.sync()).error ?? null).toBeNull();
    // A payment waits for its invoice.
    const found = (await held()).filter(({ code }) => code !== 'invoice_unknown');
    expect(found).toMatchObject([{ document, state: 'held', code: 'contradiction' }]);
    expect(await entriesOf(document)).toBe(0);
    expect((await clinic.reconcile()).installations[0]?.equations.E6).toMatchObject({ ok: true });
    proxy.tamper = (answer) => answer;
    await clinic.rows('update installation_state set census_taken_at = null');
    // The first window takes the census. The second reads the records that the census found.
    expect((await clinic.sync()).error ?? null).toBeNull();
    expect((await clinic.sync()).error ?? null).toBeNull();
    expect(await held()).toEqual([]);
    expect(await clinic.wrongBooks()).toEqual([]);
  });
});

test('an entry in force stays where the next answer contradicts itself', async () => {
  await start();
  expect((await clinic.sync()).error ?? null).toBeNull();
  const { clinic: source } = clinic.sandbox;
  const prepayment = source.prepayments.all().at(1);
  const document = `prepayment ${prepayment?.id}`;
  const posted = await entriesOf(document);
  expect(posted).toBe(1);
  tellTwice({ list: 'unallocatedpayment', id: prepayment?.id ?? 0, change: { paid: '12345.00' }, always: true });
  const { db, config, practice } = clinic.app;
  const [{ id: installation, dialect, keepRaw }] = config.installations as [InstallationConfig];
  const context = pullContextOf({ db, installation, dialect, keepRaw, client: practice(installation) });
  await pullById(context, 'prepayment', prepayment?.id ?? 0);
  expect((await clinic.sync()).error ?? null).toBeNull();
  expect(await held()).toMatchObject([{ document, state: 'posted', code: 'contradiction' }]);
  expect(await entriesOf(document)).toBe(posted);
  proxy.tamper = (answer) => answer;
  await clinic.rows('update installation_state set census_taken_at = null');
  expect((await clinic.sync()).error ?? null).toBeNull();
  expect((await clinic.sync()).error ?? null).toBeNull();
  expect(await held()).toEqual([]);
  expect(await entriesOf(document)).toBe(posted);
});
