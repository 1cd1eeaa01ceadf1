import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { Money, sum } from '../../src/domain/money.ts';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { query } from '../support/sql.ts';
import { folderOf, vetledger } from './support.ts';

const { db, url } = useDatabase();
const id = 57;
let clinic: MirroredClinic;
const demo = readFileSync(demoMapping, 'utf8');
const diff = (files: Record<string, string>, ...more: string[]) => {
  const folder = folderOf(files);
  const [older, newer] = Object.keys(files).map((name) => `${folder}/${name}`) as [string, string];
  return vetledger(['mapping', 'diff', older, newer, '--config', clinic.config, ...more], clinic.env);
};

beforeAll(async () => {
  clinic = new MirroredClinic(db, url, { id, seed: 8, invoices: 30 });
  await clinic.configure(demo);
  await clinic.pull();
  await clinic.post();
  const close = ['ledger', 'close', '--through', '2026-01-31', '--yes', '--config', clinic.config];
  expect((await vetledger(close, clinic.env)).code).toBe(0);
});
afterAll(() => clinic?.remove());

/** Sets today to a day within 12 months of the clinic's documents, for this test. */
function monthAfter(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-04-10T09:00:00Z') });
  onTestFinished(() => void vi.useRealTimers());
}

/** The sum of the card payments and refunds in the books per month, by a query over the payments' entries. */
const cardPerMonth = () =>
  query<{ month: string; closed: boolean; old: string; documents: number }>(
    db,
    `select to_char(e.entry_date, 'YYYY-MM') as month, e.entry_date <= '2026-01-31' as closed,
       sum(case l.side when 'debit' then l.amount else -l.amount end)::text as old, count(*)::int as documents
     from entry e join entry_line l on l.entry_id = e.id
     join document d on d.installation = e.installation and d.entry_id = e.id
     where e.installation = ? and l.account = '1920' group by 1, 2 order by 2, 1`,
    [id],
  );

test('a moved account: per month, closed months apart, each with what the books have there', async () => {
  const newer = demo
    .replace('card_clearing: "1920"', 'card_clearing: "1925"')
    .replace('roles:', 'chart: chart.csv\n\nroles:');
  const chart = 'number,name,type,open\n1925,New card account,asset,yes\n';
  const files = { 'old.yaml': demo, 'new.yaml': newer, 'chart.csv': chart };
  const expected = await cardPerMonth();
  expect(expected.map(({ closed }) => closed)).toEqual([false, false, true]);
  const { code, stdout } = await diff(files, '--json');
  expect(code).toBe(0);
  const [found] = JSON.parse(stdout).installations;
  expect(found.moves).toEqual(
    expected.flatMap(({ month, closed, old }) => [
      {
        closed,
        month,
        account: '1920',
        name: 'card payments',
        old,
        new: '0.00',
        change: new Money(old).negated().toFixed(2),
      },
      { closed, month, account: '1925', name: 'New card account', old: '0.00', new: old, change: old },
    ]),
  );
  const moved = expected.reduce((total, { documents }) => total + documents, 0);
  const closed = expected.find((each) => each.closed)!.documents;
  expect(found.counts).toMatchObject({ moved, moved_closed: closed, held: 0 });
  expect(found.held).toEqual([]);
  const text = (await diff(files)).stdout;
  expect(text).toMatch(
    /Open periods .*\n +month[\s\S]*Closed periods .*\n +month[\s\S]*2026-01 +1925 +New card account/,
  );
});

test('the same mapping moves nothing, a range of dates counts only its documents, and what one mapping holds is counted', async () => {
  const same = JSON.parse((await diff({ 'a.yaml': demo, 'b.yaml': demo }, '--json')).stdout).installations[0];
  expect(same).toMatchObject({ moves: [], held: [], counts: { same: same.counts.documents, moved: 0 } });
  const part = await diff({ 'a.yaml': demo, 'b.yaml': demo }, '--json', '--from', '2026-02-01');
  expect(part.json().installations[0].counts.documents).toBeLessThan(same.counts.documents);
  const without = demo.replace(/^ *card_clearing:.*\n/m, '');
  const { held, moves } = (await diff({ 'a.yaml': demo, 'b.yaml': without }, '--json')).json().installations[0];
  const lines = await query<{ amount: string }>(
    db,
    `select l.amount::text from entry e join entry_line l on l.entry_id = e.id
     join document d on d.installation = e.installation and d.entry_id = e.id
     where e.installation = ? and l.account = '1920'`,
    [id],
  );
  const amount = sum(lines.map((line) => new Money(line.amount))).toFixed(2);
  expect(held).toEqual([{ by: 'new', code: 'role_unmapped', documents: lines.length, amount }]);
  expect(moves).toEqual([]);
});

test('nothing is written, and no entry is added', async () => {
  const before = await query(db, 'select count(*)::int as n from entry');
  await diff({ 'a.yaml': demo, 'b.yaml': demo.replace('"1920"', '"1925"') });
  expect(await query(db, 'select count(*)::int as n from entry')).toEqual(before);
});

test('mapping show: what the practice used in 12 months, with accounts, names, rows and exact amounts', async () => {
  monthAfter();
  const chart = 'number,name,type,open\n3010,Surgery income,income,yes\n2931,VAT general,liability,yes\n';
  const folder = folderOf({ 'm.yaml': demo.replace('roles:', 'chart: chart.csv\n\nroles:'), 'chart.csv': chart });
  const show = (...more: string[]) =>
    vetledger(['mapping', 'show', `${folder}/m.yaml`, '--config', clinic.config, ...more], clinic.env);
  const [shown] = (await show('--json')).json().installations;
  const rows = (condition: string) =>
    query<{ count: number; net: string; vat: string }>(
      db,
      `select count(*)::int as count, sum((r.raw ->> 'sum')::numeric)::text as net, sum((r.raw ->> 'sum_vat')::numeric)::text as vat
       from mirror_record r join mirror_record i on i.installation = r.installation and i.kind = 'invoice' and i.id = r.parent_id
       where r.installation = ? and r.kind = 'row' and i.raw ->> 'status' = '3'
         and coalesce(i.raw ->> 'consolidated_invoices', '[]') = '[]' and ${condition}`,
      [id],
    );
  const plain = (amount: string) => new Money(amount).toFixed();
  const surgery = shown.revenue.filter((one: { source_account: string }) => one.source_account === '3010');
  const [expected] = await rows(`r.raw ->> 'account_number' = '3010'`);
  expect(surgery.reduce((n: number, one: { count: number }) => n + one.count, 0)).toBe(expected!.count);
  expect(sum(surgery.map((one: { net: string }) => new Money(one.net))).toFixed()).toBe(plain(expected!.net));
  expect(surgery[0]).toMatchObject({ account: '3010', name: 'Surgery income', role: 'revenue', by: 'revenue.same' });
  const general = shown.vat.find((one: { group: string }) => one.group === 'VAT 25.5 %');
  const [taxed] = await rows(`r.raw #>> '{invoicerow_vat_group,name}' = 'VAT 25.5 %'`);
  expect({ ...general, base: plain(general.base), vat: plain(general.vat) }).toMatchObject({
    ...{ kind: 'domestic', account: '2931', name: 'VAT general', by: 'vat.same', count: taxed!.count },
    ...{ base: plain(taxed!.net), vat: plain(taxed!.vat) },
  });
  const card = shown.payments.find(
    (one: { payment_type: number; of: string }) => one.payment_type === 0 && one.of === 'payment',
  );
  expect(card).toMatchObject({ account: '1920', name: null, role: 'card_clearing', by: 'roles.card_clearing' });
  expect(shown.roles).toContainEqual(expect.objectContaining({ role: 'receivable', account: '1700' }));
  expect(shown.warnings).toContainEqual(expect.stringContaining('1920'));
  const { stdout } = await show();
  expect(stdout).toMatch(/Rows of invoices.*\n +practice’s account[\s\S]*3010[\s\S]*Surgery income/);
  expect(stdout).toMatch(/Warnings\n/);
});

test('mapping show of the mapping in force names what it lacks', async () => {
  monthAfter();
  const without = folderOf({ 'm.yaml': demo.replace(/^ *card_clearing:.*\n/m, '') });
  const ran = await vetledger(['mapping', 'show', `${without}/m.yaml`, '--config', clinic.config], clinic.env);
  expect(ran.stdout).toMatch(/payment type 0 \(Card\) .* MISSING/);
  expect(ran.stdout).toMatch(/roles\.card_clearing: \d+ records of [\d.]+ are held/);
  const inForce = await vetledger(['mapping', 'show', '--json', '--config', clinic.config], clinic.env);
  expect(inForce.json().installations[0].mapping).toBe(clinic.installation.mappingPath);
});
