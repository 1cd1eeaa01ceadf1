import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadDialect } from '../../../src/config/dialect.ts';
import { text, texts } from '../../../src/db/columns.ts';
import { transactionsOf } from '../../../src/db/lease.ts';
import { execute, rows } from '../../../src/db/rows.ts';
import { type DraftEntry, reversedLines } from '../../../src/domain/entry.ts';
import { Money } from '../../../src/domain/money.ts';
import { type ExportFormatName, exportEntries } from '../../../src/ledger/export/export.ts';
import { type AppendOptions, appendEntries } from '../../../src/ledger/journal/append-entries.ts';
import {
  countUnsummarised,
  loadSummaries,
  summariesBySeq,
  summariesOf,
} from '../../../src/ledger/summaries/read-summaries.ts';
import { summariseBatch, summariseDays } from '../../../src/ledger/summaries/summarise.ts';
import { summaryDescription } from '../../../src/ledger/summaries/summary.ts';
import { verifyChain } from '../../../src/ledger/verify.ts';
import { reconcile } from '../../../src/reconcile/index.ts';
import type { PostingMode } from '../../../src/terms.ts';
import { useDatabase } from '../../support/database.ts';
import { draft } from '../drafts.ts';

const { db, owner } = useDatabase();
let nextInstallation = 1;
const anyDay = { from: null, to: null };

function append(
  installation: number,
  drafts: DraftEntry[],
  postingMode: PostingMode = 'daily_summary',
  options: Partial<AppendOptions> = {},
) {
  return db.transaction((trx) =>
    appendEntries(trx, installation, drafts, { decimals: 2, windowId: null, postingMode, ...options }),
  );
}

/** Summarises the days before this one. */
const sumUp = (installation: number, before: string) =>
  summariseDays(transactionsOf(db), installation, { before, windowId: null });

function invoice(id: number, date: string, department: number | null = 11, net = '100.00'): DraftEntry {
  const tax = new Money(net).times('0.24').toFixed(2);
  const at = { departmentId: department };
  const vat = { group: 'General', rate: new Money(24), base: null };
  return draft({
    kind: 'invoice',
    id,
    date,
    lines: [
      ['1700', 'receivable', new Money(net).plus(tax).toFixed(2), { ...at, invoiceId: id }],
      ['3000', 'revenue', `-${net}`, { ...at, dimensions: ['SURG', null, null], vat }],
      ['2930', 'vat', `-${tax}`, { ...at, vat: { ...vat, base: new Money(net) } }],
    ],
  });
}

function payment(id: number, date: string, paid = '124.00'): DraftEntry {
  const at = { departmentId: 11, paymentType: 0, rule: 'R4' };
  return draft({
    kind: 'payment',
    id,
    date,
    lines: [
      ['1910', 'card_clearing', paid, at],
      ['1700', 'receivable', `-${paid}`, at],
    ],
  });
}

function voided(of: DraftEntry, entryId: string): DraftEntry {
  return { ...of, reason: 'voided', reverses: entryId, inputHash: 'undone', lines: reversedLines(of.lines) };
}

/** `id: members`, in the order of the chain. */
async function summaries(installation: number): Promise<string[]> {
  const found = await rows(
    db,
    { id: text, members: texts },
    `select s.id, array_agg(m.entry_id order by e.seq) as members
     from summary_entry s join summary_member m on m.summary_id = s.id join entry e on e.id = m.entry_id
     where s.installation = ? group by s.id, s.seq order by s.seq`,
    [installation],
  );
  return found.map(({ id, members }) => `${short(id)}: ${members.map(short).join(' ')}`);
}

/** Voucher number and text, in the order of the chain. */
async function numbered(installation: number): Promise<string[]> {
  const found: string[] = [];
  for await (const summary of summariesBySeq(db, installation))
    found.push(`${summary.record.voucher} ${summaryDescription(summary)}`);
  return found;
}

/** The id without the installation. */
const short = (id: string) => id.replace(/^\d+\//, '');

async function exported(
  installation: number,
  options: { format?: ExportFormatName; documents?: boolean; to?: string; unsummarised?: number[] } = {},
): Promise<string> {
  let text = '';
  for await (const piece of exportEntries(db, {
    format: options.format ?? 'hledger',
    installations: [{ id: installation, currency: 'EUR', decimals: 2 }],
    range: { from: null, to: options.to ?? null },
    documents: options.documents ?? false,
    onUnsummarised: (_installation, entries) => options.unsummarised?.push(entries),
  })) {
    text += piece;
  }
  return text.replace(/\n; vetledger export .*\n$/, '');
}

/** The codes of the transactions in an hledger journal, in order. */
const codes = (journal: string) =>
  [...journal.matchAll(/^\d{4}-\d\d-\d\d \((\S+)\)/gm)].map((match) => short(match[1]!));

async function e1(installation: number) {
  const report = await reconcile(db, [
    {
      id: installation,
      currency: 'EUR',
      decimals: 2,
      timezone: 'Europe/Helsinki',
      startDate: null,
      dialect: loadDialect(),
      today: '2026-04-10',
      refundLowersUnused: true,
      sourceCounts: {},
    },
  ]);
  const { equations, listed } = report.installations[0]!;
  return {
    differences: equations.E1.documents.map(
      ({ document, difference }) => `${document.replace(/\d+\//, '')} ${difference}`,
    ),
    unsummarised: listed.unsummarised,
  };
}

/** Changes the books like a superuser who disables the triggers. */
async function tamper(sql: string): Promise<void> {
  const tables = ['entry', 'entry_line', 'summary_entry', 'summary_line', 'summary_member'];
  await owner.transaction(async (trx) => {
    for (const table of tables) await execute(trx, `alter table ${table} disable trigger all`);
    await execute(trx, sql.replaceAll('?', '\\?'));
    for (const table of tables) await execute(trx, `alter table ${table} enable trigger all`);
  });
}

describe('summing up', () => {
  it('takes the days that are over, one entry per day and department, and what comes later to a correction summary', async () => {
    const installation = nextInstallation++;
    await append(installation, [
      invoice(1, '2026-01-15'),
      invoice(2, '2026-01-15', 12),
      invoice(3, '2026-01-15'),
      invoice(4, '2026-01-16', null),
      invoice(5, '2026-01-17'),
    ]);
    expect(await sumUp(installation, '2026-01-17')).toBe(3);
    const first = [
      'summary/2026-01-15-11/1: invoice/1/1 invoice/3/1',
      'summary/2026-01-15-12/1: invoice/2/1',
      'summary/2026-01-16-none/1: invoice/4/1',
    ];
    expect(await summaries(installation)).toEqual(first);
    expect(await sumUp(installation, '2026-01-17')).toBe(0);

    // Late entries, and a reversal on its entry's day.
    await append(installation, [invoice(6, '2026-01-15'), payment(1, '2026-01-16')]);
    await append(installation, [voided(invoice(1, '2026-01-15'), `${installation}/invoice/1/1`)]);
    expect(await sumUp(installation, '2026-01-18')).toBe(3);
    await append(installation, [payment(2, '2026-01-15')]);
    expect(await sumUp(installation, '2026-01-18')).toBe(1);
    expect(await summaries(installation)).toEqual([
      ...first,
      'summary/2026-01-15-11/2: invoice/6/1 invoice/1/2',
      'summary/2026-01-16-11/1: payment/1/1',
      'summary/2026-01-17-11/1: invoice/5/1',
      'summary/2026-01-15-11/3: payment/2/1',
    ]);
    expect(await numbered(installation)).toEqual([
      '2026-D-000001 Summary of 2026-01-15, department 11',
      '2026-D-000002 Summary of 2026-01-15, department 12',
      '2026-D-000003 Summary of 2026-01-16, no department',
      '2026-D-000004 Correction summary of 2026-01-15, department 11',
      '2026-D-000005 Summary of 2026-01-16, department 11',
      '2026-D-000006 Summary of 2026-01-17, department 11',
      '2026-D-000007 Correction summary of 2026-01-15, department 11',
    ]);
    expect(await verifyChain(db, installation)).toBeNull();
    expect(await summariesOf(db, [`${installation}/invoice/1/2`, `${installation}/invoice/404/1`])).toEqual(
      new Map([
        [`${installation}/invoice/1/2`, { id: `${installation}/summary/2026-01-15-11/2`, voucher: '2026-D-000004' }],
      ]),
    );
    expect(await e1(installation)).toEqual({ differences: [], unsummarised: [] });
  });

  it('never sums up an entry of mode document, whatever the mode is now, nor anything twice', async () => {
    const installation = nextInstallation++;
    await append(installation, [invoice(1, '2026-01-15')], 'document');
    await append(installation, [invoice(2, '2026-01-15')], 'daily_summary');
    // After the mode changes to document, waiting entries are still summarised, and new entries and reversals are
    // units.
    await append(installation, [invoice(3, '2026-01-15')], 'document');
    await append(installation, [voided(invoice(2, '2026-01-15'), `${installation}/invoice/2/1`)], 'document');
    await append(installation, [voided(invoice(1, '2026-01-15'), `${installation}/invoice/1/1`)], 'daily_summary');
    expect(await sumUp(installation, '2026-01-16')).toBe(1);
    expect(await summaries(installation)).toEqual(['summary/2026-01-15-11/1: invoice/2/1 invoice/1/2']);
    expect(codes(await exported(installation))).toEqual([
      'invoice/1/1',
      'invoice/3/1',
      'invoice/2/2',
      'summary/2026-01-15-11/1',
    ]);
    expect(await verifyChain(db, installation)).toBeNull();
    expect((await e1(installation)).differences).toEqual([]);
  });

  it('numbers vouchers without a gap in each fiscal year, also after a crash', async () => {
    const installation = nextInstallation++;
    const sumUpJuly = (before: string) =>
      summariseDays(transactionsOf(db), installation, { before, windowId: null, fiscalYearStart: 7 });
    await append(installation, [invoice(1, '2026-06-30'), invoice(2, '2026-07-01')]);
    await sumUpJuly('2026-07-02');
    await append(installation, [invoice(3, '2026-07-02')]);
    const options = { before: '2026-07-03', windowId: null, fiscalYearStart: 7 };
    const crashed = db.transaction(async (trx) => {
      await summariseBatch(trx, installation, options);
      throw new Error('crash');
    });
    await expect(crashed).rejects.toThrow('crash');
    await append(installation, [invoice(4, '2026-06-30')]);
    await Promise.all([sumUpJuly('2026-07-03'), sumUpJuly('2026-07-03')]);
    expect(await numbered(installation)).toEqual([
      '2025-D-000001 Summary of 2026-06-30, department 11',
      '2026-D-000001 Summary of 2026-07-01, department 11',
      '2025-D-000002 Correction summary of 2026-06-30, department 11',
      '2026-D-000002 Summary of 2026-07-02, department 11',
    ]);
  });

  it('lists the mappings of its entries, and a late document of an earlier VAT period apart', async () => {
    const installation = nextInstallation++;
    const late = { ...invoice(3, '2026-02-02'), documentDate: '2026-01-20' };
    const closed = { length: 'month', closedDays: [{ from: null, through: '2026-01-31' }] } as const;
    await append(installation, [invoice(1, '2026-02-02')], 'daily_summary', { mappingHash: 'aa11', vat: closed });
    await append(installation, [invoice(2, '2026-02-02'), late], 'daily_summary', { mappingHash: 'bb22', vat: closed });
    await sumUp(installation, '2026-02-03');
    expect(await numbered(installation)).toEqual([
      '2026-D-000001 Summary of 2026-02-02, department 11',
      '2026-D-000002 Correction summary of 2026-02-02, department 11, late for VAT 2026-01',
    ]);
    const ids = [1, 2].map((n) => `${installation}/summary/2026-02-02-11/${n}`);
    const found = await loadSummaries(db, ids);
    expect(found.map(({ record }) => record.mappings.map(({ hash }) => hash))).toEqual([['aa11', 'bb22'], ['bb22']]);
  });

  it('works in batches of whole days', async () => {
    const installation = nextInstallation++;
    const dates = ['2026-01-01', '2026-01-01', '2026-01-01', '2026-01-02', '2026-01-03', '2026-01-04'];
    await append(
      installation,
      dates.map((date, index) => invoice(index + 1, date)),
    );
    const batch = () =>
      db.transaction((trx) =>
        summariseBatch(trx, installation, { before: '2026-02-01', windowId: null, entriesPerBatch: 2 }),
      );
    const days = [];
    for (let made = await batch(); made.length > 0; made = await batch()) days.push(made.map(({ date }) => date));
    expect(days).toEqual([['2026-01-01'], ['2026-01-02', '2026-01-03'], ['2026-01-04']]);
  });

  it('is done once by workers that race, also while documents are being posted', async () => {
    const installation = nextInstallation++;
    const drafts = (from: number) => Array.from({ length: 40 }, (_, i) => invoice(from + i, `2026-01-0${1 + (i % 9)}`));
    await append(installation, drafts(1));
    const counts = await Promise.all([
      ...[1, 2, 3, 4].map(() => sumUp(installation, '2026-02-01')),
      append(installation, drafts(101)).then(() => 0),
      append(installation, drafts(201)).then(() => 0),
    ]);
    counts.push(await sumUp(installation, '2026-02-01'));
    const made = await summaries(installation);
    expect(made).toHaveLength(counts.reduce((sum, n) => sum + n, 0));
    const members = made.flatMap((line) => line.split(': ')[1]!.split(' '));
    expect(members).toHaveLength(120);
    expect(new Set(members).size).toBe(120);
    expect(await verifyChain(db, installation)).toBeNull();
  });

  it('takes a constant number of statements', async () => {
    const counts: number[] = [];
    for (const size of [1, 300]) {
      const installation = nextInstallation++;
      await append(
        installation,
        Array.from({ length: size }, (_, i) =>
          invoice(i + 1, `2026-01-${String(1 + (i % 28)).padStart(2, '0')}`, i % 7),
        ),
      );
      let count = 0;
      const counted = () => {
        count += 1;
      };
      db.on('query', counted);
      await db.transaction((trx) => summariseBatch(trx, installation, { before: '2026-02-01', windowId: null }));
      db.off('query', counted);
      counts.push(count);
    }
    expect(counts[1]).toBe(counts[0]);
  });
});

describe('summaries are immutable, and verified', () => {
  it.each([
    'update summary_entry set n = 9',
    'delete from summary_entry',
    'truncate summary_entry cascade',
    'update summary_line set amount = 1',
    'delete from summary_line',
    'truncate summary_line',
    `update summary_member set summary_id = 'x'`,
    'delete from summary_member',
    'truncate summary_member',
  ])('%s is refused', async (sql) => {
    await expect(execute(owner, sql)).rejects.toThrow(/never changed or deleted/);
    await expect(execute(db, sql)).rejects.toThrow(/permission denied/);
  });

  it('an entry cannot be in two summaries', async () => {
    const installation = nextInstallation++;
    await append(installation, [invoice(1, '2026-01-15')]);
    await sumUp(installation, '2026-01-16');
    await expect(
      execute(db, 'insert into summary_member (entry_id, summary_id) values (?, ?)', [
        `${installation}/invoice/1/1`,
        `${installation}/summary/2026-01-15-11/1`,
      ]),
    ).rejects.toThrow(/summary_member_pkey/);
  });

  const second = ':I/summary/2026-01-16-11/1';
  const tampered: [name: string, broken: string, sql: string][] = [
    ['a changed amount', second, `update summary_line set amount = 90 where summary_id = '${second}'`],
    [
      'a changed VAT base',
      second,
      `update summary_line set vat_base = 90 where summary_id = '${second}' and role = 'vat'`,
    ],
    ['a deleted line', second, `delete from summary_line where summary_id = '${second}' and line = 1`],
    ['another day', second, `update summary_entry set summary_date = '2026-01-20' where id = '${second}'`],
    ['a document taken out', second, `delete from summary_member where entry_id = ':I/invoice/2/1'`],
    [
      'a document moved',
      second,
      `update summary_member set summary_id = ':I/summary/2026-01-17-11/1' where entry_id = ':I/invoice/2/1'`,
    ],
    [
      'a summary taken out',
      ':I/summary/2026-01-17-11/1',
      `delete from summary_line where summary_id = '${second}'; delete from summary_member where summary_id = '${second}';
       delete from summary_entry where id = '${second}'`,
    ],
    [
      'an entry turned into a document of its own',
      ':I/invoice/2/1',
      `update entry set posting_mode = 'document' where id = ':I/invoice/2/1'`,
    ],
  ];
  it.each(tampered)('verify finds %s', async (_name, broken, sql) => {
    const installation = nextInstallation++;
    await append(installation, [
      invoice(1, '2026-01-15'),
      invoice(2, '2026-01-16'),
      invoice(3, '2026-01-16'),
      invoice(4, '2026-01-17'),
    ]);
    await sumUp(installation, '2026-01-18');
    expect(await verifyChain(db, installation)).toBeNull();
    await tamper(sql.replaceAll(':I', String(installation)));
    expect((await verifyChain(db, installation))?.entryId).toBe(broken.replace(':I', String(installation)));
  });
});

describe('reconcile', () => {
  async function twoDays(): Promise<number> {
    const installation = nextInstallation++;
    await append(installation, [invoice(1, '2026-01-15'), invoice(2, '2026-01-15'), invoice(3, '2026-01-16')]);
    await sumUp(installation, '2026-01-16');
    return installation;
  }
  const window = (installation: number, opened: string, outcome = 'closed') =>
    execute(
      db,
      `insert into sync_window (installation, kind, trigger, outcome, workflow_id, run_id, opened_at)
       values (?, 'window', 'test', ?, 'w', ?, ?)`,
      [installation, outcome, `${installation} ${opened}`, opened],
    );

  const cases: [name: string, differences: string[], sql: string][] = [
    ['sound summaries', [], 'select 1'],
    [
      'an amount that its entries do not have',
      ['summary summary/2026-01-15-11/1 0.01'],
      `update summary_line set amount = amount + 0.01 where summary_id like ':I/%' and role = 'revenue'`,
    ],
    [
      'a VAT base that its entries do not have',
      ['summary summary/2026-01-15-11/1 -1.00'],
      `update summary_line set vat_base = vat_base - 1 where summary_id like ':I/%' and role = 'vat'`,
    ],
    [
      'a VAT group under another rate',
      ['summary summary/2026-01-15-11/1 -48.00', 'summary summary/2026-01-15-11/1 48.00'],
      `update summary_line set vat_rate = 14 where summary_id like ':I/%' and role = 'vat'`,
    ],
    [
      'a payment type that its entries do not have',
      ['summary summary/2026-01-15-11/1 -200.00', 'summary summary/2026-01-15-11/1 200.00'],
      `update summary_line set payment_type = 1 where summary_id like ':I/%' and role = 'revenue'`,
    ],
    [
      'an entry of another day',
      ['entry invoice/2/1 124.00'],
      `update entry set entry_date = '2026-01-14' where id = ':I/invoice/2/1'`,
    ],
    [
      'an entry that goes by itself as well',
      ['entry invoice/2/1 124.00'],
      `update entry set posting_mode = 'document' where id = ':I/invoice/2/1'`,
    ],
  ];
  it.each(cases)('%s', async (_name, differences, sql) => {
    const installation = await twoDays();
    await tamper(sql.replaceAll(':I', String(installation)));
    expect((await e1(installation)).differences.toSorted()).toEqual(differences);
  });

  it('a day that is over but not summed up is listed until a window has closed since, and then a difference', async () => {
    const installation = await twoDays();
    const waiting = [{ date: '2026-01-16', entries: 1 }];
    expect(await e1(installation)).toEqual({ differences: [], unsummarised: waiting });
    await window(installation, '2026-01-16 23:00:00+02');
    await window(installation, '2999-01-01 00:00:00+02', 'failed');
    expect(await e1(installation)).toEqual({ differences: [], unsummarised: waiting });
    await window(installation, '2999-01-01 00:05:00+02');
    expect(await e1(installation)).toEqual({ differences: ['entry invoice/3/1 124.00'], unsummarised: waiting });
    await sumUp(installation, '2026-01-17');
    expect(await e1(installation)).toEqual({ differences: [], unsummarised: [] });
  });

  it('a day that is not over is never a difference', async () => {
    const installation = nextInstallation++;
    await append(installation, [invoice(1, '2999-12-31')]);
    await window(installation, '2999-12-31 23:59:00+02');
    expect(await e1(installation)).toEqual({ differences: [], unsummarised: [{ date: '2999-12-31', entries: 1 }] });
  });
});

const hasHledger = spawnSync('hledger', ['--version']).status === 0;
if (!hasHledger && process.env.CI === 'true') throw new Error('hledger is not installed');

function hledger(journal: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('hledger', ['-f', '-', ...args], { input: journal, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout;
}

describe('export', () => {
  const drafts = [
    invoice(1, '2026-01-15'),
    invoice(2, '2026-01-15', 11, '50.00'),
    payment(1, '2026-01-15'),
    payment(2, '2026-01-15', '62.00'),
    invoice(3, '2026-01-16', 12),
    invoice(4, '2026-02-01'),
  ];
  let summarised: number;
  let documented: number;
  beforeAll(async () => {
    summarised = nextInstallation++;
    documented = nextInstallation++;
    await append(summarised, drafts);
    await append(documented, drafts, 'document');
    await sumUp(summarised, '2026-02-01');
    await append(summarised, [payment(3, '2026-01-15', '1.00')]);
    await append(documented, [payment(3, '2026-01-15', '1.00')], 'document');
    await sumUp(summarised, '2026-02-01');
  });

  it('has summaries for documents, leaves out what waits and says how many', async () => {
    const unsummarised: number[] = [];
    const journal = await exported(summarised, { unsummarised });
    expect(unsummarised).toEqual([1]);
    expect(codes(journal)).toEqual(['summary/2026-01-15-11/1', 'summary/2026-01-15-11/2', 'summary/2026-01-16-12/1']);
    expect(await countUnsummarised(db, summarised, anyDay)).toBe(1);
    const january: number[] = [];
    await exported(summarised, { to: '2026-01-31', unsummarised: january });
    expect(january).toEqual([]);
  });

  it('has the sub-ledger with documents, as the other mode has', async () => {
    const unsummarised: number[] = [];
    const documents = await exported(summarised, { documents: true, unsummarised });
    expect(unsummarised).toEqual([]);
    const other = await exported(documented);
    expect(documents).toBe(other.replaceAll(`(${documented}/`, `(${summarised}/`));
  });

  it('reads, in hledger, as written by hand', async () => {
    const journal = await exported(summarised, { to: '2026-01-15' });
    const [one, two] = [`${summarised}/invoice/1/1`, `${summarised}/invoice/2/1`];
    const [paid, alsoPaid] = [`${summarised}/payment/1/1`, `${summarised}/payment/2/1`];
    expect(
      journal.slice(
        journal.indexOf('\n\n') + 2,
        journal.indexOf(`\n\n2026-01-15 (${summarised}/summary/2026-01-15-11/2)`),
      ),
    ).toBe(
      `2026-01-15 (${summarised}/summary/2026-01-15-11/1) Summary of 2026-01-15, department 11
    ; reason:daily_summary, entries:4, vat_period:2026-01, voucher:2026-D-000001
    1700:receivable  EUR 186.00  ; department:11, rule:R1, documents:${one} ${two}
    1910:card_clearing  EUR 186.00  ; department:11, payment_type:0, rule:R4, documents:${paid} ${alsoPaid}
    1700:receivable  EUR -186.00  ; department:11, payment_type:0, rule:R4, documents:${paid} ${alsoPaid}
    2930:vat  EUR -36.00  ; department:11, vat_group:General, vat_rate:24, vat_base:150.00, rule:R1, documents:${one} ${two}
    3000:revenue  EUR -150.00  ; department:11, dimension_1:SURG, vat_group:General, vat_rate:24, rule:R1, documents:${one} ${two}`,
    );
  });

  it('has each line’s documents as a column of CSV, and as metadata in beancount', async () => {
    const [head, ...records] = (await exported(summarised, { format: 'csv' })).trimEnd().split('\r\n');
    expect(head!.split(',').slice(-10)).toEqual([
      ...['documents', 'installation', 'line', 'amount'],
      ...['vat_period', 'late', 'voucher', 'mapping', 'recorded_at', 'window'],
    ]);
    expect(records).toHaveLength(5 + 2 + 3);
    expect(records[0]!.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, 'RECORDED')).toBe(
      `${summarised}/summary/2026-01-15-11/1,1,2026-01-15,,,daily_summary,,,"Summary of 2026-01-15, department 11",1700,receivable,EUR,186.00,,,,,,11,,,,,,,,,,,,,,,R1,,${summarised}/invoice/1/1 ${summarised}/invoice/2/1,${summarised},1,186.00,2026-01,,2026-D-000001,,RECORDED,`,
    );
    expect(records[5]).toContain(',correction_summary,,,"Correction summary of 2026-01-15, department 11",');
    // The base of a sale is negative, like its amount.
    expect(records.find((record) => record.includes(',vat,'))).toContain(',General,24,-150.00,');
    const beancount = await exported(summarised, { format: 'beancount' });
    expect(beancount).toContain(`    documents: "${summarised}/payment/3/1"\n`);
    expect(beancount).toContain('    vat_base: "150.00"\n');
  });

  it.skipIf(!hasHledger)('has the same balances and turnovers by hledger in both modes', async () => {
    const balances = (journal: string) => {
      hledger(journal, 'check', '--strict', 'ordereddates');
      return {
        balance: hledger(journal, 'balance', '--flat', '--empty', '--daily', '-O', 'csv'),
        debits: hledger(journal, 'balance', '--flat', '--empty', 'amt:>0', '-O', 'csv'),
        credits: hledger(journal, 'balance', '--flat', '--empty', 'amt:<0', '-O', 'csv'),
      };
    };
    const to = '2026-01-31';
    const inSummaries = balances(await exported(summarised, { to }));
    expect(inSummaries).toEqual(balances(await exported(documented, { to })));
    expect(inSummaries.debits).toContain('"1910:card_clearing","EUR 187.00"');
  });

  it.skipIf(!hasHledger)('is found by a document’s entry id', async () => {
    const journal = await exported(summarised);
    const found = hledger(journal, 'register', `tag:documents=${summarised}/invoice/2/1( |$)`, '-O', 'csv');
    expect(found.trim().split('\n')).toHaveLength(1 + 3);
  });
});
