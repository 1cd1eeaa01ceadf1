import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';
import { integer } from '../../../src/db/columns.ts';
import { row } from '../../../src/db/rows.ts';
import type { LedgerEntry } from '../../../src/domain/entry.ts';
import { Money } from '../../../src/domain/money.ts';
import { type ExportFormatName, type ExportInstallation, exportEntries } from '../../../src/ledger/export/export.ts';
import { accountType, exportedUnit } from '../../../src/ledger/export/exported-unit.ts';
import { appendEntries } from '../../../src/ledger/journal/append-entries.ts';
import type { LineRole } from '../../../src/terms.ts';
import { useDatabase } from '../../support/database.ts';
import { draft, party } from '../drafts.ts';

// hledger is the independent oracle. If all tests are required, it must be installed.
const hasHledger = spawnSync('hledger', ['--version']).status === 0;
if (!hasHledger) {
  if (process.env.CI === 'true')
    throw new Error('hledger is not installed, and the export cannot be proved without it');
  console.warn('hledger is not installed: the tests that need it are skipped');
}

const helsinki: ExportInstallation = { id: 4711, name: 'Eläinklinikka "Haukka"', currency: 'EUR', decimals: 2 };
const osaka: ExportInstallation = { id: 12, currency: 'JPY', decimals: 0 };
const kuwait: ExportInstallation = { id: 13, currency: 'KWD', decimals: 3 };
const anyDay = { from: null, to: null };
const nasty = 'Ärla, "Söner"; [2026-01-01] date:2020-01-01\n=1+1\u2028| end';

const { db } = useDatabase();

beforeAll(async () => {
  await db.transaction(async (trx) => {
    const options = { windowId: null };
    await appendEntries(
      trx,
      helsinki.id,
      [
        draft({
          kind: 'invoice',
          id: 1001,
          date: '2026-01-15',
          description: `Invoice A-1 ${nasty}`,
          lines: [
            [
              '1700',
              'receivable',
              '181.00',
              {
                party: { code: 'client:5', name: nasty, vatNumber: 'FI1', countryCode: 'FI' },
                departmentId: 11,
                invoiceId: 1001,
                documentNumber: 'A-1',
                dueDate: '2026-01-29',
                bankReference: 'RF18',
              },
            ],
            ['3000', 'revenue', '-100.00', { dimensions: ['SURG', null, null] }],
            ['3010', 'revenue', '-50.00'],
            ['2930', 'vat', '-24.00', { vat: { group: 'General', rate: new Money(24), base: new Money(100) } }],
            ['2930', 'vat', '-7.00', { vat: { group: 'Reduced', rate: new Money(14), base: new Money(50) } }],
          ],
        }),
        draft({
          kind: 'payment',
          id: 9,
          date: '2026-02-01',
          documentDate: '2026-01-31',
          lines: [
            ['1910', 'card_clearing', '100.00', { paymentType: 0 }],
            ['1700', 'receivable', '-100.00', { paymentType: 0, invoiceId: 1001, party: party(5) }],
          ],
        }),
        draft({
          kind: 'payment',
          id: 10,
          date: '2026-01-20',
          lines: [
            ['1910', 'mobile_clearing', '81.00', { paymentType: 7 }],
            ['1700', 'receivable', '-81.00', { paymentType: 7 }],
          ],
        }),
        draft({
          kind: 'invoice',
          id: 1002,
          date: '2026-03-01',
          lines: [
            ['17:00 (a);b  c%', 'receivable', '5.00'],
            ['*3000', 'revenue', '-5.00'],
          ],
        }),
      ],
      { ...options, decimals: 2 },
    );
    const small = (amount: string) =>
      draft({
        kind: 'invoice',
        id: 1,
        date: '2026-01-01',
        lines: [
          ['1700', 'receivable', amount],
          ['3000', 'revenue', `-${amount}`],
        ],
      });
    await appendEntries(trx, osaka.id, [small('1000')], { ...options, decimals: 0 });
    await appendEntries(trx, kuwait.id, [small('1.005')], { ...options, decimals: 3 });
  });
});

/** Removes the last lines, which name the exported books; test/hostile/rewritten-books.test.ts tests them. */
const withoutHeads = (text: string) => text.replace(/\n(; vetledger export .*\n)+$/, '');

async function exported(
  format: ExportFormatName,
  installations: ExportInstallation[],
  range: { from: string | null; to: string | null } = anyDay,
): Promise<string> {
  let text = '';
  for await (const piece of exportEntries(db, { format, installations, range })) text += piece;
  return withoutHeads(text);
}

function hledger(journal: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('hledger', ['-f', '-', ...args], { input: journal, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout;
}

describe.skipIf(!hasHledger)('hledger', () => {
  it('accepts the journal, accounts and commodities declared', async () => {
    const journal = await exported('hledger', [helsinki, osaka, kuwait]);
    hledger(journal, 'check');
    hledger(journal, 'check', '--strict');
  });

  it('has the trial balance per account number, in each currency with its decimals', async () => {
    const journal = await exported('hledger', [helsinki, osaka, kuwait], { from: null, to: '2026-02-28' });
    const rows = hledger(journal, 'balance', '--depth', '1', '--flat', '--empty', '--no-total', '-O', 'csv');
    expect(rows.trim().split('\n').slice(1)).toEqual([
      '"1700","JPY 1000, KWD 1.005"',
      '"1910","EUR 181.00"',
      '"2930","EUR -31.00"',
      '"3000","EUR -100.00, JPY -1000, KWD -1.005"',
      '"3010","EUR -50.00"',
    ]);
  });

  it('knows the kinds of accounts: what was earned, and what is owned', async () => {
    const journal = await exported('hledger', [helsinki]);
    expect(hledger(journal, 'accounts', 'type:r')).toBe('%2A3000:revenue\n3000:revenue\n3010:revenue\n');
  });

  it.each([
    ['from and to are inclusive', '2026-01-20', '2026-02-01', ['4711/payment/10/1', '4711/payment/9/1']],
    ['from alone', '2026-02-01', null, ['4711/payment/9/1', '4711/invoice/1002/1']],
    ['to alone', null, '2026-01-15', ['4711/invoice/1001/1']],
    ['nothing', '2030-01-01', null, []],
  ])('%s', async (_name, from, to, codes) => {
    const journal = await exported('hledger', [helsinki], { from, to });
    hledger(journal, 'check', '--strict');
    const printed = hledger(journal, 'print');
    expect([...printed.matchAll(/\((4711\/\S+)\)/g)].map((match) => match[1])).toEqual(codes);
  });

  it('finds entries by their tags, whatever characters are in the values', async () => {
    const journal = await exported('hledger', [helsinki]);
    const byTag = (tag: string) => hledger(journal, 'print', `tag:${tag}`).match(/^\d.*$/gm)?.length ?? 0;
    expect(byTag('document=^invoice/1001$')).toBe(1);
    expect(byTag('document_date=2026-01-31')).toBe(1);
    expect(byTag('bank_reference=^RF18$')).toBe(1);
    expect(byTag('vat_group=^Reduced$')).toBe(1);
    expect(byTag('payment_type=^7$')).toBe(1);
    expect(byTag('party=^client:5$')).toBe(2);
    // hledger would move the posting if a value contained a date.
    const register = hledger(journal, 'register', '1700', '-O', 'csv').trim().split('\n').slice(1);
    expect(register.map((row) => row.split('"')[3])).toEqual(['2026-01-15', '2026-01-20', '2026-02-01']);
  });
});

describe('the text', () => {
  it('of an hledger entry', async () => {
    const journal = await exported('hledger', [helsinki], { from: '2026-02-01', to: '2026-02-01' });
    expect(journal).toBe(
      `decimal-mark .
commodity EUR 1000.00
account 1700:receivable  ; type:A
account 1910:card_clearing  ; type:A

2026-02-01 (4711/payment/9/1) payment 9
    ; document:payment/9, document_date:2026-01-31, reason:posted, vat_period:2026-01, voucher:2026-P-000001
    1910:card_clearing  EUR 100.00  ; payment_type:0, rule:R1, mapped_by:roles.card_clearing
    1700:receivable  EUR -100.00  ; party:client:5, party_name:Client 5, country:FI, invoice:1001, payment_type:0, rule:R1, mapped_by:roles.receivable
`,
    );
  });

  it('of a beancount entry', async () => {
    const ledger = await exported('beancount', [helsinki], { from: '2026-02-01', to: '2026-02-01' });
    expect(ledger).toBe(
      `option "title" "Books of 4711 (Eläinklinikka \\"Haukka\\")"
option "operating_currency" "EUR"

2026-02-01 open Assets:1700:Receivable EUR
2026-02-01 open Assets:1910:Card-clearing EUR

2026-02-01 * "payment 9" ^4711/payment/9/1
  code: "4711/payment/9/1"
  document: "payment/9"
  document_date: "2026-01-31"
  reason: "posted"
  vat_period: "2026-01"
  voucher: "2026-P-000001"
  Assets:1910:Card-clearing  100.00 EUR
    payment_type: "0"
    rule: "R1"
    mapped_by: "roles.card_clearing"
  Assets:1700:Receivable  -100.00 EUR
    party: "client:5"
    party_name: "Client 5"
    country: "FI"
    invoice: "1001"
    payment_type: "0"
    rule: "R1"
    mapped_by: "roles.receivable"
`,
    );
  });

  it('of CSV: one record per line, quoted, and no formula for a spreadsheet', async () => {
    const [head, ...records] = (await exported('csv', [helsinki])).split('\r\n');
    expect(head).toMatch(/^entry,seq,date,document_date,document,reason,/);
    expect(records).toHaveLength(12);
    // The time of recording is the machine's.
    expect(records[6]?.replace(/[^,]+Z,$/, 'now,')).toBe(
      '4711/payment/10/1,3,2026-01-20,2026-01-20,payment/10,posted,,,payment 10,1700,receivable,EUR,,81.00,,,,,,,,,,,,,7,,,,,,,R1,roles.receivable,,4711,2,-81.00,2026-01,,2026-P-000002,,now,',
    );
    const csvOnly = (await exported('csv', [{ ...helsinki }])).includes('"Ärla, ""Söner""; [2026-01-01]');
    expect(csvOnly).toBe(true);
  });

  it.each([
    ['receivables', { receivable: 'Client 7', prepayment_liability: 'Client 7', card_clearing: null, revenue: null }],
    [
      'all',
      { receivable: 'Client 7', prepayment_liability: 'Client 7', card_clearing: 'Client 7', revenue: 'Client 7' },
    ],
  ] as const)('names a private person with names: %s, and a company on every line', (names, shown) => {
    const person = party(7);
    const company = { code: 'client:8', name: 'Tallit Oy', vatNumber: 'FI1', countryCode: 'FI' };
    for (const [role, name] of Object.entries(shown) as [LineRole, string | null][]) {
      for (const [of, asked] of [
        [person, name],
        [company, 'Tallit Oy'],
      ] as const) {
        const entry = draft({
          kind: 'payment',
          id: 1,
          date: '2026-01-01',
          lines: [['1', role, '1.00', { party: of }]],
        });
        const posting = { ...entry, id: '1/payment/1/1', seq: 1, postingMode: 'document' } as unknown as LedgerEntry;
        const [line] = exportedUnit({ kind: 'entry', posting }, 2, names).lines;
        const facts = new Map(line!.facts);
        expect([role, facts.get('party'), facts.get('party_name') ?? null]).toEqual([role, of.code, asked]);
      }
    }
  });

  it('defuses what a spreadsheet would run', async () => {
    const evil = 99;
    await db.transaction((trx) =>
      appendEntries(
        trx,
        evil,
        [
          draft({
            kind: 'invoice',
            id: 1,
            date: '2026-01-01',
            description: '=HYPERLINK("http://example.org")',
            lines: [
              ['1700', 'receivable', '1.00', { dimensions: ['-5', '+x', null] }],
              ['3000', 'revenue', '-1.00'],
            ],
          }),
        ],
        { decimals: 2, windowId: null },
      ),
    );
    const text = await exported('csv', [{ id: evil, currency: 'EUR', decimals: 2 }]);
    expect(text).toContain(`"'=HYPERLINK(""http://example.org"")"`);
    expect(text).toContain(`,-5,'+x,`);
  });
});

describe('streaming', () => {
  it('comes in the order of entry dates, in pieces, and ends its snapshot when the reader stops', async () => {
    const many = 1234;
    await db.transaction((trx) =>
      appendEntries(
        trx,
        many,
        Array.from({ length: 1201 }, (_, index) =>
          draft({
            kind: 'payment',
            id: index + 1,
            date: `2026-01-${String(28 - (index % 28)).padStart(2, '0')}`,
            lines: [
              ['1910', 'cash', '1.00'],
              ['1700', 'receivable', '-1.00'],
            ],
          }),
        ),
        { decimals: 2, windowId: null },
      ),
    );
    const text = await exported('csv', [{ id: many, currency: 'EUR', decimals: 2 }]);
    const dates = text
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((record) => record.split(',')[2]!);
    expect(dates).toHaveLength(2402);
    expect(dates).toEqual(dates.toSorted());

    const pieces = exportEntries(db, {
      format: 'csv',
      installations: [{ id: many, currency: 'EUR', decimals: 2 }],
      range: anyDay,
    });
    await pieces.next();
    await pieces.next();
    await pieces.return(undefined);
    const { n } = await row(
      db,
      { n: integer },
      `select count(*) as n from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
    );
    expect(n).toBe(0);
  });
});

it.each<[role: LineRole, type: string]>([
  ['vat', 'liability'],
  ['vat_not_due', 'liability'],
  ['opening_vat_not_due', 'liability'],
  ['prepayment_vat', 'asset'],
  ['prepayment_liability', 'liability'],
  ['receivable', 'asset'],
])('an account of the role %s is a %s', (role, type) => {
  expect(accountType(role)).toBe(type);
});
