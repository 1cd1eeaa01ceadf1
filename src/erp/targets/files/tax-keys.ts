import { signed } from '../../../domain/entry.ts';
import { type Money, sum, zero } from '../../../domain/money.ts';
import type { Side } from '../../../terms.ts';
import { Balances } from '../../balances.ts';
import { computedTax, taxedParts, type VatRule } from '../../computed-vat.ts';
import { expanded, type Pair, type PairedLine, pairsOf } from './pairs.ts';

/** The fields of a line that tax keys need. */
export interface TaxedLine extends PairedLine {
  vatCode: string | null;
  vatGroup: string | null;
  vatRate: Money | null;
}

/** A tax key (BU-Schlüssel) of a chart: DATEV takes this rate out of the amount and posts it on the account. */
interface TaxKey {
  rate: string;
  account: string;
  /** Accounts of the chart that compute this tax without a key. */
  automatic: readonly string[];
}

/** The keys for VAT on sales, by chart (SKR) and key. Accounts have four digits. */
const taxKeys: Readonly<Record<string, Readonly<Record<string, TaxKey>>>> = {
  '03': {
    2: { rate: '7', account: '1771', automatic: ['8300'] },
    3: { rate: '19', account: '1776', automatic: ['8400'] },
  },
  '04': {
    2: { rate: '7', account: '3801', automatic: ['4300'] },
    3: { rate: '19', account: '3806', automatic: ['4400'] },
  },
};

export interface TaxOptions {
  chart: string | null;
  accountLength: number;
  automaticAccounts: readonly string[];
}

/** The tax that DATEV computes in a row. */
interface RowTax {
  /** The key in the row. It is empty if the account computes its tax without a key. */
  key: string;
  rate: Money;
  account: string;
}

/** A pair of accounts, and the tax that DATEV takes out of its amount. `line` is the taxed account. */
export interface TaxedPair<Line> extends Pair<Line & PairedLine> {
  tax: RowTax | null;
}

/**
 * Splits an entry into pairs, like `pairsOf`. Sales whose VAT has a tax key of the chart are rows with VAT, and DATEV
 * posts the VAT. This is done only if the computed amounts give each account of the entry its exact amount; otherwise
 * no row has a tax. VAT without a sale, such as VAT on prepayments, never has one.
 */
export function taxedPairsOf<Line extends TaxedLine>(
  lines: readonly Line[],
  options: TaxOptions,
): TaxedPair<Line>[] | null {
  const merged = withVat(lines, options);
  if (merged.taxes.size > 0) {
    const pairs = pairsOf(merged.lines)?.map((pair) => taxedPair(pair, merged.taxes)) ?? null;
    if (pairs?.every((pair) => pair !== null) && isSame(pairs, lines)) return pairs;
  }
  return pairsOf(lines)?.map((pair) => ({ ...pair, tax: null })) ?? null;
}

/** The amounts that DATEV posts for the pairs, debit positive. */
export function expandedWithTax<Line extends TaxedLine>(
  pairs: readonly TaxedPair<Line>[],
): { account: string; amount: Money }[] {
  return pairs.flatMap((pair) => {
    const posted = expanded([pair]);
    if (pair.tax === null) return posted;
    const tax = computedTax(signed({ side: pair.line.side, amount: pair.amount }), pair.tax.rate, datev);
    return [
      ...posted,
      { account: pair.line.account, amount: tax.negated() },
      { account: pair.tax.account, amount: tax },
    ];
  });
}

/** The sales lines with their VAT, and the tax of each. */
function withVat<Line extends TaxedLine>(
  lines: readonly Line[],
  options: TaxOptions,
): { lines: Line[]; taxes: Map<Line, RowTax> } {
  const result: Line[] = [];
  const taxes = new Map<Line, RowTax>();
  const groups = Map.groupBy(lines, ({ vatGroup, vatRate }) => `${vatGroup} ${vatRate?.toFixed()}`);
  for (const line of lines) {
    const group = groups.get(`${line.vatGroup} ${line.vatRate?.toFixed()}`) ?? [];
    if (group[0] !== line) continue;
    const grossed = grossLines(group, options);
    for (const { gross, tax } of grossed ?? []) {
      result.push(gross);
      if (tax !== null) taxes.set(gross, tax);
    }
    if (grossed === null) result.push(...group);
  }
  return { lines: result, taxes };
}

/** The lines of a VAT group with the VAT in the sales; null if DATEV cannot compute this VAT. */
function grossLines<Line extends TaxedLine>(
  group: readonly Line[],
  options: TaxOptions,
): { gross: Line; tax: RowTax | null }[] | null {
  const sales = group.filter(({ role }) => role === 'revenue');
  const vats = group.filter(({ role }) => role === 'vat');
  const taxes = sales.map((line) => rowTax(line, options));
  const [first] = taxes;
  if (first == null || vats.length === 0 || taxes.some((tax) => tax === null)) return null;
  if (vats.some(({ account, vatCode }) => account !== first.account || vatCode !== sales[0]?.vatCode)) return null;
  const parts = taxedParts(
    sales.map((line) => ({ net: signed(line), mostParts: 1 })),
    sum(vats.map((line) => signed(line))),
    first.rate,
    datev,
  );
  if (parts === null) return null;
  const others = group.filter(({ role }) => role !== 'revenue' && role !== 'vat');
  return [
    ...sales.map((line, index) => {
      const amount = signed(line).plus(parts[index]?.[0]?.tax ?? zero);
      const side: Side = amount.isNegative() ? 'credit' : 'debit';
      return { gross: { ...line, side, amount: amount.abs() }, tax: taxes[index] ?? null };
    }),
    ...others.map((gross) => ({ gross, tax: null })),
  ];
}

/** The tax of a sale's row; null if its key is not one of the chart for this rate. */
function rowTax(
  { account, vatCode, vatRate }: TaxedLine,
  { chart, accountLength, automaticAccounts }: TaxOptions,
): RowTax | null {
  const key = taxKeys[chart ?? '']?.[vatCode ?? ''];
  if (key === undefined || vatCode === null || vatRate === null || !vatRate.equals(key.rate)) return null;
  const long = (code: string) => code.padEnd(accountLength, '0');
  const computesItself = key.automatic.some((each) => long(each) === account);
  // The account is another one with automatic tax, so its rate is unknown.
  if (automaticAccounts.includes(account) && !computesItself) return null;
  return { key: automaticAccounts.includes(account) ? '' : vatCode, rate: vatRate, account: long(key.account) };
}

/** DATEV takes the VAT out of the amount of each row. */
const datev: VatRule = { mode: 'from_gross', rounding: 'half_up', decimals: 2 };

/** Puts the taxed account into `line`. Null if both accounts are taxed, or if only a part of a taxed line is paired. */
function taxedPair<Line extends TaxedLine>(
  { line, against, amount }: Pair<Line>,
  taxes: ReadonlyMap<Line, RowTax>,
): TaxedPair<Line> | null {
  const [own, other] = [taxes.get(line) ?? null, taxes.get(against) ?? null];
  if (own !== null && other !== null) return null;
  const taxed = own !== null ? line : against;
  if ((own ?? other) !== null && !taxed.amount.equals(amount)) return null;
  if (other === null) return { line, against, amount, tax: own };
  return { line: against, against: line, amount, tax: other };
}

/** Whether DATEV posts the same amount on each account as the lines. */
function isSame<Line extends TaxedLine>(pairs: readonly TaxedPair<Line>[], lines: readonly Line[]): boolean {
  const left = new Balances();
  for (const line of lines) left.add(line.account, signed(line));
  for (const { account, amount } of expandedWithTax(pairs)) left.add(account, amount.negated());
  return left.areZero;
}
