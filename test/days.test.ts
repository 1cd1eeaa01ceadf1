import { expect, inject, test } from 'vitest';
import { awkwardDays, playOn } from './days.ts';

const dependOnDates = [
  'test/cli/commands.test.ts',
  'test/integration/daily-summary.test.ts',
  'test/mapping/init.test.ts',
  'test/reports/reports.test.ts',
];

test.each(Object.entries(awkwardDays))(
  'on %s (%s), tests that depend on dates pass',
  async (_name, day) => {
    const { code, output } = await playOn(day, dependOnDates, {
      ...process.env,
      VETLEDGER_TEST_DATABASE_URL: inject('databaseUrl'),
      VETLEDGER_TEST_TEMPORAL_ADDRESS: inject('temporalAddress'),
    });
    expect(code, output).toBe(0);
  },
  600_000,
);
