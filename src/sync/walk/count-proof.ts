/**
 * How `count` proves that a list was read completely (DESIGN "Sync: a walk is believed only when it proves itself").
 *
 * An answer holds one page and the `count` of all records that match its filters, both of one snapshot. Pages are of different
 * snapshots and of a list in unknown order, so that receiving a page says nothing of the records beside it. These rules tell
 * from counts alone that nothing was missed; a further one, for pages by offset, is in offset-pages.ts.
 *
 * Some servers show a record more than once on a page. They may count its copies (a faulty join) or not, so that a page with
 * copies is believed by either reckoning, but never where the copies alone make it as long as the list.
 */

interface Page {
  count: number;
  results: readonly { id: number }[];
  /** Records without an id that serves, or of another tenant. */
  unusable?: readonly { below: number | null }[] | undefined;
}

/** How many records a page holds: those that are put aside are received like any other. */
export function receivedIn({ results, unusable }: Omit<Page, 'count'>): number {
  return results.length + (unusable?.length ?? 0);
}

/** How many records of a page only repeat another one of it. */
export function copiesIn({ results }: Pick<Page, 'results'>): number {
  return results.length - new Set(results.map(({ id }) => id)).size;
}

/** A page with as many different records as match is the whole list, in whatever order. */
export function isWholeList(page: Page): boolean {
  return receivedIn(page) - copiesIn(page) >= page.count;
}

/**
 * Keyset pagination: how many records the request above the page's last id must count, the page's copies having been counted;
 * otherwise so many more. The page then held every record up to that id: had it left one out, the next count would be higher.
 */
export function expectedCountAfter(page: Page): number {
  return page.count - receivedIn(page);
}

/**
 * Keyset pagination: how many records of a page the request above its last id may count again: its copies, and the records without
 * an id that serves which stand behind that id.
 */
export function doubtfulIn(page: Page): number {
  return copiesIn(page) + (page.unusable?.filter(({ below }) => below === null).length ?? 0);
}

/** Whether a count is the one expected of what remains, whether or not the copies on the page before were counted. */
export function isExpected(count: number, expected: number, copies: number): boolean {
  return count === expected || count === expected + copies;
}

/**
 * Keyset pagination, after a count that was not expected (a record was inserted or deleted, or the list is in another order):
 * the page between the ids `a` and `b` stands all the same where the records above `a` and those above `b`, counted again one
 * right after the other, differ by just the records of the page, its copies counted or not.
 */
export function pageStands(countAboveA: number, countAboveB: number, recordsOfPage: number, copies: number): boolean {
  const between = countAboveA - countAboveB;
  return between === recordsOfPage || between === recordsOfPage - copies;
}

/** Division: ranges that do not overlap cover a list where their counts add up to its count. */
export function rangesAddUp(count: number, countsOfRanges: readonly number[]): boolean {
  return countsOfRanges.reduce((counted, each) => counted + each, 0) === count;
}
