import { type Money, zero } from '../domain/money.ts';
import type { Cell, Item, Listing, SectionShape } from '../reports/report-sections.ts';

/** A longer table is only in its CSV file; the PDF has its sums. */
const longestTable = 150;

/** More figures are not kept in memory; figures that are zero in every column are left out afterwards. */
const keptFigures = 1_000;

/** A line of a table in the PDF. */
export interface TableRow {
  cells: Readonly<Record<string, Cell>>;
  amounts: Readonly<Record<string, Money>>;
}

/** The part of a table that the PDF shows. */
export interface TableSums {
  shape: SectionShape;
  /** Its figures, or its items if it has no keys; null if they are too many. */
  rows: readonly TableRow[] | null;
  /** Empty if the amounts have no common total. */
  total: Readonly<Record<string, Money>>;
}

/** Adds up the items of a listing while they are read, with a limited number of them in memory. */
export class Tally {
  readonly #listing: Listing;
  readonly #figures = new Map<string, TableRow>();
  readonly #total: Record<string, Money>;
  #isLong = false;

  constructor(listing: Listing) {
    this.#listing = listing;
    this.#total = sumOf(listing, [{}, {}]);
  }

  /** The items; each one is added when it is read. */
  async *items(): AsyncGenerator<Item> {
    for await (const item of this.#listing.items) {
      this.#add(item);
      yield item;
    }
  }

  /** Call it after all items were read. */
  sums(): TableSums {
    const { shape, hasTotal } = this.#listing;
    const rows = [...this.#figures.values()].filter(
      ({ amounts }) => shape.keys.length === 0 || !Object.values(amounts).every((amount) => amount.isZero()),
    );
    const isLong = this.#isLong || rows.length > longestTable;
    return { shape, rows: isLong ? null : rows, total: hasTotal ? this.#total : {} };
  }

  #add({ keys, document, facts, amounts }: Item): void {
    const { shape } = this.#listing;
    Object.assign(this.#total, sumOf(this.#listing, [this.#total, amounts]));
    if (this.#isLong) return;
    const isItem = shape.keys.length === 0;
    const key = isItem ? String(this.#figures.size) : JSON.stringify(shape.keys.map(({ name }) => keys[name] ?? null));
    const before = this.#figures.get(key)?.amounts ?? {};
    const cells = isItem ? { ...facts, document } : keys;
    this.#figures.set(key, { cells, amounts: sumOf(this.#listing, [before, amounts]) });
    if (this.#figures.size <= keptFigures) return;
    this.#isLong = true;
    this.#figures.clear();
  }
}

function sumOf({ shape }: Listing, [one, other]: [Item['amounts'], Item['amounts']]): Record<string, Money> {
  return Object.fromEntries(
    shape.amounts.map(({ name }) => [name, (one[name] ?? zero).plus(other[name] ?? zero)] as const),
  );
}
