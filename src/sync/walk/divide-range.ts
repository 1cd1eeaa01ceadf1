import type { ListAnswer } from '../../practice/client.ts';
import { listTexts } from '../../texts/errors/lists.ts';
import { isExpected, isWholeList, rangesAddUp, receivedIn } from './count-proof.ts';
import { type Dimension, idDimension } from './dimensions.ts';
import { maxOffset, readByOffset } from './offset-pages.ts';
import { isDescending } from './order.ts';
import { ListUnprovable } from './types.ts';
import type { RangeFilter, WalkRequests } from './walk-requests.ts';

/** A range that must still be read. */
interface PendingRange {
  ranges: RangeFilter;
  /** Its first page, if that was received already. */
  firstPage: ListAnswer | null;
}

/** How often a range is divided again if the list changes between two answers, before another way is tried. */
const attemptsAtMost = 4;

/**
 * Reads a range of a list that is not in the order of ids. If ids can be limited on both sides, it divides the range by
 * ids until each part is a single page. Otherwise it reads pages by offset, and divides what offsets cannot reach by
 * the `further` dimensions. `low` is what the walk has proven so far. Throws ListUnprovable, with the ways that were
 * tried.
 */
export async function divide(
  requests: WalkRequests,
  further: Dimension[],
  ranges: RangeFilter,
  firstPage: ListAnswer | null,
  low: number | null,
): Promise<void> {
  const pending: PendingRange[] = [{ ranges, firstPage }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    pending.push(...(await new Division(requests, further, next, low).run()));
  }
}

class Division {
  readonly #requests: WalkRequests;
  readonly #further: Dimension[];
  readonly #ranges: RangeFilter;
  readonly #low: number | null;
  #firstPage: ListAnswer | null;
  #count = 0;
  readonly #tried: string[] = [];

  constructor(requests: WalkRequests, further: Dimension[], range: PendingRange, low: number | null) {
    this.#requests = requests;
    this.#further = further;
    this.#ranges = range.ranges;
    this.#firstPage = range.firstPage;
    this.#low = low;
  }

  /** Reads the range completely, or returns the smaller ranges that remain to be read. */
  async run(): Promise<PendingRange[]> {
    const byId = await this.#divideBy(idDimension);
    if (byId) return byId;
    if (this.#count <= maxOffset) {
      this.#tried.push(listTexts.offsets);
      if (await readByOffset(this.#requests, this.#ranges, (page) => this.#save(page))) return [];
    }
    for (const dimension of this.#further) {
      const ranges = await this.#divideBy(dimension);
      if (ranges) return ranges;
    }
    if (this.#count > maxOffset) {
      // In a list without any order, another pass may reach records that one pass does not.
      this.#tried.push(listTexts.offsetsEnd({ most: maxOffset }));
      if (await readByOffset(this.#requests, this.#ranges, (page) => this.#save(page))) return [];
    }
    throw new ListUnprovable(listTexts.notProven({ records: this.#count, tried: this.#tried.join(', ') }));
  }

  /** Reads the range as a single page, or divides it. Null if this dimension does not divide it. */
  async #divideBy(dimension: Dimension): Promise<PendingRange[] | null> {
    for (let attempt = 0; attempt < attemptsAtMost; attempt++) {
      const page = await this.#readFirstPage();
      if (isWholeList(page) || (await this.#isWholeWithCopies(page))) return [];
      const ranges = await this.#split(dimension, page, attempt);
      if (ranges === null) break;
      if (ranges !== 'mismatch') return ranges;
    }
    const filters = [...dimension.lower, ...dimension.upper].map(({ filter }) => filter);
    this.#tried.push(listTexts.ranges({ field: dimension.name, filters: filters.join(', ') }));
    return null;
  }

  /**
   * The range's first page. It is requested with the default page size, which has weight 1. If its count shows that one
   * larger page contains the whole range, it is requested again with that size.
   */
  async #readFirstPage(): Promise<ListAnswer> {
    const requests = this.#requests;
    let page = this.#firstPage ?? (await requests.firstPage(this.#ranges, null));
    this.#firstPage = null;
    await this.#save(page);
    const { count } = page;
    const pageSize = requests.pageSizeFor(count);
    if (!isWholeList(page) && receivedIn(page) < pageSize && count <= requests.largestPageSize) {
      page = await requests.firstPage(this.#ranges, pageSize);
      await this.#save(page);
    }
    this.#count = page.count;
    return page;
  }

  /**
   * A page may have as many records as the count only if its copies are counted. Such a page is the whole list if the
   * server counts copies. A request for one repeated record shows how the server counts.
   */
  async #isWholeWithCopies(page: ListAnswer): Promise<boolean> {
    const requests = this.#requests;
    const { count, results } = page;
    if (receivedIn(page) !== count) return false;
    if (!requests.boundOf(idDimension, 'lower') || !requests.boundOf(idDimension, 'upper')) return false;
    const id = results.map((one) => one.id).find((each, at, ids) => ids.indexOf(each) < at);
    if (id === undefined) return false;
    const copied = await requests.firstPage({ ...this.#ranges, id: { from: id, to: id + 1 } }, null);
    return copied.count === results.filter((one) => one.id === id).length;
  }

  /** Null if the range cannot be divided by this dimension. `mismatch` if the counts do not add up (yet). */
  async #split(dimension: Dimension, page: ListAnswer, attempt: number): Promise<PendingRange[] | 'mismatch' | null> {
    const requests = this.#requests;
    const range = this.#ranges[dimension.name] ?? { from: null, to: null };
    if (range === 'absent' || !requests.boundOf(dimension, 'upper')) return null;
    const numbers = page.results.map((item) => dimension.numberOf(item)).filter((n) => n !== null);
    if (numbers.length === 0) return page.results.length === 0 ? 'mismatch' : null;
    if (dimension.isUnique && numbers.length > 1 && isDescending(numbers)) {
      return this.#readBelow(dimension, range.from, numbers, page, attempt);
    }
    if (!requests.boundOf(dimension, 'lower')) return null;
    // If records are outside the range, within the tolerance of a filter (as around a clock change), the range cannot
    // be narrowed.
    if (numbers.some((n) => n < (range.from ?? n) || n >= (range.to ?? n + 1))) return null;
    const pivot = pivotOf(dimension, range, numbers);
    if (pivot === null) return null;
    const below = await this.#request(dimension, range.from, pivot);
    const above = await this.#request(dimension, pivot, range.to);
    const parts = [below, above];
    const isShort = below.firstPage.count + above.firstPage.count < page.count;
    if (isShort && dimension.absent !== null && !requests.ignored.has(dimension.absent)) {
      const ranges: RangeFilter = { ...this.#ranges, [dimension.name]: 'absent' };
      parts.push({ ranges, firstPage: await requests.firstPage(ranges, null) });
    }
    const counts = parts.map(({ firstPage }) => firstPage.count);
    if (rangesAddUp(page.count, counts)) return parts.filter(({ firstPage }) => firstPage.count > 0);
    if (attempt > 0) {
      await this.#noteIgnoredBounds(dimension, page.count, below.firstPage.count, above.firstPage.count);
    }
    return 'mismatch';
  }

  /**
   * On a descending page, the remaining records are below its lowest number. Every other attempt includes that number,
   * because its record may be in the list more than once.
   */
  async #readBelow(
    dimension: Dimension,
    from: number | null,
    numbers: readonly number[],
    page: ListAnswer,
    attempt: number,
  ): Promise<PendingRange[] | 'mismatch'> {
    const requests = this.#requests;
    const lowest = Math.min(...numbers);
    const excludesLowest = attempt % 2 === 0;
    const ranges = this.#within(dimension, from, excludesLowest ? lowest : lowest + 1);
    const left = numbers.filter((n) => excludesLowest || n > lowest);
    const copies = left.length - new Set(left).size;
    const unusable = page.unusable?.length ?? 0;
    const remaining = page.count - left.length - unusable;
    // Until the server has honoured a bound once, it is tried with a page of weight 1.
    const pageSize = requests.isUpperIdHonoured ? requests.pageSizeFor(remaining + copies) : null;
    const firstPage = await requests.firstPage(ranges, pageSize);
    if (attempt > 0) await this.#noteIgnoredBounds(dimension, page.count, firstPage.count, 0);
    if (!isExpected(firstPage.count, remaining, copies + unusable)) return 'mismatch';
    requests.isUpperIdHonoured = true;
    return [{ ranges, firstPage }];
  }

  #within(dimension: Dimension, from: number | null, to: number | null): RangeFilter {
    return { ...this.#ranges, [dimension.name]: { from, to } };
  }

  async #request(dimension: Dimension, from: number | null, to: number | null) {
    const ranges = this.#within(dimension, from, to);
    return { ranges, firstPage: await this.#requests.firstPage(ranges, null) };
  }

  /**
   * Stores a bound as ignored if it left nothing out more than once, although there are records on its other side. Ids
   * always have such records, because the bound is made from an existing id.
   */
  async #noteIgnoredBounds(dimension: Dimension, count: number, below: number, above: number): Promise<void> {
    const requests = this.#requests;
    const lower = requests.boundOf(dimension, 'lower');
    const upper = requests.boundOf(dimension, 'upper');
    if (below === count && (above > 0 || dimension.isUnique) && upper) await requests.noteIgnored(upper.filter);
    if (above === count && below > 0 && lower) await requests.noteIgnored(lower.filter);
  }

  #save(answer: ListAnswer): Promise<void> {
    const low = this.#low;
    return this.#requests.save(answer, { proven: low, after: low, expected: null, open: null });
  }
}

/**
 * The number at which to divide a range. A range without bounds is first cut at its lowest and highest known numbers,
 * then halved. Null for a single number.
 */
function pivotOf(
  dimension: Dimension,
  range: { from: number | null; to: number | null },
  numbers: readonly number[],
): number | null {
  const lowest = Math.min(...numbers);
  const highest = Math.max(...numbers);
  const from = range.from ?? dimension.least;
  if (from === null) return lowest;
  // The range is doubled, up to the highest number that a filter can express.
  if (range.to === null) return Math.max(highest + 1, Math.min(highest + 1 + (highest - from), dimension.greatest));
  return range.to - from > 1 ? Math.floor((from + range.to) / 2) : null;
}
