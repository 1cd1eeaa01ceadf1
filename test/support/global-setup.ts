import { randomBytes } from 'node:crypto';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../src/db/migrate.ts';
import { openDatabase } from '../../src/db/pool.ts';
import type { LoginRole } from '../../src/db/roles.ts';
import { startEphemeralPostgres, startEphemeralTemporal } from '../../src/embedded/index.ts';
import { dropDatabase, runAlone, urlOfDatabase } from './server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A superuser's URL; tests make databases of their own with `useDatabase`. */
    databaseUrl: string;
    /** The role that the program runs as: it owns nothing. */
    runtimeRole: { name: string; password: string };
    /** The name of a migrated database that theirs are copies of. Nothing connects to it. */
    templateDatabase: string;
    /** host:port of a Temporal server with a namespace `default`. */
    temporalAddress: string;
  }
}

/**
 * One PostgreSQL and one Temporal server for a whole test run, or those named by VETLEDGER_TEST_DATABASE_URL and
 * VETLEDGER_TEST_TEMPORAL_ADDRESS.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { VETLEDGER_TEST_DATABASE_URL, VETLEDGER_TEST_TEMPORAL_ADDRESS } = process.env;
  const progress = (line: string) => {
    if (!line.includes('ready on')) console.error(line);
  };
  const nothing = async () => {};
  const started = await Promise.allSettled([
    VETLEDGER_TEST_DATABASE_URL
      ? { ownerUrl: VETLEDGER_TEST_DATABASE_URL, release: nothing }
      : startEphemeralPostgres(progress),
    VETLEDGER_TEST_TEMPORAL_ADDRESS
      ? { address: VETLEDGER_TEST_TEMPORAL_ADDRESS, release: nothing }
      : startEphemeralTemporal(progress),
  ]);
  const teardown = async () => {
    await Promise.all(started.map((result) => (result.status === 'fulfilled' ? result.value.release() : undefined)));
  };

  const [postgres, temporal] = started;
  if (postgres.status === 'rejected' || temporal.status === 'rejected') {
    await teardown();
    throw postgres.status === 'rejected' ? postgres.reason : (temporal as PromiseRejectedResult).reason;
  }
  const server = postgres.value.ownerUrl;
  try {
    const runtime = {
      name: `test_runtime_${randomBytes(8).toString('hex')}`,
      password: randomBytes(8).toString('hex'),
    };
    const template = await createTemplate(server, runtime);
    project.provide('runtimeRole', runtime);
    project.provide('databaseUrl', server);
    project.provide('templateDatabase', template);
    project.provide('temporalAddress', temporal.value.address);
    return async () => {
      await dropDatabase(server, template);
      // A database that a killed test left still refers to it.
      await runAlone(server, `drop role ${runtime.name}`).catch(() => undefined);
      await teardown();
    };
  } catch (error) {
    await teardown();
    throw error;
  }
}

async function createTemplate(server: string, runtime: LoginRole): Promise<string> {
  const name = `template_${randomBytes(8).toString('hex')}`;
  await runAlone(server, `create database ${name}`);
  const db = openDatabase(urlOfDatabase(server, name));
  try {
    await migrate(db, { runtime });
  } finally {
    await db.destroy();
  }
  return name;
}
