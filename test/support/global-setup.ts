import type { TestProject } from 'vitest/node';
import { startEphemeralPostgres, startEphemeralTemporal } from '../../src/embedded/index.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A superuser's URL; tests make databases of their own with `createTestDatabase`. */
    databaseUrl: string;
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
      ? { url: VETLEDGER_TEST_DATABASE_URL, release: nothing }
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
  project.provide('databaseUrl', postgres.value.url);
  project.provide('temporalAddress', temporal.value.address);
  return teardown;
}
