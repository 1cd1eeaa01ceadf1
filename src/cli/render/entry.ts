import { type DraftEntry, type Line, signed } from '../../domain/entry.ts';
import { formatMoney, type Money, sum, zero } from '../../domain/money.ts';

/** An entry as `--json` prints it, amounts as texts with debits positive. */
export function entryDocument(id: string, entry: DraftEntry, decimals: number) {
  return {
    id,
    date: entry.date,
    document_date: entry.documentDate,
    reason: entry.reason,
    reverses: entry.reverses,
    original: entry.original,
    description: entry.description,
    lines: linesDocument(entry.lines, decimals),
  };
}

/** Entries with the ids that they got, or would get. */
export function withIds(entries: DraftEntry[], ids: string[]): [id: string, entry: DraftEntry][] {
  return entries.map((entry, index) => {
    const id = ids[index];
    if (id === undefined) throw new Error(`an entry of ${entry.document.kind} ${entry.document.id} has no id`);
    return [id, entry];
  });
}

export function linesDocument(lines: Line[], decimals: number) {
  return lines.map((line) => ({
    account: line.account,
    role: line.role,
    amount: formatMoney(signed(line), decimals),
    rule: line.rule,
    mapped_by: line.mappedBy,
    party: line.party?.code ?? null,
    department: line.departmentId,
    dimensions: line.dimensions,
    vat: line.vat && {
      group: line.vat.group,
      rate: line.vat.rate?.toFixed() ?? null,
      base: line.vat.base?.toFixed() ?? null,
    },
  }));
}

/** An entry for people: one line that says what it is, then its lines with debits and credits in columns. */
export function entryText(id: string, entry: DraftEntry, decimals: number): string {
  const kept = entry.documentDate === entry.date ? '' : ` (document date ${entry.documentDate})`;
  return `${id}  ${entry.date}  ${entry.description}${kept}\n${linesText(entry.lines, decimals)}`;
}

export function linesText(lines: Line[], decimals: number): string {
  const cells = lines.map((line) => {
    const amount = formatMoney(line.amount, decimals);
    const isDebit = line.side === 'debit';
    const tags = tagsOf(line, decimals);
    return [isDebit ? 'Dr' : 'Cr', line.account, line.role, isDebit ? amount : '', isDebit ? '' : amount, tags];
  });
  return columns(cells, [3, 4])
    .map((line) => `    ${line}`)
    .join('\n');
}

function tagsOf({ vat, dimensions, party }: Line, decimals: number): string {
  const tags = [party?.code ?? '', ...dimensions.map((dimension) => dimension ?? '')];
  if (vat) {
    const group = vat.group ?? 'no VAT group';
    const rate = vat.rate?.toFixed() ?? '';
    // Many groups are called by their rate.
    tags.push(group.includes(rate) ? group : `${group} at ${rate} %`);
  }
  if (vat?.base) tags.push(`base ${formatMoney(vat.base, decimals)}`);
  return tags.filter((tag) => tag !== '').join(', ');
}

/** Cells in columns two blanks apart; those named by `toRight` end at the same place. */
export function columns(rows: string[][], toRight: number[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => [...row[column]!].length)));
  return rows.map((row) =>
    row
      .map((cell, column) => (toRight.includes(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd(),
  );
}

/** What lines come to per account, debits positive; added up as they pass. */
export class AccountTotals {
  readonly #byAccount = new Map<string, { debit: Money; credit: Money }>();

  add(lines: Line[]): void {
    for (const { account, side, amount } of lines) {
      const total = this.#byAccount.get(account) ?? { debit: zero, credit: zero };
      total[side] = total[side].plus(amount);
      this.#byAccount.set(account, total);
    }
  }

  /** In the order of the accounts. */
  all(): { account: string; debit: Money; credit: Money; balance: Money }[] {
    return [...this.#byAccount]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([account, { debit, credit }]) => ({ account, debit, credit, balance: sum([debit, credit.negated()]) }));
  }
}
