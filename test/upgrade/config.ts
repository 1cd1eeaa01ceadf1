import type { Sandbox } from '../../sandbox/src/index.ts';
import { demoConfig, fromEnvironment } from '../support/demo-config.ts';
import { machineTime } from '../support/today.ts';

/**
 * A fixed clock, whatever today is: the offset in milliseconds from the machine's clock to an instant, and the
 * environment of processes that have this clock. A stored database was written before it is read.
 */
export function clockAt(instant: string) {
  const byMs = Math.round(Date.parse(instant) - machineTime());
  const moved = new URL('../support/moved-clock.ts', import.meta.url).href;
  return { byMs, env: { VETLEDGER_TEST_CLOCK_MS: String(byMs), NODE_OPTIONS: `--import=${moved}` } };
}

/** The configuration of a stored database. Its secrets and addresses come from the environment. */
export function configOfStored({ installation: id, url }: Sandbox): string {
  return demoConfig([{ id, base_url: url, rate_window_seconds: 1, overlap_seconds: 60, erp: '{kind: csv}' }], {
    database_url: fromEnvironment('DATABASE_URL'),
    migrate_database_url: fromEnvironment('MIGRATE_DATABASE_URL'),
    console: `{database_url: ${fromEnvironment('CONSOLE_DATABASE_URL')}}`,
    seal_key: fromEnvironment('SEAL_KEY'),
    temporal: `{address: ${fromEnvironment('TEMPORAL_ADDRESS')}}`,
  });
}
