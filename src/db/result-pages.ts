import { randomUUID } from 'node:crypto';
import type { RowOf, Shape } from './columns.ts';
import { type Binding, type Connection, execute, rows } from './rows.ts';

const pageSize = 1_000;

/**
 * Reads a long result of one statement page by page: PostgreSQL keeps the result, and only one page is in memory. Use
 * `pages` if an index gives the order; this is for sums over many rows. Works in a transaction only, which also ends
 * the reading if the caller stops early.
 */
export async function* resultPages<S extends Shape>(
  trx: Connection,
  shape: S,
  sql: string,
  bindings: readonly Binding[],
): AsyncGenerator<RowOf<S>[]> {
  const cursor = `"result ${randomUUID()}"`;
  // The whole result is read, so a plan with quick first rows would be a bad one.
  await execute(trx, 'set local cursor_tuple_fraction = 1');
  await execute(trx, `declare ${cursor} no scroll cursor for ${sql}`, bindings);
  for (;;) {
    const page = await rows(trx, shape, `fetch ${pageSize} from ${cursor}`);
    if (page.length > 0) yield page;
    if (page.length < pageSize) break;
  }
  await execute(trx, `close ${cursor}`);
}
