/**
 * A report is a list of items, each the share of one document in one figure. Figures are sums of items and totals sums of figures, so
 * that every figure comes with the documents that make it up, and adds up.
 */
import { type Money, sum } from '../domain/money.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';

export type Cell = string | number | null;

export interface Column {
  /** As in `--json` and `--csv`. */
  name: string;
  title: string;
  /** An amount that is zero nearly always: as text, its column stands only where it is not. */
  isRare?: true;
}

/** Describes the items of a section. */
export interface SectionShape {
  name: string;
  title: string;
  /** What a figure is of: a customer; a VAT group and its rate. */
  keys: readonly Column[];
  /** What is told of each document beside its amounts. */
  facts: readonly Column[];
  amounts: readonly Column[];
}

/** The share of a document in a figure; its columns are those of the section. */
export interface Item {
  keys: Readonly<Record<string, Cell>>;
  /** `invoice 123` */
  document: string;
  facts: Readonly<Record<string, Cell>>;
  amounts: Readonly<Record<string, Money>>;
}

export interface Figure {
  keys: Readonly<Record<string, Cell>>;
  amounts: Readonly<Record<string, Money>>;
  items: readonly Item[];
}

export interface Section {
  shape: SectionShape;
  figures: readonly Figure[];
  total: Readonly<Record<string, Money>>;
}

/** The days that a report is of: the state after `through`, or what happened from `from` to `through`. */
export interface Period {
  from: CalendarDate | null;
  through: CalendarDate;
}

/** What a report needs to know of an installation. */
export interface ReportInput {
  id: InstallationId;
  timezone: string;
  /** Decimals of the currency's minor unit. */
  decimals: number;
  startDate: CalendarDate | null;
}

/** Sums items to figures; figures in the order of their first item. */
export function section(shape: SectionShape, items: readonly Item[]): Section {
  const groups = Map.groupBy(items, ({ keys }) => JSON.stringify(shape.keys.map(({ name }) => keys[name] ?? null)));
  const figures = [...groups.values()].flatMap((of): Figure[] => {
    const [first] = of;
    return first === undefined ? [] : [{ keys: first.keys, amounts: added(shape, of), items: of }];
  });
  return { shape, figures, total: added(shape, figures) };
}

/** Items of a period, and those posted after their VAT period was first closed (ACCOUNTING "Dates"): a section of each. */
export function timelyAndLate(
  [timely, late]: readonly [SectionShape, SectionShape],
  items: readonly { isLate: boolean; item: Item }[],
): Section[] {
  const of = (isLate: boolean) => items.flatMap((each) => (each.isLate === isLate ? [each.item] : []));
  return [section(timely, of(false)), section(late, of(true))];
}

/** What was settled without being sent to the ERP: a section where there is any. */
export function settledUnsent(shape: SectionShape, items: readonly { isSettled: boolean; item: Item }[]): Section[] {
  const found = items.flatMap(({ isSettled, item }) => (isSettled ? [item] : []));
  return found.length === 0 ? [] : [section(shape, found)];
}

function added(shape: SectionShape, of: readonly { amounts: Item['amounts'] }[]): Record<string, Money> {
  return Object.fromEntries(
    shape.amounts.map(({ name }) => [name, sum(of.flatMap(({ amounts }) => amounts[name] ?? []))]),
  );
}
