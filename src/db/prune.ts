import type { Db } from './pool.ts';
import { execute } from './rows.ts';

/** Rows per statement that removes old rows. It ends within milliseconds, so others do not wait for it. */
export const pruneBatch = 500;

/**
 * Repeats a statement that removes at most `pruneBatch` rows older than `age` (its one parameter) until none is left.
 * Returns the number of removed rows.
 */
export async function pruneInBatches(db: Db, sql: string, age: number, signal: AbortSignal): Promise<number> {
  let removed = 0;
  while (!signal.aborted) {
    const batch = await execute(db, sql, [age]);
    removed += batch;
    if (batch < pruneBatch) break;
  }
  return removed;
}
