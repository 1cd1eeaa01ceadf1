import { PracticeError } from '../../domain/practice-error.ts';
import { type ListAnswer, pageShrink } from '../../practice/client.ts';
import { copiesIn, receivedIn } from './count-proof.ts';
import { isAscending, isDescending } from './order.ts';
import type { RangeFilter, WalkRequests } from './walk-requests.ts';

/** The server refuses higher offsets (practice-api: Limits). */
export const maxOffset = 10_000;

const passesAtMost = 40;
/** After this number of consecutive passes without a new record, no further pass is tried. */
const stalledPassesAtMost = 8;
/** How often an empty page is requested again if its count is not 0. */
const emptyRetries = 3;
/** How often one pass requests a page again because the count has changed. */
const repairsAtMost = 20;

type SavePage = (answer: ListAnswer) => Promise<void>;

/**
 * Offset pagination: reads the pages of a range in passes, until the range is proven complete. Returns false if no pass
 * proves it.
 *
 * - In ascending or descending order of ids, a pass proves the range if all adjacent pages have the same count. No
 *   insertion or deletion has then moved a record from one page to another. If the count changes, the page before is
 *   requested again.
 * - In another order, a pass proves the range if all its pages have the same count, and it contains that many different
 *   records. It also proves it if the pass equals the one before, record by record. Copies of a record on one page count
 *   as records if the pass is as long as the count only with them, because the server then counts them.
 * - Without any order, where each answer is shuffled, the records of all passes together prove the range if their
 *   number equals the count.
 */
export async function readByOffset(requests: WalkRequests, ranges: RangeFilter, save: SavePage): Promise<boolean> {
  let received = new Set<number>();
  let copies = new Map<number, number>();
  let previous: string | null = null;
  let stalled = 0;
  for (let number = 0; number < passesAtMost; number++) {
    const pass = await new Pass(requests, ranges, number, received, save).run();
    if (pass.isChain) return true;
    for (const [id, more] of pass.copies) copies.set(id, Math.max(copies.get(id) ?? 0, more));
    const sequence = pass.sequence.join();
    const counted = received.size + [...copies.values()].reduce((copied, more) => copied + more, 0);
    const isOfItsCount = pass.sequence.length === pass.count;
    const proves = received.size === pass.count || (isOfItsCount && (counted === pass.count || sequence === previous));
    if (pass.isStable && proves) return true;
    if (pass.isBeyondReach && sequence === previous) return false;
    previous = pass.isStable ? sequence : null;
    if (pass.hasShrunk || received.size > pass.count || (isOfItsCount && counted > pass.count)) {
      // A record was deleted, perhaps one of those received. They prove nothing together any more.
      received = new Set();
      copies = new Map();
      stalled = 0;
      continue;
    }
    stalled = pass.hasGrown || !pass.isStable ? 0 : stalled + 1;
    if (stalled >= stalledPassesAtMost) return false;
  }
  return false;
}

/** A pass over the pages of a range. */
class Pass {
  count = 0;
  /** Whether every page had the same count. */
  isStable = true;
  /** Whether a page had a lower count than the page before. */
  hasShrunk = false;
  /** Whether the pass contained a record that no earlier pass contained. */
  hasGrown = false;
  /** Whether the range is longer than offsets reach. */
  isBeyondReach = false;
  /** Whether the pass read the whole range in the order of ids, and no record moved between two pages. */
  isChain = false;
  readonly sequence: number[] = [];
  /** How many times a record was repeated on one page, by id. */
  readonly copies = new Map<number, number>();
  readonly #requests: WalkRequests;
  readonly #ranges: RangeFilter;
  readonly #number: number;
  /** Ids received in all passes. This pass adds to it. */
  readonly #received: Set<number>;
  readonly #save: SavePage;
  readonly #ordered: boolean;
  #last: number | undefined;
  #isAscending = true;
  #isDescending = true;

  constructor(requests: WalkRequests, ranges: RangeFilter, number: number, received: Set<number>, save: SavePage) {
    this.#requests = requests;
    this.#ranges = ranges;
    this.#number = number;
    this.#received = received;
    this.#save = save;
    this.#ordered = !requests.ignored.has('ordering');
  }

  async run(): Promise<Pass> {
    const requests = this.#requests;
    // The server may limit the page size. The longest page of this pass shows it.
    let longest = 1;
    // The longest page of this pass, counted in different records, because a server may show copies that it does not
    // count.
    let longestDifferent = 1;
    let repairs = 0;
    let hasSlipped = false;
    // The page size changes between passes, so that copies of a record on two pages come together on one page.
    const wanted = Math.min(requests.pageSizeFor(requests.largestCount ?? 1), requests.largestOffsetPage);
    let pageSize = Math.max(1, wanted - (this.#number % 3) * 7);
    for (let page = 1; ; page++) {
      if ((page - 1) * longest > maxOffset) {
        this.isBeyondReach = true;
        return this;
      }
      const answer = await this.#read(pageSize, page);
      if (answer === 'too large') {
        requests.largestOffsetPage = Math.ceil(pageSize / pageShrink);
        return this.#again();
      }
      // The server may count copies of a record as places of the list, or not. If the list ends here only when they
      // count, the next page is requested, too.
      if (page > 1 && (page - 1) * longest >= this.count && (answer === null || receivedIn(answer) === 0)) {
        this.isChain = (this.#isAscending || this.#isDescending) && !hasSlipped;
        return this;
      }
      if (answer === null) {
        // The list has become shorter than this page's offset.
        this.isStable = false;
        this.hasShrunk = true;
        return this;
      }
      const hasMoved = page > 1 && answer.count !== this.count;
      if (hasMoved) this.isStable = false;
      if (hasMoved && answer.count < this.count) this.hasShrunk = true;
      this.count = answer.count;
      this.#add(answer);
      const places = receivedIn(answer);
      if (this.#ordered && !this.#isAscending) {
        // The server ignores `ordering`, so the pass starts again without it.
        await requests.noteIgnored('ordering');
        return this.#again();
      }
      longest = Math.max(longest, places);
      longestDifferent = Math.max(longestDifferent, places - copiesIn(answer));
      // If the server limits the page size, that size is requested from now on. It keeps the offsets and lowers the
      // weight.
      if (page === 1) pageSize = Math.min(pageSize, Math.max(1, places));
      const isInOrder = this.#isAscending || this.#isDescending;
      if (hasMoved && isInOrder && repairs < repairsAtMost) {
        repairs += 1;
        page -= 2;
        continue;
      }
      if (hasMoved || places === 0) hasSlipped = true;
      const isLast = page * longestDifferent >= this.count;
      if (isLast) this.isChain = isInOrder && !hasSlipped;
      if (isLast || places === 0 || (!isInOrder && this.#received.size >= this.count)) return this;
    }
  }

  #again(): Promise<Pass> {
    return new Pass(this.#requests, this.#ranges, this.#number, this.#received, this.#save).run();
  }

  async #read(pageSize: number, page: number): Promise<ListAnswer | null | 'too large'> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#requests
        .ask(this.#ranges, pageSize, page, this.#ordered)
        .catch((error): 'too large' => {
          if (pageSize > 1 && error instanceof PracticeError && error.code === 'answer_too_large') return 'too large';
          throw error;
        });
      if (answer === null || answer === 'too large') return answer;
      await this.#save(answer);
      if (receivedIn(answer) > 0 || answer.count === 0 || attempt > emptyRetries) return answer;
    }
  }

  #add({ results, unusable = [] }: ListAnswer): void {
    const ids = results.map(({ id }) => id);
    const joined = this.#last === undefined || !this.isStable ? ids : [this.#last, ...ids];
    this.#last = ids.at(-1) ?? this.#last;
    if (!isAscending(joined)) this.#isAscending = false;
    if (!isDescending(joined)) this.#isDescending = false;
    // Records without a usable id have no place in the order, but count as records.
    const all = [...ids, ...unusable.map(({ key }) => key)];
    for (const id of all) {
      if (!this.#received.has(id)) this.hasGrown = true;
      this.#received.add(id);
    }
    for (const [id, same] of Map.groupBy(ids, (each) => each)) {
      if (same.length > 1) this.copies.set(id, Math.max(this.copies.get(id) ?? 0, same.length - 1));
    }
    this.sequence.push(...all);
  }
}
