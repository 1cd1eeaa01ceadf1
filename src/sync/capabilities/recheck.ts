import { bool, integer, json } from '../../db/columns.ts';
import type { Transact } from '../../db/lease.ts';
import type { Db } from '../../db/pool.ts';
import { maybeRow, row, rows } from '../../db/rows.ts';
import type { PracticeClient } from '../../practice/client.ts';
import type { Dialect } from '../../records/dialect.ts';
import { readJson } from '../../records/json.ts';
import { parseRecord } from '../../records/schema.ts';
import type { RecordKind } from '../../terms.ts';
import { ignoredForHours, noteFindings } from './filters.ts';
import { type ParsedPage, probeFilter } from './probe.ts';

export interface RecheckContext {
  db: Db;
  transact: Transact;
  installation: number;
  client: Pick<PracticeClient, 'list'>;
  dialect: Dialect;
  timezone: string;
  /** Priority in the rate budget. */
  priority: number;
}

/** Number of records of the mirror that replace an unfiltered page: as many as a page has by default. */
const sampleSize = 50;

/**
 * Whether to use a filter that would return the whole list if the server ignored it. A filter that was found ignored
 * more than `ignoredForHours` ago is probed again with one request of weight 1, made from records of the mirror. The
 * new verdict is used from the next call on. A window therefore either probes the filter or uses it, which limits the
 * weight of the window.
 */
export async function mayUse(context: RecheckContext, list: RecordKind, filter: string): Promise<boolean> {
  const { db, transact, installation, client, dialect, timezone, priority } = context;
  const ignored = await maybeRow(
    db,
    { is_due: bool },
    `select noted_at < clock_timestamp() - make_interval(hours => ?) as is_due from source_filter
     where installation = ? and list = ? and filter = ? and verdict = 'ignored'`,
    [ignoredForHours, installation, list, filter],
  );
  if (ignored === null) return true;
  if (ignored.is_due) {
    const ports = {
      list: (filters: Record<string, string>) => client.list(list, filters, null, { priority }),
      dialect,
      timezone,
    };
    const sample = await newestRecords(context, list, filter);
    const finding = await probeFilter(ports, list, filter, sample);
    await transact((trx) => noteFindings(trx, installation, [finding]));
  }
  return false;
}

/** The newest records of the mirror. A probe that is made from them has a short answer, which fits on one page. */
async function newestRecords(context: RecheckContext, list: RecordKind, filter: string): Promise<ParsedPage> {
  const { db, installation, dialect } = context;
  const order = filter.startsWith('modified__') ? 'modified desc nulls last, id desc' : 'id desc';
  const newest = await rows(
    db,
    { raw: json },
    `select raw from mirror_record where installation = ? and kind = ? and gone_at is null order by ${order} limit ?`,
    [installation, list, sampleSize],
  );
  const { count } = await row(
    db,
    { count: integer },
    'select count(*) as count from mirror_record where installation = ? and kind = ? and gone_at is null',
    [installation, list],
  );
  return { count, records: newest.map(({ raw }) => parseRecord(list, readJson(raw), dialect)) };
}
