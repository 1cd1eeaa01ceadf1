import type { Transact } from '../../db/lease.ts';
import type { Db } from '../../db/pool.ts';
import { hasOffset } from '../../domain/dates.ts';
import type { ListAnswer } from '../../practice/client.ts';
import type { Dialect } from '../../records/dialect.ts';
import { recordOf } from '../../records/schema.ts';
import type { RecordKind } from '../../terms.ts';
import { copiesIn, receivedIn } from '../walk/count-proof.ts';
import { noteDefaultPageSize, noteTimestampStyle, readDefaultPageSizes, readTimestampStyle } from './server.ts';

interface Server {
  db: Db;
  transact: Transact;
  installation: number;
  dialect: Dialect;
}

/**
 * Stores what an answer shows about its server: the list's default page size, from which weights are calculated, and
 * its style of timestamps.
 */
export async function observeServer(server: Server, kind: RecordKind, answer: ListAnswer): Promise<void> {
  await observeDefaultPageSize(server, kind, answer);
  if (kind === 'invoice') await observeTimestampStyle(server, answer);
}

async function observeDefaultPageSize(server: Server, kind: RecordKind, answer: ListAnswer): Promise<void> {
  const { db, transact, installation, dialect } = server;
  const { count, pageSizeAsked } = answer;
  const received = receivedIn(answer);
  // If records are repeated, the size of the page is unclear, because copies may or may not count.
  const isFullPage = pageSizeAsked === null && received > 0 && received < count && copiesIn(answer) === 0;
  if (!isFullPage || received === (await readDefaultPageSizes(db, installation, dialect))[kind]) return;
  await transact((trx) => noteDefaultPageSize(trx, installation, kind, received));
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
