import type { InstallationConfig } from '../config/load-config.ts';
import { integer } from '../db/columns.ts';
import { type Connection, row } from '../db/rows.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { priorities } from '../practice/budget.ts';
import { ignoredFilters } from '../sync/capabilities/filters.ts';
import { readDefaultPageSizes } from '../sync/capabilities/server.ts';
import { estimateLoad, type ListEstimate, savingSeconds } from '../sync/load-estimate.ts';
import { filtersOf } from '../sync/replay/pull.ts';
import type { Bounds, Span } from '../sync/replay/spans.ts';
import { type InstallationId, type RecordKind, recordKinds } from '../terms.ts';
import { replayCostRemarks } from '../texts/findings/replay-cost.ts';
import { countTimeoutMs, type LoadPorts, listLoads } from './plan-load.ts';

export interface ReplayCost {
  installation: InstallationId;
  /** The number of intervals. Each interval is requested separately. */
  intervals: number;
  records: Record<RecordKind, number>;
  lists: ListEstimate[];
  requests: number;
  weight: number;
  /** Duration by the rate budgets alone. */
  seconds: number;
  /**
   * The reasons for a higher cost, such as filters that the server ignores, and the values that could not be
   * determined.
   */
  remarks: string[];
}

/** For at most this many intervals, the source counts the records. For more intervals, the mirror counts them. */
const askedAtMost = 5;

/**
 * The cost of a replay, estimated before it starts. If windows have read the intervals, the mirror knows the number of
 * records. Otherwise the source counts them, with one request of weight 1 per list.
 */
export async function replayCost(
  ports: LoadPorts,
  installation: InstallationConfig,
  spans: readonly Span[],
  signal: AbortSignal,
): Promise<ReplayCost> {
  const { db } = ports;
  const { id, dialect, rateWindowSeconds } = installation;
  const remarks: string[] = [];
  const records: Record<RecordKind, number> = { invoice: 0, row: 0, payment: 0, prepayment: 0 };
  const perInvoice = await rowsPerInvoice(db, id);
  const askSource = spans.length <= askedAtMost && !(await wereRead(db, id, spans));
  for (const span of spans) {
    const counted =
      (askSource ? await askCounts(ports, installation, span, signal) : null) ?? (await mirrored(db, id, span));
    for (const kind of ['invoice', 'payment', 'prepayment'] as const) records[kind] += counted[kind];
    records.row += Math.ceil(counted.invoice * perInvoice);
    if (askSource && counted.isMirror) remarks.push(replayCostRemarks.notCounted);
  }
  remarks.push(...(await filterRemarks(db, id)));
  const pageSizes = await readDefaultPageSizes(db, id, dialect);
  const rowFilters = await ignoredFilters(db, id, 'row');
  // If rows are requested for one invoice at a time, each request has the weight of a page.
  const singly = { ...records, ...(rowFilters.has('invoice__in') ? { row: records.invoice * pageSizes.row } : {}) };
  // The first page of each list is always requested.
  const loads = await listLoads(ports, installation, atLeast(singly, spans.length), pageSizes, rateWindowSeconds);
  const pace = { maxPageSize: dialect.max_page_size, windowSeconds: rateWindowSeconds, latencySeconds: savingSeconds };
  const { lists, seconds } = estimateLoad(Object.values(loads), pace);
  return {
    ...{ installation: id, intervals: spans.length, records, lists, seconds, remarks },
    requests: lists.reduce((n, list) => n + list.requests, 0),
    weight: lists.reduce((n, list) => n + list.weight, 0),
  };
}

function atLeast(records: Record<RecordKind, number>, least: number): Record<RecordKind, number> {
  const { invoice, row: rows, payment, prepayment } = records;
  const raised = (n: number) => Math.max(n, least);
  return { invoice: raised(invoice), row: raised(rows), payment: raised(payment), prepayment: raised(prepayment) };
}

/** Whether all windows of these intervals have closed, so that the mirror holds their records. */
async function wereRead(db: Connection, installation: InstallationId, spans: readonly Span[]): Promise<boolean> {
  const ids = spans.flatMap(({ windows }) => windows);
  if (ids.length === 0) return false;
  const { n } = await row(
    db,
    { n: integer },
    `select count(*) as n from sync_window where installation = ? and id = any(?) and outcome = 'closed'`,
    [installation, ids],
  );
  return n === ids.length;
}

type Counted = Record<Exclude<RecordKind, 'row'>, number> & { isMirror: boolean };

/** The source's own counts; null if it does not answer within 15 s. */
async function askCounts(
  ports: LoadPorts,
  installation: InstallationConfig,
  span: Span,
  signal: AbortSignal,
): Promise<Counted | null> {
  const ended = AbortSignal.any([signal, AbortSignal.timeout(countTimeoutMs)]);
  const client = ports.practice(installation.id).forWindow({ signal: ended });
  const scope = {
    ...{ db: ports.db, installation: installation.id, timezone: installation.timezone },
    overlapMs: installation.overlapSeconds * 1000,
  };
  const count = async (kind: Exclude<RecordKind, 'row'>) => {
    const filters = await filtersOf(scope, kind, span);
    return (await client.list(kind, filters, null, { priority: priorities.replay })).count;
  };
  try {
    const [invoice, payment, prepayment] = await Promise.all([count('invoice'), count('payment'), count('prepayment')]);
    return { invoice, payment, prepayment, isMirror: false };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof PracticeError || ended.aborted) return null;
    throw error;
  }
}

async function mirrored(db: Connection, installation: InstallationId, span: Span): Promise<Counted> {
  const count = async (condition: string, bindings: (string | number | Date)[]) =>
    (
      await row(
        db,
        { n: integer },
        `select count(*) as n from mirror_record where installation = ? and gone_at is null and ${condition}`,
        [installation, ...bindings],
      )
    ).n;
  const changed = (kind: string, { from, to }: Bounds) =>
    count(`kind = '${kind}' and modified >= ?::timestamptz and modified < ?::timestamptz`, [
      from === null ? '-infinity' : new Date(from),
      to === null ? 'infinity' : new Date(to),
    ]);
  const { payment } = span;
  return {
    invoice: await changed('invoice', span.invoice),
    prepayment: await changed('prepayment', span.prepayment),
    payment: await count(`kind = 'payment' and id > ? and id <= ?`, [
      payment.from ?? -1,
      payment.to ?? Number.MAX_SAFE_INTEGER,
    ]),
    isMirror: true,
  };
}

const sampleSize = 200;
/** The assumed rows of an invoice for a clinic with an empty mirror. */
const unknownRows = 3;

/** The average number of rows per invoice, from the newest invoices of the mirror. */
async function rowsPerInvoice(db: Connection, installation: InstallationId): Promise<number> {
  const { invoices, found } = await row(
    db,
    { invoices: integer, found: integer },
    `with newest as (
       select id from mirror_record where installation = ? and kind = 'invoice' order by id desc limit ?)
     select (select count(*) from newest) as invoices, (
       select count(*) from newest cross join lateral (
         select from mirror_record r where r.installation = ? and r.kind = 'row' and r.parent_id = newest.id) each) as found`,
    [installation, sampleSize, installation],
  );
  return invoices === 0 ? unknownRows : found / invoices;
}

/** Filters that the server is known to ignore, and their effect on a replay. */
async function filterRemarks(db: Connection, installation: InstallationId): Promise<string[]> {
  const remarks: string[] = [];
  for (const kind of recordKinds) {
    const ignored = await ignoredFilters(db, installation, kind);
    const lacks = (...filters: string[]) => filters.every((filter) => ignored.has(filter));
    const isChanges = kind === 'invoice' || kind === 'prepayment';
    if (isChanges && lacks('modified__gte')) {
      remarks.push(replayCostRemarks.wholeList({ list: `${kind}s` }));
    } else if (isChanges && lacks('modified__lt', 'modified__lte')) {
      remarks.push(replayCostRemarks.noUpperBound({ list: `${kind}s` }));
    }
    if (kind === 'payment' && lacks('id__lt', 'id__lte')) {
      remarks.push(replayCostRemarks.noUpperId);
    }
    if (kind === 'row' && lacks('invoice__in', 'invoice__is')) {
      remarks.push(replayCostRemarks.allRows);
    } else if (kind === 'row' && lacks('invoice__in')) {
      remarks.push(replayCostRemarks.rowsOneByOne);
    }
  }
  return remarks;
}
