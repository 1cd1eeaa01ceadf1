import type { InstallationConfig } from '../config/load-config.ts';
import { integer } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { formatMoney, Money } from '../domain/money.ts';
import { returnState } from '../reports/vat-return-state.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';

/**
 * Filed VAT returns that lost entries since, and late entries that no return has taken. `missed`: those that the latest
 * return could have taken.
 */
export interface FiledReturns {
  ok: boolean;
  filed_through: CalendarDate | null;
  changed: { period: string; entries: number; tax: string }[];
  late: { entries: number; missed: number; tax: string };
}

type Filer = Pick<InstallationConfig, 'id' | 'decimals'>;

export async function filedReturnsOf(db: Connection, { id, decimals }: Filer): Promise<FiledReturns> {
  const { filedThrough, changed, late } = await returnState(db, id);
  const money = (amount: string) => formatMoney(new Money(amount), decimals);
  return {
    ok: changed.length === 0 && late.missed === 0,
    filed_through: filedThrough,
    changed: changed.map((each) => ({ ...each, tax: money(each.tax) })),
    late: { ...late, tax: money(late.tax) },
  };
}

/**
 * The changed returns and missed late entries by installation. Installations that have filed no return are left out.
 */
export async function filedReturnsOfAll(
  db: Connection,
  installations: readonly Filer[],
): Promise<Map<InstallationId, FiledReturns>> {
  const found = await rows(
    db,
    { installation: integer },
    'select distinct installation from vat_return where installation = any(?)',
    [installations.map(({ id }) => id)],
  );
  const filers = new Set(found.map(({ installation }) => installation));
  const states = new Map<InstallationId, FiledReturns>();
  for (const each of installations) if (filers.has(each.id)) states.set(each.id, await filedReturnsOf(db, each));
  return states;
}
