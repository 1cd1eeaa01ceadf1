import { isCalendarDate } from '../../domain/dates.ts';
import { csvRow } from '../../ledger/export/csv-cell.ts';
import type { CalendarDate } from '../../terms.ts';
import { consoleTexts as texts } from '../../texts/console/console.ts';
import { html, local, type Node } from '../html.ts';
import type { Answer } from '../route.ts';

type Query = Readonly<Record<string, string>>;

/** Rows on a page of a list. */
export const pageRows = 100;
/** Rows of a file. */
export const fileRows = 20_000;

/** Splits one row more than a page into the page and the key of its last row. `next` is null on the last page. */
export function pageOf<Row>(found: readonly Row[], key: (row: Row) => string): { rows: Row[]; next: string | null } {
  const rows = found.slice(0, pageRows);
  const last = rows.at(-1);
  return { rows, next: found.length > pageRows && last !== undefined ? key(last) : null };
}

/** The links below a list: to the other pages, and to the file with the same filter. */
export function pageLinks(path: string, query: Query, next: string | null): Node {
  const { after, csv, ...kept } = query;
  return html`<p class="pages">
    ${after === undefined ? null : html`<a href=${local(path, kept)}>${texts.firstPage}</a>`}
    ${next === null ? null : html`<a href=${local(path, { ...kept, after: next })} rel="next">${texts.nextPage}</a>`}
    <a href=${local(path, { ...kept, csv: 1 })}>${texts.csv}</a>
  </p>`;
}

/** The number after which a page begins. Null if the query has none. */
export function numberAfter({ after = '' }: Query): number | null {
  return /^\d{1,15}$/.test(after) ? Number(after) : null;
}

/** The day in a field of a filter. Null for an empty field, or one with a fault. */
export function dayIn(query: Query, name: string): CalendarDate | null {
  const given = query[name] ?? '';
  return isCalendarDate(given) ? given : null;
}

/** A CSV file of rows with a heading. Null becomes an empty cell, and a time becomes UTC. */
export function csvFile(
  name: string,
  heading: readonly string[],
  rows: readonly (readonly (string | number | boolean | Date | null)[])[],
): Answer {
  const text = (cell: string | number | boolean | Date | null) =>
    cell instanceof Date ? cell.toISOString() : String(cell ?? '');
  const syntax = { separator: ',', decimalPoint: '.' } as const;
  const pieces = [heading, ...rows].map((row) => csvRow(row.map(text), syntax));
  return { file: { name, type: 'text/csv; charset=utf-8', pieces } };
}
