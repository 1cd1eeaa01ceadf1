import type { Transact } from '../../db/lease.ts';
import type { Db } from '../../db/pool.ts';
import type { ListAnswer } from '../../practice/client.ts';
import type { Dialect } from '../../records/dialect.ts';
import { recordOf } from '../../records/schema.ts';
import type { RecordKind } from '../../terms.ts';
import { hasOffset } from '../walk/timestamps.ts';
import { noteDefaultPageSize, noteTimestampStyle, readDefaultPageSize, readTimestampStyle } from './server.ts';

interface Server {
  db: Db;
  transact: Transact;
  installation: number;
  dialect: Dialect;
}

/**
 * Notes what an answer shows of its server: the default page size, which requests are weighed by from then on, and how the
 * server writes timestamps.
 */
export async function observeServer(server: Server, kind: RecordKind, answer: ListAnswer): Promise<void> {
  await observeDefaultPageSize(server, answer);
  if (kind === 'invoice') await observeTimestampStyle(server, answer);
}

/** Sets the dialect's default page size to the one observed in earlier windows, if any. */
export async function restoreDefaultPageSize({ db, installation, dialect }: Omit<Server, 'transact'>): Promise<void> {
  const observed = await readDefaultPageSize(db, installation);
  if (observed !== null) dialect.default_page_size = observed;
}

async function observeDefaultPageSize({ transact, installation, dialect }: Server, answer: ListAnswer): Promise<void> {
  const { count, pageSizeAsked, results } = answer;
  const isFullPage = pageSizeAsked === null && results.length > 0 && results.length < count;
  if (!isFullPage || results.length === dialect.default_page_size) return;
  dialect.default_page_size = results.length;
  await transact((trx) => noteDefaultPageSize(trx, installation, results.length));
}

async function observeTimestampStyle(server: Server, { results }: ListAnswer): Promise<void> {
  const { db, transact, installation, dialect } = server;
  const [first] = results;
  const stamp = first === undefined ? null : recordOf('invoice', first, dialect).modified;
  if (stamp === null) return;
  const style = hasOffset(stamp) ? 'offset' : 'naive';
  if (style === (await readTimestampStyle(db, installation))) return;
  await transact((trx) => noteTimestampStyle(trx, installation, style));
}
