import type { Binding, Connection } from '../../src/db/rows.ts';

/**
 * Rows of a test's own statement, typed by what the test says: a wrong type shows in the test's assertion. The product reads
 * through src/db/rows.ts, which checks.
 */
export async function query<Row>(db: Connection, sql: string, bindings: readonly Binding[] = []): Promise<Row[]> {
  const result: { rows: Row[] } = await db.raw(sql, bindings as never);
  return result.rows;
}
