import { visible } from '../../domain/text.ts';

/**
 * Matches a character that begins a formula, at the start of a cell or after `;` or `|`. Full-width forms count, too.
 */
const formula = /(^|[;|])(?=[\s"']*[=+\-@＝＋－＠])/g;
const numberWith = { '.': /^-?\d+(\.\d+)?$/, ',': /^-?\d+(,\d+)?$/ };

/** Most cells: they begin no formula and have nothing to quote or to escape. Long tables have millions of them. */
const plain = /^(?:[0-9A-Za-z_][0-9A-Za-z_ .:/()%-]*)?$/;

export interface CsvSyntax {
  separator: ',' | ';';
  decimalPoint: '.' | ',';
}

/**
 * A text as a CSV cell that a spreadsheet does not run as a formula: an apostrophe precedes each formula. Spreadsheets
 * use the separator of their country, so they may split one cell into several. Tabs and line ends become escapes;
 * numbers do not change.
 */
export function csvCell(value: string, { separator, decimalPoint }: CsvSyntax): string {
  if (plain.test(value)) return value;
  if (numberWith[decimalPoint].test(value)) return value.includes(separator) ? `"${value}"` : value;
  const safe = visible(value).replace(formula, "$1'");
  return safe.includes('"') || safe.includes(separator) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A row of cells, RFC 4180. */
export function csvRow(cells: readonly string[], syntax: CsvSyntax): string {
  return `${cells.map((value) => csvCell(value, syntax)).join(syntax.separator)}\r\n`;
}
