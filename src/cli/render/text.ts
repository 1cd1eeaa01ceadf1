/** Columns as wide as their widest cell, two blanks apart; numbers are set to the right. */
export function table(header: string[], rows: (string | number)[][]): string {
  const cells = [header, ...rows.map((row) => row.map(String))];
  const widths = header.map((_, column) => Math.max(...cells.map((row) => [...(row[column] ?? '')].length)));
  const toRight = header.map((_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === 'number'));
  return cells
    .map((row) =>
      widths
        .map((width, column) =>
          toRight[column] ? (row[column] ?? '').padStart(width) : (row[column] ?? '').padEnd(width),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/**
 * A budget as a bar of `width` signs: `#` used, `.` free, `-` not to be had now. What is used or free is seen, however little.
 */
export function bar(budget: { used: number; free: number; limit: number }, width = 20): string {
  const { used, free, limit } = budget;
  const at = (weight: number) => Math.min(width, Math.round((weight / limit) * width));
  const usedTo = Math.min(Math.max(at(used), used > 0 ? 1 : 0), free > 0 ? width - 1 : width);
  const freeTo = Math.max(at(used + free), usedTo + (free > 0 ? 1 : 0));
  return `[${'#'.repeat(usedTo)}${'.'.repeat(freeTo - usedTo)}${'-'.repeat(width - freeTo)}]`;
}

/** A length of time for people: `45 s`, `12 min`, `3 h 05 min`, `2 d 4 h`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 120) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${String(minutes % 60).padStart(2, '0')} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** An instant for people, to the second, in UTC. */
export function instant(time: Date | string | null): string {
  if (time === null) return '-';
  return `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** `3 invoices`, `1 invoice`. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}
