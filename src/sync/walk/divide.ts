import type { ListAnswer } from '../../practice/client.ts';
import { type Dimension, idDimension } from './dimensions.ts';
import { maxOffset, pages } from './pages.ts';
import type { Part, Questions } from './questions.ts';
import { ListUnprovable } from './types.ts';

interface Piece {
  part: Part;
  /** One already received for it, its first page. */
  answer: ListAnswer | null;
}

/** The list moves under the walk: so often is a part asked for again before another way is taken. */
const tries = 4;

/**
 * Completes a part of a list that does not come in the order of ids: where ids can be bounded on both sides, it is divided until
 * every part is a single page; otherwise its pages are asked for by offset, and what offsets cannot reach is divided by
 * something else. `low` is what the walk has proven. Throws ListUnprovable, naming what was tried.
 */
export async function divide(
  questions: Questions,
  further: Dimension[],
  part: Part,
  answer: ListAnswer | null,
  low: number | null,
): Promise<void> {
  const left: Piece[] = [{ part, answer }];
  for (let piece = left.pop(); piece; piece = left.pop()) {
    left.push(...(await new Division(questions, further, piece, low).run()));
  }
}

class Division {
  readonly #questions: Questions;
  readonly #further: Dimension[];
  readonly #part: Part;
  readonly #low: number | null;
  #answer: ListAnswer | null;
  #count = 0;
  readonly #tried: string[] = [];

  constructor(questions: Questions, further: Dimension[], piece: Piece, low: number | null) {
    this.#questions = questions;
    this.#further = further;
    this.#part = piece.part;
    this.#answer = piece.answer;
    this.#low = low;
  }

  /** Completes the part, or gives the pieces that are left of it. */
  async run(): Promise<Piece[]> {
    const byId = await this.#by(idDimension);
    if (byId) return byId;
    if (this.#count <= maxOffset) {
      this.#tried.push('pages by offset, which never added up to the count');
      if (await pages(this.#questions, this.#part, (page) => this.#save(page))) return [];
    }
    for (const dimension of this.#further) {
      const pieces = await this.#by(dimension);
      if (pieces) return pieces;
    }
    if (this.#count > maxOffset) {
      // Without any order, what one pass does not reach another may.
      this.#tried.push(`pages by offset, which end at ${maxOffset}`);
      if (await pages(this.#questions, this.#part, (page) => this.#save(page))) return [];
    }
    throw new ListUnprovable(
      `${this.#count} records cannot be proven complete; tried: ids in order, ${this.#tried.join(', ')}`,
    );
  }

  /** Completes the part as a single page, or divides it; null where this dimension does not divide it. */
  async #by(dimension: Dimension): Promise<Piece[] | null> {
    for (let attempt = 0; attempt < tries; attempt++) {
      const current = await this.#current();
      if (current === 'complete') return [];
      const pieces = await this.#split(dimension, current, attempt);
      if (pieces === null) break;
      if (pieces !== 'moved') return pieces;
    }
    const filters = [...dimension.lower, ...dimension.upper].map(({ filter }) => filter);
    this.#tried.push(`ranges of ${dimension.name} (${filters.join(', ')})`);
    return null;
  }

  /** The part's first page: it weighs 1 until its count shows what it is worth. */
  async #current(): Promise<ListAnswer | 'complete'> {
    const questions = this.#questions;
    let answer = this.#answer ?? (await questions.first(this.#part, null));
    this.#answer = null;
    await this.#save(answer);
    const { count } = answer;
    if (
      answer.results.length < count &&
      answer.results.length < questions.size(count) &&
      count <= questions.largestPage
    ) {
      answer = await questions.first(this.#part, questions.size(count));
      await this.#save(answer);
    }
    this.#count = answer.count;
    return answer.results.length >= answer.count ? 'complete' : answer;
  }

  /** Null: cannot be divided this way; 'moved': what came does not add up (yet). */
  async #split(dimension: Dimension, current: ListAnswer, attempt: number): Promise<Piece[] | 'moved' | null> {
    const questions = this.#questions;
    const range = this.#part[dimension.name] ?? { from: null, to: null };
    const numbers = current.results.map((item) => dimension.numberOf(item)).filter((n) => n !== null);
    if (range === 'absent' || !questions.bounds(dimension, 'upper')) return null;
    const ranged = (from: number | null, to: number | null) => ({ ...this.#part, [dimension.name]: { from, to } });
    if (numbers.length === 0) return current.results.length === 0 ? 'moved' : null;
    if (dimension.unique && numbers.length > 1 && numbers.every((n, i) => i === 0 || n <= numbers[i - 1]!)) {
      // Descending: what is left lies below the lowest; asked for again, with the lowest, which may be listed twice.
      const lowest = numbers[numbers.length - 1]!;
      const part = ranged(range.from, attempt % 2 === 0 ? lowest : lowest + 1);
      const remaining = current.count - numbers.filter((n) => attempt % 2 === 0 || n > lowest).length;
      // Until a bound has shown that it is honoured, it is tried with a page of weight 1.
      const answer = await questions.first(part, questions.isHonoured ? questions.size(remaining) : null);
      if (attempt > 0) await this.#noteIgnored(dimension, current.count, answer.count, 0);
      if (answer.count !== remaining) return 'moved';
      questions.isHonoured = true;
      return [{ part, answer }];
    }
    if (!questions.bounds(dimension, 'lower')) return null;
    // Within the tolerance of a filter, as near a change of clocks: such a range cannot be narrowed down.
    if (numbers.some((n) => n < (range.from ?? n) || n >= (range.to ?? n + 1))) return null;
    const pivot = pivotOf(dimension, range, numbers);
    if (pivot === null) return null;
    const pieces: { part: Part; answer: ListAnswer }[] = [];
    for (const part of [ranged(range.from, pivot), ranged(pivot, range.to)]) {
      pieces.push({ part, answer: await questions.first(part, null) });
    }
    const [below, above] = pieces.map(({ answer }) => answer.count) as [number, number];
    if (below + above < current.count && dimension.absent !== null && !questions.ignored.has(dimension.absent)) {
      const part: Part = { ...this.#part, [dimension.name]: 'absent' };
      pieces.push({ part, answer: await questions.first(part, null) });
    }
    if (pieces.reduce((records, { answer }) => records + answer.count, 0) === current.count) {
      return pieces.filter(({ answer }) => answer.count > 0);
    }
    if (attempt > 0) await this.#noteIgnored(dimension, current.count, below, above);
    return 'moved';
  }

  /**
   * A bound that took nothing away, again, although there was something on its other side, is ignored: no record need show it.
   * Of ids there always is, the one that it was made from.
   */
  async #noteIgnored(dimension: Dimension, count: number, below: number, above: number): Promise<void> {
    const questions = this.#questions;
    const used = (side: 'lower' | 'upper') => dimension[side].find(({ filter }) => !questions.ignored.has(filter));
    const [lower, upper] = [used('lower'), used('upper')];
    if (below === count && (above > 0 || dimension.unique) && upper) await questions.note(upper.filter);
    if (above === count && below > 0 && lower) await questions.note(lower.filter);
  }

  #save(answer: ListAnswer): Promise<void> {
    const low = this.#low;
    return this.#questions.save(answer, { proven: low, after: low, expected: null, open: null });
  }
}

/** Where to divide a range: its bounds are found first, then it is halved; null when it is a single number. */
function pivotOf(
  dimension: Dimension,
  range: { from: number | null; to: number | null },
  numbers: number[],
): number | null {
  const [lowest, highest] = [Math.min(...numbers), Math.max(...numbers)];
  const from = range.from ?? dimension.least;
  if (from === null) return lowest;
  if (range.to === null) return highest + 1 + (highest - from);
  return range.to - from > 1 ? Math.floor((from + range.to) / 2) : null;
}
