import { visible } from '../../domain/text.ts';

/** A character that begins a formula, also in its full-width form, at the start of a cell or of what follows `;` or `|`. */
const formula = /(^|[;|])(?=[\s"']*[=+\-@＝＋－＠])/g;
const numberWith = { '.': /^-?\d+(\.\d+)?$/, ',': /^-?\d+(,\d+)?$/ };

export interface CsvSyntax {
  separator: ',' | ';';
  decimalPoint: '.' | ',';
}

/**
 * A text as a cell that runs nowhere: an apostrophe stands before each formula. Spreadsheets take the separator of their country,
 * so that a cell of ours may be several of theirs. Tabs and line ends show as escapes; numbers stay as they are.
 */
export function csvCell(value: string, { separator, decimalPoint }: CsvSyntax): string {
  if (numberWith[decimalPoint].test(value)) return value.includes(separator) ? `"${value}"` : value;
  const safe = visible(value).replace(formula, "$1'");
  return safe.includes('"') || safe.includes(separator) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A row of cells, RFC 4180. */
export function csvRow(cells: readonly string[], syntax: CsvSyntax): string {
  return `${cells.map((value) => csvCell(value, syntax)).join(syntax.separator)}\r\n`;
}
