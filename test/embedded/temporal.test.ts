import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { expect, inject, onTestFinished, test } from 'vitest';
import {
  acquireTemporal,
  recordedTemporal,
  type ServiceError,
  type ServicesOptions,
  type TemporalHandle,
} from '../../src/embedded/index.ts';
import { ensureSearchAttributes } from '../../src/runtime/search-attributes.ts';
import { canListen, listeningAddresses, temporaryFolder, unusedPort } from './support.ts';

const quiet = { progress: () => {}, env: process.env };
const portOf = (address: string) => Number(address.split(':')[1]);

/** Acquires a server that is released at the test's end, even if the test fails. */
async function acquire(options: ServicesOptions): Promise<TemporalHandle> {
  const temporal = await acquireTemporal(options);
  onTestFinished(() => temporal.release());
  return temporal;
}

async function connect(address: string): Promise<Connection> {
  const connection = await Connection.connect({ address });
  onTestFinished(() => connection.close());
  return connection;
}

test('a server with its web UI where it is wanted, kept histories and search attributes; shared, stopped by its last user, and kept', async () => {
  const dataDir = temporaryFolder();
  const first = await acquire({ dataDir, ui: true, ...quiet });
  expect(first.embedded).toBe(true);
  expect((await fetch(first.uiUrl!)).status).toBe(200);

  const connection = await connect(first.address);
  const described = await connection.workflowService.describeNamespace({ namespace: 'default' });
  expect(Number(described.config?.workflowExecutionRetentionTtl?.seconds)).toBe(7 * 24 * 3600);
  expect(await ensureSearchAttributes(connection, 'default', () => {})).toBe(true);
  const client = new Client({ connection });
  const workflowId = `kept-${randomUUID()}`;
  await client.workflow.start('anything', { workflowId, taskQueue: 'nobody' });

  const second = await acquire({ dataDir, ...quiet });
  expect(second).toMatchObject({ address: first.address, uiUrl: first.uiUrl });
  await first.release();
  expect((await client.workflow.getHandle(workflowId).describe()).status.name).toBe('RUNNING');
  await second.release();
  expect(await canListen(portOf(first.address))).toBe(true);
  expect(await canListen(Number(new URL(first.uiUrl!).port))).toBe(true);

  const again = await acquire({ dataDir, ...quiet });
  expect(again.uiUrl).toBeNull();
  const kept = await new Client({ connection: await connect(again.address) }).workflow.getHandle(workflowId).describe();
  expect(kept.status.name).toBe('RUNNING');
});

test('two data folders have a server each, on the port asked for; both listen on this machine alone', async () => {
  const temporalPort = await unusedPort();
  const folders = [temporaryFolder(), temporaryFolder()] as const;
  const [a, b] = await Promise.all([
    acquire({ dataDir: folders[0], temporalPort, ui: true, ...quiet }),
    acquire({ dataDir: folders[1], ...quiet }),
  ]);
  expect(a).toMatchObject({ address: `127.0.0.1:${temporalPort}` });
  expect(b.address).not.toBe(a.address);
  for (const folder of folders) expect(listeningAddresses(recordedTemporal(folder)!.pid)).toEqual(['127.0.0.1']);
  await Promise.all([a.release(), b.release()]);
});

test('a given server is used as it is', async () => {
  const temporalAddress = inject('temporalAddress');
  const temporal = await acquire({ dataDir: '/nowhere', temporalAddress, ...quiet });
  expect(temporal).toMatchObject({ address: temporalAddress, uiUrl: null, embedded: false });
  await temporal.release();
});

test('a given server that cannot be reached', async () => {
  const temporalAddress = `127.0.0.1:${await unusedPort()}`;
  const error = (await acquire({ dataDir: '/nowhere', temporalAddress, ...quiet }).catch(
    (e: unknown) => e,
  )) as ServiceError;
  expect(error.code).toBe('temporal_unreachable');
  expect(error.message).toContain(temporalAddress);
  expect(error.message).toContain('TEMPORAL_ADDRESS');
});
