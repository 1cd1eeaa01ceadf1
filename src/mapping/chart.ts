import { chartTexts } from '../texts/findings/mapping.ts';

/** Types of accounts in a chart. */
export const accountTypes = ['asset', 'liability', 'equity', 'income', 'expense'] as const;
export type AccountType = (typeof accountTypes)[number];

export interface ChartAccount {
  number: string;
  name: string;
  type: AccountType;
  isOpen: boolean;
}

/** A chart of accounts by account number. */
export type Chart = ReadonlyMap<string, ChartAccount>;

const columns = ['number', 'name', 'type', 'open'] as const;
const yes = ['yes', 'true', '1', 'open'];
const no = ['no', 'false', '0', 'closed'];

/**
 * Parses a chart in CSV. The heading has `number`, `name`, `type` and `open` in any order; other columns are ignored.
 * Cells are divided by commas or semicolons; lines that begin with `#` are comments. `open` is yes or no; empty or
 * absent means yes. Returns every fault with its line if there is one.
 */
export function parseChart(text: string): { chart: Chart } | { errors: string[] } {
  const lines = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map((line, index) => ({ line, at: index + 1 }))
    .filter(({ line }) => line.trim() !== '' && !line.startsWith('#'));
  const [heading, ...rest] = lines;
  if (heading === undefined) return { errors: [chartTexts.noHeading] };
  const separator = heading.line.includes(';') ? ';' : ',';
  const names = cellsOf(heading.line, separator)?.map((name) => name.trim().toLowerCase()) ?? [];
  const lacking = columns.filter((name) => name !== 'open' && !names.includes(name));
  if (lacking.length > 0)
    return { errors: [chartTexts.headingLacks({ line: heading.at, columns: lacking.join(', ') })] };
  const chart = new Map<string, ChartAccount>();
  const errors: string[] = [];
  for (const { line: text, at: line } of rest) {
    const cells = cellsOf(text, separator);
    const cell = (name: (typeof columns)[number]) => cells?.[names.indexOf(name)]?.trim() ?? '';
    const [number, open] = [cell('number'), cell('open').toLowerCase()];
    const type = accountTypes.find((each) => each === cell('type').toLowerCase());
    if (cells === null) errors.push(chartTexts.openQuote({ line }));
    else if (number === '') errors.push(chartTexts.noNumber({ line }));
    else if (chart.has(number)) errors.push(chartTexts.twice({ line, account: number }));
    else if (!type) errors.push(chartTexts.typeUnknown({ line, account: number, types: accountTypes.join(', ') }));
    else if (open !== '' && !yes.includes(open) && !no.includes(open))
      errors.push(chartTexts.openUnknown({ line, account: number }));
    else chart.set(number, { number, name: cell('name'), type, isOpen: !no.includes(open) });
  }
  return errors.length > 0 ? { errors } : { chart };
}

/** The cells of a line (RFC 4180, without line breaks in cells). Null if a quotation mark is not closed. */
function cellsOf(line: string, separator: string): string[] | null {
  const cells: string[] = [];
  for (let at = 0; at <= line.length; ) {
    const quoted = /^\s*"((?:[^"]|"")*)"\s*/.exec(line.slice(at));
    if (quoted === null && line.slice(at).trimStart().startsWith('"')) return null;
    const end = line.indexOf(separator, quoted === null ? at : at + quoted[0].length);
    const until = end < 0 ? line.length : end;
    cells.push(quoted === null ? line.slice(at, until) : (quoted[1] ?? '').replaceAll('""', '"'));
    at = until + 1;
  }
  return cells;
}
