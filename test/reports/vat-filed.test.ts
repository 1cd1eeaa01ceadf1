// Filing a VAT return: figures calculated by hand.
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { brokenAction } from '../../src/actions/verify.ts';
import { decideAll } from '../../src/bookkeeping/decide-many.ts';
import { monthBounds } from '../../src/domain/dates.ts';
import { verifyChain } from '../../src/ledger/verify.ts';
import { fileReturn, prepareReturn } from '../../src/queries/vat-returns.ts';
import { reports } from '../../src/reports/index.ts';
import { vetledger } from '../cli/support.ts';
import { closePeriods } from '../support/closing.ts';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';

const { db, owner, url, truncate } = useDatabase();
const january = { name: '2026-01', ...monthBounds('2026-01') };
const by = { actedBy: 'M. Virtanen', reason: 'OmaVero' };

let clinic: MirroredClinic;
beforeEach(async () => {
  await truncate();
  clinic = new MirroredClinic(db, url, { id: 4711, seed: 1, invoices: 0 });
  await clinic.configure(readFileSync(demoMapping, 'utf8'));
});
afterEach(() => clinic.remove());

const run = (line: string, ...more: string[]) =>
  vetledger([...line.split(' '), ...more, '--config', clinic.config], clinic.env);

function sale(date: string, sum: string, rate: string) {
  return clinic.clinic.createInvoice({
    invoice_date: date,
    rows: [{ sum, vat_percentage: rate, account_number: '3000' }],
  });
}

async function post() {
  await clinic.pull();
  await clinic.post();
}

async function closeJanuary() {
  await closePeriods(db, [{ id: 4711, today: '2026-03-01' }], january.through);
}

/** The sections of a month's report as lines: keys, base and tax of each figure. */
async function sections(month: string): Promise<Record<string, string[]>> {
  const made = await reports.vat.make(db, clinic.installation, monthBounds(month));
  return Object.fromEntries(
    made.map(({ shape, figures }) => [
      shape.name,
      figures.map(({ keys, amounts }) =>
        [
          ...['version', 'is_late', 'return', 'part', 'period', 'rate'].flatMap((key) => keys[key] ?? []),
          ...[amounts.base, amounts.tax].flatMap((amount) => amount?.toFixed(2) ?? []),
        ].join(' '),
      ),
    ]),
  );
}

const prepare = (isCorrection: boolean, take: string[] | null = null) =>
  prepareReturn(db, clinic.installation, january, { isCorrection, take });

async function file(isCorrection: boolean): Promise<void> {
  const { shown } = await prepare(isCorrection);
  const choice = { isCorrection, take: null };
  await db.transaction((trx) => fileReturn(trx, clinic.installation, january, choice, { shown, by }));
}

test('file, a late credit note, a correction return; each filed figure stays what it was', async () => {
  const first = sale('2026-01-10', '100.00', '25.5');
  sale('2026-01-11', '50.00', '14');
  await post();
  expect(await prepare(false)).toMatchObject({ isClosed: false, obstacle: { code: 'vat_period_open' } });
  await closeJanuary();
  expect((await prepare(true)).obstacle).toMatchObject({ code: 'vat_return_not_filed' });
  await file(false);
  expect((await prepare(false)).obstacle).toMatchObject({ code: 'vat_return_filed' });
  expect((await prepare(true)).obstacle).toMatchObject({ code: 'vat_return_unchanged' });
  const filed = ['1 2026-01 14 50.00 7.00', '1 2026-01 25.5 100.00 25.50'];
  expect(await sections('2026-01')).toEqual({ filed, since: [], late: [], accounts: ['filed 32.50'] });

  // A credit note of January is posted in February by a decision. It is late there, and no return declares it yet.
  const credit = clinic.clinic.createInvoice({
    ...{ invoice_date: '2026-01-20', credit_note: true, credit_note_original_invoice: first.id },
    rows: [{ sum: '-40.00', vat_percentage: '25.5', account_number: '3000' }],
  });
  await post();
  await redate(credit.id);
  await post();
  const late = ['2026-01 25.5 -40.00 -10.20'];
  expect(await sections('2026-01')).toEqual({ filed, since: [], late, accounts: ['filed 32.50'] });
  expect(await sections('2026-02')).toEqual({ vat: [], late });

  // The commands `status` and `problems` report it.
  const state = { ok: true, filed_through: '2026-01-31', changed: [], late: { entries: 1, missed: 0, tax: '-10.20' } };
  expect((await run('status --json')).json().installations[0].vat_returns).toEqual(state);
  expect((await run('problems --json')).json().vat_returns).toEqual([{ installation: 4711, ...state }]);
  const told = 'late lines that no return has taken: 1 entry, VAT -10.20';
  expect((await run('status')).stdout).toMatch(
    /^ {2}VAT returns {3}filed VAT returns: up to 2026-01-31\n {16}late lines/m,
  );
  expect((await run('problems')).stdout).toContain(told);

  // A correction return takes this late entry by default, because the entry is of January.
  const entry = `4711/invoice/${credit.id}/1`;
  expect((await prepare(true, [])).obstacle).toMatchObject({ code: 'vat_return_unchanged' });
  expect((await prepare(true, [entry, '4711/invoice/1/9'])).obstacle).toMatchObject({ code: 'late_line_unknown' });
  expect(await prepare(true)).toMatchObject({ version: 2, toFile: [{ entry, isLate: true }], obstacle: null });
  await file(true);
  expect(await sections('2026-01')).toEqual({
    filed: [...filed, '2 late 2026-01 25.5 -40.00 -10.20'],
    ...{ since: [], late: [] },
    accounts: ['filed 22.30', 'less filed lines that are dated on other days 10.20'],
  });
  expect(await sections('2026-02')).toEqual({ vat: [], late: [], taken_elsewhere: [`2026-01 2 ${late}`] });
  expect(await brokenAction(db, 4711)).toBeNull();
});

async function redate(invoice: number): Promise<void> {
  const deciding = { decision: 'redate' as const, ...by };
  await db.transaction((trx) => decideAll(trx, 4711, [{ kind: 'invoice', id: invoice }], deciding, { chosen: false }));
}

test('the command: a dry view, its hash, boxes, documents, and unused prepayments', async () => {
  sale('2026-01-10', '100.10', '25.5');
  clinic.clinic.takePrepayment({ payment_type: 0, paid: '200.00' });
  await post();
  await closeJanuary();
  const filing = 'report vat --month 2026-01 --mark-filed';
  const text = (await run(`${filing} --dry-run --form --documents`)).stdout;
  expect(text).toMatch(/VAT return 2026-01, version 1: not filed yet/);
  expect(text).toMatch(/301 +Vero kotimaan myynnistä, 25,5 % \(ja 24 %\) .*25\.53 +25\.53 +0\.00/);
  const [, hash] = /Hash of the figures to be filed: ([0-9a-f]{64})/.exec(text) ?? [];
  const reason = ['--reason', 'OmaVero', '--by', 'M. Virtanen'];
  const other = await run(`${filing} --json --shown ${'0'.repeat(64)}`, ...reason);
  expect(other.json().error.code).toBe('changed_since_shown');
  expect((await run(filing, ...reason)).stderr).toContain('There is no terminal');
  const done = await run(`${filing} --json --shown ${hash}`, ...reason);
  const [{ vat_return: filed }] = done.json().installations;
  expect(filed).toMatchObject({ period: '2026-01', is_closed: true, to_file: null });
  expect(filed.filed).toEqual([
    { version: 1, filed_at: expect.any(String), by: 'M. Virtanen', reason: 'OmaVero', shown: hash },
  ]);
  const boxes = (await run('report vat --month 2026-01 --form de --csv form_base')).stdout.split('\r\n');
  expect(boxes[0]).toBe(
    'installation,from,through,currency,section,box,title,document,date,entries,form,books,rounding',
  );
  const march = await run('report vat --month 2026-03');
  expect(march.stdout).toContain('the VAT of 1 unused prepayment, 200.00 EUR at the end of 2026-03-31');
});

test.each([
  ['an amount', 'update vat_return_line set tax = tax + 1 where vat_rate = 25.5'],
  ['a lost line', 'delete from vat_return_line where vat_rate = 14'],
  ['a lost return', 'delete from vat_return_line; delete from vat_return'],
])('ledger verify finds a filed return that was changed: %s', async (_, change) => {
  sale('2026-01-10', '100.00', '25.5');
  sale('2026-01-11', '50.00', '14');
  await post();
  await closeJanuary();
  await file(false);
  expect(await verifyChain(db, 4711)).toBeNull();
  await owner.raw(`set session_replication_role = replica; ${change}; set session_replication_role = origin`);
  expect(await verifyChain(db, 4711)).toEqual({
    ...{ seq: null, entryId: 'VAT return 2026-01, version 1' },
    message: 'its stored lines differ from those that were filed',
  });
});
