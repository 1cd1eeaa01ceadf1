import { expect, inject, test } from 'vitest';
import { awkwardDays, datedFiles, playOn } from './days.ts';

test.each(Object.entries(awkwardDays))(
  'on %s (%s), tests in which the day matters pass',
  async (_name, day) => {
    const { code, output } = await playOn(day, datedFiles(), {
      ...process.env,
      VETLEDGER_TEST_DATABASE_URL: inject('databaseUrl'),
      VETLEDGER_TEST_TEMPORAL_ADDRESS: inject('temporalAddress'),
    });
    expect(code, output).toBe(0);
  },
  1_800_000,
);
