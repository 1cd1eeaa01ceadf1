import { type Column, integer, nullable, numeric, type RowOf, type Shape } from '../db/columns.ts';
import { type Binding, type Connection, rows } from '../db/rows.ts';
import { codeOf, UserError } from '../domain/errors.ts';
import { Money, zero } from '../domain/money.ts';
import { reconcileErrors } from '../texts/errors/reconcile.ts';
import { type Difference, type FoundDifferences, type InstallationReport, listLimit } from './reconcile-report.ts';

/** Listed rows, and the totals including rows beyond the limit. */
export interface Limited<Row> {
  listed: Row[];
  omitted: number;
  /** Sum of the absolute amounts of all rows, including the omitted ones. */
  total: Money;
}

/**
 * The first rows of an ordered query, with the number and absolute sum of all rows. PostgreSQL counts, so memory holds
 * only the listed rows. `amount` is an expression over the query's columns.
 */
export async function limitedRows<S extends Shape>(
  db: Connection,
  shape: S,
  sql: string,
  bindings: readonly Binding[],
  amount = '1',
): Promise<Limited<RowOf<S>>> {
  const withTotals: S & { found_rows: Column<number>; found_total: Column<string | null> } = {
    ...shape,
    found_rows: integer,
    found_total: nullable(numeric),
  };
  const found = await rows(
    db,
    withTotals,
    `with found as (${sql})
     select found.*, count(*) over () as found_rows, sum(abs((${amount})::numeric)) over () as found_total
     from found limit ?`,
    [...bindings, listLimit],
  );
  const [first] = found as { found_rows: number; found_total: string | null }[];
  return {
    listed: found.map(({ found_rows: _rows, found_total: _total, ...listed }) => listed) as unknown as RowOf<S>[],
    omitted: (first?.found_rows ?? 0) - found.length,
    total: first?.found_total == null ? zero : new Money(first.found_total),
  };
}

export function differencesOf<Row>(
  { listed, omitted, total }: Limited<Row>,
  read: (row: Row) => Difference,
): FoundDifferences {
  return { listed: listed.map(read), omitted, total };
}

/** Runs a query. If the query exceeds the statement time-out, the error names the report. */
export async function namingTimeouts<T>(
  installation: InstallationReport['installation'],
  report: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (codeOf(error) !== '57014') throw error;
    throw new UserError(reconcileErrors.queryTimeout({ part: report, installation }), 3, error);
  }
}
