import { bool, integer, nullable } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import { markKnown } from '../documents/mark.ts';
import { inForceOf } from '../documents/missing-documents.ts';
import type { ReadSpan } from '../domain/read-at.ts';
import { endUnseen } from './put-unusable-aside.ts';

/** A `modified` of whole seconds: another change may carry the same one for so long. */
const secondsOfModified = 1;
const fetched = '(select ?::timestamptz as asked_at, ?::timestamptz as source_time) fetched';
const asOf = `greatest(fetched.source_time,
  case when m.answered_at + make_interval(secs => ${secondsOfModified}) <= fetched.asked_at then m.rows_fresh_from end)`;

/**
 * Makes the row sets of invoices count as never fetched: a set in which a row may have changed is whole again only when it is
 * next fetched as a whole (`acceptRowSets`).
 */
export async function doubtRowSets(trx: Connection, installation: number, invoices: readonly number[]): Promise<void> {
  if (invoices.length === 0) return;
  await execute(
    trx,
    `update mirror_record set rows_source_time = null where installation = ? and kind = 'invoice' and id = any(?)
       and rows_source_time is not null`,
    [installation, invoices],
  );
}

/** The row sets of invoices modified since an instant become stale. */
export async function doubtRowSetsSince(trx: Connection, installation: number, since: Date): Promise<void> {
  await execute(
    trx,
    `update mirror_record set rows_source_time = null
     where installation = ? and kind = 'invoice' and needs_rows and gone_at is null and modified >= ?
       and rows_source_time is not null`,
    [installation, since],
  );
}

/**
 * Notes that the row sets of `invoices` were fetched as a whole by the answers `read`: rows answered before these were asked for,
 * and not held by them, are gone, and the invoices are judged again whose sets were stale or have lost rows. Where the invoice has an
 * entry in force, and has not been modified since a row was last seen, that row is missing instead (ACCOUNTING "Absence"). Returns the
 * invoice of each row that is gone. `rows_source_time` becomes the source time of the answers, or what it takes to be fresh (proof P2)
 * where they were asked for a second after the invoice's version had been answered: whatever the source's clock says, they are
 * later than the second in which that version was written. What was put aside of these rows, and was not shown, ends.
 */
export async function acceptRowSets(
  trx: Connection,
  installation: number,
  invoices: readonly number[],
  read: ReadSpan,
): Promise<number[]> {
  if (invoices.length === 0) return [];
  const { sourceTime, askedAt, answeredAt } = read;
  const lost = await rows(
    trx,
    { id: integer, invoice: integer, missing: bool },
    `select id, parent_id as invoice, missing_at is not null as missing from mirror_record
     where installation = ? and kind = 'row' and parent_id = any(?) and gone_at is null and answered_at < ?
     order by id for update`,
    [installation, invoices, askedAt],
  );
  const doubtful = await lostUnchanged(trx, installation, lost);
  const gone = lost.filter(({ id }) => !doubtful.has(id));
  const missing = lost.filter((each) => doubtful.has(each.id) && !each.missing);
  if (gone.length > 0) {
    await execute(
      trx,
      `update mirror_record set gone_at = clock_timestamp(), missing_at = null, source_time = ?, asked_at = ?, answered_at = ?
       where installation = ? and kind = 'row' and id = any(?)`,
      [sourceTime, askedAt, answeredAt, installation, gone.map(({ id }) => id)],
    );
  }
  if (missing.length > 0) {
    await execute(
      trx,
      `update mirror_record set missing_at = ? where installation = ? and kind = 'row' and id = any(?)`,
      [askedAt, installation, missing.map(({ id }) => id)],
    );
  }
  // Two statements: joined to itself without statistics, the mirror is read once for each invoice.
  const accepted = await rows(
    trx,
    { invoice: integer, wasFresh: nullable(bool) },
    `select m.id as invoice, m.rows_source_time >= m.rows_fresh_from as "wasFresh" from mirror_record m, ${fetched}
     where m.installation = ? and m.kind = 'invoice' and m.id = any(?)
       and (m.rows_source_time is null or m.rows_source_time < ${asOf})
     order by m.id for update of m`,
    [askedAt, sourceTime, installation, invoices],
  );
  if (accepted.length > 0) {
    await execute(
      trx,
      `update mirror_record m set rows_source_time = ${asOf} from ${fetched}
       where m.installation = ? and m.kind = 'invoice' and m.id = any(?)`,
      [askedAt, sourceTime, installation, accepted.map(({ invoice }) => invoice)],
    );
  }
  const stale = accepted.filter(({ wasFresh }) => wasFresh !== true);
  const touched = new Set([...gone, ...missing, ...stale].map(({ invoice }) => invoice));
  await markKnown(trx, installation, 'invoice', [...touched]);
  await endUnseen(trx, installation, 'row', askedAt, { invoices });
  return gone.map(({ invoice }) => invoice);
}

/** Of rows that a set has lost, those of posted invoices that have not been modified since the row was seen. */
async function lostUnchanged(
  trx: Connection,
  installation: number,
  lost: readonly { id: number; invoice: number }[],
): Promise<Set<number>> {
  if (lost.length === 0) return new Set();
  const invoices = [...new Set(lost.map(({ invoice }) => invoice))];
  const posted = await inForceOf(trx, installation, 'invoice', invoices, { lock: false });
  const ofPosted = lost.filter(({ invoice }) => posted.has(invoice));
  if (ofPosted.length === 0) return new Set();
  const found = await rows(
    trx,
    { id: integer },
    // A set that was whole for this very version of the invoice, or a row that was seen since its last change.
    `select r.id from mirror_record r
     join mirror_record i on i.installation = r.installation and i.kind = 'invoice' and i.id = r.parent_id
     where r.installation = ? and r.kind = 'row' and r.id = any(?)
       and (i.rows_source_time >= i.rows_fresh_from or r.source_time >= i.rows_fresh_from)`,
    [installation, ofPosted.map(({ id }) => id)],
  );
  return new Set(found.map(({ id }) => id));
}
