import type { JsonObject } from '../../../records/json.ts';
import type { FoundEntry } from '../../erp-entry.ts';
import type { KeyedText } from './erp-api.ts';
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

/** A page of a list, as an ERP answers it. */
export interface ListedPage<Item> {
  items: readonly Item[];
  /** Number of items in the whole list; null if the ERP does not answer it. */
  count: number | null;
  isLast: boolean;
}

/** A list changed while it was read, so its pages may lack items. */
export class ListChanged extends Error {
  override readonly name = 'ListChanged';
}

/**
 * Reads all pages of a list, and proves that they are complete: no item is repeated, every page states the same count,
 * and there are as many items. If an item was deleted and another added, the count stays, and the items after the deleted
 * one move a place ahead, perhaps to an earlier page; so all pages but the last are read again. Without a count, `read`
 * returns the items after an id, in the order of their ids, and no item moves. Throws ListChanged.
 */
export async function* provedPages<Item extends { id: string }>(
  read: (page: { number: number; after: string | null }) => Promise<ListedPage<Item>>,
): AsyncGenerator<readonly Item[]> {
  const seen = new Set<string>();
  const before: string[] = [];
  let stated: number | null = null;
  let after: string | null = null;
  for (let number = 1; ; number += 1) {
    const { items, count, isLast }: ListedPage<Item> = await read({ number, after });
    for (const { id } of items) {
      if (seen.has(id)) throw new ListChanged();
      seen.add(id);
    }
    if (number > 1 && count !== stated) throw new ListChanged();
    stated = count;
    after = items.at(-1)?.id ?? after;
    const isOver = isLast || (count !== null && seen.size >= count);
    if (isOver && count !== null && seen.size !== count) throw new ListChanged();
    if (!isOver && items.length === 0) throw new ListChanged();
    if (items.length > 0) yield items;
    if (isOver) break;
    before.push(idsOf(items));
  }
  if (stated === null) return;
  for (const [index, ids] of before.entries()) {
    const { items } = await read({ number: index + 1, after: null });
    if (idsOf(items) !== ids) throw new ListChanged();
  }
}

const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id).join('\n');

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

/** A page of entries in the order of their ids. An empty page is the last one. */
export function pageById(texts: KeyedText[]): { texts: KeyedText[]; next: string | null } {
  return { texts, next: texts.at(-1)?.id ?? null };
}
