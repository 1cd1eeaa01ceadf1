// Hand-written and random entries for the file formats.

import fc from 'fast-check';
import { Money } from '../../../src/domain/money.ts';
import type { FileEntry, FileLine } from '../../../src/erp/targets/files/file-entry.ts';
import type { LineRole } from '../../../src/terms.ts';

export function line(account: string, role: LineRole, amount: string, facts: Partial<FileLine> = {}): FileLine {
  const signed = new Money(amount);
  return {
    ...{
      account,
      role,
      side: signed.isNegative() ? 'credit' : 'debit',
      amount: signed.abs(),
      description: 'Invoice 1001',
    },
    party: { code: null, name: null, vatNumber: null, countryCode: null },
    ...{ departmentId: null, dimensions: {}, vatCode: null, vatGroup: null, vatRate: null, vatBase: null },
    ...{ documentNumber: null, dueDate: null, bankReference: null, rule: 'R1', paymentType: null, documents: [] },
    ...facts,
  };
}

export function entry(id: number, lines: FileLine[], facts: Partial<FileEntry> = {}): FileEntry {
  return {
    ...{ key: `KEY${String(id).padStart(17, 'A')}`, unitId: `4711/invoice/${id}/1`, installation: 4711 },
    ...{ date: '2026-01-15', documentDate: '2026-01-15', journal: 'SALES', description: `Invoice ${id}` },
    ...{ vatPeriod: '2026-01', isLate: false, record: null },
    ...{ reference: String(id), reverses: null, lines, ...facts },
  };
}

/**
 * Texts with characters that break formats: separators, quotes, escapes, braces, formulas, line ends, foreign letters,
 * lone surrogates.
 */
export const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({
    unit: fc.constantFrom(
      '"',
      ';',
      ',',
      '\\',
      '{',
      '}',
      '=',
      '+',
      '#',
      ' ',
      '\t',
      '\r',
      '\n',
      'å',
      'Ł',
      'ß',
      '€',
      '🐈',
      'я',
      "'",
    ),
    maxLength: 80,
  }),
);
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null });
const roles: LineRole[] = ['receivable', 'revenue', 'vat', 'cash', 'rounding', 'prepayment_liability'];

/** A random balanced entry. It uses few accounts, so that one account is often on several lines and on both sides. */
export function balancedEntry(days: {
  from: string;
  through: string;
}): fc.Arbitrary<Omit<FileEntry, 'unitId' | 'key'>> {
  const account = fc.constantFrom('1700', '1900', '2400', '2930', '3000', '3010', '10000');
  const cents = fc.bigInt({ min: -999_999_999_99n, max: 999_999_999_99n }).filter((value) => value !== 0n);
  const party = fc.record({
    code: maybe(fc.constantFrom('4711/client/5', 'CASH')),
    name: maybe(hostileText),
    vatNumber: maybe(fc.constantFrom('DE 136695976', 'FI12345678')),
    countryCode: maybe(fc.constantFrom('DE', 'FI')),
  });
  const facts = fc.record({
    description: hostileText,
    role: fc.constantFrom(...roles),
    party,
    departmentId: maybe(fc.nat(20)),
    vatGroup: maybe(hostileText),
    vatRate: maybe(fc.constantFrom('0', '25.5').map((rate) => new Money(rate))),
    documentNumber: maybe(hostileText),
    dueDate: maybe(fc.constant('2026-02-28')),
    bankReference: maybe(hostileText),
  });
  const day = fc.date({ min: new Date(days.from), max: new Date(days.through), noInvalidDate: true });
  return fc
    .record({
      some: fc.array(fc.record({ account, cents, facts }), { minLength: 1, maxLength: 7 }),
      last: fc.record({ account, facts }),
      date: day.map((date) => date.toISOString().slice(0, 10)),
      description: hostileText,
      journal: fc.constantFrom('', 'SALES'),
      reference: maybe(hostileText),
    })
    .map(({ some, last, ...head }) => {
      const rest = -some.reduce((left, { cents: value }) => left + value, 0n);
      const all = [...some, ...(rest === 0n ? [] : [{ ...last, cents: rest }])];
      return {
        ...{ installation: 4711, reverses: null, documentDate: head.date, ...head },
        ...{ vatPeriod: head.date.slice(0, 7), isLate: false, record: null },
        lines: all.map(({ account: at, cents: value, facts: { role, ...more } }) =>
          line(at, role, decimal(value), more),
        ),
      };
    });
}

export function decimal(value: bigint): string {
  const digits = String(value < 0n ? -value : value).padStart(3, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

export function numbered(entries: Omit<FileEntry, 'unitId' | 'key'>[]): FileEntry[] {
  return entries.map((each, index) => ({ ...each, ...entry(index + 1, each.lines, each) }));
}
