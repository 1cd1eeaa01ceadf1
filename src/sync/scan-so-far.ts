import { integer, json, nullable } from '../db/columns.ts';
import { rows } from '../db/rows.ts';
import { instantOf } from '../domain/dates.ts';
import { agreedTime, type ReadSpan, readSpanOf, skewMs } from '../domain/read-at.ts';
import { readRecord } from '../mirror/read.ts';
import { acceptRowSets } from '../mirror/row-sets.ts';
import { readTimestampStyle } from './capabilities/server.ts';
import type { PullContext } from './context.ts';
import { isStale } from './pull-row-sets.ts';
import { commitMarginMs } from './row-scan.ts';
import { storedWalk } from './saved-walks.ts';
import { stepToleranceMs } from './watermark.ts';

/**
 * The number of last rows whose invoices show how far the scan is. Their median is used, so that one wrong timestamp
 * has no effect.
 */
const rowsAsked = 51;

/** The results that a scan of all rows has proven so far. */
export interface ScanSoFar {
  read: ReadSpan;
  /** Every row with an id up to this was received. */
  provenRow: number;
  /** The highest invoice id of the last rows that the scan has read. */
  highestInvoice: number;
  /** The row sets of invoices that were not modified after this time are complete. */
  modifiedBy: Date;
}

/**
 * The progress of the scan of all rows. Null if no scan is under way, or it proves nothing yet.
 *
 * Rows get their ids when they are created. A row that the scan has not read is therefore newer than those that it has
 * read, and these are not older than the `created` of their invoices (the specification has no such field for rows).
 * The rows of an invoice's version were committed within the overlap after its `modified`. If an invoice was modified
 * more than the overlap before that `created` and before the scan's first answer, its set is therefore complete, and
 * not older than the invoice (`acceptCoveredSets`).
 */
export async function scanSoFar(context: PullContext): Promise<ScanSoFar | null> {
  const { db, installation } = context;
  const stored = await storedWalk(context, 'row');
  if (stored === null || !stored.isKept || !('received' in stored.walk)) return null;
  const { state, filters, read: saved } = stored.walk;
  if (state.proven === null || Object.keys(filters).length > 0 || (await isOrderRefuted(context))) return null;
  const ends = await rows(
    db,
    { invoice: integer, raw: nullable(json) },
    `select r.parent_id as invoice, i.raw from (
       select parent_id from mirror_record
       where installation = ? and kind = 'row' and id <= ? and gone_at is null and parent_id is not null
       order by id desc limit ?) r
     left join mirror_record i on i.installation = ? and i.kind = 'invoice' and i.id = r.parent_id`,
    [installation, state.proven, rowsAsked, installation],
  );
  const created = medianOf(ends.map(({ raw }) => (raw === null ? null : createdOf(context, raw))));
  if (created === null) return null;
  const read = readSpanOf(saved);
  const marginMs = commitMarginMs(context, await readTimestampStyle(db, installation));
  return {
    read,
    provenRow: state.proven,
    highestInvoice: ends.reduce((highest, { invoice }) => Math.max(highest, invoice), 0),
    modifiedBy: new Date(Math.min(agreedTime(read).getTime(), created) - marginMs),
  };
}

function createdOf({ dialect, timezone }: PullContext, raw: string): number | null {
  const { created } = readRecord('invoice', raw, dialect);
  return created === null ? null : (instantOf(created, timezone)?.getTime() ?? null);
}

/** The median. Null if half or more of the values are unknown. */
function medianOf(values: readonly (number | null)[]): number | null {
  const known = values.flatMap((value) => value ?? []);
  if (known.length * 2 <= values.length) return null;
  return known.toSorted((a, b) => a - b)[Math.floor(known.length / 2)] ?? null;
}

/** Whether a row arrived after its set was accepted and posted. Ids are then not given in the order of creation. */
async function isOrderRefuted({ db, installation }: PullContext): Promise<boolean> {
  const found = await rows(
    db,
    {},
    `select from document d
     join mirror_record m on m.installation = d.installation and m.kind = d.kind and m.id = d.id
     where d.installation = ? and d.kind = 'invoice' and d.dirty and d.entry_id is not null and m.rows_source_time is null
     limit 1`,
    [installation],
  );
  return found.length > 0;
}

/**
 * Accepts the next row sets that the scan covers so far, of invoices above `after`, and returns these invoices. A set
 * is left to the end of the scan if one of its rows has changed since the scan began, or was not reached by it.
 */
export async function acceptNextSets(
  context: PullContext,
  { read, provenRow, highestInvoice, modifiedBy }: ScanSoFar,
  { after, limit }: { after: number; limit: number },
): Promise<number[]> {
  const { installation, transact } = context;
  return transact(async (trx) => {
    const covered = await rows(
      trx,
      { id: integer },
      `select id from mirror_record m
       where installation = ? and ${isStale} and id > ? and id <= ? and modified <= ?
         and source_time - asked_at >= make_interval(secs => ?)
         and not exists (
           select from mirror_record r where r.installation = m.installation and r.kind = 'row' and r.parent_id = m.id
             and (r.id > ? or r.modified > ?))
       order by id limit ?`,
      [
        ...[installation, after, highestInvoice, modifiedBy, (skewMs(read) - stepToleranceMs) / 1000],
        ...[provenRow, modifiedBy, limit],
      ],
    );
    const ids = covered.map(({ id }) => id);
    const gone = await acceptRowSets(trx, installation, ids, read);
    if (gone.length > 0) await context.watch?.rowsGone(trx, gone);
    return ids;
  });
}
