// DATEV tax keys. A separate reader computes in whole cents what the rows post; this must equal the entry on each account.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DatevOptions } from '../../../src/config/file-options.ts';
import { Money, sum } from '../../../src/domain/money.ts';
import { datevFormat } from '../../../src/erp/targets/files/datev.ts';
import type { FileEntry, FileLine } from '../../../src/erp/targets/files/file-entry.ts';
import { runs } from '../../support/runs.ts';
import { entry, line } from './entries.ts';
import { entriesOfDatev, readDatev } from './readers/datev.ts';

const options: DatevOptions = {
  ...{ consultantNumber: '29098', clientNumber: '55003', accountLength: 4, fiscalYearMonth: '01', chart: '03' },
  ...{ locked: false, cashAccounting: false, automaticAccounts: [], batches: 'at_once' },
};

function written(lines: FileLine[], more: Partial<DatevOptions> = {}) {
  const own = { ...options, ...more };
  const writer = datevFormat(own, 'EUR').begin();
  const found = writer.entry(entry(1, lines) as FileEntry);
  if ('problems' in found) throw new Error(JSON.stringify(found.problems));
  const head = writer.head({
    installation: 1,
    number: 1,
    period: '2026-01',
    currency: 'EUR',
    createdAt: new Date('2026-02-03'),
  });
  const file = readDatev(Buffer.concat([head, found.bytes]));
  const read = entriesOfDatev(file, own.automaticAccounts)[0]!;
  return { rows: file.rows, posted: balances(read.lines), manifest: balances(found.posted) };
}

/** Balance per account in cents; accounts without a balance are left out. */
function balances(lines: readonly { account: string; amount: string | Money }[]): Record<string, string> {
  const totals = new Map<string, Money>();
  for (const { account, amount } of lines)
    totals.set(account, (totals.get(account) ?? new Money(0)).plus(new Money(amount)));
  const kept = [...totals].filter(([, total]) => !total.isZero()).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(kept.map(([account, total]) => [account, total.toFixed(2)]));
}

const ofLines = (lines: readonly FileLine[]) =>
  balances(
    lines.map(({ account, side, amount }) => ({ account, amount: side === 'debit' ? amount : amount.negated() })),
  );

const general = { vatGroup: 'USt 19 %', vatRate: new Money(19), vatCode: '3' };
const reduced = { vatGroup: 'USt 7 %', vatRate: new Money(7), vatCode: '2' };
const net = (amount: string, facts = general, account = '8200') => line(account, 'revenue', amount, facts);
const vat = (amount: string, facts = general, account = facts === general ? '1776' : '1771') =>
  line(account, 'vat', amount, facts);

/** Rows as `amount side account/contra account key`. */
const cases: [what: string, FileLine[], Partial<DatevOptions>, rows: string[]][] = [
  [
    'a sale at 19 % and one at 7 %',
    [
      line('1400', 'receivable', '226.00'),
      net('-100.00'),
      vat('-19.00'),
      net('-100.00', reduced),
      vat('-7.00', reduced),
    ],
    {},
    ['119.00 S 1400/8200 3', '107.00 S 1400/8200 2'],
  ],
  [
    'SKR04',
    [line('1200', 'receivable', '119.00'), net('-100.00', general, '4200'), vat('-19.00', general, '3806')],
    { chart: '04' },
    ['119.00 S 1200/4200 3'],
  ],
  [
    'accounts with more digits',
    [line('140000', 'receivable', '119.00'), net('-100.00', general, '820000'), vat('-19.00', general, '177600')],
    { accountLength: 6 },
    ['119.00 S 140000/820000 3'],
  ],
  [
    'an automatic account of the chart computes the tax without a key',
    [line('1400', 'receivable', '119.00'), net('-100.00', general, '8400'), vat('-19.00')],
    { automaticAccounts: ['8400'] },
    ['119.00 S 1400/8400 '],
  ],
  [
    'the rate of another automatic account is not known: its tax is turned off',
    [line('1400', 'receivable', '119.00'), net('-100.00', general, '8410'), vat('-19.00')],
    { automaticAccounts: ['8410'] },
    ['100.00 S 1400/8410 40', '19.00 S 1400/1776 '],
  ],
  [
    'three rows with settled cents',
    [line('1400', 'receivable', '119.00'), net('-33.34'), net('-33.33'), net('-33.33'), vat('-19.00')],
    {},
    ['39.68 S 1400/8200 3', '39.66 S 1400/8200 3', '39.66 S 1400/8200 3'],
  ],
  ['a credit note', [line('1400', 'receivable', '-119.00'), net('100.00'), vat('19.00')], {}, ['119.00 H 1400/8200 3']],
  [
    'VAT that DATEV would compute otherwise has no key',
    [line('1400', 'receivable', '119.05'), net('-100.00'), vat('-19.05')],
    {},
    ['100.00 S 1400/8200 ', '19.05 S 1400/1776 '],
  ],
  [
    'VAT without a sale has no key',
    [line('1718', 'prepayment_vat', '19.00'), vat('-19.00')],
    {},
    ['19.00 S 1718/1776 '],
  ],
  [
    'VAT on another account than the key’s has no key',
    [line('1400', 'receivable', '119.00'), net('-100.00'), vat('-19.00', general, '1775')],
    {},
    ['100.00 S 1400/8200 ', '19.00 S 1400/1775 '],
  ],
  [
    'a key of another rate is not used',
    [
      line('1400', 'receivable', '107.00'),
      net('-100.00', { ...reduced, vatCode: '3' }),
      vat('-7.00', { ...reduced, vatCode: '3' }, '1771'),
    ],
    {},
    ['100.00 S 1400/8200 ', '7.00 S 1400/1771 '],
  ],
  [
    'without a chart there are no keys',
    [line('1400', 'receivable', '119.00'), net('-100.00'), vat('-19.00')],
    { chart: null },
    ['100.00 S 1400/8200 ', '19.00 S 1400/1776 '],
  ],
];

describe('DATEV tax keys', () => {
  test.each(cases)('%s', (_, lines, more, rows) => {
    const { rows: found, posted, manifest } = written(lines, more);
    expect(
      found
        .map(
          ({ amount, side, account, contraAccount, buKey }) => `${amount} ${side} ${account}/${contraAccount} ${buKey}`,
        )
        .sort(),
    ).toEqual(rows.toSorted());
    expect(posted).toEqual(ofLines(lines));
    expect(manifest).toEqual(ofLines(lines));
  });

  const amounts = fc.array(
    fc.integer({ min: -20_000, max: 200_000 }).filter((cents) => cents !== 0),
    { minLength: 1, maxLength: 5 },
  );
  const money = (cents: number) => new Money(cents).div(100).toFixed(2);

  test('random invoices come back per account, whatever their cents and accounts', () => {
    let keyed = 0;
    fc.assert(
      fc.property(amounts, amounts, fc.integer({ min: -2, max: 2 }), fc.boolean(), (some, others, off, isAutomatic) => {
        const account = isAutomatic ? '8400' : '8200';
        const vatOf = (nets: number[], rate: number, more: number) =>
          new Money(nets.reduce((total, each) => total + each, 0))
            .times(rate)
            .div(100)
            .toDecimalPlaces(0)
            .plus(more)
            .toNumber();
        const [tax, lowTax] = [vatOf(some, 19, off), vatOf(others, 7, 0)];
        const sold = [
          ...some.map((cents) => net(money(-cents), general, account)),
          ...others.map((cents) => net(money(-cents), reduced)),
          ...[vat(money(-tax)), vat(money(-lowTax), reduced)].filter(({ amount }) => !amount.isZero()),
        ];
        const total = sum(sold.map(({ side, amount }) => (side === 'debit' ? amount.negated() : amount)));
        fc.pre(!total.isZero());
        const lines = [line('1400', 'receivable', total.toFixed(2)), ...sold];
        const { rows, posted, manifest } = written(lines, { automaticAccounts: ['8400'] });
        keyed += rows.filter(({ buKey }) => buKey === '2' || buKey === '3').length;
        expect(posted).toEqual(ofLines(lines));
        expect(manifest).toEqual(ofLines(lines));
      }),
      { numRuns: runs(300) },
    );
    expect(keyed).toBeGreaterThan(runs(100));
  });
});
