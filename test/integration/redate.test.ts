import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { redateClosed } from '../../src/bookkeeping/redate.ts';
import { execute } from '../../src/db/rows.ts';
import { companyKeyOf } from '../../src/erp/company.ts';
import { enqueueUnits } from '../../src/erp/outbox/enqueue.ts';
import { unitsById } from '../../src/erp/outbox/outbox-queries.ts';
import { storePeriods } from '../../src/erp/periods.ts';
import { loadEntries } from '../../src/ledger/journal/read-entries.ts';
import { walkChains } from '../../src/ledger/verify.ts';
import { closePeriods } from '../support/closing.ts';
import { useDatabase } from '../support/database.ts';
import { demoMapping, fromEnvironment } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { query } from '../support/sql.ts';

const { db, url } = useDatabase();
let clinic: MirroredClinic;
const by = { actedBy: 'tester', reason: 'February is declared' };

beforeAll(async () => {
  clinic = new MirroredClinic(db, url, { id: 899, seed: 3, invoices: 40 });
  await clinic.configure(readFileSync(demoMapping, 'utf8'), {
    erp: `{kind: tryton, url: "http://127.0.0.1:9", database: books, user: api, password: ${fromEnvironment('PRACTICE_TOKEN')}}`,
  });
  await db.raw(`insert into erp_company (company, kind, name) values (?, 'tryton', 'Clinic')`, [company()]);
  await clinic.pull();
  await clinic.post();
  await enqueue();
});
afterAll(() => clinic.remove());

/** The period is closed after the entries were posted. */
beforeEach(() => closed('2026-02-28'));

const company = () => companyKeyOf(clinic.installation.erp)!;
const closed = (through: string) =>
  storePeriods(db, company(), { periods: null, lockedThrough: [{ kind: 'general', date: through }] });
const enqueue = () =>
  db.transaction((trx) =>
    enqueueUnits(trx, { installation: clinic.id, databaseId: 'test', company: company(), from: null, auto: true }),
  );
const redate = (ids: string[]) =>
  redateClosed({ db, databaseId: 'test', signal: new AbortController().signal }, clinic.installation, ids, by);

/** Entries in force of February that are late, because the period was closed before. */
async function late(n: number): Promise<string[]> {
  const found = await query<{ id: string }>(
    db,
    `select e.id from entry e join document d on d.entry_id = e.id join erp_unit u on u.unit_id = e.id
     where u.state = 'refused' and e.kind = 'invoice' and e.entry_date between '2026-02-01' and '2026-02-28' order by e.seq limit ?`,
    [n],
  );
  return found.map(({ id }) => id);
}

async function setState(ids: string[], state: string, code: string | null): Promise<void> {
  await execute(db, `update erp_unit set state = ?, problem_code = ? where unit_id = any(?)`, [state, code, ids]);
}

const stateOf = async (id: string) => (await unitsById(db, clinic.id, [id]))[0]?.state;
const entriesOf = async () => (await query<{ n: number }>(db, 'select count(*)::int as n from entry'))[0]!.n;

it('an entry whose period was closed is posted on the first open day, and the original is never sent', async () => {
  const [first, second] = await late(2);
  const redated = await redate([first!, second!]);
  expect(redated.map(({ unit, date }) => [unit, date])).toEqual([
    [first, '2026-03-01'],
    [second, '2026-03-01'],
  ]);
  for (const { unit, reversal, entry } of redated) {
    const [original, taken, anew] = await loadEntries(db, [unit, reversal!, entry!]);
    expect(taken).toMatchObject({ reverses: unit, date: original!.date, reason: 'redated' });
    expect(anew).toMatchObject({ reverses: null, date: '2026-03-01', documentDate: original!.documentDate });
    expect(anew!.lines.map(({ account, side, amount }) => [account, side, amount.toFixed()])).toEqual(
      original!.lines.map(({ account, side, amount }) => [account, side, amount.toFixed()]),
    );
    expect(await Promise.all([unit, reversal!, entry!].map(stateOf))).toEqual([
      'cancelled_out',
      'cancelled_out',
      'pending',
    ]);
  }
  expect(await query(db, `select reason, acted_by from action_done where kind = 'redate'`)).toEqual([
    { reason: by.reason, acted_by: by.actedBy },
  ]);
  expect((await walkChains(db, clinic.id)).broken).toBeNull();
  // The document's facts have not changed, so the next window posts nothing for it.
  const before = await entriesOf();
  await db.raw('update document set dirty = true, dirty_mark = dirty_mark + 1');
  await clinic.post();
  expect(await entriesOf()).toBe(before);
});

it('one that was taken out of the books meanwhile is settled with its reversal alone', async () => {
  const [id] = await late(1);
  const [, , document] = id!.split('/');
  const invoice = clinic.clinic.invoices.get(Number(document))!;
  Object.assign(invoice, { status: 99 });
  await clinic.pull();
  await closed('2025-12-31');
  await clinic.post();
  await enqueue();
  await closed('2026-02-28');
  const before = await entriesOf();
  const [redated] = await redate([id!]);
  expect(redated).toMatchObject({ unit: id, entry: null });
  expect(await Promise.all([id!, redated!.reversal!].map(stateOf))).toEqual(['cancelled_out', 'cancelled_out']);
  expect(await entriesOf()).toBe(before);
});

/** Entries of February that the ERP has, with corrections that the ERP's close keeps out. */
async function correctedLate(
  change: (invoice: object) => unknown,
): Promise<{ original: string; corrections: string[] }> {
  const [original] = await late(1);
  await setState([original!], 'delivered', null);
  const [, , document] = original!.split('/');
  change(clinic.clinic.invoices.get(Number(document))!);
  await clinic.pull();
  await closed('2025-12-31');
  await clinic.post();
  await enqueue();
  await closed('2026-02-28');
  const corrections = (
    await query<{ id: string }>(
      db,
      `select unit_id as id from erp_unit where unit_id like ? and unit_id <> ? order by seq`,
      [original!.replace(/\d+$/, '%'), original!],
    )
  ).map(({ id }) => id);
  await setState(corrections, 'refused', 'period_closed_in_erp');
  return { original: original!, corrections };
}

/** The lines that the ERP receives for a document, by day and account. */
async function sentOf(unit: string): Promise<Record<string, string>> {
  const found = await query<{ place: string; amount: string }>(
    db,
    `select e.entry_date || ' ' || l.account as place, sum(case l.side when 'debit' then l.amount else -l.amount end)::text as amount
     from erp_unit u join entry e on e.id = u.unit_id join entry_line l on l.entry_id = e.id
     where u.unit_id like ? and u.state <> 'cancelled_out' group by place
     having sum(case l.side when 'debit' then l.amount else -l.amount end) <> 0`,
    [unit.replace(/\d+$/, '%')],
  );
  return Object.fromEntries(found.map(({ place, amount }) => [place, amount]));
}

/** The negated amounts on another day. */
const moved = (sent: Record<string, string>, day: string) =>
  Object.fromEntries(
    Object.entries(sent).map(([place, amount]) => [
      place.replace(/^\S+/, day),
      amount.startsWith('-') ? amount.slice(1) : `-${amount}`,
    ]),
  );

it('the reversal of an entry that the ERP has is posted on the first open day; on its own day it comes to nothing', async () => {
  const { original, corrections } = await correctedLate((invoice) => Object.assign(invoice, { status: 99 }));
  expect(corrections).toHaveLength(1);
  await setState(corrections, 'cancelled_out', null);
  const delivered = await sentOf(original);
  await setState(corrections, 'refused', 'period_closed_in_erp');
  const [redated, ...more] = await redate(corrections);
  expect(more).toEqual([]);
  expect(redated).toMatchObject({ unit: corrections[0], date: '2026-03-01' });
  expect(await Promise.all([corrections[0]!, redated!.reversal!, redated!.entry!].map(stateOf))).toEqual([
    'cancelled_out',
    'cancelled_out',
    'pending',
  ]);
  expect(await sentOf(original)).toEqual({ ...delivered, ...moved(delivered, '2026-03-01') });
  const before = await entriesOf();
  await db.raw('update document set dirty = true, dirty_mark = dirty_mark + 1');
  await clinic.post();
  expect(await entriesOf()).toBe(before);
  expect((await walkChains(db, clinic.id)).broken).toBeNull();
});

it.each<[string, (ids: string[]) => string[][]]>([
  ['together', (ids) => [ids]],
  ['the reversal first', ([reversal, successor]) => [[reversal!], [successor!]]],
  ['the new entry first', ([reversal, successor]) => [[successor!], [reversal!]]],
])('a correction of an entry that the ERP has is moved as a whole or in parts: %s', async (_, order) => {
  const changed: string[] = [];
  const { original, corrections } = await correctedLate(({ id }: { id?: number }) => {
    const row = clinic.clinic.invoiceRows.all().find(({ invoice }) => invoice === id)!;
    const account_number = row.account_number === '3000' ? '3010' : '3000';
    changed.push(String(row.account_number), account_number);
    Object.assign(row, { account_number });
  });
  expect(corrections).toHaveLength(2);
  for (const ids of order(corrections)) await redate(ids);
  expect(await Promise.all(corrections.map(stateOf))).toEqual(['cancelled_out', 'cancelled_out']);
  const [delivered] = await loadEntries(db, [original]);
  const sent = await sentOf(original);
  const days = new Set(Object.keys(sent).map((place) => place.slice(0, 10)));
  expect(days).toEqual(new Set([delivered!.date, '2026-03-01']));
  // The ERP's entries on the closed day stay; on the open day only the account of the row changes.
  const onDay = Object.keys(sent).filter((place) => place.startsWith(delivered!.date));
  expect(onDay).toHaveLength(new Set(delivered!.lines.map(({ account }) => account)).size);
  const accounts = Object.keys(sent).flatMap((place) => (place.startsWith('2026-03-01') ? place.slice(11) : []));
  expect(accounts.toSorted()).toEqual(changed.toSorted());
  expect((await walkChains(db, clinic.id)).broken).toBeNull();
});

it('an entry and its reversal, neither of them sent, may be chosen in any way', async () => {
  for (const choose of [(ids: string[]) => ids, (ids: string[]) => ids.slice(1)]) {
    const { original, corrections } = await correctedLate((invoice) => Object.assign(invoice, { status: 99 }));
    await setState([original], 'refused', 'period_closed_in_erp');
    const before = await entriesOf();
    expect(await redate(choose([original, ...corrections]))).toEqual([
      { unit: original, reversal: corrections[0], entry: null, date: null },
    ]);
    expect(await Promise.all([original, ...corrections].map(stateOf))).toEqual(['cancelled_out', 'cancelled_out']);
    expect(await entriesOf()).toBe(before);
  }
});

it('nothing is decided of what the ERP may have, of what waits for something else, or in closed books of our own', async () => {
  const [id, other] = await late(2);
  const before = await entriesOf();
  await setState([id!], 'uncertain', null);
  await expect(redate([other!, id!])).rejects.toMatchObject({ code: 'delivery_in_doubt' });
  await setState([id!], 'refused', 'erp_account_unknown');
  await expect(redate([id!])).rejects.toMatchObject({ code: 'not_late' });
  await expect(redate(['899/invoice/1/99'])).rejects.toMatchObject({ code: 'unit_unknown' });
  await setState([id!], 'refused', 'period_closed_in_erp');
  await closed('2025-12-31');
  await expect(redate([id!])).rejects.toMatchObject({ code: 'not_late' });
  await closed('2026-02-28');
  await closePeriods(db, [{ id: clinic.id, today: '2026-12-31' }], '2026-02-28');
  await expect(redate([id!])).rejects.toMatchObject({ code: 'period_closed' });
  expect(await entriesOf()).toBe(before);
  expect(await stateOf(other!)).toBe('refused');
});
