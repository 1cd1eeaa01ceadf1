import type { JsonObject } from '../../../records/json.ts';
import type { FoundEntry } from '../../erp-entry.ts';
import { asId, readAs, wholeNumber } from './form.ts';

/** Reads pages of records in the order of their ids, until a page is not full. `page` reads the records after an id. */
export async function* pagesById(
  most: number,
  page: (after: number) => Promise<JsonObject[]>,
): AsyncGenerator<JsonObject[]> {
  for (let after = 0; ; ) {
    const records = await page(after);
    const last = records.at(-1);
    if (last !== undefined) yield records;
    if (last === undefined || records.length < most) return;
    after = readAs(last.id ?? null, asId);
  }
}

export async function allOf<Item>(pages: AsyncIterable<readonly Item[]>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}

/** Splits ids into parts of at most `most`. */
export function* partsOf<Id>(ids: readonly Id[], most: number): Generator<Id[]> {
  for (let at = 0; at < ids.length; at += most) yield ids.slice(at, at + most);
}

/**
 * Leaves out entries that no longer exist: a draft may have been deleted between reading it and reading its lines.
 * `readExisting` reads which of the entries without lines still exist.
 */
export async function withoutGone(
  entries: FoundEntry[],
  readExisting: (ids: number[]) => Promise<JsonObject[]>,
): Promise<FoundEntry[]> {
  const empty = entries.filter(({ lines }) => lines.length === 0).map(({ id }) => wholeNumber(id));
  if (empty.length === 0) return entries;
  const still = new Set((await readExisting(empty)).map(({ id }) => String(id)));
  return entries.filter(({ id, lines }) => lines.length > 0 || still.has(id));
}
