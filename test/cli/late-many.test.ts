import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { query } from '../support/sql.ts';
import { vetledger } from './support.ts';

const { db, url } = useDatabase();
const id = 54;
let clinic: MirroredClinic;

const command = (...words: string[]) => vetledger([...words, '--config', clinic.config], clinic.env);
const decide = (...words: string[]) => command('late', 'decide', ...words, '--reason', 'agreed', '--by', 'M. Virtanen');
/** An invoice of January with one row at 14 %, on an account. */
const invoice = (sum: string, account: string) =>
  clinic.clinic.createInvoice({
    rows: [{ sum, vat_percentage: '14', account_number: account }],
    invoice_date: '2026-01-20',
  }).id;
const window = async () => {
  await clinic.pull();
  await clinic.post();
};
const idOf = (number: number) => `${id}/invoice/${number}`;
const codesOf = async () => {
  const { documents } = (await command('late', '--json')).json();
  return Object.fromEntries(documents.map((each: { id: string; code: string }) => [each.id, each.code]));
};

let [small, large, other] = [0, 0, 0];
let [corrected, voided] = [0, 0];

beforeAll(async () => {
  clinic = new MirroredClinic(db, url, { id, seed: 5, invoices: 0 });
  await clinic.configure(readFileSync(demoMapping, 'utf8'));
  [corrected, voided] = [invoice('50.00', '3000'), invoice('60.00', '3000')];
  await window();
  expect((await command('ledger', 'close', '--through', '2026-01-31', '--yes')).code).toBe(0);
  [small, large, other] = [invoice('1.00', '3000'), invoice('100.00', '3000'), invoice('200.00', '3010')];
  clinic.clinic.updateRow(clinic.clinic.invoiceRows.of(corrected)[0]!.id, { account_number: '3010' });
  clinic.clinic.voidInvoice(voided);
  await window();
});
afterAll(() => clinic?.remove());

test('the documents are late', async () => {
  expect(await codesOf()).toEqual({
    [idOf(corrected)]: 'change_held',
    [idOf(voided)]: 'change_held',
    [idOf(small)]: 'period_locked',
    [idOf(large)]: 'period_locked',
    [idOf(other)]: 'period_locked',
  });
});

test('each is listed with amount, VAT, client and age; a correction with its differences', async () => {
  const { documents } = (await command('late', '--json')).json();
  const of = (number: number) => documents.find((each: { id: string }) => each.id === idOf(number));
  expect(of(large)).toMatchObject({ amount: '114.00', vat: '14.00', age_days: expect.any(Number) });
  expect(of(large).customer).not.toBeNull();
  expect(of(voided)).toMatchObject({ amount: '-68.40', vat: '-8.40' });
  expect((await command('late')).stdout).toMatch(/period_locked {2}114\.00 {2}VAT 14\.00 .* days old/);
});

test.each([
  ['month=2026-01,code=period_locked', [1, 2, 3]],
  ['month=2026-02', []],
  ['code=period_locked,account=3010', [3]],
  ['code=period_locked,amount<=1.14', [1]],
  ['code=period_locked,amount>=1.15,amount<=114.00', [2]],
  ['decided=wait', []],
  ['department=999999', []],
] as [string, number[]][])('%s chooses', async (filter, chosen) => {
  const { shown, decided, dry_run } = (await decide('--filter', filter, '--redate', '--dry-run', '--json')).json();
  const documents = shown.installations.flatMap((each: { documents: { id: string }[] }) => each.documents);
  expect(documents.map((each: { id: string }) => each.id)).toEqual(
    chosen.map((at) => idOf([0, small, large, other][at] ?? 0)),
  );
  expect({ decided, dry_run }).toEqual({ decided: [], dry_run: true });
});

test.each([
  'month=2026-13',
  'month=2026-01,from=2026-01-02',
  'amount=3',
  'amount>=x',
  'amount<=1,amount<=2',
  'decided=never',
  'department=x',
])('%s is no filter', async (filter) => {
  const refused = await decide('--filter', filter, '--redate', '--dry-run');
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('not a condition of --filter') });
});

test('what a decision does is shown before: sums, effect per account and VAT period, and the day', async () => {
  const { shown } = (await decide('--filter', 'code=period_locked', '--redate', '--dry-run', '--json')).json();
  const [of] = shown.installations;
  expect(of.kinds).toEqual([{ kind: 'invoice', documents: 3, amount: '343.14', vat: '42.14' }]);
  expect(of.documents[0]).toEqual({
    ...{ id: idOf(small), code: 'period_locked', date: '2026-01-20' },
    ...{ amount: '1.14', vat: '0.14', day: '2026-02-01' },
  });
  const byAccount = of.effects.map((each: Record<string, unknown>) => [
    each.posted,
    each.vat_period,
    each.late,
    each.amount,
  ]);
  expect(byAccount.sort()).toEqual(
    [
      [true, '2026-01', true, '343.14'],
      [true, '2026-01', true, '-101.00'],
      [true, '2026-01', true, '-200.00'],
      [true, '2026-01', true, '-42.14'],
    ].sort(),
  );
  const text = (await decide('--filter', 'code=period_locked', '--redate', '--dry-run')).stdout;
  expect(text).toContain('3 documents: the next window posts it on the first open day');
  expect(text).toContain('Dry run: nothing was decided.');
  expect(text).toContain(`--shown ${shown.hash}`);
});

test('without a terminal, a filter needs the hash or the number', async () => {
  const refused = await decide('--filter', 'code=period_locked', '--redate');
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--shown') });
});

test('what was shown must still hold', async () => {
  const filter = ['--filter', 'account=3000,code=period_locked', '--wait'];
  const { shown } = (await decide(...filter, '--dry-run', '--json')).json();
  const more = invoice('7.00', '3000');
  await window();
  const refused = await decide(...filter, '--shown', shown.hash);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('differ from those that were shown') });
  expect(await query(db, 'select id from late_decision')).toEqual([]);
  clinic.clinic.voidInvoice(more);
  await window();
  const { decided } = (await decide(...filter, '--shown', shown.hash, '--json')).json();
  expect(decided.map((each: { id: string }) => each.id)).toEqual([idOf(small), idOf(large)]);
  const [action] = await query<{ shown: string }>(
    db,
    `select shown_hash as shown from action where kind = 'decide_late' order by id desc limit 1`,
  );
  expect(action?.shown).toBe(shown.hash);
});

test('a document that changed since it was judged is refused', async () => {
  clinic.clinic.updateInvoice(other, { invoice_due_date: '2026-03-31' });
  await clinic.pull();
  const refused = await decide(idOf(other), '--redate');
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`since invoice ${other} were last judged`),
  });
  await clinic.post();
});

test('a decision can be changed before and after a window', async () => {
  for (const how of ['--redate', '--wait']) expect((await decide(idOf(other), how)).code).toBe(0);
  await clinic.post();
  const { shown } = (await decide('--filter', 'decided=wait', '--redate', '--dry-run', '--json')).json();
  expect(shown.installations[0].documents).toHaveLength(3);
});

test('a correction is left as posted for good; a void is not', async () => {
  expect((await decide(idOf(voided), '--leave-as-posted')).stderr).toContain('must be reversed');
  expect((await decide(idOf(small), '--leave-as-posted')).stderr).toContain('--leave-as-posted is not possible');
  const { shown } = (await decide(idOf(corrected), '--leave-as-posted', '--json')).json();
  expect(shown.installations[0].effects.map((each: Record<string, unknown>) => [each.posted, each.amount])).toEqual([
    [false, '50.00'],
    [false, '-50.00'],
  ]);
  await clinic.post();
  expect(await codesOf()).toMatchObject({ [idOf(corrected)]: 'left_as_posted', [idOf(voided)]: 'change_held' });
  const [installation] = (await command('reconcile', '--json')).json().installations;
  expect(installation.left_as_posted.invoices).toMatchObject({ documents: 1, amount: '0.00', vat: '0.00' });
  expect(installation.outside.invoices.reasons.change_held.documents).toBe(1);
  const { problems } = (await command('problems', '--json')).json();
  expect(problems.map((each: { id: string }) => each.id)).not.toContain(idOf(corrected));
});

test('what is left out for good does not keep the books from being complete', async () => {
  await decide(idOf(voided), '--redate');
  await decide('--filter', 'decided=wait', '--redate', '--number', '3');
  await window();
  const reconciled = await command('reconcile', '--complete', '--json');
  expect(reconciled.code).toBe(0);
  expect((await command('reconcile')).stdout).toContain('stay out of the books, as decided');
  expect((await command('status')).stdout).toContain(
    'changes of 1 invoice (0.00, VAT 0.00, oldest 2026-01-20) left as posted',
  );
});
