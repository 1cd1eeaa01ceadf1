import { bool, integer, nullable } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import { markKnown } from '../documents/mark.ts';
import { inForceOf } from '../documents/missing-documents.ts';
import type { ReadSpan } from '../domain/read-at.ts';
import { endUnseen } from './put-unusable-aside.ts';

/** `modified` has whole seconds, so two changes within this time may have the same `modified`. */
const secondsOfModified = 1;
const fetched = '(select ?::timestamptz as asked_at, ?::timestamptz as source_time) fetched';
const asOf = `greatest(fetched.source_time,
  case when m.answered_at + make_interval(secs => ${secondsOfModified}) <= fetched.asked_at then m.rows_fresh_from end)`;

/**
 * Marks the row sets of invoices as never fetched. A row in them may have changed, so each set must be fetched again as
 * a whole (`acceptRowSets`).
 */
export async function invalidateRowSets(
  trx: Connection,
  installation: number,
  invoices: readonly number[],
): Promise<void> {
  if (invoices.length === 0) return;
  await execute(
    trx,
    `update mirror_record set rows_source_time = null where installation = ? and kind = 'invoice' and id = any(?)
       and rows_source_time is not null`,
    [installation, invoices],
  );
}

/** Marks the row sets of invoices that were modified since an instant as never fetched. */
export async function invalidateRowSetsSince(trx: Connection, installation: number, since: Date): Promise<void> {
  await execute(
    trx,
    `update mirror_record set rows_source_time = null
     where installation = ? and kind = 'invoice' and needs_rows and gone_at is null and modified >= ?
       and rows_source_time is not null`,
    [installation, since],
  );
}

/**
 * Stores that the row sets of `invoices` were fetched as a whole by the answers `read`. Older rows that these answers
 * do not contain are gone. An exception is a row of an invoice with an entry in force that has not been modified since
 * the row was last seen. That row is missing instead (ACCOUNTING "Absence"). Invoices whose sets were stale or have
 * lost rows are judged again. Returns the invoice of each row that is gone.
 *
 * `rows_source_time` becomes the source time of the answers. If they were requested at least a second after the
 * invoice's version was answered, it becomes at least `rows_fresh_from` (proof P2). The rows are then newer than that
 * version, whatever the source's clock shows. Rows that were put aside and are not in the answers are deleted.
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
  // The work is done in two statements, because a self-join without statistics would read the mirror once for each
  // invoice.
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

/** The lost rows that belong to posted invoices which have not been modified since the row was seen. */
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
    // The set was whole for this version of the invoice, or the row was seen after the invoice's last change. The
    // source's clock may have been put back in between, so the row also has its time by the invoice's answer.
    `select r.id from mirror_record r
     join mirror_record i on i.installation = r.installation and i.kind = 'invoice' and i.id = r.parent_id
     where r.installation = ? and r.kind = 'row' and r.id = any(?)
       and (i.rows_source_time >= i.rows_fresh_from
         or least(r.source_time, r.asked_at + (i.source_time - i.asked_at)) >= i.rows_fresh_from)`,
    [installation, ofPosted.map(({ id }) => id)],
  );
  return new Set(found.map(({ id }) => id));
}
