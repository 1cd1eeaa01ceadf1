import { type Money, sum } from '../domain/money.ts';
import type { RowUse } from './source-usage.ts';

/** Marks the places that only the accountant can fill. */
export const mark = 'TO CHOOSE';

export function rowTally(uses: RowUse[]): string {
  const count = uses.reduce((total, use) => total + use.count, 0);
  return `${countOf(count, 'row')}, net ${money(sum(uses.map(({ net }) => net)))}`;
}

export function countOf(n: number, one: string): string {
  return `${n} ${n === 1 ? one : `${one}s`}`;
}

/** A line of YAML, padded to `width`, with a comment. */
export function commented(code: string, width: number, comment: string): string {
  return `${code.padEnd(width)} # ${comment}`;
}

/** The exact amount, with two decimals at least. */
export function money(amount: Money): string {
  return amount.toFixed(Math.max(2, amount.decimalPlaces()));
}

/** The items by key; items whose key is null are left out. */
export function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key | null): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key === null) continue;
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** A YAML key that reads back as `text`, whatever characters it contains. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** The text on one line, since a line break would end a comment. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ').trim();
}
