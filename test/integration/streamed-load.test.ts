// A first load posts while it reads. Its books must equal those of a load that posts at the end; the clinic's records
// are the oracle.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import type { Clinic, Quirks } from '../../sandbox/src/index.ts';
import type { InstallationConfig } from '../../src/config/load-config.ts';
import type { PracticeClient } from '../../src/practice/client.ts';
import type * as ScanSoFar from '../../src/sync/scan-so-far.ts';
import { WindowRunner } from '../simulator/windows.ts';
import { clockFrom, startTestClinic, type TestClinic } from '../support/clinic.ts';

/** Replaces the scan position that the load believes (for a mutant), and counts how often it was read. */
const believed = vi.hoisted(() => ({ of: <Scan>(scan: Scan): Scan => scan, times: 0 }));
vi.mock('../../src/sync/scan-so-far.ts', async (original) => {
  const real = await original<typeof ScanSoFar>();
  return {
    ...real,
    scanSoFar: async (...asked: Parameters<typeof real.scanSoFar>) => {
      believed.times += 1;
      return believed.of(await real.scanSoFar(...asked));
    },
  };
});

const dayMs = 86_400_000;
const openClinics: TestClinic[] = [];
afterEach(async () => {
  believed.of = (scan) => scan;
  for (const clinic of openClinics.splice(0)) await clinic.stop();
});

async function startClinic(fill: (clinic: Clinic) => void, quirks: Partial<Quirks> = {}): Promise<TestClinic> {
  const now = clockFrom('2026-09-13T09:00:00Z');
  const clinic = await startTestClinic({ seed: 83, invoices: 0, now, quirks, overlapSeconds: 60 });
  fill(clinic.sandbox.clinic);
  openClinics.push(clinic);
  return clinic;
}

interface Meanwhile {
  /** The number of records on a page, more or fewer than the rows of an invoice. */
  pageSize: number;
  /** Awaited before each page of rows is requested; the default is a pass of posting. */
  beforeRows?: () => Promise<void>;
  death?: Promise<unknown>;
}

/** Waits until a pass that begins from now on has posted all that it may. */
async function aWholePass(): Promise<void> {
  const last = believed.times + 2;
  for (let waited = 0; believed.times < last && waited < 200; waited++) await sleep(20);
}

/** Runs a first load with pages so small that much is posted between two of them. */
function load({ app, sandbox }: TestClinic, { pageSize, beforeRows = aWholePass, death }: Meanwhile) {
  const { id } = app.config.installations[0] as InstallationConfig;
  const slowed = (real: PracticeClient): PracticeClient => ({
    ...real,
    forWindow: (overrides) => slowed(real.forWindow(overrides)),
    list: async (kind, filters, size, options) => {
      if (kind === 'row') await beforeRows();
      return real.list(kind, filters, size === null ? null : Math.min(size, pageSize), options);
    },
  });
  const runner = new WindowRunner(
    {
      ...{ db: app.db, log: app.log, installations: new Map([[id, app.config.installations[0]!]]) },
      practice: () => slowed(app.practice(id)),
      workflows: { getHandle: () => ({ signal: async () => undefined }) } as never,
      clock: () => new Date(sandbox.clinic.clock()),
      sealKey: null,
    },
    id,
  );
  return runner.run({ limitMs: 60_000, ...(death === undefined ? {} : { death }) });
}

async function entriesOf(clinic: TestClinic) {
  return clinic.rows<{ kind: string; id: number; reverses: string | null }>(
    'select kind, document_id as id, reverses from entry order by seq',
  );
}

/** Creates invoices over some months. The first row of each equals its total, and half of them are paid. */
function fillWithPairs(invoices: number) {
  return (clinic: Clinic) => {
    const clock = clinic.clock;
    const end = clock() - 2 * dayMs;
    const department = [...clinic.departments.keys()][0]!;
    const client = clinic.clients.all()[Symbol.iterator]().next().value!.id;
    for (let serial = 0; serial < invoices; serial++) {
      clinic.clock = () => end - (invoices - serial) * 3_600_000;
      const vat_percentage = '25.50';
      const rows = [
        { name: 'Consultation', sum: '100.00', vat_percentage, account_number: '3000' },
        { name: 'Moved to', sum: '10.00', vat_percentage, account_number: '3020' },
        { name: 'Moved from', sum: '-10.00', vat_percentage, account_number: '3000' },
      ];
      const invoice = clinic.createInvoice({ department, client, rows });
      if (serial % 2 === 0) clinic.pay(invoice.id, { payment_type: serial % 4 === 0 ? 0 : 1 });
      if (serial % 5 === 0) clinic.takePrepayment({ department, client, payment_type: 0, paid: '50.00' });
    }
    clinic.clock = clock;
  };
}

/** The number of documents of such a clinic without prepayments: invoices, and payments of half of them. */
const postable = (invoices: number) => 1.5 * invoices;

const servers: { name: string; quirks: Partial<Quirks>; isEarly: boolean }[] = [
  { name: 'by id', quirks: {}, isEarly: true },
  { name: 'by modified, timestamps without offset', quirks: { order: 'modified', timestamps: 'naive' }, isEarly: true },
  // The newest rows are read first, so they say nothing about the remaining ones.
  { name: 'the highest id first', quirks: { order: 'id_desc', ignoredFilters: ['ordering'] }, isEarly: false },
];

test.each(servers)('rows $name: no entry is corrected, and early ones are there', async ({ quirks, isEarly }) => {
  const clinic = await startClinic(fillWithPairs(120), quirks);
  const atPages: number[] = [];
  const end = await load(clinic, {
    pageSize: 50,
    beforeRows: async () => {
      await aWholePass();
      atPages.push((await entriesOf(clinic)).filter(({ kind }) => kind !== 'prepayment').length);
    },
  });
  expect(end).toEqual({ outcome: 'closed', error: null });
  expect(corrections(await entriesOf(clinic))).toEqual([]);
  if (isEarly) expect(Math.max(...atPages)).toBeGreaterThan(0.4 * postable(120));
  else expect(Math.max(...atPages)).toBe(0);
  expect(await clinic.wrongBooks()).toEqual([]);
});

test('a mutant that posts what P1 lets pass is noticed: it corrects invoices whose rows came in parts', async () => {
  const clinic = await startClinic(fillWithPairs(120));
  const far = { provenRow: 1_000_000, highestInvoice: 1_000_000, modifiedBy: new Date('2026-09-12T00:00:00Z') };
  believed.of = (scan) => scan && { ...scan, ...far };
  const end = await load(clinic, { pageSize: 50 });
  expect(end).toEqual({ outcome: 'closed', error: null });
  expect(corrections(await entriesOf(clinic))).not.toEqual([]);
  // Later records are read too, and the books are right in the end.
  expect(await clinic.wrongBooks()).toEqual([]);
});

test('after a row with a later id than its invoice, nothing more is posted early, and the books are right', async () => {
  const clinic = await startClinic(fillWithPairs(120));
  const { clinic: store } = clinic.sandbox;
  // The second rows of every tenth invoice have the last ids of the list.
  for (const row of [...store.invoiceRows.all()]) {
    if (row.invoice % 10 !== 3 || row.name === 'Consultation') continue;
    store.remove(store.invoiceRows, row.id);
    const { id: _, ...fields } = row;
    store.insert(store.invoiceRows, fields);
  }
  const atPages: number[] = [];
  const end = await load(clinic, {
    pageSize: 50,
    beforeRows: async () => {
      await aWholePass();
      atPages.push((await entriesOf(clinic)).length);
    },
  });
  expect(end).toEqual({ outcome: 'closed', error: null });
  expect(corrections(await entriesOf(clinic)).length).toBeGreaterThan(0);
  expect(await clinic.wrongBooks()).toEqual([]);
});

test('a killed load goes on where it was, and posts nothing twice', async () => {
  const clinic = await startClinic(fillWithPairs(120));
  const { promise: death, resolve: die } = Promise.withResolvers<void>();
  const beforeRows = async () => {
    await aWholePass();
    if ((await entriesOf(clinic)).some(({ kind }) => kind === 'invoice')) die();
  };
  expect((await load(clinic, { pageSize: 50, beforeRows, death })).outcome).toBe('died');
  await clinic.asOwner(`update lease set expires_at = clock_timestamp() - interval '1 s'`);
  const again = await load(clinic, { pageSize: 50, beforeRows: async () => undefined });
  expect(again).toEqual({ outcome: 'closed', error: null });
  const entries = await entriesOf(clinic);
  expect(new Set(entries.map(({ kind, id }) => `${kind} ${id}`)).size).toBe(entries.length);
  expect(corrections(entries)).toEqual([]);
  expect(await clinic.wrongBooks()).toEqual([]);
});

test('refunds and uses of prepayments wait for what they take from', async () => {
  const clinic = await startClinic((store) => {
    fillWithPairs(40)(store);
    const department = [...store.departments.keys()][0]!;
    const { id: client } = store.clients.all()[Symbol.iterator]().next().value!;
    const original = store.takePrepayment({ department, client, payment_type: 0, paid: '80.00' });
    const invoice = [...store.invoices.all()][7]!;
    store.applyPrepayment(original.id, invoice.id, '30.00');
    store.refundPrepayment(original.id, '50.00');
  });
  expect(await load(clinic, { pageSize: 50 })).toEqual({ outcome: 'closed', error: null });
  expect(corrections(await entriesOf(clinic))).toEqual([]);
  expect(await clinic.wrongBooks()).toEqual([]);
});

function corrections(entries: Awaited<ReturnType<typeof entriesOf>>) {
  return entries.filter(({ reverses }) => reverses !== null);
}
