// Computes figures from measurements.
import type { ListCounts } from './clinic.ts';
import type { Mark } from './sandbox-process.ts';

/** The weight per rolling window that each list allows (practice-api: Limits; field notes: Lists and filters). */
export const listLimits: Record<keyof ListCounts, number> = {
  invoice: 60,
  invoicerow: 100,
  invoicepayment: 100,
  unallocatedpayment: 200,
};
export const lists = Object.keys(listLimits) as (keyof ListCounts)[];

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function total(counts: ListCounts): number {
  return lists.reduce((sum, list) => sum + counts[list], 0);
}

/** The default page size, which is the unit of weight. */
export const usualPageSize = 50;

/** The least weight to read all records of a list: one for each default page, at any page size. */
export function leastWeight(counts: ListCounts, list: keyof ListCounts, defaultPageSize = usualPageSize): number {
  return Math.ceil(counts[list] / defaultPageSize);
}

/**
 * The number of whole windows until the source has granted this weight of a list. The first limit is granted at once.
 */
export function windowsFor(weight: number, limit: number): number {
  return Math.max(0, Math.ceil(weight / limit) - 1);
}

/** The limit of writing a prepayment (practice-api: Limits, for its kind of action). */
export const writeLimit = 300;

/**
 * The bound: the least seconds that a load can take, by its slowest action. A rolling window grants the first limit at
 * once, and the same again in each window after it. `writes` is the number of prepayments that are written back, one
 * request each.
 */
export function boundSeconds(
  counts: ListCounts,
  windowSeconds: number,
  { writes = 0, defaultPageSize = usualPageSize } = {},
): number {
  const shares = lists.map((list) => leastWeight(counts, list, defaultPageSize) / listLimits[list]);
  return (Math.max(1, ...shares, writes / writeLimit) - 1) * windowSeconds;
}

export interface Use {
  requests: number;
  weight: number;
  throttled: number;
  /** Seconds from the first to the last grant. */
  seconds: number;
  /**
   * The used share of the rate budget: the shortest time in which the budget allows this weight, divided by the real
   * time. Null if the weight fits into one rate window.
   */
  share: number | null;
}

export function useOf(marks: Mark[], action: string, limit: number, windowSeconds: number): Use {
  const own = marks.filter((mark) => mark.action === action);
  const granted = own.filter((mark) => mark.weight > 0);
  const sum = (field: 'requests' | 'weight' | 'throttled') => own.reduce((all, mark) => all + mark[field], 0);
  const seconds = granted.length ? (granted.at(-1)!.at - granted[0]!.at) / 1000 : 0;
  const windows = windowsFor(sum('weight'), limit);
  const share = windows > 0 && seconds > 0 ? (windows * windowSeconds) / seconds : null;
  return { requests: sum('requests'), weight: sum('weight'), throttled: sum('throttled'), seconds, share };
}

export function sumOf(marks: Mark[], field: 'requests' | 'weight' | 'throttled', actions?: string[]): number {
  return marks.filter(({ action }) => !actions || actions.includes(action)).reduce((all, mark) => all + mark[field], 0);
}

export const listActions = lists.map((list) => `${list}.list`);

/**
 * The list requests of pulling. Prepayments are read again before they are written back, so their requests count only
 * until the first write.
 */
export function pullMarks(marks: Mark[]): Mark[] {
  const written = marks.findIndex(({ action }) => action === writeAction);
  return marks.filter(
    ({ action }, index) =>
      listActions.includes(action) && (action !== prepaymentList || written === -1 || index < written),
  );
}

const prepaymentList = 'unallocatedpayment.list';
const writeAction = 'unallocatedpayment.partial_update';

/** Seconds between the first and the last grant. */
export function spanSeconds(marks: Mark[]): number {
  const granted = marks.filter(({ weight }) => weight > 0);
  return granted.length ? (granted.at(-1)!.at - granted[0]!.at) / 1000 : 0;
}

export function table(head: string[], rows: (string | number)[][]): string {
  const line = (cells: (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}

export function fixed(value: number | null, decimals = 2): string {
  return value === null ? '–' : value.toFixed(decimals);
}

export function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}
