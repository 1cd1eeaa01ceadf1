import { Money, sum, zero } from '../domain/money.ts';
import type { RowRecord } from '../records/types.ts';
import type { CalendarDate } from '../terms.ts';
import { type BookLine, balance, type InvoiceBook, isHeldChange, waitingHint } from './books.ts';
import { type Difference, figure } from './report.ts';

export interface RevenueFinding {
  differences: Difference[];
  residues: { account: string; date: CalendarDate; residue: Money }[];
}

/**
 * Equation E5 for one invoice: each revenue and VAT line lies within one minor unit of the exact sum of its rows, net lines
 * add up to `total_with_vat - total_vat` and VAT lines to `total_vat`; no row is left out; earlier entries are undone on
 * every account and day. A collector (R10) has no revenue of its own. Held changes keep their facts as posted.
 */
export function checkRevenue(book: InvoiceBook, decimals: number): RevenueFinding {
  const finding: RevenueFinding = { differences: [], residues: [] };
  const lines = (book.inForce ?? []).filter(({ role }) => role === 'revenue' || role === 'vat');
  const difference = (amount: Money, message: string) =>
    finding.differences.push({
      document: `invoice ${book.record.id}`,
      amount,
      message: `${message}${waitingHint(book)}`,
    });

  notUndone(book, lines, decimals, difference);
  if (book.inForce === null || isHeldChange(book)) return finding;
  if (book.record.consolidatedInvoiceIds.length > 0) {
    const revenue = sum(lines.map((line) => line.amount.abs()));
    if (!revenue.isZero()) difference(revenue, 'it collects other invoices, but has revenue or VAT lines of its own');
    return finding;
  }
  const unit = new Money(10).pow(-decimals);
  const groups = [...netGroups(lines, book.rows, unit), ...vatGroups(lines, book.rows)];
  for (const { name, account, date, ledger, exact } of groups) {
    const residue = ledger.minus(exact);
    if (residue.abs().greaterThan(unit)) {
      difference(residue, `${name} is ${figure(ledger, decimals)}, its rows sum to ${figure(exact, decimals)}`);
    } else if (!residue.isZero() && account !== null) finding.residues.push({ account, date: date!, residue });
  }
  const { totalVat, totalWithVat } = book.record;
  const net = (totalWithVat ?? zero).minus(totalVat ?? zero);
  for (const [role, expected, name] of [
    ['revenue', net, 'net lines'],
    ['vat', totalVat ?? zero, 'VAT lines'],
  ] as const) {
    const ledger = balance(lines, (line) => line.role === role).negated();
    if (ledger.equals(expected)) continue;
    difference(
      ledger.minus(expected),
      `its ${name} add up to ${figure(ledger, decimals)}, its totals ask for ${figure(expected, decimals)}`,
    );
  }
  return finding;
}

/** A line, or rows without one, beside the exact sum; credit positive, as the source signs them. */
interface Group {
  name: string;
  account: string | null;
  date: CalendarDate | null;
  ledger: Money;
  exact: Money;
}

function netGroups(lines: BookLine[], rows: RowRecord[], unit: Money): Group[] {
  const left = new Map(rows.map((row) => [row.id, row]));
  const groups: Group[] = [];
  const revenue = lines.filter(({ role }) => role === 'revenue');
  const named = revenue.map((line) => {
    // A row is taken once: a line that names it again finds nothing.
    const own = line.rowIds.flatMap((id) => left.get(id) ?? []);
    for (const row of own) left.delete(row.id);
    return { line, own };
  });
  for (const { line, own: kept } of named) {
    const own = kept.length < line.rowIds.length ? [...kept, ...enteredAgain(line, kept, left, unit)] : kept;
    groups.push({
      name: `the line on ${line.account}`,
      account: line.account,
      date: line.documentDate,
      ledger: line.amount.negated(),
      exact: sum(own.map((row) => row.sum ?? zero)),
    });
  }
  for (const own of Map.groupBy(left.values(), groupOf).values()) {
    groups.push({
      name: `what was posted of row ${own.map((row) => row.id).join(', ')}`,
      account: null,
      date: null,
      ledger: zero,
      exact: sum(own.map((row) => row.sum ?? zero)),
    });
  }
  return groups;
}

/**
 * Rows that were deleted and entered again have other ids, and post nothing anew when they say the same: the rows of the
 * line's own group, or, where none is left to tell the group, one of the same VAT group with the line's sum.
 */
function enteredAgain(line: BookLine, kept: RowRecord[], left: Map<number, RowRecord>, unit: Money): RowRecord[] {
  const groups = Map.groupBy(left.values(), groupOf);
  const vat = vatKey(line.vatGroup, line.vatRate);
  const found =
    kept.length > 0
      ? groups.get(groupOf(kept[0]!))
      : [...groups.values()].find(
          (rows) =>
            vatKeyOfRow(rows[0]!) === vat &&
            sum(rows.map((row) => row.sum ?? zero))
              .plus(line.amount)
              .abs()
              .lessThanOrEqualTo(unit),
        );
  for (const row of found ?? []) left.delete(row.id);
  return found ?? [];
}

function groupOf(row: RowRecord): string {
  return JSON.stringify([
    row.accountNumber?.trim() || null,
    row.dimensions,
    Object.values(row.internal),
    vatKeyOfRow(row),
  ]);
}

function vatGroups(lines: BookLine[], rows: RowRecord[]): Group[] {
  const groups = new Map<string, Group>();
  for (const [key, own] of Map.groupBy(rows, vatKeyOfRow)) {
    const exact = sum(own.map((row) => row.sumVat ?? zero));
    groups.set(key, { name: `VAT of group ${key}`, account: null, date: null, ledger: zero, exact });
  }
  for (const line of lines.filter(({ role }) => role === 'vat')) {
    const key = vatKey(line.vatGroup, line.vatRate);
    const group = groups.get(key) ?? {
      name: `VAT of group ${key}`,
      account: null,
      date: null,
      ledger: zero,
      exact: zero,
    };
    const ledger = group.ledger.minus(line.amount);
    groups.set(key, { ...group, account: line.account, date: line.documentDate, ledger });
  }
  return [...groups.values()];
}

function vatKeyOfRow(row: RowRecord): string {
  return vatKey(row.vatGroup?.name ?? null, row.vatGroup?.rate ?? row.vatPercentage);
}

function vatKey(name: string | null, rate: Money | null): string {
  return `${name?.trim() || 'without a name'} at ${rate?.toFixed() ?? 'no'} %`;
}

/** Over all entries of the document, each account and day must be left with the entry in force alone. */
function notUndone(
  book: InvoiceBook,
  lines: BookLine[],
  decimals: number,
  difference: (amount: Money, message: string) => void,
): void {
  const rest = new Map<string, Money>();
  const add = (account: string, date: CalendarDate, amount: Money) => {
    const key = `${account} on ${date}`;
    rest.set(key, (rest.get(key) ?? zero).plus(amount));
  };
  for (const each of book.figures) {
    if (each.role === 'revenue' || each.role === 'vat') add(each.account, each.documentDate, each.amount);
  }
  for (const line of lines) add(line.account, line.documentDate, line.amount.negated());
  for (const [place, amount] of rest) {
    if (!amount.isZero()) {
      difference(
        amount,
        `earlier entries leave ${figure(amount, decimals)} on account ${place} beside the entry in force`,
      );
    }
  }
}
