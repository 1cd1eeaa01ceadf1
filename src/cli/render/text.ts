import { visible } from '../../domain/text.ts';
import { labels } from '../../texts/commands/labels.ts';
import { columnTitles } from '../../texts/reports/columns.ts';
import { count, type Field } from '../../wording/words.ts';

/** Headings of columns; an empty name stays empty. */
export function heads(...names: (keyof typeof columnTitles | '')[]): string[] {
  return names.map((name) => (name === '' ? '' : columnTitles[name]));
}

/** A table with a header line. Columns of numbers are right-aligned. */
export function table(header: string[], rows: (string | number)[][]): string {
  const rightAligned = header.flatMap((_, column) =>
    rows.length > 0 && rows.every((row) => typeof row[column] === 'number') ? [column] : [],
  );
  return columns([header, ...rows.map((row) => row.map(String))], rightAligned).join('\n');
}

/**
 * Formats cells as lines of columns with two blanks between them. `widths` is widened for these rows; pass it again for
 * the next rows of the same table.
 */
export function columns(
  texts: readonly (readonly string[])[],
  rightAligned: readonly number[],
  widths: number[] = [],
): string[] {
  const rows = texts.map((row) => row.map(visible));
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, [...cell].length);
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return rightAligned.includes(column) ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

/**
 * A budget as a bar of `width` characters: `#` used, `.` free, `-` unavailable after a 429. A used or free share that is not zero has
 * at least one character.
 */
export function bar(budget: { used: number; free: number; limit: number }, width = 20): string {
  const { used, free, limit } = budget;
  const at = (weight: number) => Math.min(width, Math.round((weight / limit) * width));
  const usedTo = Math.min(Math.max(at(used), used > 0 ? 1 : 0), free > 0 ? width - 1 : width);
  const freeTo = Math.max(at(used + free), usedTo + (free > 0 ? 1 : 0));
  return `[${'#'.repeat(usedTo)}${'.'.repeat(freeTo - usedTo)}${'-'.repeat(width - freeTo)}]`;
}

/** An instant to the second, in UTC. */
export function instant(time: Date | string | null): string {
  if (time === null) return '-';
  return `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Titles with their texts, which begin below each other. */
export function fieldLines(fields: readonly Field[]): string[] {
  const width = Math.max(14, ...fields.map(([title]) => title.length + 1));
  return fields.map(([title, text]) => `  ${title.padEnd(width)}${text}`);
}

/** Example: `12 prepayments, 1 unconfirmed`. A later read has shown the value of the 12, but not of the unconfirmed one. */
export function writtenBackText(confirmed: number, unconfirmed: number): string {
  return `${count(confirmed, 'prepayment')}${unconfirmed > 0 ? labels.unconfirmed({ count: unconfirmed }) : ''}`;
}
