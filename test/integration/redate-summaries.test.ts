import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { redateClosed } from '../../src/bookkeeping/redate.ts';
import { transactionsOf } from '../../src/db/lease.ts';
import { execute } from '../../src/db/rows.ts';
import { Money, zero } from '../../src/domain/money.ts';
import { readBooks } from '../../src/erp/books/read-erp-books.ts';
import { companyOf } from '../../src/erp/company.ts';
import { deliverSlice } from '../../src/erp/deliver/slice.ts';
import { companyKey } from '../../src/erp/entry-key.ts';
import { unitsClosedInErp } from '../../src/erp/outbox/cancel-out.ts';
import { enqueueUnits } from '../../src/erp/outbox/enqueue.ts';
import { unitsById } from '../../src/erp/outbox/outbox-queries.ts';
import { loadSummaries } from '../../src/ledger/summaries/read-summaries.ts';
import { summariseDays } from '../../src/ledger/summaries/summarise.ts';
import { walkChains } from '../../src/ledger/verify.ts';
import { checkErpBooks } from '../../src/reconcile/e7-erp.ts';
import { reconcile } from '../../src/reconcile/index.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { records } from '../erp/fake/records.ts';
import { FakeServer } from '../erp/fake/server.ts';
import { calm, FakeTarget } from '../erp/fake/target.ts';
import { realTime } from '../erp/fake/time.ts';
import { closePeriods } from '../support/closing.ts';
import { useDatabase } from '../support/database.ts';
import { fromEnvironment } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { query } from '../support/sql.ts';

const { db, url } = useDatabase();
/** The fake has other dimensions. */
const mapping = readFileSync(new URL('../../mappings/tryton-demo.yaml', import.meta.url), 'utf8').replace(
  /^ {2}dimensions:$.*^(?= {2}journals:)/ms,
  '',
);
const settings = {
  posting_mode: 'daily_summary',
  erp: `{kind: tryton, url: "http://127.0.0.1:9", database: books, user: api, password: ${fromEnvironment('PRACTICE_TOKEN')}, auto: true}`,
};
const by = { actedBy: 'tester', reason: 'it is declared' };
const databaseId = 'test';
/** The ERP is closed up to and including this day; the next one is open. */
const closed = '2026-01-20';
const open = '2026-01-21';

let id = 950;
let clinic: MirroredClinic;
let server: FakeServer;
let target: FakeTarget;

beforeEach(async () => {
  id += 1;
  clinic = new MirroredClinic(db, url, { id, seed: 3, invoices: 80 });
  // A new company for each test.
  await clinic.configure(mapping, { ...settings, erp: settings.erp.replace('books', `books${id}`) });
  server = new FakeServer({ record: records.tryton!, time: realTime, random: () => 0.5 });
  const network = () => ({ ...calm, outMs: 0, workMs: 1, backMs: 0 });
  target = new FakeTarget({ server, company: company(), network });
  await clinic.pull();
  await clinic.post();
  await sumUp();
});
afterEach(() => clinic.remove());

function company() {
  const { erp } = clinic.installation;
  if (erp.kind !== 'tryton') throw new Error('the clinic is delivered to an ERP');
  return companyOf(erp);
}

/** Does what a window does on the next day: summarises past days, and puts new units into the outbox. */
async function sumUp(): Promise<void> {
  await summariseDays(transactionsOf(db), id, { before: '2026-03-11', windowId: null });
  const key = companyKey(company());
  await db.transaction((trx) =>
    enqueueUnits(trx, { installation: id, databaseId, company: key, from: null, auto: true }),
  );
}

async function deliver() {
  const { signal } = new AbortController();
  return deliverSlice(
    {
      ...{ db, databaseId, installation: clinic.installation, target, holder: 'one', clock: systemClock, signal },
      pause: (ms) => systemClock.sleep(ms, signal),
      onProgress: () => undefined,
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined },
    },
    { longestMs: 60_000 },
  );
}

const redate = (ids: readonly string[]) =>
  redateClosed({ db, databaseId, signal: new AbortController().signal }, clinic.installation, ids, by);
const late = async () => (await unitsClosedInErp(db, id)).map(({ unitId }) => unitId);
const stateOf = async (unitId: string) => (await unitsById(db, id, [unitId]))[0]?.state;

const linesOf = (lines: Awaited<ReturnType<typeof loadSummaries>>[number]['lines'], flipped = false) =>
  lines
    .map(({ account, side, amount, vat, dimensions, paymentType }) => {
      const shown = flipped ? (side === 'debit' ? 'credit' : 'debit') : side;
      return JSON.stringify([account, shown, amount, vat?.group, vat?.rate, vat?.base, dimensions, paymentType]);
    })
    .sort();

/** The balances of each account on each day, in our journal and in the ERP. */
async function ourBalances(): Promise<Record<string, string>> {
  const found = await query<{ place: string; amount: string }>(
    db,
    `select e.entry_date || ' ' || l.account as place, sum(case l.side when 'debit' then l.amount else -l.amount end)::text as amount
     from entry e join entry_line l on l.entry_id = e.id where e.installation = ? group by place`,
    [id],
  );
  return nonZero(found.map(({ place, amount }) => [place, new Money(amount)]));
}

function erpBalances(): Record<string, string> {
  const sums = new Map<string, Money>();
  for (const { date, lines } of server.held().filter(({ state }) => state === 'posted')) {
    for (const { account, amount } of lines) {
      sums.set(`${date} ${account}`, (sums.get(`${date} ${account}`) ?? zero).plus(amount));
    }
  }
  return nonZero([...sums]);
}

const nonZero = (sums: readonly (readonly [string, Money])[]) =>
  Object.fromEntries(sums.flatMap(([place, sum]) => (sum.isZero() ? [] : [[place, sum.toFixed(2)]])));

/** Checks that the books are sound, and that the ERP has them, day by day and account by account. */
async function expectSoundBooks(): Promise<void> {
  expect((await walkChains(db, id)).broken).toBeNull();
  expect(await clinic.wrongBooks()).toEqual([]);
  const report = await reconcile(db, [
    { ...clinic.installation, today: '2026-04-10', refundLowersUnused: 'auto', sourceCounts: {} },
  ]);
  expect(report.installations[0]?.equations.E1).toMatchObject({ ok: true });
  expect(report.installations[0]?.equations.E2).toMatchObject({ ok: true });
  expect(report.installations[0]?.equations.E5).toMatchObject({ ok: true });
  expect(erpBalances()).toEqual(await ourBalances());
  expect(server.held().filter(({ date }) => date <= server.lockedThrough)).toEqual([]);
  const before = await entries();
  await db.raw('update document set dirty = true, dirty_mark = dirty_mark + 1 where installation = ?', [id]);
  await clinic.post();
  expect(await entries()).toBe(before);
}

const entries = async () =>
  (await query<{ n: number }>(db, 'select count(*)::int as n from entry where installation = ?', [id]))[0]!.n;

async function e7() {
  const ports = { db, transact: transactionsOf(db), databaseId, installation: clinic.installation, target };
  const { signal } = new AbortController();
  const read = { ...ports, ownedAccounts: [], signal, onProgress: () => undefined };
  const { balances } = await readBooks(read, { full: true });
  return checkErpBooks(db, { id, decimals: 2, company: companyKey(company()), ownedAccounts: [], balances });
}

/** The nth invoice of a summary. */
async function invoiceOf(summary: string, n = 0) {
  const found = await query<{ id: number }>(
    db,
    `select e.document_id as id from summary_member m join entry e on e.id = m.entry_id
     where m.summary_id = ? and e.kind = 'invoice' order by e.seq`,
    [summary],
  );
  return clinic.clinic.invoices.get(Number(found[n]?.id))!;
}

/** A daily summary in February with invoices; with `only`, without other documents. */
async function lateSummary(invoices = 1, { only = false } = {}): Promise<string> {
  const found = await query<{ id: string }>(
    db,
    `select s.id from summary_entry s join summary_member m on m.summary_id = s.id join entry e on e.id = m.entry_id
     where s.installation = ? and s.summary_date <= ?
     group by s.id, s.seq having count(*) filter (where e.kind = 'invoice') >= ? and (not ? or bool_and(e.kind = 'invoice'))
     order by s.seq limit 1`,
    [id, closed, invoices, only],
  );
  return found[0]!.id;
}

const voidIt = (invoice: object) => Object.assign(invoice, { status: 99 });

describe('a day’s summary whose period was closed in the ERP', () => {
  it('is posted on the first open day, and it and its reversal are never sent', async () => {
    server.lock(closed);
    await deliver();
    const waiting = await late();
    expect(waiting.length).toBeGreaterThan(5);
    const unit = await lateSummary();
    expect(waiting).toContain(unit);
    const [redated] = await redate([unit]);
    expect(redated).toMatchObject({ unit, date: open });
    const { reversal, entry } = redated!;
    const [original, takenOut, anew] = await loadSummaries(db, [unit, reversal!, entry!]);
    expect(takenOut).toMatchObject({ date: original!.date, departmentId: original!.departmentId });
    expect(anew).toMatchObject({ date: open, departmentId: original!.departmentId });
    expect(linesOf(takenOut!.lines)).toEqual(linesOf(original!.lines, true));
    expect(linesOf(anew!.lines)).toEqual(linesOf(original!.lines));
    expect(await Promise.all([unit, reversal!, entry!].map(stateOf))).toEqual([
      'cancelled_out',
      'cancelled_out',
      'pending',
    ]);
    expect(await deliver()).toMatchObject({ delivered: 1, refused: 0 });
    expect(server.held().filter(({ unitId }) => unitId === entry)).toMatchObject([{ date: open, state: 'posted' }]);
    const { equation, listed } = await e7();
    expect(equation).toMatchObject({ ok: true });
    expect(listed.cancelled_out.map(({ message }) => message)).toEqual(
      [unit, reversal!].toSorted().map((one) => `${one} is cancelled_out`),
    );
    expect(
      await query(
        db,
        `select result::jsonb #> '{redated,0}' as redated, reason, acted_by from action_done
         where installation = ? and jsonb_exists(result::jsonb, 'redated')`,
        [id],
      ),
    ).toEqual([{ redated: expect.any(String), reason: by.reason, acted_by: by.actedBy }]);
    expect(await redate(await late())).toHaveLength(waiting.length - 1);
    await deliver();
    await expectSoundBooks();
  });

  describe('of which documents were corrected before the period was closed', () => {
    /** One invoice is voided and one changed, so the correction is in a correction summary of the same day. */
    async function corrected(): Promise<[string, string]> {
      const unit = await lateSummary(2);
      voidIt(await invoiceOf(unit, 0));
      const { id: changed } = await invoiceOf(unit, 1);
      const row = clinic.clinic.invoiceRows.all().find(({ invoice }) => invoice === changed)!;
      Object.assign(row, { account_number: row.account_number === '3000' ? '3010' : '3000' });
      await clinic.pull();
      await clinic.post();
      await sumUp();
      const correction = unit.replace(/\d+$/, '2');
      expect(await stateOf(correction)).toBe('pending');
      server.lock(closed);
      await deliver();
      return [unit, correction];
    }

    it.each<[string, (units: [string, string]) => string[][]]>([
      ['decided together', (units) => [units]],
      ['the original first', ([unit, correction]) => [[unit], [correction]]],
      ['the correction first', ([unit, correction]) => [[correction], [unit]]],
    ])('is moved with its correction summary, %s', async (_, order) => {
      const units = await corrected();
      for (const ids of order(units)) await redate(ids);
      expect(await Promise.all(units.map(stateOf))).toEqual(['cancelled_out', 'cancelled_out']);
      await deliver();
      await redate(await late());
      await deliver();
      await expectSoundBooks();
      expect((await e7()).equation).toMatchObject({ ok: true });
    });
  });

  it('is moved beside corrections that were posted on the open day, and sent, before it', async () => {
    await clinic.configure(mapping.replace('locked_period: hold', 'locked_period: redate'));
    server.lock(closed);
    await deliver();
    const unit = await lateSummary(2);
    voidIt(await invoiceOf(unit, 0));
    const { id: changed } = await invoiceOf(unit, 1);
    const row = clinic.clinic.invoiceRows.all().find(({ invoice }) => invoice === changed)!;
    Object.assign(row, { account_number: row.account_number === '3000' ? '3010' : '3000' });
    await clinic.pull();
    await clinic.post();
    await sumUp();
    expect(await deliver()).toMatchObject({ refused: 0 });
    await redate(await late());
    await deliver();
    expect(await late()).toEqual([]);
    await expectSoundBooks();
    expect((await e7()).equation).toMatchObject({ ok: true });
  });

  it('lets a correction that waited for an open period be posted', async () => {
    server.lock(closed);
    await deliver();
    const unit = await lateSummary();
    const invoice = await invoiceOf(unit);
    voidIt(invoice);
    await clinic.pull();
    await clinic.post();
    const problem = async () =>
      (
        await query<{ problem_code: string | null }>(
          db,
          `select problem_code from document where installation = ? and kind = 'invoice' and id = ?`,
          [id, invoice.id],
        )
      )[0]?.problem_code;
    expect(await problem()).toBe('change_held');
    await redate([unit]);
    await clinic.post();
    // The day of the new entry is open, so the invoice is removed there.
    expect(await problem()).toBeNull();
    await sumUp();
    await redate(await late());
    await deliver();
    await expectSoundBooks();
  });

  it('that comes to nothing with its correction summary is settled without an entry', async () => {
    const unit = await lateSummary(1, { only: true });
    const [summary] = await loadSummaries(db, [unit]);
    for (const n of summary!.members.keys()) voidIt(await invoiceOf(unit, n));
    await clinic.pull();
    await clinic.post();
    await sumUp();
    server.lock(closed);
    await deliver();
    const correction = unit.replace(/\d+$/, '2');
    const before = await entries();
    expect(await redate([unit, correction])).toEqual(
      [unit, correction].map((one) => ({ unit: one, reversal: null, entry: null, date: null })),
    );
    expect(await entries()).toBe(before);
    expect(await Promise.all([unit, correction].map(stateOf))).toEqual(['cancelled_out', 'cancelled_out']);
  });

  it('is not decided while the ERP may have it, where it waits for something else, or where our own books are closed', async () => {
    server.lock(closed);
    await deliver();
    const unit = await lateSummary();
    const other = (await late()).find((one) => one !== unit)!;
    const before = await entries();
    const setState = (state: string, code: string | null) =>
      execute(db, 'update erp_unit set state = ?, problem_code = ? where unit_id = ?', [state, code, unit]);
    await setState('uncertain', null);
    await expect(redate([other, unit])).rejects.toMatchObject({ code: 'delivery_in_doubt' });
    await setState('refused', 'erp_account_unknown');
    await expect(redate([other, unit])).rejects.toMatchObject({ code: 'not_late' });
    await setState('refused', 'period_closed_in_erp');
    await closePeriods(db, [{ id, today: '2026-03-10' }], closed);
    await expect(redate([unit])).rejects.toMatchObject({ code: 'period_closed' });
    expect(await entries()).toBe(before);
    expect(await stateOf(other)).toBe('refused');
  });

  it('is not decided if the ERP gets the correction of a document as a single entry', async () => {
    await clinic.configure(mapping.replace('locked_period: hold', 'locked_period: redate'));
    server.lock(closed);
    await deliver();
    const unit = await lateSummary();
    const { id: changed } = await invoiceOf(unit);
    const row = clinic.clinic.invoiceRows.all().find(({ invoice }) => invoice === changed)!;
    Object.assign(row, { account_number: row.account_number === '3000' ? '3010' : '3000' });
    clinic.installation = { ...clinic.installation, postingMode: 'document' };
    await clinic.pull();
    await clinic.post();
    await expect(redate([unit])).rejects.toMatchObject({ code: 'not_redatable' });
  });
});
