import type { Line } from '../../domain/entry.ts';
import { formatMoney } from '../../domain/money.ts';
import type { Explanation } from '../../queries/explain.ts';
import { labels } from '../../texts/commands/labels.ts';
import { carries } from '../../wording/words.ts';
import { heads, table } from '../render/text.ts';

/** The lines of an entry as a table. */
export function lineTable(lines: Line[], { decimals, names }: Pick<Explanation, 'decimals' | 'names'>): string {
  return table(
    heads('', 'account', 'name', 'role', 'debit', 'credit', 'rule', 'mapped_by', 'party', 'carries'),
    toRight(
      [4, 5],
      lines.map((line) => {
        const amount = formatMoney(line.amount, decimals);
        return [
          line.side === 'debit' ? labels.debit : labels.credit,
          line.account,
          names.nameOf(line.account, line.role) ?? '',
          line.role,
          line.side === 'debit' ? amount : '',
          line.side === 'credit' ? amount : '',
          line.rule,
          line.mappedBy,
          line.party?.code ?? '',
          carries(line, decimals),
        ];
      }),
    ),
  );
}

/** Pads the cells of some columns on the left, because `table` aligns texts to the left. */
export function toRight(columns: number[], rows: (string | number)[][]): (string | number)[][] {
  const widths = new Map(columns.map((column) => [column, Math.max(...rows.map((row) => String(row[column]).length))]));
  return rows.map((row) =>
    row.map((cell, column) => {
      const width = widths.get(column);
      return width === undefined ? cell : String(cell).padStart(width);
    }),
  );
}
