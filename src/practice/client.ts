import type { Clock } from '../domain/clock.ts';
import { isCalendarDate } from '../domain/dates.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { inSlices } from '../domain/slices.ts';
import { withoutEnd } from '../domain/text.ts';
import {
  type ActionKind,
  actionOf,
  type Dialect,
  externalIdActionOf,
  type ListKind,
  pathOf,
  subresourceOf,
  weightOf,
} from '../records/dialect.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../records/json.ts';
import { readListBody, readSmall } from '../records/list-body.ts';
import { recordId } from '../records/schema.ts';
import type { CalendarDate, SourceKind, SourceRef } from '../terms.ts';
import { practiceTexts } from '../texts/errors/practice.ts';
import type { Auth } from './auth.ts';
import { type OnWait, priorities, type RateBudget } from './budget.ts';
import { CounterSet, type Counters } from './counters.ts';
import {
  type Asked,
  type ExchangeContext,
  type Exchanged,
  exchange,
  type OnOutcome,
  type OnWaiting,
} from './exchange.ts';
import { type ExternalIdToWrite, type ExternalInfoPorts, readExternalId, writeExternalId } from './external-info.ts';
import { dateOf, type HttpAnswer, type Method, type Transport } from './http.ts';
import { type Log, newRequestId } from './log.ts';
import { type RawRecord, readerOf, sortPage, type UnusableRecord } from './raw-record.ts';
import { createTransport, defaultTimeouts, type Timeouts } from './transport.ts';

export interface PracticeClientOptions {
  installation: number;
  /** `{base_url}` of the specification. */
  baseUrl: string;
  auth: Auth;
  dialect: Dialect;
  /** This installation's budget. Its request time-out must not be shorter than this client's. */
  budget: RateBudget;
  log: Log;
  clock: Clock;
  random?: () => number;
  timeouts?: Timeouts;
  /** A transport whose connections are shared, for example with the requests for tokens. By default a new one. */
  transport?: Transport;
  signal?: AbortSignal;
  /** The client calls this while requests wait for the budget. */
  onWait?: OnWait;
}

export interface ListAnswer {
  /** Number of records that match the filters, on all pages. */
  count: number;
  results: RawRecord[];
  /** Records of the page from which no document can be made. They count as received. Absent if there are none. */
  unusable?: readonly UnusableRecord[];
  /** Lower bound of the snapshot's time: the answer's `Date` minus the request's duration (DESIGN "Sync"). */
  sourceTime: Date;
  /** Upper bound of the snapshot's time, by the same clock. */
  sourceTimeAtMost: Date;
  /** The database's clock before the request was sent, and after its answer arrived (DESIGN "Sync"). */
  askedAt: Date;
  answeredAt: Date;
  /** `unknown` if the answer had no `Date` header. The database's clock is then used for source time. */
  clock: 'server' | 'unknown';
  weight: number;
  /** Null if no page size was sent, so that the server's default applied. */
  pageSizeAsked: number | null;
}

export interface ListOptions {
  /** The lowest number goes first. Default `priorities.live`. */
  priority?: number;
  /** Whether the list's expose flags are sent. Default true. */
  expose?: boolean;
  page?: number;
  /** The presumed number of records in a page of this list without a page size. The weight is calculated from it. */
  defaultPageSize?: number;
}

export interface PracticeClient {
  /**
   * Reads one page of a list, by default the first. Filters are query parameters by their full names. A page size above
   * the maximum is reduced to it. Throws PracticeError: `malformed_record` if a record of a list that is not
   * synchronised has no usable id.
   */
  list(
    kind: ListKind,
    filters: Record<string, string>,
    pageSize: number | null,
    options?: ListOptions,
  ): Promise<ListAnswer>;
  /**
   * Writes the external document id of a document and keeps every other key of its external_info. Returns the new
   * record. Null if the answer does not contain it, as with the sub-resource. Throws ExternalIdTaken if the
   * sub-resource has an id that may not be replaced.
   */
  writeExternalId(document: ExternalIdToWrite, priority?: number): Promise<RawRecord | null>;
  /**
   * Milliseconds until the budget has room for this number of writes at once, if no other process uses it. 0 if it has
   * room now.
   */
  writeRoomInMs(kind: SourceKind, writes: number): Promise<number>;
  /** The external document id in the sub-resource. */
  readExternalId(document: SourceRef, priority?: number): Promise<string | null>;
  /**
   * The department's financial_period_lock_date. A failure is logged and returns 'unknown', so that it never stops a
   * window (field-notes: Lists and filters). Only `unauthorized` is thrown.
   */
  departmentSettings(departmentId: number): Promise<{ lockDate: CalendarDate | null } | 'unknown'>;
  /**
   * The department's lock date, and whether the practice software moves it automatically. The source then refuses to set it. Throws
   * PracticeError.
   */
  periodLock(departmentId: number): Promise<{ lockDate: CalendarDate | null; isAutomatic: boolean }>;
  /** Sets the department's financial_period_lock_date, the earliest open day. Throws PracticeError. */
  setLockDate(departmentId: number, earliestOpen: CalendarDate): Promise<void>;
  /**
   * A lower bound of the source's present time, estimated from its answers. Null before the first answer. Use it only
   * to decide how long to wait.
   */
  sourceNow(): Date | null;
  /** The cost so far of the requests of this client, and of the clients made from it. */
  counters(): Counters;
  /** Makes a copy of this client with new counters, and with the given signal and listeners. */
  forWindow(overrides?: {
    signal?: AbortSignal;
    onWait?: OnWait;
    onOutcome?: OnOutcome;
    onWaiting?: OnWaiting;
  }): PracticeClient;
  /** Closes idle connections. */
  close(): void;
}

/** If a page is too large, the client divides the page size by this number and requests the page again. */
export const pageShrink = 4;

/**
 * Makes a client of one installation's practice API. Throws a RangeError if a time-out is longer than the time-out of the rate budget.
 */
export function createPracticeClient(options: PracticeClientOptions): PracticeClient {
  const timeouts = options.timeouts ?? defaultTimeouts;
  if (timeouts.requestMs > options.budget.requestTimeoutSeconds * 1000) {
    throw new RangeError("the budget's request time-out is shorter than the client's");
  }
  const { clock } = options;
  return clientWith(options, new Map(), {
    auth: options.auth,
    budget: options.budget,
    transport: options.transport ?? createTransport({ timeouts, clock }),
    clock,
    random: options.random ?? Math.random,
    newRequestId,
    log: options.log,
    counters: new CounterSet(),
    signal: options.signal,
    onWait: options.onWait,
    onOutcome: undefined,
    onWaiting: undefined,
  });
}

/** `pageSizes` has the default page size of each list, found from its answers. It is the unit of the page weight. */
function clientWith(
  options: PracticeClientOptions,
  pageSizes: Map<ListKind, number>,
  context: ExchangeContext,
): PracticeClient {
  const { dialect } = options;
  const api = `${withoutEnd(options.baseUrl, '/')}/${options.installation}/${dialect.paths.api}`;

  interface Sent {
    method: Method;
    path: string;
    body?: JsonObject;
    weight?: number;
    priority?: number;
    sendUntilMs?: number | undefined;
  }

  const sendAs = <Body>(
    kind: ListKind,
    action: ActionKind,
    request: Sent,
    parse: (body: string) => Promise<Body>,
  ): Promise<Exchanged<Body>> =>
    exchange(context, {
      weight: 1,
      priority: priorities.live,
      ...request,
      parse,
      url: `${api}${request.path}`,
      action: actionOf(dialect, kind, action),
    });
  const send = (kind: ListKind, action: ActionKind, request: Sent) =>
    sendAs(kind, action, request, async (body) => readSmall(kind, body, 'all'));

  /** The member of a list's records that is sent back unchanged (writeExternalId). */
  const sentBack = (kind: ListKind) =>
    kind === 'prepayment' || dialect.external_info.kinds.some((carrier) => carrier === kind)
      ? { member: dialect.external_info.field }
      : undefined;

  const documentPath = (kind: SourceKind, id: number) => `${pathOf(dialect, kind)}${id}/`;

  const listPage = async (
    kind: ListKind,
    filters: Record<string, string>,
    pageSize: number | null,
    { priority = priorities.live, expose = true, page, defaultPageSize = dialect.default_page_size }: ListOptions,
  ): Promise<ListAnswer> => {
    const pageSizeAsked = pageSize === null ? null : Math.min(pageSize, dialect.max_page_size);
    const weight = weightOf(pageSizeAsked, pageSizes.get(kind) ?? defaultPageSize);
    // URLSearchParams encodes the + of a timestamp's offset as %2B.
    const query = new URLSearchParams(filters);
    if (pageSizeAsked !== null) query.set('page_size', String(pageSizeAsked));
    if (page !== undefined) query.set('page', String(page));
    const flags = expose ? (dialect.expose[kind] ?? []) : [];
    const parts = [query.toString(), ...flags.map(encodeURIComponent)].filter((part) => part !== '');
    const path = `${pathOf(dialect, kind)}${parts.length > 0 ? '?' : ''}${parts.join('&')}`;
    const read = readerOf(dialect, kind);
    const { value, answer, askedAt, answeredAt } = await sendAs(
      kind,
      'list',
      { method: 'GET', path, weight, priority },
      (body) => inSlices(readListBody(kind, body, read, sentBack(kind))),
    );
    if (value === null) throw new PracticeError('malformed_response', practiceTexts.listEmpty({ list: kind }));
    const { count } = value;
    const { results, unusable } = sortPage(value.results, count, query.toString(), filters);
    const received = value.results.length;
    // A page that shows a record more than once does not reveal the page size.
    const hasCopies = new Set(results.map(({ id }) => id)).size < results.length;
    if (pageSizeAsked === null && page === undefined && received > 0 && received < count && !hasCopies) {
      pageSizes.set(kind, received);
    }
    return {
      count,
      results,
      ...(unusable.length > 0 ? { unusable } : {}),
      ...timesOf(answer, { askedAt, answeredAt }),
      askedAt,
      answeredAt,
      weight,
      pageSizeAsked,
    };
  };

  /**
   * If the first page is too large, it is requested again with smaller and smaller sizes, because a single record may
   * be the cause. The caller then gets fewer records than requested, as from a server with a smaller maximum.
   */
  const inSmallerPages = async (
    kind: ListKind,
    pageSize: number | null,
    page: number | undefined,
    ask: (pageSize: number | null) => Promise<ListAnswer>,
  ): Promise<ListAnswer> => {
    for (let size = pageSize; ; ) {
      try {
        return await ask(size);
      } catch (error) {
        if (!(error instanceof PracticeError) || error.code !== 'answer_too_large') throw error;
        const failed = size ?? pageSizes.get(kind) ?? dialect.default_page_size;
        if (failed <= 1 || (page ?? 1) > 1) throw error;
        size = Math.ceil(failed / pageShrink);
        context.log.warn({ list: kind, pageSize: size }, practiceTexts.smallerPages({ error: error.message, size }));
      }
    }
  };

  const patchDocument = async (
    kind: SourceKind,
    id: number,
    sent: Pick<Sent, 'body' | 'priority' | 'sendUntilMs'>,
  ): Promise<RawRecord | null> => {
    const { value } = await send(kind, 'write', { method: 'PATCH', path: documentPath(kind, id), ...sent });
    const idField = dialect.fields[kind].id;
    if (!isJsonObject(value) || !Object.hasOwn(value, idField)) return null;
    const record = { id: recordId(kind, value, idField), value };
    if (record.id !== id) {
      throw new PracticeError('malformed_response', practiceTexts.otherRecord({ kind, id, answered: record.id }));
    }
    return record;
  };

  const externalInfoPorts = (kind: SourceKind, priority: number, sendUntilMs?: number): ExternalInfoPorts => {
    const path = (id: number) => `${documentPath(kind, id)}${dialect.external_info.subresource}`;
    const subresource = subresourceOf(dialect, kind);
    return {
      patch: (id, body) => patchDocument(kind, id, { body, priority, sendUntilMs }),
      read: async (id) => (await send(subresource, 'list', { method: 'GET', path: path(id), priority })).value,
      create: async (id, body) => {
        await send(subresource, 'write', { method: 'POST', path: path(id), body, priority });
      },
      update: async (id, infoId, body) => {
        await send(subresource, 'write', { method: 'PATCH', path: `${path(id)}${infoId}/`, body, priority });
      },
    };
  };

  return {
    list: (kind, filters, pageSize, options = {}) =>
      inSmallerPages(kind, pageSize, options.page, (size) => listPage(kind, filters, size, options)),

    writeExternalId: (document, priority = priorities.live) =>
      writeExternalId(dialect, externalInfoPorts(document.kind, priority, document.sendUntilMs), document),

    writeRoomInMs: (kind, writes) => context.budget.roomInMs(externalIdActionOf(dialect, kind), writes),

    readExternalId: (document, priority = priorities.live) =>
      readExternalId(dialect, externalInfoPorts(document.kind, priority), document),

    departmentSettings: async (departmentId) => {
      const path = `${dialect.paths.department_settings}${departmentId}/`;
      try {
        const { value } = await send('department_settings', 'retrieve', { method: 'GET', path });
        return lockDateIn(value, dialect.fields.department_settings.lock_date);
      } catch (error) {
        if (!(error instanceof PracticeError) || error.code === 'unauthorized') throw error;
        context.log.warn({ departmentId, code: error.code }, practiceTexts.lockDateUnknown({ error: error.message }));
        return 'unknown';
      }
    },

    periodLock: async (departmentId) => {
      const path = `${dialect.paths.department_settings}${departmentId}/`;
      const { value } = await send('department_settings', 'retrieve', { method: 'GET', path });
      const { lock_date: lockField, automatic_lock: automaticField } = dialect.fields.department_settings;
      const lock = lockDateIn(value, lockField);
      if (lock === 'unknown') {
        throw new PracticeError(
          'malformed_response',
          practiceTexts.lockDateUnusable({ department: departmentId, field: lockField }),
        );
      }
      return { ...lock, isAutomatic: isJsonObject(value) && value[automaticField] === true };
    },

    setLockDate: async (departmentId, earliestOpen) => {
      const path = `${dialect.paths.department_settings}${departmentId}/`;
      const body = { [dialect.fields.department_settings.lock_date]: earliestOpen };
      await send('department_settings', 'write', { method: 'PATCH', path, body });
    },

    sourceNow: () => {
      const now = context.transport.serverNow();
      return now === null ? null : new Date(now);
    },

    counters: () => context.counters.read(),

    forWindow: (overrides = {}) =>
      clientWith(options, pageSizes, { ...context, ...overrides, counters: new CounterSet(context.counters) }),

    close: () => context.transport.close(),
  };
}

/**
 * How far the source's clock may be behind the database's if the answer has no `Date`. It is subtracted from the
 * request's time. The next window therefore reads the changes of these minutes again.
 */
const unknownClockMarginMs = 300_000;

/**
 * Bounds of the snapshot's time (DESIGN "Sync": source time). `Date` has whole seconds, so `Date` minus the duration
 * can be nearly a second too early. The `Date` of an answer that arrived before the request was sent is another lower
 * bound, unless the server's clock was set back since. Without a `Date`, the database's clock is used.
 */
function timesOf(
  answer: HttpAnswer,
  { askedAt, answeredAt }: Asked,
): Pick<ListAnswer, 'sourceTime' | 'sourceTimeAtMost' | 'clock'> {
  const date = dateOf(answer);
  if (date === null) {
    const sourceTime = new Date(askedAt.getTime() - unknownClockMarginMs);
    return { sourceTime, sourceTimeAtMost: answeredAt, clock: 'unknown' };
  }
  const before = answer.dateBefore === null || answer.dateBefore > date ? 0 : answer.dateBefore;
  return {
    sourceTime: new Date(Math.max(date - answer.durationMs, before)),
    // The header's seconds are rounded down.
    sourceTimeAtMost: new Date(date + 1000),
    clock: 'server',
  };
}

function lockDateIn(value: JsonValue, field: string): { lockDate: CalendarDate | null } | 'unknown' {
  if (!isJsonObject(value) || !Object.hasOwn(value, field)) return 'unknown';
  const found = value[field];
  if (found === null || found === '') return { lockDate: null };
  return typeof found === 'string' && isCalendarDate(found) ? { lockDate: found } : 'unknown';
}
