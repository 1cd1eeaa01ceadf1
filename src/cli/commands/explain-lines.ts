import type { Line } from '../../domain/entry.ts';
import { formatMoney } from '../../domain/money.ts';
import { paymentTypeName } from '../../mapping/payment-types.ts';
import type { Explanation } from '../../queries/explain.ts';
import { explainTexts } from '../../texts/commands/explain.ts';
import { labels } from '../../texts/commands/labels.ts';
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

/** The tags of a line other than account, amount and party (ACCOUNTING "Who and where"). */
export function carries(
  line: Pick<Line, 'dimensions' | 'internal' | 'vat' | 'paymentType'> &
    Partial<Pick<Line, 'departmentId' | 'documentNumber' | 'dueDate' | 'bankReference'>>,
  decimals: number,
): string {
  const { departmentId = null, documentNumber = null, dueDate = null, bankReference = null } = line;
  const { dimensions, internal, vat, paymentType } = line;
  const tags = [...dimensions, internal.account, internal.dimension1, internal.dimension2].filter(
    (tag) => tag !== null,
  );
  const parts = [
    departmentId === null ? null : labels.department({ department: departmentId }),
    tags.length === 0 ? null : tags.join(' / '),
    vat && labels.groupAt({ group: vat.group ?? labels.noGroup, rate: vat.rate?.toFixed() ?? '-' }),
    vat?.base ? labels.base({ amount: formatMoney(vat.base, decimals) }) : null,
    paymentType === null ? null : typeName(paymentType),
    documentNumber && labels.document({ number: documentNumber }),
    dueDate && labels.due({ date: dueDate }),
    bankReference && labels.reference({ reference: bankReference }),
  ];
  return parts.filter((part) => part !== null).join(', ');
}

/** A payment type in words. */
export function typeName(type: number | null): string {
  return type === null ? explainTexts.noPaymentType : paymentTypeName(type);
}
