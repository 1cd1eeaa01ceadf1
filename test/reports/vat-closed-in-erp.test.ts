// The accountant closes a period in the ERP after we post and before we deliver. The VAT report must equal the ERP's
// return, before and after the decision.
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { redateClosed } from '../../src/bookkeeping/redate.ts';
import type { ApiTargetConfig } from '../../src/config/erp.ts';
import { Money } from '../../src/domain/money.ts';
import { companyKeyOf, companyOf } from '../../src/erp/company.ts';
import { deliverSlice } from '../../src/erp/deliver/slice.ts';
import { unitsClosedInErp } from '../../src/erp/outbox/cancel-out.ts';
import { enqueueUnits } from '../../src/erp/outbox/enqueue.ts';
import { retryUnits } from '../../src/erp/outbox/state.ts';
import { summariseBatch } from '../../src/ledger/summaries/summarise.ts';
import { fileReturn, prepareReturn } from '../../src/queries/vat-returns.ts';
import { reports } from '../../src/reports/index.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { records } from '../erp/fake/records.ts';
import { FakeServer, type HeldEntry } from '../erp/fake/server.ts';
import { calm, FakeTarget } from '../erp/fake/target.ts';
import { realTime } from '../erp/fake/time.ts';
import { closePeriods, reopenPeriods } from '../support/closing.ts';
import { useDatabase } from '../support/database.ts';
import { demoMapping, fromEnvironment } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { query } from '../support/sql.ts';

const { db, url, truncate } = useDatabase();
const mapping = `${readFileSync(demoMapping, 'utf8')}
erp:
  vat_codes: {"VAT 25.5 %": S25, "VAT 14 %": S14, "VAT 13.5 %": S135, "VAT 10 %": S10, "VAT 0 %": S0, "*": other}
  journals: {"*": J}
  collective_party: CLIENTS
`;
const by = { actedBy: 'M. Virtanen', reason: 'February is declared' };
const february = { from: '2026-02-01', through: '2026-02-28' };
const march = { from: '2026-03-01', through: '2026-03-31' };
const signal = new AbortController().signal;

let clinic: MirroredClinic;
let server: FakeServer;
beforeEach(async () => {
  await truncate();
  clinic = new MirroredClinic(db, url, { id: 899, seed: 3, invoices: 24 });
});
afterEach(() => clinic.remove());

async function configure(record: string, { mode = 'document', post = 'posted' } = {}) {
  const said = records[record]!;
  server = new FakeServer({ record: said, time: realTime, random: () => 0.5 });
  await clinic.configure(mapping, {
    posting_mode: mode,
    erp: `{kind: tryton, url: "http://127.0.0.1:9", database: books, user: api, post: ${post}, auto: true, password: ${fromEnvironment('PRACTICE_TOKEN')}}`,
  });
}

const quick = { ...calm, outMs: 0, workMs: 0, backMs: 0 };

async function enqueue() {
  const company = companyKeyOf(clinic.installation.erp)!;
  await db.transaction(async (trx) => {
    while ((await summariseBatch(trx, clinic.id, { before: '2026-03-31', windowId: null })).length > 0);
    await enqueueUnits(trx, { installation: clinic.id, databaseId: 'test', company, from: null, auto: true });
  });
}

async function deliver() {
  const { installation } = clinic;
  await enqueue();
  const target = new FakeTarget({
    server,
    company: companyOf(installation.erp as ApiTargetConfig),
    network: () => quick,
  });
  const ports = { db, databaseId: 'test', installation, target, holder: 'test', clock: systemClock, signal };
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };
  const pause = (ms: number) => systemClock.sleep(ms, signal);
  return deliverSlice({ ...ports, pause, onProgress: () => undefined, log }, { longestMs: 60_000 });
}

type Figures = Record<string, string>;

/** Amounts by tax code, sales positive, without zero amounts. */
function figures(amounts: Iterable<readonly [string, Money]>): Figures {
  const sums = new Map<string, Money>();
  for (const [name, amount] of amounts) sums.set(name, (sums.get(name) ?? new Money(0)).plus(amount));
  return Object.fromEntries(
    [...sums].filter(([, amount]) => !amount.isZero()).map(([name, amount]) => [name, amount.toFixed(2)]),
  );
}

/** The ERP's return: base and tax of its posted entries in the period. */
function erpReturn({ from, through }: { from: string; through: string }): Figures {
  const isIn = ({ state, date }: HeldEntry) => state === 'posted' && date >= from && date <= through;
  const held = server.held().filter(isIn);
  return figures(
    held.flatMap(({ lines }) =>
      lines.flatMap(({ vat }) => vat.map(({ code, part, amount }) => [`${code} ${part}`, amount.negated()] as const)),
    ),
  );
}

/** The sections of our report with the ERP's signs. */
async function ownReturn(period: { from: string; through: string }): Promise<Record<string, Figures>> {
  const sections = await reports.vat.make(db, clinic.installation, period);
  return Object.fromEntries(
    sections
      .filter(({ shape }) => shape.name !== 'accounts')
      .map(({ shape, figures: found }) => [
        shape.name,
        figures(
          found.flatMap(({ keys, amounts }) =>
            (['base', 'tax'] as const).map((part) => [`${keys.code} ${part}`, amounts[part]!] as const),
          ),
        ),
      ]),
  );
}

const together = (...sections: (Figures | undefined)[]) =>
  figures(
    sections.flatMap((of) => Object.entries(of ?? {}).map(([name, amount]) => [name, new Money(amount)] as const)),
  );

/** The movements of the VAT accounts in our books. */
async function vatAccounts({ from, through }: { from: string; through: string }): Promise<string> {
  const [found] = await query<{ tax: string | null }>(
    db,
    `select sum(case l.side when 'credit' then l.amount else -l.amount end)::text as tax
     from entry e join entry_line l on l.entry_id = e.id
     where l.role = 'vat' and e.entry_date between ?::date and ?::date`,
    [from, through],
  );
  return new Money(found!.tax ?? 0).toFixed(2);
}

const taxOf = (of: Figures) =>
  Object.entries(of)
    .filter(([name]) => name.endsWith(' tax'))
    .reduce((sum, [, amount]) => sum.plus(amount), new Money(0));

/**
 * Invoices of the closed month are changed and posted, and the accountant closes the month before they are delivered.
 */
async function closedBetween(): Promise<void> {
  await clinic.pull();
  await clinic.post();
  await deliver();
  expect(
    await query(
      db,
      `select problem_code, problem_message, count(*)::int from erp_unit where state <> 'delivered' group by 1, 2`,
    ),
  ).toEqual([]);
  const rows = clinic.clinic.invoiceRows.all();
  const changed = clinic.clinic.invoices
    .all()
    .filter(({ status, invoice_date: date }) => status === 3 && String(date).startsWith('2026-02'))
    .filter(({ id }) => rows.some(({ invoice, sum }) => invoice === id && Number(sum) > 20))
    .slice(0, 4);
  expect(changed).toHaveLength(4);
  // For a voided invoice, the reversal must be delivered; for a changed one, the reversal and the new entry.
  for (const invoice of changed.slice(0, 2)) Object.assign(invoice, { status: 99 });
  for (const invoice of changed.slice(2)) {
    const row = rows.find(({ invoice: id, sum }) => id === invoice.id && Number(sum) > 20)!;
    Object.assign(row, { vat_group: otherGroup(row.vat_group) });
  }
  await clinic.pull();
  await clinic.post();
  server.lock(february.through);
}

/** A VAT group of the same rate has another code in the ERP. */
const otherGroup = (group: object) => ({ ...group, name: 'VAT 14 %' });

async function states(): Promise<Record<string, number>> {
  const found = await query<{ state: string; n: number }>(
    db,
    'select state, count(*)::int as n from erp_unit group by state',
  );
  return Object.fromEntries(found.map(({ state, n }) => [state, n]));
}

const lateUnits = async () => (await unitsClosedInErp(db, clinic.id)).map(({ unitId }) => unitId);

describe.each([
  ['tryton', 'document'],
  ['tryton', 'daily_summary'],
  ['odoo', 'document'],
])('an ERP as %s, entries by %s', (record, mode) => {
  test('the report is the ERP’s return before and after late decide, and the VAT accounts tie', async () => {
    await configure(record, { mode });
    await closedBetween();
    await deliver();
    const late = await lateUnits();
    expect(late.length).toBeGreaterThan(mode === 'document' ? 5 : 0);
    const declared = erpReturn(february);
    const before = await ownReturn(february);
    expect(before.vat).toEqual(declared);
    expect(before.late).not.toEqual({});
    expect(before.cancelled_out).toBeUndefined();

    const redated = await redateClosed({ db, databaseId: 'test', signal }, clinic.installation, late, by);
    expect(redated.length).toBeGreaterThan(0);
    await deliver();
    expect(await states()).toEqual({ delivered: expect.any(Number), cancelled_out: expect.any(Number) });
    expect(erpReturn(february)).toEqual(declared);
    const after = await ownReturn(february);
    expect(after).toEqual({ vat: declared, late: {}, cancelled_out: expect.any(Object) });
    const next = await ownReturn(march);
    expect(together(next.vat, next.late)).toEqual(erpReturn(march));
    expect(next.late).toEqual(before.late);
    for (const [period, of] of [
      [february, after],
      [march, next],
    ] as const) {
      const told = taxOf(together(of.vat, of.late, of.cancelled_out));
      expect(told.toFixed(2)).toBe(await vatAccounts(period));
    }
    const settled = (await reports.vat.make(db, clinic.installation, february)).at(-1)!;
    expect(settled.figures.some(({ amounts }) => !amounts.tax!.isZero())).toBe(true);
  });

  test('an entry that is sent after all, once its period is open again, stays late: the return was made without it', async () => {
    await configure(record, { mode });
    await closedBetween();
    await deliver();
    const declared = erpReturn(february);
    server.unlock();
    await db.transaction((trx) => retryUnits(trx, clinic.id, null, by));
    await deliver();
    expect(await states()).toEqual({ delivered: expect.any(Number) });
    const { vat, late } = await ownReturn(february);
    expect(vat).toEqual(declared);
    expect(together(vat, late)).toEqual(erpReturn(february));
  });
});

test('filed, then late in the ERP, cancelled out, and corrected: filed + since + late stay the VAT accounts', async () => {
  await configure('tryton');
  await closedBetween();
  const period = { name: '2026-02', ...february };
  const file = async (isCorrection: boolean) => {
    const choice = { isCorrection, take: null };
    const { shown } = await prepareReturn(db, clinic.installation, period, choice);
    await db.transaction((trx) => fileReturn(trx, clinic.installation, period, choice, { shown, by }));
  };
  const ties = async () => {
    for (const days of [february, march]) {
      const sections = await reports.vat.make(db, clinic.installation, days);
      const tie = sections.find(({ shape }) => shape.name === 'accounts');
      const own = tie?.total.tax ?? taxOf(together(...Object.values(await ownReturn(days))));
      if (days === february) expect(tie).toBeDefined();
      expect(own.toFixed(2)).toBe(await vatAccounts(days));
    }
  };
  // Our own books are closed and the return is filed before a delivery reads that the ERP has closed the month.
  await closePeriods(db, [{ id: clinic.id, today: '2026-03-01' }], february.through);
  await file(false);
  await reopenPeriods(db, [clinic.id], february.from, { ...by, second: null, checklist: null });
  const { filed, since } = await ownReturn(february);
  expect([filed, since]).toEqual([expect.any(Object), {}]);
  await ties();

  // The ERP lacks these changes, so they are late now, and no longer part of the period.
  await deliver();
  const declared = erpReturn(february);
  const late = await ownReturn(february);
  expect(late.filed).toEqual(filed);
  expect(late.since).not.toEqual({});
  expect(together(filed, late.since)).toEqual(declared);
  expect(together(late.since, late.late)).toEqual({});
  await ties();

  // These entries and their reversals cancel each other, so no return declares them. Their new entries are dated in March, and late.
  await redateClosed({ db, databaseId: 'test', signal }, clinic.installation, await lateUnits(), by);
  await deliver();
  const settled = await ownReturn(february);
  expect(settled).toMatchObject({ filed, since: late.since, cancelled_out: expect.any(Object) });
  await ties();
  await file(true);
  const corrected = await ownReturn(february);
  expect(corrected.filed).toEqual(together(declared, settled.late));
  expect(corrected).toMatchObject({ since: {}, late: {} });
  await ties();
});

test('an entry that waits for approval, or was refused, when its period was closed is late, too', async () => {
  await configure('tryton');
  await clinic.pull();
  await clinic.post();
  await enqueue();
  await db.raw(`update erp_unit set needs_approval = true where unit_date between '2026-02-01' and '2026-02-10'`);
  await db.raw(
    `update erp_unit set state = 'refused', problem_code = 'erp_account_unknown' where unit_date between '2026-02-11' and '2026-02-14'`,
  );
  await deliver();
  server.lock(february.through);
  await db.raw(`update erp_company set periods_read_at = periods_read_at - interval '16 minutes'`);
  clinic.live(30);
  await clinic.pull();
  await clinic.post();
  await deliver();
  const { vat, late } = await ownReturn(february);
  expect(vat).toEqual(erpReturn(february));
  expect(taxOf(together(vat, late)).toFixed(2)).toBe(await vatAccounts(february));
});
