import { randomUUID } from 'node:crypto';
import { type ActedBy, recordAction } from '../actions/record.ts';
import { isDelivered } from '../config/erp.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { leasedTransactions, releaseLease, takeLease } from '../db/lease.ts';
import type { Db } from '../db/pool.ts';
import type { Connection } from '../db/rows.ts';
import { markDirty } from '../documents/mark.ts';
import { UserError } from '../domain/errors.ts';
import { companyKeyOf } from '../erp/company.ts';
import { cancelOut, holdClosedInErp } from '../erp/outbox/cancel-out.ts';
import { enqueueUnits } from '../erp/outbox/enqueue.ts';
import { holdPeriod } from '../ledger/close.ts';
import { loadEntries } from '../ledger/journal/read-entries.ts';
import { type CalendarDate, type DocumentRef, documentKinds } from '../terms.ts';
import { lateErrors } from '../texts/errors/late-documents.ts';
import { holdIdentity } from './identity.ts';
import { moveEntries } from './move-entries.ts';
import { openDayFor } from './open-day.ts';
import { appendOnDay, daysOf, type LateDay } from './redate-summaries.ts';

/** The result for an entry or daily summary whose period is closed in the ERP. */
export interface Redated {
  unit: string;
  /** The reversal; neither the unit nor the reversal is sent. Null for a summary that is cancelled without one. */
  reversal: string | null;
  /** Summaries of one day and department that have to be moved to another day. */
  entry: string | null;
  date: CalendarDate | null;
}

type LateUnit = Awaited<ReturnType<typeof holdClosedInErp>>;

export interface RedatePorts {
  db: Db;
  databaseId: string;
  signal: AbortSignal;
}

/**
 * Posts unsent entries and daily summaries, whose period was closed in the ERP, on the first open day: a reversal on
 * the original date, and a new entry. The original and its reversal cancel each other and are not sent. A reversal
 * whose original is in the ERP is moved in the same way. Moves all units, or none if one cannot be moved. Summaries of
 * one day and department are moved together. Takes the lease of the live lane. Throws UserError.
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
    throw new UserError(lateErrors.windowBusy({ installation: id }), 4);
  }
  try {
    return await leasedTransactions(db, lease, { signal })(async (trx) => {
      await holdPeriod(trx, id);
      await holdIdentity(trx, installation, { posting: false });
      // A correction that is not in the outbox yet may cancel the entry that it corrects.
      await enqueue(trx, databaseId, installation);
      const redated: Redated[] = [];
      const summaryIds: string[] = [];
      const entries: LateUnit[] = [];
      for (const unitId of new Set(unitIds)) {
        const unit = await holdClosedInErp(trx, id, unitId);
        if (unit.kind === 'daily_summary') summaryIds.push(unitId);
        else entries.push(unit);
      }
      for (const units of Map.groupBy(entries, ({ unitId }) => documentOf(unitId)).values()) {
        redated.push(...(await redateDocument(trx, databaseId, installation, units)));
      }
      for (const day of await daysOf(trx, summaryIds)) {
        redated.push(...(await redateDay(trx, databaseId, installation, day)));
      }
      const input = { units: unitIds };
      await recordAction(trx, { installation: id, kind: 'redate', by, input, result: { redated } });
      return redated;
    });
  } finally {
    await releaseLease(db, lease);
  }
}

/**
 * Moves entries of one document. An unsent entry and its unsent reversal cancel each other. The others are moved
 * together, so that the entry in force is reversed and posted again only once.
 */
async function redateDocument(
  trx: Connection,
  databaseId: string,
  installation: InstallationConfig,
  units: readonly LateUnit[],
): Promise<Redated[]> {
  const { id } = installation;
  const pairs: Redated[] = [];
  const alone: string[] = [];
  for (const { unitId, reversal, original } of units) {
    if (pairs.some((pair) => pair.unit === unitId || pair.reversal === unitId)) continue;
    if (reversal === null && original === null) {
      alone.push(unitId);
      continue;
    }
    const pair = { unit: original ?? unitId, reversal: reversal ?? unitId, entry: null, date: null };
    await cancelOut(trx, id, [pair.unit, pair.reversal]);
    pairs.push(pair);
  }
  const entries = await loadEntries(trx, alone);
  const [first, ...others] = entries.toSorted((a, b) => (a.date < b.date ? 1 : -1));
  if (first === undefined) return pairs;
  const departments = entries.flatMap(({ lines }) => lines.map(({ departmentId }) => departmentId));
  const day = await openDayFor(trx, installation, { id: first.id, date: first.date, departments });
  const { documents, moves } = await moveEntries(trx, installation, {
    ...{ name: first.id, moved: [first, ...others], day },
    postingMode: 'document',
  });
  await judgeAgain(trx, installation, documents);
  await enqueue(trx, databaseId, installation);
  await cancelOut(
    trx,
    id,
    moves.flatMap(({ moved, settledBy }) => [moved, settledBy]),
  );
  const redated = moves.map(({ moved, settledBy, successor }) => ({
    ...{ unit: moved, reversal: settledBy },
    ...{ entry: successor, date: day },
  }));
  return [...pairs, ...redated];
}

/** The document's part of `<installation>/<kind>/<id>/<n>`. */
const documentOf = (unitId: string) => unitId.slice(0, unitId.lastIndexOf('/'));

/** Moves summaries of one day and department. */
async function redateDay(
  trx: Connection,
  databaseId: string,
  installation: InstallationConfig,
  day: LateDay,
): Promise<Redated[]> {
  const { documents, reversals, successors } = await appendOnDay(trx, installation, day);
  await judgeAgain(trx, installation, documents);
  await enqueue(trx, databaseId, installation);
  const units = day.summaries.map(({ id }) => id);
  await cancelOut(trx, installation.id, [...units, ...reversals.map(({ id }) => id)]);
  return units.map((unit) => ({
    ...{ unit, reversal: idsOf(reversals) },
    ...{ entry: idsOf(successors), date: successors[0]?.date ?? null },
  }));
}

/** Null if there is none; several ids if the moved entries have several VAT periods. */
function idsOf(summaries: readonly { id: string }[]): string | null {
  return summaries.length === 0 ? null : summaries.map(({ id }) => id).join(', ');
}

/** Marks the documents, so that the next window posts changes that the closed period held, or reports them again. */
async function judgeAgain(
  trx: Connection,
  { id }: InstallationConfig,
  documents: readonly DocumentRef[],
): Promise<void> {
  for (const kind of documentKinds) {
    const ids = documents.flatMap((document) => (document.kind === kind ? document.id : []));
    await markDirty(trx, id, kind, ids);
  }
}

async function enqueue(trx: Connection, databaseId: string, { id, erp }: InstallationConfig): Promise<void> {
  const company = companyKeyOf(erp);
  if (company === null || !isDelivered(erp)) throw new Error(`installation ${id} is delivered nowhere`);
  await enqueueUnits(trx, { installation: id, databaseId, company, from: erp.from, auto: erp.auto });
}
