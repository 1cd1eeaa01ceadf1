import { randomBytes } from 'node:crypto';
import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../src/db/migrate.ts';
import { openDatabase } from '../../src/db/pool.ts';
import type { LoginRole } from '../../src/db/roles.ts';
import { startEphemeralPostgres, startEphemeralTemporal } from '../../src/embedded/index.ts';
import { dropDatabase, runAlone, urlOfDatabase } from './server.ts';
import { databaseClock } from './today.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The URL of a superuser. Tests create databases with `useDatabase`. */
    databaseUrl: string;
    /** The role of the program, which owns nothing. */
    runtimeRole: { name: string; password: string };
    /** The role of the console, which reads the books of the chosen installations. */
    consoleRole: { name: string; password: string };
    /** The name of a migrated database. Test databases are copies of it, so nothing may connect to it. */
    templateDatabase: string;
    /** host:port of a Temporal server with a namespace `default`. */
    temporalAddress: string;
  }
}

/** The servers of a test run, and the values that its test files get. */
interface Servers {
  provided: ProvidedContext;
  release(): Promise<void>;
}

/** Each project that needs servers runs this file. The first one starts them, and the others share them. */
const shared = globalThis as { vetledgerTestServers?: { servers: Promise<Servers>; users: number } };

/** Starts the servers, unless another project has done it, and passes their addresses to the test files. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.vetledgerTestServers ??= { servers: startServers(project.config.env?.VETLEDGER_TEST_CLOCK_MS), users: 0 };
  const used = shared.vetledgerTestServers;
  used.users += 1;
  const { provided, release } = await used.servers;
  for (const [name, value] of Object.entries(provided)) project.provide(name as keyof ProvidedContext, value as never);
  return async () => {
    used.users -= 1;
    if (used.users === 0) await release();
  };
}

/** One PostgreSQL and one Temporal server, or those that VETLEDGER_TEST_DATABASE_URL and VETLEDGER_TEST_TEMPORAL_ADDRESS name. */
async function startServers(clockMs: string | undefined): Promise<Servers> {
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
    const [runtime, consoleRole] = [newRole('runtime'), newRole('console')];
    const template = await createTemplate(server, { runtime, console: consoleRole }, Number(clockMs ?? 0));
    return {
      provided: {
        runtimeRole: runtime,
        consoleRole,
        databaseUrl: server,
        templateDatabase: template,
        temporalAddress: temporal.value.address,
      },
      async release() {
        await dropDatabase(server, template);
        // A database of a killed test may still refer to the role.
        for (const { name } of [runtime, consoleRole])
          await runAlone(server, `drop role ${name}`).catch(() => undefined);
        await teardown();
      },
    };
  } catch (error) {
    await teardown();
    throw error;
  }
}

function newRole(of: string): { name: string; password: string } {
  return { name: `test_${of}_${randomBytes(8).toString('hex')}`, password: randomBytes(8).toString('hex') };
}

async function createTemplate(
  server: string,
  roles: { runtime: LoginRole; console: LoginRole },
  clockMs: number,
): Promise<string> {
  const name = `template_${randomBytes(8).toString('hex')}`;
  await runAlone(server, `create database ${name}`);
  await runAlone(urlOfDatabase(server, name), databaseClock(clockMs));
  const db = openDatabase(urlOfDatabase(server, name));
  try {
    await migrate(db, roles);
  } finally {
    await db.destroy();
  }
  return name;
}
