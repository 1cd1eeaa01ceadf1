/**
 * How `count` proves that a list was read completely (DESIGN "Sync: a walk is believed only when it proves itself").
 *
 * An answer holds one page and the `count` of all records that match its filters, both of one snapshot. Pages are of different
 * snapshots and of a list in unknown order, so that receiving a page says nothing of the records beside it. These rules tell
 * from counts alone that nothing was missed; a fifth, for pages by offset, is in offset-pages.ts.
 */

interface Page {
  count: number;
  results: readonly unknown[];
}

/** A page with as many records as match is the whole list, in whatever order. */
export function isWholeList({ count, results }: Page): boolean {
  return results.length >= count;
}

/**
 * Keyset pagination: how many records the request above the page's last id must count. The page then held every record up to
 * that id: had it left one out, the next count would be higher by one.
 */
export function expectedCountAfter({ count, results }: Page): number {
  return count - results.length;
}

/**
 * Keyset pagination, after a count that was not expected (a record was inserted or deleted, or the list is in another order):
 * the page between the ids `a` and `b` stands all the same where the records above `a` and those above `b`, counted again one
 * right after the other, differ by just the records of the page.
 */
export function pageStands(countAboveA: number, countAboveB: number, recordsOfPage: number): boolean {
  return countAboveA - countAboveB === recordsOfPage;
}

/** Division: ranges that do not overlap cover a list where their counts add up to its count. */
export function rangesAddUp(count: number, countsOfRanges: readonly number[]): boolean {
  return countsOfRanges.reduce((counted, each) => counted + each, 0) === count;
}
