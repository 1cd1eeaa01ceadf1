import { afterEach, expect, test } from 'vitest';
import type { Quirks } from '../../sandbox/src/quirks.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { changeRecords, startTamperingProxy, type TamperingProxy } from '../support/tampering.ts';

/** The next window requests put-aside records again, without waiting for the daily census. */

let clinic: TestClinic;
let proxy: TamperingProxy;
afterEach(async () => {
  await clinic.stop();
  await proxy.stop();
});

const lists = ['invoice', 'invoicerow', 'invoicepayment', 'unallocatedpayment'] as const;
type List = (typeof lists)[number];

/** A clinic that one window has read, and whose census is already taken. */
async function clinicBehindProxy(quirks: Partial<Quirks> = {}): Promise<void> {
  proxy = await startTamperingProxy();
  // Without an overlap, a window does not request again what an earlier one has read.
  const settings = { base_url: proxy.url };
  clinic = await startTestClinic({ seed: 5, invoices: 60, overlapSeconds: 0, settings, quirks });
  proxy.target = clinic.sandbox.url;
  await window();
  await window();
}

async function window(): Promise<void> {
  expect((await clinic.sync()).error ?? null).toBeNull();
}

const aside = () => clinic.rows<{ kind: string }>('select kind from put_aside order by 1');

/** The number of requests. */
async function costOf(work: () => Promise<void>): Promise<number> {
  const before = proxy.requests.length;
  await work();
  return proxy.requests.length - before;
}

/** Changes or adds a record of a list that the next window reads, for a document that posts something. */
function changed(list: List): number {
  const source = clinic.sandbox.clinic;
  if (list === 'invoicepayment') {
    const before = new Set(source.invoicePayments.all().map(({ id }) => id));
    for (let n = 0; n < 50; n++) {
      clinic.sandbox.live(1);
      const made = source.invoicePayments.all().find(({ id }) => !before.has(id));
      if (made) return made.id;
    }
    throw new Error('the clinic was not paid');
  }
  if (list === 'unallocatedpayment') {
    const [prepayment] = source.prepayments.all();
    if (!prepayment) throw new Error('no prepayment');
    source.update(source.prepayments, prepayment, { description: 'changed' });
    return prepayment.id;
  }
  const final = source.invoices.all().filter(({ id, status }) => status === 3 && source.invoiceRows.of(id).length > 1);
  const invoice = final.at(list === 'invoice' ? 0 : 1);
  if (!invoice) throw new Error('no final invoice');
  source.update(source.invoices, invoice, {});
  const [row] = source.invoiceRows.of(invoice.id);
  return list === 'invoice' ? invoice.id : (row?.id ?? 0);
}

/** Faults of one record: without a usable id, and in two different versions. */
const faults: [string, (raw: string) => string][] = [
  ['without a usable id', (raw) => raw.replace(/"id":\d+/, '"id":{}')],
  ['in two versions', (raw) => `${raw},${raw.slice(0, -1)},"paid":"1.11","sum":"1.11","total":"1.11"}`],
];

test.each(faults)('a record of each list came once %s: the next window takes it', async (_, change) => {
  await clinicBehindProxy();
  const culprits = lists.map((list) => [list, changed(list)] as const);
  proxy.tamper = (answer, request) => {
    for (const [list, id] of culprits) {
      if (!request.path.split('?')[0]?.endsWith(`/${list}/`)) continue;
      return changeRecords(list, (raw, record) => (record.id === id ? change(raw) : raw))(answer, request);
    }
    return answer;
  };
  await window();
  expect((await aside()).map(({ kind }) => kind)).toEqual(['invoice', 'payment', 'prepayment', 'row']);
  proxy.tamper = (answer) => answer;
  await window();
  expect(await aside()).toEqual([]);
  expect(await clinic.wrongBooks()).toEqual([]);
  expect((await clinic.reconcile()).installations[0]?.equations.E6).toMatchObject({ ok: true });
});

test('a list in order of modified: an old record without an id, changed last, stays put aside until it is right', async () => {
  await clinicBehindProxy({ order: 'modified' });
  const source = clinic.sandbox.clinic;
  const [old, ...others] = source.invoices.all().filter(({ status }) => status === 3);
  for (const invoice of [...others.slice(0, 3), old]) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    if (invoice) source.update(source.invoices, invoice, {});
  }
  proxy.tamper = changeRecords('invoice', (raw, record) =>
    record.id === old?.id ? raw.replace(/"id":\d+/, '"id":null') : raw,
  );
  for (let windows = 0; windows < 3; windows++) {
    await window();
    expect(await aside()).toEqual([{ kind: 'invoice' }]);
  }
  proxy.tamper = (answer) => answer;
  await window();
  expect(await aside()).toEqual([]);
  expect(await clinic.wrongBooks()).toEqual([]);
});

test('a row that was put aside and deleted since holds its invoice no longer', async () => {
  await clinicBehindProxy();
  const id = changed('invoicerow');
  const [, inTwoVersions] = faults[1] as (typeof faults)[number];
  proxy.tamper = changeRecords('invoicerow', (raw, record) => (record.id === id ? inTwoVersions(raw) : raw));
  await window();
  expect(await aside()).toEqual([{ kind: 'row' }]);
  proxy.tamper = (answer) => answer;
  clinic.sandbox.clinic.deleteRecord('invoicerow', id);
  await window();
  expect(await aside()).toEqual([]);
  expect(await clinic.wrongBooks()).toEqual([]);
});

test('what stays unusable costs a few requests of a window, and after hours almost none', async () => {
  await clinicBehindProxy();
  const idle = await costOf(window);
  const source = clinic.sandbox.clinic;
  const invoices = source.invoices.all().slice(0, 40);
  for (const invoice of invoices) source.update(source.invoices, invoice, {});
  const culprits = new Set(invoices.filter((_, n) => n % 6 === 2).map(({ id }) => id));
  proxy.tamper = changeRecords('invoice', (raw, record) =>
    culprits.has(record.id as number) ? raw.replace(/"id":\d+/, '"id":null') : raw,
  );
  await window();
  const put = await aside();
  expect(put).toHaveLength(culprits.size);
  expect(await costOf(window)).toBeGreaterThan(idle);
  for (let n = 0; n < 4; n++) expect(await costOf(window)).toBeLessThanOrEqual(idle + 4);
  expect(await aside()).toEqual(put);

  // The record was put aside three hours ago and requested two hours ago, so the next request is an hour later.
  await clinic.rows(`update put_aside set since = clock_timestamp() - interval '3 hours'`);
  await clinic.rows(`update put_aside set asked_again_at = clock_timestamp() - interval '55 minutes'`);
  expect(await costOf(window)).toBe(idle);
  await clinic.rows(`update put_aside set asked_again_at = clock_timestamp() - interval '95 minutes'`);
  expect(await costOf(window)).toBeGreaterThan(idle);
  expect(await costOf(window)).toBeGreaterThan(idle);

  proxy.tamper = (answer) => answer;
  for (let n = 0; n < 4; n++) await window();
  expect(await costOf(window)).toBe(idle);
});

test('a question about what is put aside that always fails stops no window', async () => {
  await clinicBehindProxy();
  const id = changed('unallocatedpayment');
  let question = '';
  proxy.tamper = (answer, request) =>
    changeRecords('unallocatedpayment', (raw, record) => {
      if (record.id !== id) return raw;
      question = request.path;
      return raw.replace(/"id":\d+/, '"id":{}');
    })(answer, request);
  await window();
  let failures = 0;
  let isOwn = true;
  proxy.tamper = (answer, { path }) => {
    if (!path.includes('/unallocatedpayment/?')) return answer;
    // The first request is the one of the window. Two windows may send the same request if they open in the same
    // second.
    const isQuestion = !isOwn && path === question;
    isOwn = false;
    if (!isQuestion) return answer;
    failures += 1;
    return { ...answer, status: 500, body: 'down' };
  };
  clinic.sandbox.live(3);
  await window();
  expect(failures).toBeGreaterThan(0);
  expect(await aside()).toHaveLength(1);
  expect((await clinic.wrongBooks()).filter((one) => !one.includes(`prepayment/${id}`))).toEqual([]);
});
