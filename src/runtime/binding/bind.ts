import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { Config } from '../../config/load-config.ts';
import { type Connection, execute } from '../../db/rows.ts';
import type { PlainError } from '../../texts/plain-error.ts';
import type { App } from '../app.ts';
import { heldBinding, holdBinding, namespaceId } from './held.ts';
import { judgeBinding, type NotedBinding, refusalError, refusalOf, type Verdict, type Whereabouts } from './judge.ts';
import { noteBinding, notedBinding, whereDatabaseIs } from './noted.ts';

type Ports = Pick<App, 'db' | 'config' | 'temporalName' | 'log'>;

interface Found {
  here: Whereabouts;
  noted: NotedBinding | null;
  verdict: Verdict;
}

/** Compares the database with the record of it in Temporal. */
export async function findBinding(app: Ports, client: Client): Promise<Found> {
  const here = { ...(await whereDatabaseIs(app.db)), namespace: await namespaceId(client) };
  const noted = await notedBinding(app.db);
  const held = await heldBinding(client, app.temporalName);
  const { temporal, trustsFailover } = app.config;
  const trust = { isEmbedded: temporal.address === null, trustsFailover };
  return { here, noted, verdict: judgeBinding(here, noted, held, trust) };
}

/**
 * Binds the database to the Temporal namespace if nothing is bound yet, and renews the incarnation with `renews`.
 * Throws UserError `database_copied` if this database looks like a copy, and `temporal_replaced` if the namespace is
 * another one. Processes of one database take turns.
 */
export async function ensureBound(app: Ports, client: Client, { renews }: { renews: boolean }): Promise<void> {
  await app.db.transaction(async (turn) => {
    await execute(turn, `select pg_advisory_xact_lock(hashtextextended('vetledger binding', 0))`);
    const { here, noted, verdict } = await findBinding(app, client);
    if (verdict.is === 'refused') throw refusalError(verdict);
    if (verdict.is === 'to bind' && verdict.remark !== null) {
      app.log.warn({ remark: verdict.remark }, 'the database and the Temporal namespace are bound again');
    }
    if (verdict.is === 'to bind' || renews) await bind(app, client, here, noted);
  });
}

/**
 * The error if the database is bound to another namespace than the configured one; otherwise null. Sends one request to
 * the database and one to Temporal.
 */
export async function replacedTemporal(
  db: Connection,
  { address }: Pick<Config['temporal'], 'address'>,
  client: Client,
): Promise<PlainError | null> {
  // An embedded development server has no data that others need: the database is bound to a new one automatically.
  if (address === null) return null;
  const noted = await notedBinding(db);
  const namespace = await namespaceId(client);
  const verdict =
    noted && judgeBinding({ ...noted, namespace }, noted, noted, { isEmbedded: false, trustsFailover: false });
  return verdict?.is === 'refused' ? refusalOf(verdict) : null;
}

/**
 * Stores a new incarnation on both sides. The database stores the intention before the call to Temporal, and the result
 * after it. If the process ends in between, either incarnation is valid.
 */
export async function bind(app: Ports, client: Client, here: Whereabouts, noted: NotedBinding | null): Promise<void> {
  const next = randomUUID();
  await noteBinding(app.db, { ...here, incarnation: noted?.incarnation ?? next, next });
  await holdBinding(client, app.temporalName, next, here);
  await noteBinding(app.db, { ...here, incarnation: next, next: null });
}
