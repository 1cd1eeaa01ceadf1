// Compares exports and reports of accounts with the expected journal. Each difference is a line.

import { Decimal } from 'decimal.js';
import { type CsvRecord, readCsvFile } from '../erp/files/readers/csv.ts';
import type { MappingData } from '../simulation/conditions.ts';
import { lineOfGroup } from '../simulation/oracle-accounts.ts';
import type { ExpectedLine } from '../simulation/oracle-terms.ts';
import type { Expected, Journal } from './journal.ts';
import type { Variant } from './variant.ts';
import type { World } from './world.ts';

export type Compare = (what: string, got: unknown, asked: unknown) => void;

/** A line as export and journal can both show it; amounts and bases are signed, debits positive. */
interface Line
  extends Record<'role' | 'account' | 'amount' | 'party' | 'department' | 'type' | 'group' | 'rate' | 'base', string> {
  tags: string;
}

interface Unit {
  document: string;
  on: string;
  day: string;
  isLate: boolean;
  window: number;
  lines: Line[];
}

/** An amount with two decimals, without a negative zero. */
export const plain = (amount: Decimal.Value): string => {
  const value = new Decimal(amount);
  return value.isZero() ? '0.00' : value.toFixed(2);
};

function lineOf({ role, account, amount, party, department, paymentType, vat, tags }: ExpectedLine): Line {
  const base = vat?.base == null ? '' : plain(new Decimal(vat.base).times(amount.isNegative() ? -1 : 1));
  return {
    ...{ role, account, amount: plain(amount.toFixed()), party, department: String(department) },
    ...{
      type: String(paymentType ?? ''),
      group: vat?.group ?? '',
      rate: vat?.rate ?? '',
      base,
      tags: tags.map((tag) => tag ?? '').join('|'),
    },
  };
}

const tagNames = [
  'dimension_1',
  'dimension_2',
  'dimension_3',
  'internal_account',
  'internal_dimension_1',
  'internal_dimension_2',
];

function lineOfRow(row: CsvRecord): Line {
  const of = (name: string) => row[name] ?? '';
  return {
    ...{
      role: of('role'),
      account: of('account'),
      amount: plain(of('amount')),
      party: of('party'),
      department: of('department'),
    },
    ...{
      type: of('payment_type'),
      group: of('vat_group'),
      rate: of('vat_rate') && new Decimal(of('vat_rate')).toFixed(),
    },
    ...{ base: of('vat_base') && plain(of('vat_base')), tags: tagNames.map(of).join('|') },
  };
}

/** The units of `export --format csv`: entries with `--documents`, otherwise what the general ledger gets. */
export async function exportedUnits(world: World, options = ''): Promise<Unit[]> {
  const { code, stdout, stderr } = await world.run(`export --format csv${options}`);
  if (code !== 0) throw new Error(`export ended with ${code}: ${stderr}`);
  const rows = readCsvFile(new TextEncoder().encode(stdout), 'international');
  return [...Map.groupBy(rows, ({ entry }) => entry!)]
    .map(([, of]) => of)
    .toSorted(([a], [b]) => Number(a!.seq) - Number(b!.seq))
    .map((of): Unit => {
      const [row = {}] = of;
      return {
        ...{ document: (row.document ?? '').replace(' ', '/'), on: row.date ?? '', day: row.document_date ?? '' },
        ...{ isLate: row.late !== '', window: Number(row.window), lines: of.map(lineOfRow) },
      };
    });
}

const unitOf = (entry: Expected): Unit => ({ ...entry, lines: entry.lines.map(lineOf) });

const textOfUnit = ({ document, on, day, isLate, lines }: Unit): string =>
  [
    `${document} ${day} on ${on}${isLate ? ' late' : ''}`,
    ...lines.map((line) => Object.values(line).join(' ')).sort(),
  ].join('\n      ');

/** Compares each entry of the books, and in daily summaries each sum. */
export async function compareExports(
  compare: Compare,
  world: World,
  journal: Journal,
  { mode }: Variant,
): Promise<void> {
  const expected = journal.entries.map(unitOf);
  compareTexts(
    compare,
    'export of documents',
    (await exportedUnits(world, ' --documents')).map(textOfUnit),
    expected.map(textOfUnit),
  );
  if (mode === 'document') return;
  compareTexts(compare, 'export of daily summaries', sums(await exportedUnits(world)), sums(expected));
}

function compareTexts(compare: Compare, what: string, got: string[], asked: string[]): void {
  const [left, right] = [got.toSorted(), asked.toSorted()];
  const more = without(left, right);
  const fewer = without(right, left);
  if (more.length + fewer.length > 0) compare(what, more.slice(0, 6).join('\n'), fewer.slice(0, 6).join('\n'));
}

/** The texts of `of` that `others` has fewer times. */
function without(of: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const other of others) left.set(other, (left.get(other) ?? 0) + 1);
  return of.filter((one) => {
    const count = left.get(one) ?? 0;
    left.set(one, count - 1);
    return count <= 0;
  });
}

/** The lines of the daily summaries, added up by day, department and lateness. Sums have no party. The sides stay apart. */
function sums(units: readonly Unit[]): string[] {
  const found = new Map<string, { amount: Decimal; base: Decimal }>();
  for (const { on, isLate, lines } of units)
    for (const { amount, base, party: _, ...line } of lines) {
      const side = amount.startsWith('-') ? 'credit' : 'debit';
      const key = `${on} ${isLate} ${side} ${Object.values(line).join(' ')}`;
      const sum = found.get(key) ?? { amount: new Decimal(0), base: new Decimal(0) };
      found.set(key, { amount: sum.amount.plus(amount), base: sum.base.plus(base || 0) });
    }
  return [...found].map(([key, { amount, base }]) => `${key}: ${plain(amount)} base ${plain(base)}`);
}

/** Opening balance, debit, credit and closing balance by account, in the days from `from` to `through`. */
export function accountsOf(
  { entries }: Pick<Journal, 'entries'>,
  from: string,
  through: string,
): Map<string, string[]> {
  const found = new Map<string, Decimal[]>();
  for (const { on, lines } of entries)
    for (const { account, amount } of lines) {
      if (on > through) continue;
      const [opening, debit, credit] = found.get(account) ?? [new Decimal(0), new Decimal(0), new Decimal(0)];
      const value = new Decimal(amount.toFixed());
      if (on < from) found.set(account, [opening!.plus(value), debit!, credit!]);
      else if (value.isNegative()) found.set(account, [opening!, debit!, credit!.minus(value)]);
      else found.set(account, [opening!, debit!.plus(value), credit!]);
    }
  return new Map(
    [...found].map(([account, [opening, debit, credit]]) => [
      account,
      [opening!, debit!, credit!, opening!.plus(debit!).minus(credit!)].map(plain),
    ]),
  );
}

/** The figures of `report vat` for entries dated in a month, by lateness: period, kind of documents, kind, group and rate. */
export function vatOf(
  { entries }: Pick<Journal, 'entries'>,
  mapping: MappingData,
  isAsked: (entry: Expected) => boolean,
): Map<string, string> {
  const found = new Map<string, { base: Decimal; tax: Decimal }>();
  for (const entry of entries.filter(isAsked)) {
    const { document, day, lines } = entry;
    for (const { role, amount, vat } of lines) {
      if (vat === null || (role !== 'vat' && vat.base === null)) continue;
      const of =
        document.startsWith('payment') && lines.some((line) => line.role === 'vat_not_due')
          ? 'payments'
          : document.startsWith('invoice')
            ? 'invoices'
            : 'prepayments';
      const kind = lineOfGroup(mapping, { group: vat.group, rate: vat.rate }, day)?.kind;
      const key = [day.slice(0, 7), of, kind, vat.group, vat.rate].join(' ');
      const sum = found.get(key) ?? { base: new Decimal(0), tax: new Decimal(0) };
      const sign = amount.isNegative() ? 1 : -1;
      const tax = role === 'vat' ? sum.tax.minus(amount.toFixed()) : sum.tax;
      found.set(key, { base: sum.base.plus(new Decimal(vat.base ?? 0).times(sign)), tax });
    }
  }
  return new Map(
    [...found]
      .filter(([, { base, tax }]) => !base.isZero() || !tax.isZero())
      .map(([key, { base, tax }]) => [key, `${plain(base)} ${plain(tax)}`]),
  );
}
