// Lists with pages: filters, order, envelope, and the highest offset (practice-api: Conventions 5-8, Limits).

import { z } from 'zod';
import type { Permission, Scope } from '../auth.ts';
import type { Quirks } from '../quirks.ts';
import type { RecordBase } from '../records.ts';
import { Rng } from '../rng.ts';
import type { Selection, Table } from '../table.ts';
import type { WireRecord } from '../wire.ts';
import type { Answer } from './answer.ts';
import { answer, flag, integer } from './fields.ts';
import { type AppliedFilter, appliedFilters, type FilterFields, filterQuery } from './filters.ts';
import { dependent } from './forms.ts';
import { type ApiRequest, type RouteSpec, route } from './route.ts';

/** The highest offset of a page. */
export const maxOffset = 10_000;

/** The largest `page_size` (practice-api: Conventions 5). */
const maxPageSize = 1000;

export interface Listing<T> {
  filters: FilterFields<T>;
  wire: (record: T) => WireRecord;
  /** Selects the records of the list; the default is all records of the table. */
  about?: (record: T) => boolean;
  /** The field with the parent's id, if the table is grouped by one. */
  group?: string;
  /** The parent whose records the list shows, in a grouped table. */
  parent?: number;
  /** Fields whose filters are combined with OR if the query contains `filter_type=or`. */
  orFields?: readonly string[];
}

/** The number of records per page: `page_size` if it is a positive number, at most the maximum. */
export const pageSize = (search: URLSearchParams, quirks: Quirks): number => {
  const asked = Number(search.get('page_size'));
  if (!Number.isInteger(asked) || asked <= 0) return quirks.defaultPageSize;
  return Math.min(asked, quirks.maxPageSize);
};

/** The filters that every list has (field notes: `id__gt`, and operators seen in the field). */
export const idFilter: FilterFields<RecordBase> = {
  id: { kind: 'integer', operators: ['is', 'gt', 'lt', 'in'], value: (record) => record.id },
};
export const modifiedFilter: FilterFields<RecordBase> = {
  modified: { kind: 'time', operators: ['gte', 'lt'], value: (record) => record.modified },
};

/** The paging parameters of every list. A `page_size` above the maximum counts as the maximum. */
const paging = {
  page: integer({ min: 1, max: 1_000_000_000 }).optional().meta({ description: 'Page number, from 1' }),
  page_size: dependent(({ strict }) => integer(strict ? { min: 1, max: maxPageSize } : { min: 1 }))
    .optional()
    .meta({ description: 'Results per page, at most 1000' }),
};

/** The query of a list: paging, filters and flags. */
export const listQuery = <T>(filters: FilterFields<T>, flags: Readonly<Record<string, string>> = {}) =>
  z.object({
    ...paging,
    ...filterQuery(filters),
    ...Object.fromEntries(Object.entries(flags).map(([name, description]) => [name, flag(description)])),
  });

const filterType = dependent<string>(({ strict }) => (strict ? z.enum(['or']) : z.string()))
  .optional()
  .describe('or: a record is found where one of the name filters matches');

const envelopes = new WeakMap<z.ZodType, z.ZodType>();

/** The envelope of a list of these records (practice-api: Conventions 5). */
export const envelope = (record: z.ZodType): z.ZodType => {
  const known = envelopes.get(record) ?? envelopeOf(record);
  envelopes.set(record, known);
  return known;
};

const envelopeOf = (record: z.ZodType) =>
  answer({
    count: z.union([z.int(), z.string().regex(/^\d+$/)]),
    num_pages: z.int().min(1),
    next: z.string().nullable(),
    previous: z.string().nullable(),
    results: z.array(record),
  });

export interface ListRoute<T> {
  path: string;
  action: string;
  section: string;
  summary: string;
  permission?: Permission;
  scope?: Scope;
  table: (request: ApiRequest) => Table<T & RecordBase>;
  filters: FilterFields<T>;
  record: z.ZodType;
  wire: (request: ApiRequest, record: T) => WireRecord;
  about?: (request: ApiRequest, record: T) => boolean;
  group?: string;
  orFields?: readonly string[];
  /** The flags of the query besides the filters, with their descriptions. */
  flags?: Readonly<Record<string, string>>;
}

/** Declares the endpoint of a list. */
export const listRoute = <T extends RecordBase>(spec: ListRoute<T>): RouteSpec => {
  const { path, action, section, summary, permission, scope } = spec;
  const { table, filters, record, wire, about, group, orFields } = spec;
  return route({
    ...{ method: 'GET', path, action, section, summary },
    ...(permission === undefined ? {} : { permission }),
    ...(scope === undefined ? {} : { scope }),
    query: listQuery(filters, spec.flags).extend(orFields ? { filter_type: filterType } : {}),
    answers: { 200: envelope(record) },
    handle: (request) =>
      list(request, table(request), {
        filters,
        wire: (one) => wire(request, one),
        ...(about ? { about: (one: T) => about(request, one) } : {}),
        ...(group === undefined ? {} : { group }),
        ...(orFields === undefined ? {} : { orFields }),
      }),
  });
};

export const list = <T extends RecordBase>(request: ApiRequest, table: Table<T>, listing: Listing<T>): Answer => {
  const { search, quirks, clinic } = request;
  const size = pageSize(search, quirks);
  const page = Number(search.get('page') || '1');
  const offset = (page - 1) * size;
  if (offset > maxOffset) {
    const detail = `Offset ${offset} is above ${maxOffset}. Filter by date range or id__gt instead.`;
    return { status: 400, body: { detail } };
  }
  const filters = appliedFilters(request.query as Record<string, unknown>, listing.filters, clinic);
  const matching = find(table, filters, listing, search.get('filter_type') === 'or', clinic.clock());
  const count = matching.length;
  const pages = Math.max(1, Math.ceil(count / size));
  if (page > pages) return { status: 404, body: { detail: 'Invalid page.' } };
  const results = inOrder(matching, quirks.order, request.serial).slice(offset, offset + size);
  return {
    status: 200,
    body: {
      count: quirks.countAsString ? String(count) : count,
      num_pages: pages,
      next: page < pages ? request.pageUrl(page + 1) : null,
      previous: page > 1 ? request.pageUrl(page - 1) : null,
      results: results.map(listing.wire),
    },
  };
};

const find = <T extends RecordBase>(
  table: Table<T>,
  filters: AppliedFilter<T>[],
  listing: Listing<T>,
  anyName: boolean,
  nowMs: number,
): T[] => {
  const either = anyName ? filters.filter((filter) => listing.orFields?.includes(filter.field)) : [];
  const all = filters.filter((filter) => !either.includes(filter));
  const matches = (record: T): boolean =>
    (listing.about?.(record) ?? true) &&
    all.every((filter) => filter.matches(record)) &&
    (either.length === 0 || either.some((filter) => filter.matches(record)));
  const found: T[] = [];
  const selected = selection(all, listing.group);
  if (listing.parent !== undefined) selected.groups = [listing.parent];
  for (const candidate of table.select(selected)) {
    const record = table.visible(candidate, nowMs);
    if (record && matches(record)) found.push(record);
  }
  return found;
};

/** The conditions of the filters that an index of the table can use. */
const selection = <T>(filters: AppliedFilter<T>[], group: string | undefined): Selection => {
  const selected: Selection = {};
  for (const { field, operator, operand } of filters) {
    const numbers = (Array.isArray(operand) ? operand : [operand]) as number[];
    const isExact = operator === 'is' || operator === 'in';
    if (field === 'id' && isExact) selected.ids = numbers;
    else if (field === 'id' && operator === 'gt') selected.idGreaterThan = operand as number;
    else if (field === 'id' && operator === 'lt') selected.idLessThan = operand as number;
    else if (field === group && isExact) selected.groups = numbers;
    else if (field === 'modified' && operator === 'gte') selected.modifiedFrom = operand as number;
  }
  return selected;
};

const inOrder = <T extends RecordBase>(byId: T[], order: Quirks['order'], serial: number): T[] => {
  switch (order) {
    case 'id':
      return byId;
    case 'id_desc':
      return byId.reverse();
    case 'modified':
      return byId.sort((a, b) => a.modified - b.modified || a.id - b.id);
    case 'random': {
      const rng = new Rng(serial, 'order');
      for (let at = byId.length - 1; at > 0; at--) {
        const other = rng.int(0, at);
        [byId[at], byId[other]] = [byId[other] as T, byId[at] as T];
      }
      return byId;
    }
  }
};
