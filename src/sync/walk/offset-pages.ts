import { PracticeError } from '../../domain/practice-error.ts';
import { type ListAnswer, pageShrink } from '../../practice/client.ts';
import { copiesIn, receivedIn } from './count-proof.ts';
import { isAscending, isDescending } from './order.ts';
import type { RangeFilter, WalkRequests } from './walk-requests.ts';

/** The server refuses higher offsets (practice-api: Limits). */
export const maxOffset = 10_000;

const passesAtMost = 40;
/** Consecutive passes without a new record, after which no further pass is tried. */
const stalledPassesAtMost = 8;
/** How often a page is requested again that is empty although its count is not 0. */
const emptyRetries = 3;
/** How often one pass requests a page again because the count has changed. */
const repairsAtMost = 20;

type SavePage = (answer: ListAnswer) => Promise<void>;

/**
 * Offset pagination: reads the pages of a range in passes, until the range is proven complete; false when no pass proves that.
 *
 * - In ascending or descending order of ids a pass proves the range where each two adjacent pages came with the same count:
 *   then no insertion or deletion has shifted a record from one page to the other. After another count, the page before is
 *   requested again.
 * - In another order a pass proves the range where all its pages came with the same count, and it holds that many different
 *   records, or is the same, record by record, as the pass before. Copies of a record on one page are records where the pass is
 *   as long as the count with them, since the server then counts them.
 * - Without any order, where each answer is shuffled anew, the records of all passes together prove the range once they are as
 *   many as the count.
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
      // A record was deleted, perhaps one of those received: they no longer prove anything together.
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

/** One pass over the pages of a range. */
class Pass {
  count = 0;
  /** Every page came with the same count. */
  isStable = true;
  /** A page came with a lower count than the page before. */
  hasShrunk = false;
  /** The pass brought a record that no pass before had brought. */
  hasGrown = false;
  /** The range is longer than offsets reach. */
  isBeyondReach = false;
  /** The pass read the whole range in the order of ids, and nothing shifted between two pages. */
  isChain = false;
  readonly sequence: number[] = [];
  /** How many times too often a record stood on one page. */
  readonly copies = new Map<number, number>();
  readonly #requests: WalkRequests;
  readonly #ranges: RangeFilter;
  readonly #number: number;
  /** Ids received in all passes; grows with this one. */
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
    // The server may cap the page size: a page is taken to be as long as the longest page of this pass.
    let longest = 1;
    // The same by different records: of a server that does not count the copies that it shows.
    let longestDifferent = 1;
    let repairs = 0;
    let hasSlipped = false;
    // Every third pass has another page size, so that copies of a record on two pages come together on one.
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
      // Whether copies take up places cannot be told: where the list ends if they do, the page after it is asked for, too.
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
        // The server ignores `ordering`: the pass starts again without it.
        await requests.noteIgnored('ordering');
        return this.#again();
      }
      longest = Math.max(longest, places);
      longestDifferent = Math.max(longestDifferent, places - copiesIn(answer));
      // A capped page size: requesting what a page really holds keeps the offsets and lowers the weight.
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
    // What has no id that serves has no place in their order, and is a record all the same.
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
