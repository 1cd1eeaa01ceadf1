/**
 * How `count` proves that a list was read completely (DESIGN "Sync: a walk is believed only when it proves itself").
 *
 * An answer contains one page, and the `count` of all records that match its filters, both of one snapshot. Pages are
 * of different snapshots and of a list in unknown order, so one page shows nothing about the other records. These rules
 * prove from counts alone that nothing was missed. Another rule, for pages by offset, is in offset-pages.ts.
 *
 * Some servers show a record more than once on a page. They may count its copies (a faulty join) or not. A page with
 * copies is therefore accepted if either way of counting fits, but never if only the copies make it as long as the
 * list.
 */

interface Page {
  count: number;
  results: readonly { id: number }[];
  /** Records without a usable id, or of another installation. */
  unusable?: readonly { below: number | null }[] | undefined;
}

/** The number of records on a page. Records that are put aside count, too. */
export function receivedIn({ results, unusable }: Omit<Page, 'count'>): number {
  return results.length + (unusable?.length ?? 0);
}

/** The number of records of a page that only repeat another record of the page. */
export function copiesIn({ results }: Pick<Page, 'results'>): number {
  return results.length - new Set(results.map(({ id }) => id)).size;
}

/** A page with as many different records as the count is the whole list, in any order. */
export function isWholeList(page: Page): boolean {
  return receivedIn(page) - copiesIn(page) >= page.count;
}

/**
 * For keyset pagination: the expected count of the request above the page's last id, if the count includes the page's
 * copies. Otherwise the count is higher by the copies. If it fits, the page contained every record up to its last id. A
 * record that was left out would have made the next count higher.
 */
export function expectedCountAfter(page: Page): number {
  return page.count - receivedIn(page);
}

/**
 * For keyset pagination: how many records of a page the request above its last id may count again. These are its
 * copies, and the records without a usable id after that id.
 */
export function doubtfulIn(page: Page): number {
  return copiesIn(page) + (page.unusable?.filter(({ below }) => below === null).length ?? 0);
}

/** Whether a count is the expected one, whether or not it includes the page's copies. */
export function isExpected(count: number, expected: number, copies: number): boolean {
  return count === expected || count === expected + copies;
}

/**
 * For keyset pagination, after an unexpected count (a record was inserted or deleted, or the list has another order):
 * the page between the ids `a` and `b` is still proven in one case. The records above `a` and above `b` are counted
 * again, one right after the other. Their difference must be the number of records on the page, with or without its
 * copies.
 */
export function isPageProven(countAboveA: number, countAboveB: number, recordsOfPage: number, copies: number): boolean {
  const between = countAboveA - countAboveB;
  return between === recordsOfPage || between === recordsOfPage - copies;
}

/** For division: ranges that do not overlap cover a list if the sum of their counts is its count. */
export function rangesAddUp(count: number, countsOfRanges: readonly number[]): boolean {
  return countsOfRanges.reduce((counted, each) => counted + each, 0) === count;
}
