import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { vetledger } from './support.ts';

const { db, url } = useDatabase();
const id = 55;
let clinic: MirroredClinic;
let [voided, draft] = [0, 0];
let notLoaded: Awaited<ReturnType<typeof command>>[];

const command = (...words: string[]) => vetledger([...words, '--config', clinic.config], clinic.env);
const rows = [{ sum: '100.00', vat_percentage: '14', account_number: '3000' }];

beforeAll(async () => {
  clinic = new MirroredClinic(db, url, { id, seed: 5, invoices: 0 });
  await clinic.configure(readFileSync(demoMapping, 'utf8'), { start_date: '2026-01-01' });
  notLoaded = [
    await command('mapping', 'check', demoMapping),
    await command('mapping', 'check', demoMapping, '--json'),
  ];
  voided = clinic.clinic.createInvoice({ rows, invoice_date: '2026-01-20' }).id;
  draft = clinic.clinic.createInvoice({ rows, invoice_date: '2026-01-21', status: 0 }).id;
  // Before the start date, so it never comes into these books.
  clinic.clinic.createInvoice({ rows, invoice_date: '2025-12-20', status: 0 });
  clinic.clinic.pay(voided, { payment_type: 0, paid: '114.00' });
  clinic.clinic.voidInvoice(voided);
  await clinic.pull();
  await clinic.post();
});
afterAll(() => clinic?.remove());

test('before the first load, mapping check compares nothing', () => {
  const [text, json] = notLoaded;
  expect(text!.stdout).toContain(`Installation ${id}: nothing was loaded from the source yet`);
  expect(text!.stdout).not.toContain('covers everything');
  expect(json!.json()).toMatchObject({ ok: true, not_loaded: [id], lacks: [] });
});

test('money on a voided invoice is a remark with its amount, and what to do', async () => {
  const { problems, remarks, documents } = (await command('problems', '--code', 'paid_on_voided', '--json')).json();
  expect(problems).toEqual([]);
  expect(remarks).toMatchObject([{ installation: id, code: 'paid_on_voided', count: 1, amount: '114.00' }]);
  expect(remarks[0].todo).toContain('pay the money back');
  expect(documents).toMatchObject([{ id: `${id}/invoice/${voided}`, amount: '114.00', date: '2026-01-20' }]);
  const text = (await command('problems')).stdout;
  expect(text).toMatch(/1 {2}paid_on_voided {2}114\.00 {2}The invoice is void or gone/);
});

test.each([
  ['the first close', []],
  [
    'a month that was closed and partly opened again',
    ['ledger close --through 2026-01-31 --yes', 'ledger reopen --from 2026-01-25 --reason x --by M --yes'],
  ],
  ['a later month', ['ledger close --through 2026-01-31 --yes']],
])('the checklist names every draft up to the day: %s', async (what, before) => {
  for (const words of before) expect((await command(...words.split(' '))).code).toBe(0);
  const through = what === 'a later month' ? '2026-02-28' : '2026-01-31';
  const dry = ['ledger', 'close', '--through', through, '--dry-run'];
  const [{ checklist }] = (await command(...dry, '--json')).json().installations;
  expect(checklist.drafts).toMatchObject({ ok: false, count: 1 });
  const { client_id: client, ...listed } = checklist.drafts.documents[0];
  expect(listed).toEqual({
    ...{ document: `invoice ${draft}`, code: 'not_final', date: '2026-01-21', in_force: null },
    ...{ amount: '114.00', age_days: through === '2026-01-31' ? 10 : 38 },
  });
  expect(checklist.remarks).toMatchObject({ ok: false, count: 1, by_code: [{ code: 'paid_on_voided' }] });
  const text = (await command(...dry)).stdout;
  expect(text).toContain(`invoice ${draft}  2026-01-21  not_final  114.00`);
  expect(text).toMatch(/LOOK {2}remarks: 1 .*\n +1 {2}paid_on_voided {2}114\.00/);
});

test.each(['prepayments', 'clearing', 'eu-sales'])(
  'a file of report %s has one table, so that its lines add up',
  async (name) => {
    const refused = await command('report', name, '--csv');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('A file has one table') });
    const tables = /with --csv: ([\w, ]+)\./.exec(refused.stderr)?.[1]?.split(', ') ?? [];
    expect(tables.length).toBeGreaterThan(1);
    for (const table of tables) {
      const [header = '', ...lines] = (await command('report', name, '--csv', table)).stdout.trimEnd().split('\r\n');
      const at = header.split(',').indexOf('section');
      for (const line of lines) expect(line.split(',')[at]).toBe(table);
    }
    expect((await command('report', name, '--csv', 'nothing')).code).toBe(2);
  },
);

test('a liability that would open in debit has no figure to enter', async () => {
  const old = new MirroredClinic(db, url, { id: 56, seed: 5, invoices: 0 });
  try {
    // The day after the documents were recorded.
    const start = new Date(old.clinic.clock() + 86_400_000).toISOString().slice(0, 10);
    await old.configure(readFileSync(demoMapping, 'utf8'), { start_date: start });
    const paid = old.clinic.createInvoice({ rows, invoice_date: '2026-01-20' }).id;
    old.clinic.pay(paid, { payment_type: 9, paid: '114.00', date_added: Date.parse('2026-01-20T10:00:00Z') });
    await old.pull();
    await old.post();
    const text = (await vetledger(['report', 'cutover', '--config', old.config], old.env)).stdout;
    expect(text).toContain('the records do not go back far enough');
    expect(text).not.toContain('-114.00');
  } finally {
    await old.remove();
  }
});
