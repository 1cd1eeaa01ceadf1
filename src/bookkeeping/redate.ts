import { randomUUID } from 'node:crypto';
import { isDelivered } from '../config/erp.ts';
import type { InstallationConfig } from '../config/load.ts';
import { leasedTransactions, releaseLease, takeLease } from '../db/lease.ts';
import type { Db } from '../db/pool.ts';
import type { Connection } from '../db/rows.ts';
import { documentsInForce, everything } from '../documents/in-force.ts';
import { saveRemapped } from '../documents/save.ts';
import { firstOpenDay, latestDate } from '../domain/dates.ts';
import { UserError } from '../domain/errors.ts';
import { companyKeyOf } from '../erp/company.ts';
import { cancelOut, holdClosedInErp } from '../erp/outbox/cancel-out.ts';
import { enqueueUnits } from '../erp/outbox/enqueue.ts';
import { type ActedBy, recordAction } from '../erp/outbox/state.ts';
import { obstacleOf, storedPeriods } from '../erp/periods.ts';
import { closedThrough, holdPeriod } from '../ledger/close.ts';
import { loadEntries } from '../ledger/journal/read.ts';
import { departmentLocks } from '../mirror/department-locks.ts';
import { reversalOf } from '../posting/correct.ts';
import type { PostedBefore } from '../posting/types.ts';
import type { CalendarDate } from '../terms.ts';
import { appendDecided, stateAfter } from './append.ts';
import { closedInErp } from './erp-locks.ts';
import { withHistory } from './history.ts';
import { holdIdentity } from './identity.ts';

/** What was decided of an entry whose period is closed in the ERP. */
export interface Redated {
  unit: string;
  /** The entry that took it out of the books; neither is sent. */
  reversal: string;
  /** The entry on an open day; null where the document was taken out of the books before. */
  entry: string | null;
  date: CalendarDate | null;
}

export interface RedatePorts {
  db: Db;
  databaseId: string;
  signal: AbortSignal;
}

/**
 * Posts entries whose period was closed in the ERP before they were sent on the first open day: a reversal at the original date
 * and a new entry. The original and its reversal, of which neither was sent, are settled against each other. All of them, or none
 * where one cannot be. Holds the lease of the live lane. Throws UserError.
 */
export async function redateClosed(
  { db, databaseId, signal }: RedatePorts,
  installation: InstallationConfig,
  unitIds: readonly string[],
  by: ActedBy,
): Promise<Redated[]> {
  const { id } = installation;
  const lease = await takeLease(db, { installation: id, lane: 'live' }, `redate/${randomUUID()}`);
  if (lease === null) {
    throw new UserError(
      'window_busy',
      `A window of installation ${id} is under way; nothing was posted.`,
      'Wait for it to end (see `vetledger windows`), and decide again.',
      4,
    );
  }
  try {
    return await leasedTransactions(db, lease, { signal })(async (trx) => {
      await holdPeriod(trx, id);
      await holdIdentity(trx, installation, { posting: false });
      const redated: Redated[] = [];
      for (const unitId of unitIds) redated.push(await redateOne(trx, databaseId, installation, unitId));
      const details = redated.map(({ unit, entry, date }) => `${unit} → ${entry ?? 'none'} ${date ?? ''}`.trim());
      await recordAction(trx, id, 'redate', details.join(', '), by);
      return redated;
    });
  } finally {
    await releaseLease(db, lease);
  }
}

async function redateOne(
  trx: Connection,
  databaseId: string,
  installation: InstallationConfig,
  unitId: string,
): Promise<Redated> {
  const { id } = installation;
  const unit = await holdClosedInErp(trx, id, unitId);
  if (unit.reversal !== null) {
    await cancelOut(trx, id, unitId, unit.reversal);
    return { unit: unitId, reversal: unit.reversal, entry: null, date: null };
  }
  const [entry] = await loadEntries(trx, [unitId]);
  const documents = entry === undefined ? [] : [entry.document];
  const found = await documentsInForce(trx, id, { ...everything, documents }, { after: null, limit: 1, lock: true });
  const [document] = await withHistory(trx, found);
  const inForce = document?.before.inForce ?? null;
  if (document === undefined || inForce === null || inForce.id !== unitId) {
    throw new UserError(
      'not_in_force',
      `${unitId} is not in force any more, and its correction is not in the outbox yet.`,
      'Run `vetledger deliver` once; then decide again.',
      1,
    );
  }
  const date = await openDayFor(trx, installation, inForce);
  const successor = { ...inForce, date, reason: 'redated' as const, reverses: null };
  const decision = {
    ...{ state: 'posted' as const, documentDate: document.documentDate, problem: null, reports: [], refetch: false },
    entries: [reversalOf(inForce, inForce.date, 'redated'), successor],
  };
  // Whatever the posting mode is by now: a summary would neither hold the original nor leave its reversal out.
  const asDocument = { ...installation, postingMode: 'document' as const };
  const [appended] = await appendDecided(trx, asDocument, [{ document, decision }], null);
  const [reversal, successorId] = appended?.entryIds ?? [];
  if (appended === undefined || reversal === undefined || successorId === undefined) {
    throw new Error(`${unitId} was not redated`);
  }
  await saveRemapped(trx, id, [stateAfter(appended)]);
  await enqueue(trx, databaseId, installation);
  await cancelOut(trx, id, unitId, reversal);
  return { unit: unitId, reversal, entry: successorId, date };
}

/** The first day after the entry's own that is open in the ERP, as it was last read, in our books and in the source. */
async function openDayFor(
  trx: Connection,
  installation: InstallationConfig,
  { id, date, lines }: NonNullable<PostedBefore['inForce']>,
): Promise<CalendarDate> {
  const closed = await closedThrough(trx, installation.id);
  if (closed !== null && date <= closed) {
    throw new UserError(
      'period_closed',
      `${id} is dated ${date}, and our own books are closed through ${closed}: it cannot be taken out there.`,
      'Open the period in the ERP and run `vetledger deliver retry`; or `vetledger ledger reopen`, and decide again.',
      1,
    );
  }
  const locks = installation.mapping.policies.follow_source_lock
    ? await departmentLocks(trx, installation.id)
    : new Map<number, CalendarDate | null>();
  const [first, ...others] = lines.flatMap(({ departmentId }) =>
    departmentId === null ? [] : (locks.get(departmentId) ?? []),
  );
  const open = firstOpenDay(date, {
    closedThrough: closed,
    earliestOpen: first === undefined ? null : latestDate(first, ...others),
    closedDays: await closedInErp(trx, installation),
  });
  if (open === date) {
    throw new UserError(
      'not_late',
      `The period of ${id} (${date}) is open in the ERP, as far as delivery has read.`,
      'Run `vetledger deliver retry`.',
      1,
    );
  }
  const company = companyKeyOf(installation.erp);
  const stored = company === null ? null : await storedPeriods(trx, company);
  if (stored !== null && obstacleOf(stored.periods, open) === 'missing') {
    throw new UserError(
      'erp_period_missing',
      `The first open day for ${id} would be ${open}, and the ERP has no period for it.`,
      'Create the fiscal year or period in the ERP, run `vetledger deliver`, and decide again.',
      1,
    );
  }
  return open;
}

async function enqueue(trx: Connection, databaseId: string, { id, erp }: InstallationConfig): Promise<void> {
  const company = companyKeyOf(erp);
  if (company === null || !isDelivered(erp)) throw new Error(`installation ${id} is delivered nowhere`);
  await enqueueUnits(trx, { installation: id, databaseId, company, from: erp.from, auto: erp.auto });
}
