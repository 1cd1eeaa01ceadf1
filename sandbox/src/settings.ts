// The settings file of a sandbox: its installations with their applications, quirks, faults and records, as JSON.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { applicationOf, applicationSchema } from './auth.ts';
import { faultsSchema } from './faults.ts';
import { type Fixtures, fixturesSchema } from './fixtures.ts';
import { given } from './given.ts';
import type { InstallationOptions } from './installation.ts';
import { quirksSchema } from './quirks.ts';
import { scenarioNames, scenarios } from './scenarios.ts';
import { webhookTargets } from './webhooks.ts';

const installation = z.strictObject({
  id: z.int().min(1).max(999_999_999),
  seed: z.int().min(0).optional(),
  invoices: z.int().min(0).max(10_000_000).optional(),
  history_days: z.int().min(1).max(10_000).optional(),
  timezone: z.string().optional(),
  decimals: z.int().min(0).max(4).optional(),
  token: z.string().min(1).max(255).optional(),
  client_id: z.string().min(1).max(100).optional(),
  client_secret: z.string().min(1).max(255).optional(),
  legacy_key: z.string().min(1).max(255).optional(),
  applications: z.array(applicationSchema).max(90).optional(),
  rate_window_seconds: z.number().min(0).max(86_400).optional(),
  latency_ms: z.int().min(0).max(600_000).optional(),
  state: z.string().min(1).optional(),
  durable: z.boolean().optional(),
  now: z.string().max(40).optional(),
  clock_runs: z.boolean().optional(),
  scenario: z.enum(scenarioNames).optional(),
  quirks: quirksSchema.partial().optional(),
  faults: faultsSchema.partial().optional(),
  fixtures: fixturesSchema.optional(),
  webhooks: webhookTargets.optional(),
});

export const settingsSchema = z.strictObject({ installations: z.array(installation).min(1).max(1000) });

/** Reads the installations of a settings file. Throws an Error that names the file and the wrong value. */
export const readSettings = (file: string): InstallationOptions[] => {
  const read = settingsSchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (!read.success) throw new Error(z.prettifyError(read.error));
  return read.data.installations.map((one) => optionsOf(one, dirname(file)));
};

/** Reads the records of a fixtures file. Throws an Error that names the wrong value. */
export const readFixtures = (file: string): Fixtures => {
  const read = fixturesSchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (!read.success) throw new Error(z.prettifyError(read.error));
  return read.data;
};

const optionsOf = (one: z.output<typeof installation>, folder: string): InstallationOptions => {
  const scenario = one.scenario === undefined ? undefined : scenarios[one.scenario];
  return given({
    installation: one.id,
    seed: one.seed,
    invoices: one.invoices,
    historyDays: one.history_days,
    timezone: one.timezone,
    decimals: one.decimals,
    token: one.token,
    clientId: one.client_id,
    clientSecret: one.client_secret,
    legacyKey: one.legacy_key,
    applications: one.applications?.map(applicationOf),
    rateWindowSeconds: one.rate_window_seconds,
    latencyMs: one.latency_ms,
    stateFile: one.state === undefined ? undefined : resolve(folder, one.state),
    durable: one.durable,
    quirks: given({ ...scenario?.quirks, ...one.quirks }),
    faults: given({ ...scenario?.faults, ...one.faults }),
    fixtures: one.fixtures,
    webhooks: one.webhooks,
    clockRuns: one.clock_runs,
    startsAt: one.now ?? scenario?.startsAt,
  }) as InstallationOptions;
};
