/**
 * A report is a list of items. An item is the share of one document in one figure. Figures are sums of items, and
 * totals are sums of figures. So the documents of every figure are known and add up to it.
 */
import { type Money, sum } from '../domain/money.ts';
import type { Split } from '../ledger/account-days.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';
import { columnTitles } from '../texts/reports/columns.ts';

export type Cell = string | number | null;

export interface Column {
  /** The name in `--json` and `--csv`. */
  name: string;
  title: string;
  /** An amount that is usually zero: the text output shows its column only if it is not zero. */
  isRare?: true;
}

/** The columns with these names. A heading is read when it is shown, in the language of that moment. */
export function columnsOf(...names: (keyof typeof columnTitles)[]): Column[] {
  return names.map((name) => ({
    name,
    get title() {
      return columnTitles[name];
    },
  }));
}

export interface SectionShape {
  name: string;
  title: string;
  /** The columns that identify a figure: a customer, or a VAT group and its rate. */
  keys: readonly Column[];
  /** Further facts about each document besides its amounts. */
  facts: readonly Column[];
  amounts: readonly Column[];
}

/** The share of a document in a figure, with the columns of the section. */
export interface Item {
  keys: Readonly<Record<string, Cell>>;
  /** The document as text, such as `invoice 123`. */
  document: string;
  facts: Readonly<Record<string, Cell>>;
  amounts: Readonly<Record<string, Money>>;
  /** The place of a line in the books. A list that begins after it continues there. */
  at?: LinePlace;
}

/** The place of a line in the order of dates: its entry's day and number in the chain, and its number in the entry. */
export interface LinePlace {
  day: CalendarDate;
  seq: number;
  line: number;
}

export interface Figure {
  keys: Readonly<Record<string, Cell>>;
  amounts: Readonly<Record<string, Money>>;
  /** A long list is read while it is printed. */
  items: readonly Item[] | AsyncIterable<Item>;
}

export interface Section {
  shape: SectionShape;
  figures: readonly Figure[];
  total: Readonly<Record<string, Money>>;
}

/** The days of a report: the state after `through`, or the events from `from` to `through`. */
export interface Period {
  from: CalendarDate | null;
  through: CalendarDate;
}

/** Selects the entries in the figures, besides the period. */
export interface Recorded {
  /** Only entries up to this place in the chain, that is, entries recorded by a certain time; null for all. */
  upToSeq: number | null;
}

export const everyEntry: Recorded = { upToSeq: null };

/** An SQL condition: entry `e` was recorded up to `upToSeq`. Its binding is `upToSeq`. */
export const isRecorded = 'e.seq <= coalesce(?::bigint, e.seq)';

/** An SQL condition: line `l` is of an installation. The index `entry_line_open` needs it; its binding is the id as text. */
export const ofInstallation = `split_part(l.entry_id, '/', 1) = ?`;

/** The options of a report of accounts, besides its period. */
export interface Asked extends Recorded {
  split: Split | null;
  /** Whether the section lists the documents of each figure. */
  documents: boolean;
  /** The account of `report account`. */
  account: string | null;
  /** Lists only lines after this place. The figures stay those of the whole period. */
  after?: LinePlace | null;
}

/** The fields of an installation that a report needs. */
export interface ReportInput {
  id: InstallationId;
  timezone: string;
  decimals: number;
  startDate: CalendarDate | null;
}

/** A section whose items are in memory. */
export interface SummedSection extends Section {
  figures: readonly (Figure & { items: readonly Item[] })[];
}

/** Sums items into figures, in the order of their first item. */
export function section(shape: SectionShape, items: readonly Item[]): SummedSection {
  const groups = Map.groupBy(items, ({ keys }) => JSON.stringify(shape.keys.map(({ name }) => keys[name] ?? null)));
  const figures = [...groups.values()].flatMap((of): SummedSection['figures'] => {
    const [first] = of;
    return first === undefined ? [] : [{ keys: first.keys, amounts: added(shape, of), items: of }];
  });
  return { shape, figures, total: added(shape, figures) };
}

/** A table of any length: its items are read while it is printed. Items of one figure follow one another. */
export interface Listing {
  shape: SectionShape;
  items: Iterable<Item> | AsyncIterable<Item>;
  /** Whether its amounts have a common total. */
  hasTotal: boolean;
}

/** The section of a listing, with all its items in memory. */
export async function collected({ shape, items }: Listing): Promise<SummedSection> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return section(shape, all);
}

/** A section whose figures are already summed. */
export function sectionOf(shape: SectionShape, figures: readonly Figure[]): Section {
  return { shape, figures, total: added(shape, figures) };
}

/** Two sections: items of a period, and items posted after their VAT period was first closed (ACCOUNTING "Dates"). */
export function timelyAndLate(
  [timely, late]: readonly [SectionShape, SectionShape],
  items: readonly { isLate: boolean; item: Item }[],
): Section[] {
  const of = (isLate: boolean) => items.flatMap((each) => (each.isLate === isLate ? [each.item] : []));
  return [section(timely, of(false)), section(late, of(true))];
}

/** A section of items that were settled without delivery to the ERP. Empty if there are no such items. */
export function settledUnsent(shape: SectionShape, items: readonly { isSettled: boolean; item: Item }[]): Section[] {
  const found = items.flatMap(({ isSettled, item }) => (isSettled ? [item] : []));
  return found.length === 0 ? [] : [section(shape, found)];
}

function added(shape: SectionShape, of: readonly { amounts: Item['amounts'] }[]): Record<string, Money> {
  return Object.fromEntries(
    shape.amounts.map(({ name }) => [name, sum(of.flatMap(({ amounts }) => amounts[name] ?? []))]),
  );
}
