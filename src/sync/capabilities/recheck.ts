import { bool } from '../../db/columns.ts';
import type { Db } from '../../db/pool.ts';
import { maybeRow } from '../../db/rows.ts';
import type { PracticeClient } from '../../practice/client.ts';
import type { Dialect } from '../../records/dialect.ts';
import { parseJson } from '../../records/json.ts';
import { parseRecord } from '../../records/schema.ts';
import type { RecordKind } from '../../terms.ts';
import { ignoredForHours, noteFindings } from './filters.ts';
import { type Answered, probeFilter } from './probe.ts';

export interface RecheckContext {
  db: Db;
  installation: number;
  client: Pick<PracticeClient, 'list'>;
  dialect: Dialect;
  timezone: string;
  /** Priority in the budget. */
  priority: number;
}

/** Records of the mirror that a question is made from: as many as a page has. */
const sampleSize = 50;

/**
 * Whether a filter may be used now, where using one that is ignored would bring a whole list. One that was found ignored a day
 * ago, or longer, is asked about once more, with one question of weight 1 made from records of the mirror; what it finds
 * counts from the next time on, so that a window asks this question or uses the filter, never both.
 */
export async function mayUse(context: RecheckContext, list: RecordKind, filter: string): Promise<boolean> {
  const { db, installation, client, dialect, timezone, priority } = context;
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
    const before = await sampleOf(context, list, filter);
    await noteFindings(db, installation, [await probeFilter(ports, list, filter, before)]);
  }
  return false;
}

/** The newest records of the mirror: a question made from these has a short answer, which is all in one page. */
async function sampleOf(context: RecheckContext, list: RecordKind, filter: string): Promise<Answered> {
  const { db, installation, dialect } = context;
  const order = filter.startsWith('modified__') ? 'modified desc nulls last, id desc' : 'id desc';
  const sample = await db.raw<{ rows: { raw: string }[] }>(
    `select raw from mirror_record where installation = ? and kind = ? and gone_at is null order by ${order} limit ?`,
    [installation, list, sampleSize],
  );
  const counted = await db.raw<{ rows: { n: number }[] }>(
    `select count(*) as n from mirror_record where installation = ? and kind = ? and gone_at is null`,
    [installation, list],
  );
  const records = sample.rows.map(({ raw }) => parseRecord(list, parseJson(raw), dialect));
  return { count: counted.rows[0]!.n, records };
}
