import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DatevOptions, Sie4Options } from '../../../src/config/file-options.ts';
import { Money } from '../../../src/domain/money.ts';
import { csvFormat } from '../../../src/erp/targets/files/csv.ts';
import { datevColumns, datevFormat } from '../../../src/erp/targets/files/datev.ts';
import type { FileEntry } from '../../../src/erp/targets/files/file-entry.ts';
import type { FileFormat } from '../../../src/erp/targets/files/format.ts';
import { Contents } from '../../../src/erp/targets/files/manifest.ts';
import { sie4Format } from '../../../src/erp/targets/files/sie4.ts';
import { balancedEntry, decimal, entry, line, numbered } from './entries.ts';
import { entriesOfCsv, readCsvFile } from './readers/csv.ts';
import { entriesOfDatev, readDatev } from './readers/datev.ts';
import { balancesOf, cents, type ReadEntry } from './readers/entry.ts';
import { readSie } from './readers/sie.ts';

const sieOptions: Sie4Options = {
  companyName: 'Djursjukhuset "Åäö" AB',
  organisationNumber: '5566778899',
  declareAccounts: true,
  customerDimension: '8',
  batches: 'at_once',
};
const datevOptions: DatevOptions = {
  consultantNumber: '29098',
  clientNumber: '55003',
  accountLength: 4,
  fiscalYearMonth: '01',
  chart: '03',
  locked: false,
  cashAccounting: false,
  automaticAccounts: ['8400'],
  batches: 'at_once',
};
const createdAt = new Date('2026-02-03T04:05:06.789Z');
const csvOf = (dialect: 'international' | 'semicolon', dimensions: string[] = []) =>
  csvFormat({ dialect, currency: 'EUR', decimals: 2, dimensions });

/** Writes these entries to a file and its manifest. Entries that the format refuses are returned separately. */
function fileOf(format: FileFormat, entries: FileEntry[], number = 1) {
  const period = format.periodOf(entries[0]?.date ?? '2026-01-01');
  const [writer, contents] = [format.begin(), new Contents()];
  const pieces: Uint8Array[] = [];
  const refused = new Map<string, string[]>();
  for (const each of entries) {
    const written = writer.entry(each);
    if ('problems' in written) {
      refused.set(
        each.unitId,
        written.problems.map(({ code }) => code),
      );
      continue;
    }
    pieces.push(written.bytes);
    contents.add(each, written);
  }
  const head = writer.head({ installation: 4711, number, period, currency: 'EUR', createdAt });
  return { bytes: Buffer.concat([head, ...pieces]), refused, accounts: contents.accounts(2) };
}

const centsOf = ({ account, amount }: { account: string; amount: string }) => ({ account, amount: cents(amount) });

function expectedLines({ lines }: FileEntry) {
  return lines.map(({ account, side, amount }) => ({
    account,
    amount: cents(amount.toFixed(2)) * (side === 'debit' ? 1n : -1n),
  }));
}

/** Checks that the balances in the manifest equal those in the file. */
function checkManifest(accounts: ReturnType<Contents['accounts']>, read: ReadEntry[]) {
  const found = read.flatMap(({ lines }) => lines.map(centsOf));
  const told = Object.entries(accounts);
  expect(balancesOf(told.map(([account, { balance }]) => ({ account, amount: cents(balance) })))).toEqual(
    balancesOf(found),
  );
  for (const [account, { debit, credit }] of told) {
    const amounts = found.filter((each) => each.account === account).map(({ amount }) => amount);
    const side = (is: (amount: bigint) => boolean) => amounts.filter(is).reduce((left, amount) => left + amount, 0n);
    expect([cents(debit), -cents(credit)]).toEqual([side((amount) => amount > 0n), side((amount) => amount < 0n)]);
  }
}

const inJanuary = fc
  .array(balancedEntry({ from: '2026-01-01', through: '2026-01-31' }), { maxLength: 6 })
  .map(numbered);
const anyDay = fc.array(balancedEntry({ from: '2025-01-01', through: '2027-12-31' }), { maxLength: 6 }).map(numbered);

describe('csv', () => {
  it.each(['international', 'semicolon'] as const)('%s: random entries come back line by line', (dialect) => {
    fc.assert(
      fc.property(anyDay, (entries) => {
        const { bytes, refused, accounts } = fileOf(csvOf(dialect), entries);
        const read = entriesOfCsv(readCsvFile(bytes, dialect), dialect);
        expect(refused.size).toBe(0);
        expect(read.map(({ unit, key, date }) => ({ unit, key, date }))).toEqual(
          entries.map(({ unitId: unit, key, date }) => ({ unit, key, date })),
        );
        expect(read.map(({ lines }) => lines.map(centsOf))).toEqual(entries.map(expectedLines));
        checkManifest(accounts, read);
      }),
    );
  });

  it('has a column for each fact of the books', () => {
    const party = { code: '4711/client/5', name: 'Hund & Katze; GmbH', vatNumber: 'DE1', countryCode: 'DE' };
    const sale = entry(1001, [
      line('1700', 'receivable', '124.00', {
        party,
        documentNumber: 'A-1001',
        dueDate: '2026-01-29',
        bankReference: 'RF18',
      }),
      line('3000', 'revenue', '-100.00', { dimensions: { 'Cost centre': '7' }, departmentId: 11 }),
      line('2930', 'vat', '-24.00', {
        ...{ vatGroup: 'General', vatRate: new Money('25.5'), vatCode: 'S25', vatBase: new Money('-100') },
      }),
    ]);
    const rows = readCsvFile(fileOf(csvOf('semicolon', ['Cost centre']), [sale]).bytes, 'semicolon');
    expect(rows[0]).toMatchObject({
      ...{ installation: '4711', unit: '4711/invoice/1001/1', line: '1', date: '2026-01-15', journal: 'SALES' },
      ...{
        document_date: '2026-01-15',
        account: '1700',
        role: 'receivable',
        debit: '124,00',
        credit: '',
        amount: '124,00',
      },
      ...{
        currency: 'EUR',
        party: '4711/client/5',
        party_name: 'Hund & Katze; GmbH',
        vat_number: 'DE1',
        country: 'DE',
      },
      ...{ document_number: 'A-1001', due_date: '2026-01-29', bank_reference: 'RF18', reverses: '', department: '' },
    });
    expect(rows[1]).toMatchObject({ credit: '100,00', amount: '-100,00', department: '11', 'Cost centre': '7' });
    expect(rows[2]).toMatchObject({
      ...{ vat_group: 'General', vat_rate: '25,5', vat_code: 'S25', vat_base: '-100,00', 'Cost centre': '' },
    });
  });

  it.each(['international', 'semicolon'] as const)(
    '%s: no cell is a formula, and no line ends within one',
    (dialect) => {
      const hostile = '=HYPERLINK("http://x";"y")|+1\r\n@SUM(A1)\t-2';
      const sale = entry(1, [
        line('1700', 'receivable', '1.00', { description: hostile, vatGroup: '＝1', documentNumber: '-1+2' }),
        line('3000', 'revenue', '-1.00', { bankReference: ';=1', documentNumber: '-12' }),
      ]);
      const [first, second] = readCsvFile(fileOf(csvOf(dialect), [sale]).bytes, dialect);
      expect(first).toMatchObject({
        ...{
          description: '\'=HYPERLINK("http://x";"y")|\'+1\\r\\n@SUM(A1)\\t-2',
          vat_group: "'＝1",
          document_number: "'-1+2",
        },
      });
      expect(second).toMatchObject({ bank_reference: ";'=1", document_number: '-12' });
    },
  );
});

describe('SIE 4', () => {
  it('random entries come back line by line', () => {
    fc.assert(
      fc.property(anyDay, (entries) => {
        const { bytes, refused, accounts } = fileOf(sie4Format(sieOptions), entries);
        const { vouchers, items } = readSie(bytes);
        expect(refused.size).toBe(0);
        expect(vouchers.map(({ unit, key, date }) => ({ unit, key, date }))).toEqual(
          entries.map(({ unitId: unit, key, date }) => ({ unit, key, date })),
        );
        expect(vouchers.map(({ lines }) => lines.map(centsOf))).toEqual(entries.map(expectedLines));
        checkManifest(accounts, vouchers);
        const declared = new Set((items.get('#OBJEKT') ?? []).map(([dimension, object]) => `${dimension} ${object}`));
        for (const { objects } of vouchers) {
          for (const [dimension, object] of objects.filter(({ length }) => length > 0)) {
            expect(declared).toContain(`${dimension} ${object}`);
          }
        }
      }),
    );
  });

  it('declares what it uses, in code page 437, in the order of the format', () => {
    const sale = entry(
      1001,
      [
        line('1510', 'receivable', '125.00', {
          party: { code: '4711/client/5', name: 'Bo "Bosse" Åkesson – Łódź 🐈', vatNumber: null, countryCode: null },
        }),
        line('3001', 'revenue', '-100.00', { dimensions: { 1: '7', 6: 'Häst' } }),
        line('2611', 'vat', '-25.00'),
      ],
      { description: 'Faktura {1001} \\ "Åäö"\r\n#VER', journal: 'F' },
    );
    const { bytes } = fileOf(sie4Format(sieOptions), [sale]);
    // The letters Å, ä and ö in code page 437, worked out by hand.
    expect(bytes.includes(Buffer.from([0x8f, 0x84, 0x94]))).toBe(true);
    const { items, vouchers } = readSie(bytes);
    expect([...items]).toEqual([
      ['#FLAGGA', [['0']]],
      ['#PROGRAM', [['vetledger', '1']]],
      ['#FORMAT', [['PC8']]],
      ['#GEN', [['20260203']]],
      ['#SIETYP', [['4']]],
      ['#ORGNR', [['556677-8899']]],
      ['#FNAMN', [['Djursjukhuset "Åäö" AB']]],
      ['#VALUTA', [['EUR']]],
      [
        '#KONTO',
        [
          ['1510', 'receivable'],
          ['2611', 'vat'],
          ['3001', 'revenue'],
        ],
      ],
      [
        '#DIM',
        [
          ['1', 'Kostnadsställe'],
          ['6', 'Projekt'],
          ['8', 'Kund'],
        ],
      ],
      [
        '#OBJEKT',
        [
          ['1', '7', '7'],
          ['6', 'Häst', 'Häst'],
          ['8', '4711/client/5', 'Bo "Bosse" Åkesson - Lódz ?'],
        ],
      ],
    ]);
    expect(vouchers).toMatchObject([
      {
        ...{ series: 'F', number: '', date: '2026-01-15', unit: '4711/invoice/1001/1' },
        title: '4711/invoice/1001/1 Faktura (1001) / "Åäö" #VER KEYAAAAAAAAAAAAA1001',
        objects: [['8', '4711/client/5'], ['1', '7', '6', 'Häst'], []],
      },
    ]);
  });

  it('declares no accounts and no customers where that is not wanted', () => {
    const party = { code: 'C', name: 'Bo', vatNumber: null, countryCode: null };
    const sale = entry(1, [line('1510', 'receivable', '1.00', { party }), line('3001', 'revenue', '-1.00')]);
    const options = { ...sieOptions, declareAccounts: false, customerDimension: null, organisationNumber: null };
    const { items } = readSie(fileOf(sie4Format(options), [sale]).bytes);
    expect([...items.keys()]).toEqual(['#FLAGGA', '#PROGRAM', '#FORMAT', '#GEN', '#SIETYP', '#FNAMN', '#VALUTA']);
  });

  it('refuses accounts and dimensions that the format cannot name', () => {
    const sale = (id: number, account: string, dimensions = {}) =>
      entry(id, [line('1510', 'receivable', '1.00'), line(account, 'revenue', '-1.00', { dimensions })]);
    const { refused } = fileOf(sie4Format(sieOptions), [
      sale(1, '30A'),
      sale(2, '3001', { Kostnadsställe: '1' }),
      sale(3, '3001', { 1: 'я' }),
      sale(4, '3001', { 1: 'å' }),
    ]);
    expect([...refused]).toEqual([
      ['4711/invoice/1/1', ['erp_account_unknown']],
      ['4711/invoice/2/1', ['erp_dimension_unknown']],
      ['4711/invoice/3/1', ['erp_dimension_unknown']],
    ]);
  });
});

describe('DATEV', () => {
  it('random entries come back per account, to the cent, or are refused', () => {
    let told = 0;
    fc.assert(
      fc.property(inJanuary, (entries) => {
        const { bytes, refused, accounts } = fileOf(datevFormat(datevOptions, 'EUR'), entries);
        const read = entriesOfDatev(readDatev(bytes));
        const expected = entries.filter(({ unitId }) => !refused.has(unitId));
        told += expected.length;
        expect(read.map(({ unit, key, date }) => ({ unit, key, date }))).toEqual(
          expected.map(({ unitId: unit, key, date }) => ({ unit, key, date })),
        );
        expect(read.map(({ lines }) => balancesOf(lines.map(centsOf)))).toEqual(
          expected.map((each) => balancesOf(expectedLines(each))),
        );
        checkManifest(accounts, read);
        for (const { unitId, lines } of entries) {
          if (refused.has(unitId)) expect(refused.get(unitId)).toEqual(['erp_not_in_pairs']);
          // An account that is on one line only identifies its entry.
          const isAlone = lines.some(({ account }) => lines.filter((each) => each.account === account).length === 1);
          if (isAlone) expect(refused.has(unitId)).toBe(false);
        }
      }),
    );
    expect(told).toBeGreaterThan(50);
  });

  const buyer = { code: '4711/client/5', name: 'Bauer', vatNumber: 'AT U1234 5678', countryCode: 'AT' };
  const sale = entry(
    1001,
    [
      line('10000', 'receivable', '224.00', {
        documentNumber: 'RÄ 1/1001',
        dueDate: '2026-02-28',
        bankReference: 'RF 18',
      }),
      line('8400', 'revenue', '-100.00', { dimensions: { KOST1: '7', Tier: 'Pferd' } }),
      line('1776', 'vat', '-24.00', { description: `Steuer "Ł" 🐈 ${'x'.repeat(80)}` }),
      line('8125', 'revenue', '-100.00', { party: buyer, vatGroup: 'EU', vatRate: new Money(0) }),
    ],
    { date: '2026-01-31', documentDate: '2026-01-30' },
  );

  it('pairs every line with the only line that is not a sale, with the facts of both', () => {
    const { head, columns, rows } = readDatev(fileOf(datevFormat(datevOptions, 'EUR'), [sale], 12).bytes);
    expect(head).toEqual([
      ...[
        'EXTF',
        '700',
        '21',
        'Buchungsstapel',
        '13',
        '20260203040506789',
        '',
        'RE',
        'vetledger',
        '',
        '29098',
        '55003',
      ],
      ...['20260101', '4', '20260101', '20260131', 'vetledger 4711-000012', '', '1', '0', '0', 'EUR', '', '', '', ''],
      ...['03', '', '', '', 'vetledger'],
    ]);
    expect(columns).toEqual(datevColumns);
    const common = {
      ...{
        side: 'S',
        currency: 'EUR',
        account: '10000',
        date: '3101',
        number: 'RA-1/1001',
        dueDate: '28022026',
        locked: '0',
      },
      additional: {
        ...{
          vetledger: '4711/invoice/1001/1',
          'vetledger key': 'KEYAAAAAAAAAAAAA1001',
          Datum: '2026-01-30',
          Referenz: 'RF 18',
        },
      },
    };
    const text = `Steuer "L" ? ${'x'.repeat(80)}`.slice(0, 60);
    expect(rows).toEqual([
      {
        ...common,
        ...{ amount: '100.00', contraAccount: '8400', buKey: '40', costCentres: ['7', ''], vatNumber: '' },
        ...{ text: 'Invoice 1001', additional: { ...common.additional, Tier: 'Pferd' } },
      },
      { ...common, amount: '24.00', contraAccount: '1776', buKey: '', costCentres: ['', ''], vatNumber: '', text },
      {
        ...common,
        ...{ amount: '100.00', contraAccount: '8125', buKey: '', costCentres: ['', ''], vatNumber: 'ATU12345678' },
        text: 'Invoice 1001',
      },
    ]);
  });

  it('begins the fiscal year before the month', () => {
    const yearOf = (month: string) => {
      const options = { ...datevOptions, fiscalYearMonth: '07', locked: true, chart: null };
      const { head } = readDatev(fileOf(datevFormat(options, 'EUR'), [{ ...sale, date: `${month}-28` }]).bytes);
      return [head[12], head[14], head[15], head[20], head[26]];
    };
    expect(yearOf('2026-06')).toEqual(['20250701', '20260601', '20260630', '1', '']);
    expect(yearOf('2026-07')).toEqual(['20260701', '20260701', '20260731', '1', '']);
    expect(yearOf('2028-02')).toEqual(['20270701', '20280201', '20280229', '1', '']);
  });

  it.each([
    [
      'an account with letters',
      [
        ['17A', '1.00'],
        ['3000', '-1.00'],
      ],
      ['erp_account_unknown'],
    ],
    [
      'an account that is too long',
      [
        ['170000', '1.00'],
        ['3000', '-1.00'],
      ],
      ['erp_account_unknown'],
    ],
    [
      'one account on both sides',
      [
        ['2400', '1.00'],
        ['2400', '-1.00'],
      ],
      ['erp_not_in_pairs'],
    ],
    [
      'ten digits and one more',
      [
        ['1700', '10000000000.00'],
        ['3000', '-10000000000.00'],
      ],
      ['erp_too_large'],
    ],
    [
      'the same account on both sides beside another',
      [
        ['3000', '1.00'],
        ['3000', '-3.00'],
        ['1700', '2.00'],
      ],
      undefined,
    ],
    [
      'every account twice',
      [
        ['1', '1.00'],
        ['1', '2.00'],
        ['2', '-2.50'],
        ['2', '-0.50'],
      ],
      undefined,
    ],
  ] as const)('%s', (_, lines, problems) => {
    const each = entry(
      1,
      lines.map(([account, amount]) => line(account, 'other_clearing', amount)),
    );
    const { refused, bytes } = fileOf(datevFormat(datevOptions, 'EUR'), [each]);
    expect(refused.get(each.unitId)).toEqual(problems);
    const read = entriesOfDatev(readDatev(bytes));
    expect(balancesOf(read.flatMap((found) => found.lines.map(centsOf)))).toEqual(
      problems ? {} : balancesOf(expectedLines(each)),
    );
  });

  it('erp check reports names that the format cannot hold', () => {
    const words = {
      accounts: [{ account: '1700' }, { account: '17A' }, { account: '170000' }],
      dimensions: [
        { theirs: 'KOST1', values: ['7', 'я'] },
        { theirs: 'Tier', values: ['я'] },
      ],
    };
    const codes = (format: FileFormat) => format.problemsOf(words).map(({ code }) => code);
    const [account, dimension] = ['erp_account_unknown', 'erp_dimension_unknown'];
    expect(codes(datevFormat(datevOptions, 'EUR'))).toEqual([account, account, dimension]);
    expect(codes(sie4Format(sieOptions))).toEqual([account, dimension, dimension, dimension, dimension]);
    expect(codes(csvOf('international'))).toEqual([]);
  });

  it('a difference of a cent in one row is noticed', () => {
    // The change shows that the readers find differences.
    const bytes = fileOf(datevFormat(datevOptions, 'EUR'), [sale]).bytes;
    const wrong = Buffer.from(bytes.toString('latin1').replace('\r\n24,00;', '\r\n24,01;'), 'latin1');
    const [found] = entriesOfDatev(readDatev(wrong));
    expect(balancesOf(found!.lines.map(centsOf))).not.toEqual(balancesOf(expectedLines(sale)));
    expect(decimal(-2401n)).toBe('-24.01');
  });
});
