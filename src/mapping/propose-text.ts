import { formatExact, type Money, sum } from '../domain/money.ts';
import type { RowUse } from './source-usage.ts';

export function rowTally(uses: RowUse[]): string {
  const count = uses.reduce((total, use) => total + use.count, 0);
  return `${countOf(count, 'row')}, net ${money(sum(uses.map(({ net }) => net)))}`;
}

export function countOf(n: number, one: string): string {
  return `${n} ${n === 1 ? one : `${one}s`}`;
}

/** A line of YAML, padded to `width`, with a comment. */
export function commented(code: string, width: number, comment: string): string {
  return `${code.padEnd(width)} # ${oneLine(comment)}`;
}

/** The exact amount, with two decimals at least. */
export function money(amount: Money): string {
  return formatExact(amount, 2);
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

/** Well below YAML's limit of 1024 characters for a key on the line of its value. */
const longestPlainKey = 500;

/** A YAML key with its colon, for any text. */
export function key(indent: string, text: string): string {
  const name = quoted(text);
  return name.length > longestPlainKey ? `${indent}? ${name}\n${indent}:` : `${indent}${name}:`;
}

/** A YAML string for any text. */
export function quoted(text: string): string {
  // JSON strings may contain characters that YAML reads as line ends, or does not allow.
  return JSON.stringify(text).replace(/[^\x20-\x7e\p{L}\p{M}\p{N}\p{P}\p{S}]/gu, escapeOf);
}

function escapeOf(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
}

/** The text on one line, since a line break would end a comment. */
export function oneLine(text: string): string {
  return text.replace(/[\p{C}\p{Z}\s]+/gu, ' ').trim();
}
