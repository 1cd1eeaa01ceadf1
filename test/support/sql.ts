import type { Binding, Connection } from '../../src/db/rows.ts';

/**
 * The rows of a test's statement with the type that the test gives; a wrong type fails the test's assertion. The
 * program uses src/db/rows.ts, which checks types.
 */
export async function query<Row>(db: Connection, sql: string, bindings: readonly Binding[] = []): Promise<Row[]> {
  const result: { rows: Row[] } = await db.raw(sql, bindings as never);
  return result.rows;
}
