import { z } from 'zod';
import { requestMonth } from '../actions/asking.ts';
import { type ActedBy, checkShown, hashOf } from '../actions/record.ts';
import { closedInErp } from '../bookkeeping/erp-locks.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { type Connection, execute } from '../db/rows.ts';
import { UserError } from '../domain/errors.ts';
import { isPeriodClosed, vatPeriodBounds, vatPeriodOf } from '../domain/vat-period.ts';
import { closedThrough } from '../ledger/close.ts';
import {
  contentOf,
  type DeclaredLine,
  type FiledReturn,
  filedLines,
  filedReturns,
  storeReturn,
} from '../ledger/vat-returns.ts';
import { type VatPeriod, vatLines } from '../reports/vat-lines.ts';
import { compareReturn, type ReturnLine, returnToFile, type VatReturnView } from '../reports/vat-return.ts';
import { vatReturnErrors } from '../texts/errors/vat-returns.ts';

export interface ReturnChoice {
  isCorrection: boolean;
  /** Ids of entries whose late lines the return takes; null for the default. */
  take: readonly string[] | null;
}

/** The return of a VAT period by the present books, and the lines of the next version. */
export interface PreparedReturn {
  period: VatPeriod;
  isClosed: boolean;
  /** The versions that are filed, the first one first. */
  versions: FiledReturn[];
  view: VatReturnView;
  version: number;
  toFile: ReturnLine[];
  /** The hash of the lines of the next version. */
  shown: string;
  /** The reason why the return cannot be filed; null if it can. */
  obstacle: UserError | null;
}

/** The request of a user to file the return of the VAT period that contains a month. */
export const filingRequest = z.object({ month: requestMonth, correction: z.boolean() });

/** The VAT period that contains a month. If the period's return is filed, it keeps the length that it had then. */
export async function vatPeriodOfMonth(
  db: Connection,
  { id, mapping }: Pick<InstallationConfig, 'id' | 'mapping'>,
  month: string,
): Promise<VatPeriod> {
  const day = `${month}-01`;
  const filed = (await filedReturns(db, id)).find(({ from, through }) => from <= day && day <= through);
  const name = filed?.period ?? vatPeriodOf(day, mapping.policies.vat_period);
  return { name, ...vatPeriodBounds(name) };
}

/** Whether a return of the VAT period that contains a month is filed. */
export async function isFiled(
  db: Connection,
  installation: Pick<InstallationConfig, 'id' | 'mapping'>,
  month: string,
): Promise<boolean> {
  const { name } = await vatPeriodOfMonth(db, installation, month);
  return (await filedReturns(db, installation.id)).some(({ period }) => period === name);
}

export async function prepareReturn(
  db: Connection,
  installation: Pick<InstallationConfig, 'id' | 'mapping' | 'erp'>,
  period: VatPeriod,
  choice: ReturnChoice,
): Promise<PreparedReturn> {
  const { id } = installation;
  const all = await filedReturns(db, id);
  const versions = all.filter((each) => each.period === period.name);
  const view = compareReturn(period, await vatLines(db, installation, period), await filedLines(db, id, period.name));
  const { lines: toFile, unknown } = returnToFile(period, view, choice);
  const version = versions.length + 1;
  const through = await closedThrough(db, id);
  const closed = [...(await closedInErp(db, installation)), ...(through === null ? [] : [{ from: null, through }])];
  const isClosed = isPeriodClosed(period.name, closed);
  const last = versions.at(-1);
  const other = all.find((each) => each.period !== period.name && overlap(each, period));
  const refuse = (error: ConstructorParameters<typeof UserError>[0]) => new UserError(error, 1);
  const found = () => {
    const { name } = period;
    if (other) return refuse(vatReturnErrors.overlaps({ period: name, other: other.period }));
    if (!isClosed) return refuse(vatReturnErrors.periodOpen({ period: name, through: period.through }));
    if (last && !choice.isCorrection) return refuse(vatReturnErrors.filed({ ...last, period: name }));
    if (!last && choice.isCorrection) return refuse(vatReturnErrors.notFiled({ period: name }));
    if (unknown.length > 0) return refuse(vatReturnErrors.lateUnknown({ entries: unknown.join(', ') }));
    if (last && toFile.length === 0) return refuse(vatReturnErrors.nothingToCorrect({ period: name }));
    return null;
  };
  const shown = hashOf(contentOf(period.name, version, declaredLines(toFile, view, version)));
  return { period, isClosed, versions, view, version, toFile, shown, obstacle: found() };
}

function overlap(one: { from: string; through: string }, other: { from: string; through: string }): boolean {
  return one.from <= other.through && other.from <= one.through;
}

function declaredLines(toFile: readonly ReturnLine[], { since }: VatReturnView, version: number): DeclaredLine[] {
  const changes = new Set(version > 1 ? since : []);
  return toFile.map((line) => ({ ...line, isChange: changes.has(line) }));
}

/**
 * Files the next version of a period's return. Call it in a transaction, which prevents postings, closes and other filings
 * meanwhile. Throws UserError if the return cannot be filed, or if its figures are not those that were shown.
 */
export async function fileReturn(
  trx: Connection,
  installation: Pick<InstallationConfig, 'id' | 'mapping' | 'erp'>,
  period: VatPeriod,
  choice: ReturnChoice,
  { shown, by }: { shown: string | null; by: ActedBy },
): Promise<void> {
  await execute(trx, 'select hold_period_alone(?)', [installation.id]);
  const prepared = await prepareReturn(trx, installation, period, choice);
  if (prepared.obstacle !== null) throw prepared.obstacle;
  checkShown(shown, prepared.shown);
  const { from, through, name } = period;
  const { version, toFile, view } = prepared;
  const lines = declaredLines(toFile, view, version);
  await storeReturn(trx, installation.id, { period: name, version, from, through }, lines, by);
}
