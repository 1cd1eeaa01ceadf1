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
  if (heading === undefined) return { errors: ['it has no heading number,name,type,open'] };
  const separator = heading.line.includes(';') ? ';' : ',';
  const names = cellsOf(heading.line, separator)?.map((name) => name.trim().toLowerCase()) ?? [];
  const lacking = columns.filter((name) => name !== 'open' && !names.includes(name));
  if (lacking.length > 0) return { errors: [`line ${heading.at}: the heading lacks ${lacking.join(', ')}`] };
  const chart = new Map<string, ChartAccount>();
  const errors: string[] = [];
  for (const { line, at } of rest) {
    const cells = cellsOf(line, separator);
    const cell = (name: (typeof columns)[number]) => cells?.[names.indexOf(name)]?.trim() ?? '';
    const [number, open] = [cell('number'), cell('open').toLowerCase()];
    const type = accountTypes.find((each) => each === cell('type').toLowerCase());
    if (cells === null) errors.push(`line ${at}: a quotation mark is not closed`);
    else if (number === '') errors.push(`line ${at}: it has no account number`);
    else if (chart.has(number)) errors.push(`line ${at}: account ${number} is there twice`);
    else if (!type) errors.push(`line ${at}: the type of account ${number} must be one of ${accountTypes.join(', ')}`);
    else if (open !== '' && !yes.includes(open) && !no.includes(open))
      errors.push(`line ${at}: open of account ${number} must be yes or no`);
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
