import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { appendEntries } from '../../src/ledger/journal/append-entries.ts';
import { vetledger } from '../cli/support.ts';
import { draft } from '../ledger/drafts.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';

const hasHledger = spawnSync('hledger', ['--version']).status === 0;
if (!hasHledger && process.env.CI === 'true') throw new Error('hledger is not installed');

function hledger(journal: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('hledger', ['-f', '-', ...args], {
    input: journal,
    encoding: 'utf8',
    maxBuffer: 1e9,
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout;
}

/** The calendar date in the clinic's zone, this number of days from now. */
const helsinki = (days: number) =>
  new Intl.DateTimeFormat('sv', { timeZone: 'Europe/Helsinki' }).format(Date.now() + days * 86_400_000);

describe('posting mode daily_summary, through real windows', () => {
  let clinic: TestClinic;
  const command = (line: string) => vetledger([...line.split(' '), '--config', clinic.config], clinic.env);
  beforeAll(async () => {
    clinic = await startTestClinic({ seed: 7, invoices: 100, settings: { posting_mode: 'daily_summary' } });
  });
  afterAll(() => clinic.stop());

  const sums = () =>
    clinic.rows<{ entries: number; members: number; summaries: number; corrections: number }>(
      `select (select count(*) from entry) as entries, (select count(*) from summary_member) as members, count(*) as summaries,
         count(*) filter (where is_correction) as corrections from summary_entry`,
    );

  async function reconciled(): Promise<void> {
    expect(await clinic.wrongBooks()).toEqual([]);
    const report = await clinic.reconcile();
    expect(report.ok, JSON.stringify(report.installations[0]!.equations, null, 1)).toBe(true);
    const waiting = report.installations[0]!.listed.unsummarised;
    expect(waiting.filter(({ date }) => date < helsinki(0))).toEqual([]);
    expect((await command('ledger verify --json')).json().ok).toBe(true);
  }

  test('the first window posts every document and sums up every day that is over', async () => {
    expect((await clinic.sync()).error).toBeUndefined();
    const [first] = await sums();
    const [over] = await clinic.rows<{ entries: number; groups: number }>(
      `select count(*) as entries, count(distinct (e.entry_date, l.department_id)) as groups
       from entry e join entry_line l on l.entry_id = e.id and l.line = 1 where e.entry_date < ?::date`,
      [helsinki(0)],
    );
    expect(first).toMatchObject({ members: over!.entries, summaries: over!.groups, corrections: 0 });
    expect(over!.groups).toBeLessThan(over!.entries);
    await reconciled();
  });

  test('the next window makes none, and late documents go to correction summaries', async () => {
    const [before] = await sums();
    expect((await clinic.sync()).outcome).toBe('closed');
    expect(await sums()).toEqual([before]);
    // Voiding an old invoice reverses it on its entry's day.
    const { sandbox } = clinic;
    const paid = new Set([...sandbox.clinic.invoicePayments.all()].map((payment) => payment.invoice));
    const posted = new Set(
      (await clinic.rows<{ id: string }>(`select document_id as id from entry where kind = 'invoice'`)).map(({ id }) =>
        Number(id),
      ),
    );
    const old = [...sandbox.clinic.invoices.all()].find(
      ({ id, status, invoice_date: date }) =>
        status === 3 && !paid.has(id) && posted.has(id) && String(date) < helsinki(-7),
    )!;
    sandbox.clinic.voidInvoice(old.id);
    sandbox.live(30);
    expect((await clinic.sync()).error).toBeUndefined();
    const [after] = await sums();
    expect(after!.corrections).toBeGreaterThan(0);
    await reconciled();
    const explained = (await command(`explain invoice ${old.id} --json`)).json();
    const [first, reversal] = explained.entries as { summary: string; summary_voucher: string; posting_mode: string }[];
    expect(first).toMatchObject({ posting_mode: 'daily_summary', summary: expect.stringMatching(/-\w+\/1$/) });
    expect(reversal!.summary).toBe(first!.summary.replace(/1$/, '2'));
    const { stdout } = await command(`explain invoice ${old.id}`);
    expect(stdout).toContain(`to the general ledger in ${reversal!.summary}, voucher ${reversal!.summary_voucher}`);

    const drilled = (await command(`explain ${reversal!.summary} --json`)).json().summary;
    expect(drilled).toMatchObject({ correction: true, voucher: reversal!.summary_voucher, delivery: null });
    expect(drilled.description).toMatch(/^Correction summary of /);
    expect(drilled.entries.map(({ document }: { document: string }) => document)).toContain(`invoice ${old.id}`);
    const { stdout: text } = await command(`explain ${reversal!.summary}`);
    expect(text).toContain(`Correction summary of ${drilled.date}, department`);
    expect(text).toContain(explained.entries[1].id);
    const missing = await command(`explain ${first!.summary.replace(/1$/, '99')}`);
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain('There is no daily summary');
  });

  test.skipIf(!hasHledger)('the general ledger and the sub-ledger have the same balances by hledger', async () => {
    const to = helsinki(-1);
    const summaries = await command(`export --format hledger --to ${to}`);
    const documents = await command(`export --format hledger --documents --to ${to}`);
    expect([summaries.code, documents.code, summaries.stderr]).toEqual([0, 0, '']);
    expect(summaries.stdout).toContain('/summary/');
    expect(documents.stdout).not.toContain('/summary/');
    for (const journal of [summaries.stdout, documents.stdout]) hledger(journal, 'check', '--strict', 'ordereddates');
    for (const query of ['amt:>0', 'amt:<0', 'date:..']) {
      const balances = [summaries, documents].map(({ stdout }) =>
        hledger(
          stdout,
          'balance',
          '--flat',
          '--empty',
          '--monthly',
          query.startsWith('date') ? '' : query,
          '-O',
          'csv',
        ),
      );
      expect(balances[0]).toBe(balances[1]);
      expect(balances[0]!.length).toBeGreaterThan(100);
    }
  });

  test('what waits for its summary is left out of the export, which says so', async () => {
    const [open] = await clinic.rows<{ n: number }>(
      'select count(*) as n from entry e where not exists (select from summary_member m where m.entry_id = e.id)',
    );
    const { stdout, stderr } = await command('export --format csv');
    if (open!.n === 0) expect(stderr).toBe('');
    else expect(stderr).toMatch(new RegExp(`: ${open!.n} entr(y is|ies are) omitted`));
    expect(stdout).not.toMatch(/^\d+\/(invoice|payment|prepayment)\//m);
  });

  test('back in mode document: nothing is posted again, and new documents have their own entries', async () => {
    const [before] = await sums();
    const other = clinic.config.replace(/vetledger\.yaml$/, 'document.yaml');
    writeFileSync(other, readFileSync(clinic.config, 'utf8').replace('posting_mode: daily_summary', ''));
    // The setting that the worker would have after a restart.
    clinic.app.config.installations[0]!.postingMode = 'document';
    clinic.sandbox.live(20);
    expect((await clinic.sync()).error).toBeUndefined();
    const [after] = await sums();
    expect(after!.entries).toBeGreaterThan(before!.entries);
    expect(after!.members).toBe(before!.members);
    await reconciled();
    const { stdout } = await vetledger(['export', '--format', 'csv', '--config', other], clinic.env);
    const ids = new Set([...stdout.matchAll(/^(\d+\/\w+\/[^,]+),/gm)].map((match) => match[1]!));
    const documents = [...ids].filter((id) => !id.includes('/summary/'));
    expect(documents).toHaveLength(after!.entries - before!.entries);
    expect(ids.size - documents.length).toBe(after!.summaries);
  });

  test('a period is closed with its summaries made', async () => {
    const yesterday = helsinki(-1);
    const late = draft({
      kind: 'payment',
      id: 999_999,
      date: yesterday,
      lines: [
        ['1910', 'card_clearing', '5.00'],
        ['1700', 'receivable', '-5.00'],
      ],
    });
    const options = { decimals: 2, windowId: null, postingMode: 'daily_summary' as const };
    const [id] = await clinic.app.db.transaction((trx) =>
      appendEntries(trx, clinic.sandbox.installation, [late], options),
    );
    expect((await command(`ledger close --through ${yesterday} --yes`)).code).toBe(0);
    expect(await clinic.rows('select summary_id from summary_member where entry_id = ?', [id ?? null])).toEqual([
      { summary_id: `${clinic.sandbox.installation}/summary/${yesterday}-none/1` },
    ]);
  });
});
