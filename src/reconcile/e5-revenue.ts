import { formatExact, type Money, minorUnit, sum, zero } from '../domain/money.ts';
import type { RowRecord } from '../records/types.ts';
import { type CalendarDate, type LineRole, soldRoles } from '../terms.ts';
import { e5Texts } from '../texts/findings/reconcile.ts';
import type { Difference, Listed } from './reconcile-report.ts';
import {
  balance,
  isHeldChange,
  type LineInForce,
  type ReconciledInvoice,
  waitingHint,
} from './reconciled-documents.ts';

export interface RevenueFinding {
  differences: Difference[];
  residues: Residue[];
}

/**
 * The cents by which an account's line differs from the exact sum of its rows. They occur because an entry's cents are
 * settled as a whole.
 */
export interface Residue {
  account: string;
  date: CalendarDate;
  residue: Money;
}

/** Roles of net lines: revenue, and the liabilities that the mapping uses instead (R1). */
const netRoles: readonly LineRole[] = ['revenue', ...soldRoles];

/** With VAT on payment, an invoice's VAT is on `vat_not_due`. */
function isVat(role: LineRole): boolean {
  return role === 'vat' || role === 'vat_not_due';
}

/**
 * Equation E5 for one invoice. Each revenue and VAT line is within one minor unit of the exact sum of its rows. Net
 * lines add up to `total_with_vat - total_vat`, and VAT lines to `total_vat`. No row is left out. Earlier entries are
 * reversed on every account and day. A collector (R10) has no revenue. Held changes keep their posted facts.
 */
export function checkRevenue(invoice: ReconciledInvoice, decimals: number): RevenueFinding {
  const finding: RevenueFinding = { differences: [], residues: [] };
  const lines = (invoice.inForce ?? []).filter(({ role }) => netRoles.includes(role) || isVat(role));
  const difference = (amount: Money, message: string) =>
    finding.differences.push({
      document: `invoice ${invoice.record.id}`,
      amount,
      message: `${message}${waitingHint(invoice)}`,
    });

  if (invoice.wasCorrected) checkEarlierEntries(invoice, lines, decimals, difference);
  if (invoice.inForce === null || isHeldChange(invoice)) return finding;
  if (invoice.record.consolidatedInvoiceIds.length > 0) {
    const revenue = sum(lines.map((line) => line.amount.abs()));
    if (!revenue.isZero()) difference(revenue, e5Texts.collectorHasRevenue);
    return finding;
  }
  const unit = minorUnit(decimals);
  const groups = [...netGroups(lines, invoice.rows, unit), ...vatGroups(lines, invoice.rows)];
  for (const { name, place, ledger, exact } of groups) {
    const residue = ledger.minus(exact);
    if (residue.abs().greaterThan(unit)) {
      difference(
        residue,
        e5Texts.lineDiffers({ name, ledger: formatExact(ledger, decimals), rows: formatExact(exact, decimals) }),
      );
    } else if (!residue.isZero() && place !== null) finding.residues.push({ ...place, residue });
  }
  const { totalVat, totalWithVat } = invoice.record;
  const net = (totalWithVat ?? zero).minus(totalVat ?? zero);
  for (const [isOne, expected, name] of [
    [(role: LineRole) => !isVat(role), net, e5Texts.netLines],
    [isVat, totalVat ?? zero, e5Texts.vatLines],
  ] as const) {
    const ledger = balance(lines, (line) => isOne(line.role)).negated();
    if (ledger.equals(expected)) continue;
    difference(
      ledger.minus(expected),
      e5Texts.totalDiffers({
        ...{ name, ledger: formatExact(ledger, decimals), expected: formatExact(expected, decimals) },
      }),
    );
  }
  return finding;
}

/** A line with the exact sum of its rows, or rows without a line. A credit is positive, as in the source. */
interface Group {
  name: string;
  /** The account and date of the group's line; null without a line. */
  place: { account: string; date: CalendarDate } | null;
  ledger: Money;
  exact: Money;
}

function netGroups(lines: LineInForce[], rows: RowRecord[], unit: Money): Group[] {
  const left = new Map(rows.map((row) => [row.id, row]));
  const groups: Group[] = [];
  const revenue = lines.filter(({ role }) => netRoles.includes(role));
  const named = revenue.map((line) => {
    // A row belongs to the first line that names it, and is not counted again for other lines.
    const own = line.rowIds.flatMap((id) => left.get(id) ?? []);
    for (const row of own) left.delete(row.id);
    return { line, own };
  });
  for (const { line, own: kept } of named) {
    const own = kept.length < line.rowIds.length ? [...kept, ...enteredAgain(line, kept, left, unit)] : kept;
    groups.push({
      name: e5Texts.lineOn({ account: line.account }),
      place: { account: line.account, date: line.documentDate },
      ledger: line.amount.negated(),
      exact: sum(own.map((row) => row.sum ?? zero)),
    });
  }
  for (const own of Map.groupBy(left.values(), groupOf).values()) {
    groups.push({
      name: e5Texts.postedOfRows({ rows: own.map((row) => row.id).join(', ') }),
      place: null,
      ledger: zero,
      exact: sum(own.map((row) => row.sum ?? zero)),
    });
  }
  return groups;
}

/**
 * Finds rows that staff deleted and entered again. These rows have new ids, and rows with the same facts are not posted
 * again. They are in the same group as the line's remaining rows. If no row remains, they are the rows of a group with
 * the line's VAT group and sum.
 */
function enteredAgain(line: LineInForce, kept: RowRecord[], left: Map<number, RowRecord>, unit: Money): RowRecord[] {
  const groups = Map.groupBy(left.values(), groupOf);
  const vat = vatKey(line.vatGroup, line.vatRate);
  const hasSumOfLine = (rows: RowRecord[]) => {
    const exact = sum(rows.map((row) => row.sum ?? zero));
    return exact.plus(line.amount).abs().lessThanOrEqualTo(unit);
  };
  const [keptRow] = kept;
  const found =
    keptRow !== undefined
      ? groups.get(groupOf(keptRow))
      : [...groups.values()].find((rows) => rows.every((row) => vatKeyOfRow(row) === vat) && hasSumOfLine(rows));
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

function vatGroups(lines: LineInForce[], rows: RowRecord[]): Group[] {
  const groups = new Map<string, Group>();
  for (const [key, own] of Map.groupBy(rows, vatKeyOfRow)) {
    const exact = sum(own.map((row) => row.sumVat ?? zero));
    groups.set(key, { name: e5Texts.vatOfGroup({ group: key }), place: null, ledger: zero, exact });
  }
  for (const line of lines.filter(({ role }) => isVat(role))) {
    const key = vatKey(line.vatGroup, line.vatRate);
    const group = groups.get(key) ?? { name: e5Texts.vatOfGroup({ group: key }), ledger: zero, exact: zero };
    const place = { account: line.account, date: line.documentDate };
    groups.set(key, { ...group, place, ledger: group.ledger.minus(line.amount) });
  }
  return [...groups.values()];
}

function vatKeyOfRow(row: RowRecord): string {
  return vatKey(row.vatGroup?.name ?? null, row.vatGroup?.rate ?? row.vatPercentage);
}

function vatKey(name: string | null, rate: Money | null): string {
  return e5Texts.vatGroup({ name: name?.trim() || null, rate: rate?.toFixed() ?? null });
}

/** Over all entries of the document, each account and day must have only the balance of the entry in force. */
function checkEarlierEntries(
  invoice: ReconciledInvoice,
  lines: LineInForce[],
  decimals: number,
  difference: (amount: Money, message: string) => void,
): void {
  const rest = new Map<string, Money>();
  const add = (account: string, date: CalendarDate, amount: Money) => {
    const key = e5Texts.place({ account, date });
    rest.set(key, (rest.get(key) ?? zero).plus(amount));
  };
  for (const each of invoice.sums) {
    if (netRoles.includes(each.role) || isVat(each.role)) add(each.account, each.documentDate, each.amount);
  }
  for (const line of lines) add(line.account, line.documentDate, line.amount.negated());
  for (const [place, amount] of rest) {
    if (!amount.isZero()) {
      difference(amount, e5Texts.earlierEntries({ amount: formatExact(amount, decimals), place }));
    }
  }
}

/** Sums residues by account and day. */
export class Residues {
  readonly #sums = new Map<string, Residue>();

  add({ account, date, residue }: Residue): void {
    const key = `${date} ${account}`;
    this.#sums.set(key, { account, date, residue: (this.#sums.get(key)?.residue ?? zero).plus(residue) });
  }

  /** The non-zero sums, by day and account. */
  listed(decimals: number): Listed['residues'] {
    return [...this.#sums.values()]
      .filter(({ residue }) => !residue.isZero())
      .map(({ account, date, residue }) => ({ account, date, residue: formatExact(residue, decimals) }))
      .sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : a.account < b.account ? -1 : 1));
  }
}
