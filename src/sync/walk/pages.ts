import type { ListAnswer } from '../../practice/client.ts';
import type { Part, Questions } from './questions.ts';

/** Offsets above are refused (practice-api: Limits). */
export const maxOffset = 10_000;

const passesAtMost = 40;
/** Passes in a row that brought nothing new, after which no further one is hoped for. */
const stalledPasses = 8;

/** Answers without records, in a row, although the count says that there are some: so often a page is asked for again. */
const emptyTries = 3;
/** Pages asked for again in one pass since the count had moved. */
const repairsAtMost = 20;

/**
 * Asks for the pages of a part by offset, again and again, until a pass proves itself; false when none did.
 *
 * - In the order of ids, either way, a pass stands when each two pages next to each other were asked for under the same count:
 *   nothing slipped between them. Where the count has moved, the page before is asked for again.
 * - In any other order a pass stands when nothing moved and it was as large as the count, or the same from end to end as the
 *   pass before; without any order the passes are taken together, each adds some.
 */
export async function pages(
  questions: Questions,
  part: Part,
  save: (answer: ListAnswer) => Promise<void>,
): Promise<boolean> {
  let union = new Set<number>();
  let copies = new Map<number, number>();
  let before: string | null = null;
  let stalled = 0;
  for (let n = 0; n < passesAtMost; n++) {
    const pass = await new Pass(questions, part, n, union, save).run();
    if (pass.isChain) return true;
    for (const [id, more] of pass.copies) copies.set(id, Math.max(copies.get(id) ?? 0, more));
    const sequence = pass.sequence.join();
    const counted = union.size + [...copies.values()].reduce((all, more) => all + more, 0);
    if (pass.isStable && (counted === pass.count || (pass.sequence.length === pass.count && sequence === before)))
      return true;
    if (pass.isBeyondReach && sequence === before) return false;
    before = pass.isStable ? sequence : null;
    if (pass.fell || counted > pass.count) {
      // Something was deleted: what was gathered before no longer tells.
      union = new Set();
      copies = new Map();
      stalled = 0;
      continue;
    }
    stalled = pass.grown || !pass.isStable ? 0 : stalled + 1;
    if (stalled >= stalledPasses) return false;
  }
  return false;
}

/** One pass over the pages, as far as needed. */
class Pass {
  count = 0;
  /** Every answer gave the same count. */
  isStable = true;
  /** A later answer gave a smaller one. */
  fell = false;
  /** Something was received that no pass had brought. */
  grown = false;
  isBeyondReach = false;
  /** In the order of ids, whole, and nothing slipped between two pages. */
  isChain = false;
  readonly sequence: number[] = [];
  /** How often each record stood in one answer beyond once: such copies count, too. */
  readonly copies = new Map<number, number>();
  readonly #questions: Questions;
  readonly #part: Part;
  readonly #n: number;
  readonly #union: Set<number>;
  readonly #save: (answer: ListAnswer) => Promise<void>;
  readonly #ordered: boolean;
  #rises = true;
  #falls = true;

  constructor(
    questions: Questions,
    part: Part,
    n: number,
    union: Set<number>,
    save: (answer: ListAnswer) => Promise<void>,
  ) {
    this.#questions = questions;
    this.#part = part;
    this.#n = n;
    this.#union = union;
    this.#save = save;
    this.#ordered = !questions.ignored.has('ordering');
  }

  async run(): Promise<Pass> {
    const questions = this.#questions;
    // The server may cap the page size: the fullest page of a pass tells what a page is.
    let fullest = 1;
    let repairs = 0;
    let slipped = false;
    // Another size in each third pass, no divisor of the others: copies that stood on two pages come together on one.
    let pageSize = Math.max(1, questions.size(questions.largest ?? 1) - (this.#n % 3) * 7);
    for (let page = 1; ; page++) {
      if ((page - 1) * fullest > maxOffset) {
        this.isBeyondReach = true;
        return this;
      }
      const answer = await this.#ask(pageSize, page);
      if (answer === null) {
        // The list has become shorter than this page.
        [this.isStable, this.fell] = [false, true];
        return this;
      }
      const moved = page > 1 && answer.count !== this.count;
      if (moved) this.isStable = false;
      if (moved && answer.count < this.count) this.fell = true;
      this.count = answer.count;
      const received = answer.results.map(({ id }) => id);
      this.#take(received);
      if (this.#ordered && !this.#rises) {
        // Not in the order that was asked for: from the first page on without asking.
        await questions.note('ordering');
        return new Pass(questions, this.#part, this.#n, this.#union, this.#save).run();
      }
      fullest = Math.max(fullest, received.length);
      // Asked for just what a page holds, the next pages begin where they did and weigh less.
      if (page === 1) pageSize = Math.min(pageSize, Math.max(1, received.length));
      const inOrder = this.#rises || this.#falls;
      if (moved && inOrder && repairs < repairsAtMost) {
        repairs += 1;
        page -= 2;
        continue;
      }
      if (moved || received.length === 0) slipped = true;
      const isLast = page * fullest >= this.count;
      if (isLast) this.isChain = inOrder && !slipped;
      if (isLast || received.length === 0 || (!inOrder && this.#union.size >= this.count)) return this;
    }
  }

  async #ask(pageSize: number, page: number): Promise<ListAnswer | null> {
    for (let n = 1; ; n++) {
      const answer = await this.#questions.ask(this.#part, pageSize, page, this.#ordered);
      if (answer === null) return null;
      await this.#save(answer);
      if (answer.results.length > 0 || answer.count === 0 || n > emptyTries) return answer;
    }
  }

  #take(received: number[]): void {
    const last = this.sequence.at(-1);
    const joined = last === undefined || !this.isStable ? received : [last, ...received];
    if (joined.some((id, i) => i > 0 && id < joined[i - 1]!)) this.#rises = false;
    if (joined.some((id, i) => i > 0 && id > joined[i - 1]!)) this.#falls = false;
    for (const id of received) {
      if (!this.#union.has(id)) this.grown = true;
      this.#union.add(id);
    }
    for (const [id, same] of Map.groupBy(received, (each) => each)) {
      if (same.length > 1) this.copies.set(id, Math.max(this.copies.get(id) ?? 0, same.length - 1));
    }
    this.sequence.push(...received);
  }
}
