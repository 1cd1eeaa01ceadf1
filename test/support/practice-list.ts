// A list of the practice API in memory, with filters, orders and pages, each of which a server may support or ignore.

import { PracticeError } from '../../src/domain/practice-error.ts';
import type { ListAnswer } from '../../src/practice/client.ts';

/** A record with the values that filters compare. */
export interface ListedRecord {
  id: number;
  raw: string;
  value: unknown;
  /** The invoice of a row or payment. */
  parent?: number | null;
  invoiceDate?: string | null;
  /** Epoch milliseconds; for a payment, its `date_added`. */
  modifiedMs?: number;
}

export type ListOrder = 'as stored' | 'ascending' | 'descending' | 'modified' | 'modified descending' | 'random';

export interface ListRequest {
  filters: Record<string, string>;
  pageSize: number | null;
  page?: number | undefined;
}

export interface ListServerOptions {
  isHonoured(filter: string): boolean;
  order: ListOrder;
  /** Returns a random whole number in the range, for orders that the server leaves open. */
  random?(least: number, most: number): number;
  /** Parses times in filters; the default is ISO 8601. */
  parseTime?(text: string): number;
  defaultPageSize?: number;
  pageCap?: number;
  /** The highest offset (practice-api: Limits); the default is unlimited. */
  maxOffset?: number;
}

/** The records that match the supported filters of a request, in their original order. */
export function matching<R extends ListedRecord>(
  records: Iterable<R>,
  filters: Record<string, string>,
  { isHonoured, parseTime = Date.parse }: Pick<ListServerOptions, 'isHonoured' | 'parseTime'>,
): R[] {
  const tests = Object.entries(filters)
    .filter(([name]) => name !== 'ordering' && isHonoured(name))
    .map(([name, value]) => testOf(name, value, parseTime));
  return [...records].filter((record) => tests.every((holds) => holds(record)));
}

/** The records in the server's order, or by id if the request asks for it and the server supports it. */
export function ordered<R extends ListedRecord>(
  records: R[],
  filters: Record<string, string>,
  { order, isHonoured, random }: Pick<ListServerOptions, 'order' | 'isHonoured' | 'random'>,
): R[] {
  const modified = (record: R) => record.modifiedMs ?? 0;
  const wanted = filters.ordering === 'id' && isHonoured('ordering') ? 'ascending' : order;
  if (wanted === 'ascending') return records.sort((a, b) => a.id - b.id);
  if (wanted === 'descending') return records.sort((a, b) => b.id - a.id);
  // The order of equal times is random, and different for each request.
  if (wanted !== 'as stored' && random) shuffle(records, random);
  if (wanted === 'modified') return records.sort((a, b) => modified(a) - modified(b));
  if (wanted === 'modified descending') return records.sort((a, b) => modified(b) - modified(a));
  return records;
}

/** The weight and the start of a page. Throws PracticeError beyond the highest offset. */
export function pageOf({ pageSize, page = 1 }: ListRequest, options: ListServerOptions) {
  const { defaultPageSize = 50, pageCap = 1000, maxOffset = Number.POSITIVE_INFINITY } = options;
  const size = Math.min(pageSize ?? defaultPageSize, pageCap);
  const offset = (page - 1) * size;
  if (offset > maxOffset) throw new PracticeError('refused', `offset ${offset} is above ${maxOffset}`);
  return { size, offset, weight: Math.max(1, Math.ceil((pageSize ?? defaultPageSize) / defaultPageSize)) };
}

/** The times of an answer. By default, the clocks of server and database agree. */
export type AnswerTimes = Pick<ListAnswer, 'sourceTime'> &
  Partial<Pick<ListAnswer, 'sourceTimeAtMost' | 'askedAt' | 'answeredAt'>>;

/** The times with all defaults set. */
export function answerTimes(at: AnswerTimes): Required<AnswerTimes> {
  const { sourceTime, sourceTimeAtMost = sourceTime, askedAt = sourceTime, answeredAt = askedAt } = at;
  return { sourceTime, sourceTimeAtMost, askedAt, answeredAt };
}

/** A whole answer of a server that reads its list at the given moment. */
export function answerOf(
  records: Iterable<ListedRecord>,
  request: ListRequest,
  options: ListServerOptions,
  at: AnswerTimes,
): ListAnswer {
  const { size, offset, weight } = pageOf(request, options);
  const kept = ordered(matching(records, request.filters, options), request.filters, options);
  return {
    count: kept.length,
    results: kept.slice(offset, offset + size).map(({ id, raw, value }) => ({ id, raw, value })),
    ...answerTimes(at),
    ...{ clock: 'server', weight, pageSizeAsked: request.pageSize },
  };
}

export function shuffle<T>(items: T[], random: (least: number, most: number) => number): void {
  for (let at = items.length - 1; at > 0; at--) {
    const other = random(0, at);
    [items[at], items[other]] = [items[other] as T, items[at] as T];
  }
}

type Comparable = number | string;

const comparisons: Record<string, (a: Comparable, b: Comparable) => boolean> = {
  gt: (a, b) => a > b,
  gte: (a, b) => a >= b,
  lt: (a, b) => a < b,
  lte: (a, b) => a <= b,
  is: (a, b) => a === b,
};

function testOf(name: string, value: string, parseTime: (text: string) => number): (record: ListedRecord) => boolean {
  const split = name.lastIndexOf('__');
  const [field, operator] = [name.slice(0, split), name.slice(split + 2)];
  const fields: Record<string, (record: ListedRecord) => Comparable | null | undefined> = {
    id: ({ id }) => id,
    invoice: ({ parent }) => parent,
    invoice_date: ({ invoiceDate }) => invoiceDate,
    modified: ({ modifiedMs }) => modifiedMs,
    date_added: ({ modifiedMs }) => modifiedMs,
  };
  const read = fields[field];
  if (!read) throw new Error(`the simulated source has no ${name}`);
  if (operator === 'is_null') return (record) => read(record) === null;
  if (operator === 'in') {
    const wanted = new Set<Comparable>(value.split(',').map(Number));
    return (record) => wanted.has(read(record) ?? Number.NaN);
  }
  const compare = comparisons[operator];
  if (!compare) throw new Error(`the simulated source has no ${name}`);
  const asked =
    field === 'invoice_date' ? value : field === 'id' || field === 'invoice' ? Number(value) : parseTime(value);
  return (record) => {
    const found = read(record);
    return found != null && compare(found, asked);
  };
}
