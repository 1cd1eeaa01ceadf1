import { z } from 'zod';
import { requestDay } from '../actions/asking.ts';
import type { Connection } from '../db/rows.ts';
import { retryableUnits, type UndoRange, planUndo as unitsToUndo } from '../erp/outbox/undo.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';
import { debitsOf, type ListedBatch, listBatches, unitTotals } from './delivered-units.ts';

/**
 * The requests about deliveries that users make in the console, with their effects. The form shows an effect and stores its hash. The
 * daemon computes it again in the transaction that performs the action.
 */

/** The largest number of entries that one request names. */
export const unitsPerRequest = 500;

export const approveRequest = z.object({ through: requestDay });
/** Entries by id, or all refused ones. */
export const retryRequest = z.object({
  units: z.union([z.literal('all'), z.array(z.string().min(1).max(100)).max(unitsPerRequest)]),
});
export const undoRequest = z.object({ from: requestDay, to: requestDay }).refine(({ from, to }) => from <= to);
export const ackRequest = z.object({ batch: z.int().positive() });
export type RetryRequest = z.infer<typeof retryRequest>;

/** Entries, with the sum of their debits. */
export interface Entries {
  entries: number;
  from: CalendarDate | null;
  through: CalendarDate | null;
  /** Null without entries. */
  debit: string | null;
}

/** The entries of first loads and backfills that an approval through this date covers. */
export async function approvalEffect(
  db: Connection,
  installation: InstallationId,
  through: CalendarDate | null,
): Promise<Entries> {
  const [found] = await unitTotals(db, installation, { state: 'unapproved', through });
  if (found === undefined) return { entries: 0, from: null, through: null, debit: null };
  return { entries: found.units, from: found.from, through: found.through, debit: found.amount };
}

export interface RetryEffect {
  units: string[];
  debit: string | null;
}

/** The entries that a retry sends again. */
export async function retryEffect(
  db: Connection,
  installation: InstallationId,
  { units: asked }: RetryRequest,
): Promise<RetryEffect> {
  const units = await retryableUnits(db, installation, asked === 'all' ? null : asked);
  return { units, debit: await debitsOf(db, installation, units) };
}

export interface UndoEffect extends UndoRange {
  reversed: number;
  debit: string | null;
  withheld: number;
}

/** The effect of an undo of these dates. Throws UserError if one of their entries is in doubt. */
export async function undoEffect(
  db: Connection,
  installation: InstallationId,
  { from, to }: UndoRange,
): Promise<UndoEffect> {
  const { units, withheld } = await unitsToUndo(db, installation, { from, to });
  return { from, to, reversed: units.length, debit: await debitsOf(db, installation, units), withheld };
}

/** A file and its entries. Null if this database has no such batch. */
export async function batchEffect(
  db: Connection,
  installation: InstallationId,
  number: number,
): Promise<Pick<ListedBatch, 'number' | 'file' | 'units' | 'acknowledgedAt'> | null> {
  const [found] = await listBatches(db, installation, { number, limit: 1 });
  if (found === undefined) return null;
  const { file, units, acknowledgedAt } = found;
  return { number, file, units, acknowledgedAt };
}
