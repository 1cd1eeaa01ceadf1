// Control endpoints for the state of the sandbox: its clock, snapshots, fixtures and reset.
import { z } from 'zod';
import { afterDuration, isDuration } from '../../clock.ts';
import { applyFixtures, fixturesSchema } from '../../fixtures.ts';
import type { Installation } from '../../installation.ts';
import { ValidationProblem } from '../../records.ts';
import { control, done, name } from './route.ts';

const clock = z.strictObject({
  now: z.string().meta({ description: 'The time in UTC.' }),
  local: z.string().meta({ description: "The same in the clinic's time zone." }),
  runs: z.boolean().meta({ description: 'Whether the clock goes on, or stands still.' }),
  timezone: z.string(),
});

export const shownClock = ({ clock: { state }, clinic: { zone } }: Installation): z.output<typeof clock> => ({
  now: new Date(state.nowMs).toISOString(),
  local: zone.timestamp(state.nowMs, 'offset'),
  runs: state.runs,
  timezone: zone.name,
});

const clockChange = z
  .strictObject({
    now: z
      .string()
      .max(40)
      .optional()
      .meta({ description: 'A time; without an offset it is the clinic’s local time.' }),
    advance: z
      .string()
      .max(60)
      .refine(isDuration, 'Send an ISO 8601 duration of whole units, such as "P31D" or "PT90M".')
      .optional(),
    runs: z.boolean().optional(),
  })
  .refine(({ now, advance }) => now === undefined || advance === undefined, 'Send "now" or "advance", not both.');

/** The latest time of the clock, because records have years of four digits. */
const maxMs = Date.parse('2199-01-01T00:00:00Z');

const setClock = (installation: Installation, change: z.output<typeof clockChange>): void => {
  const { now, advance, runs } = change;
  const { state } = installation.clock;
  const { zone } = installation.clinic;
  const toMs =
    now !== undefined
      ? zone.parse(now)
      : advance !== undefined
        ? afterDuration(state.nowMs, advance, zone)
        : state.nowMs;
  const field = now === undefined ? 'advance' : 'now';
  if (toMs === null) throw new ValidationProblem(field, 'Send an ISO 8601 time, such as "2026-03-31T18:00:00".');
  if (toMs > maxMs) throw new ValidationProblem(field, 'Send a time before the year 2199.');
  installation.setClock(toMs, runs ?? state.runs);
};

const snapshot = z.strictObject({ name: z.string(), at: z.string(), bytes: z.int() });

export const stateRoutes = [
  control({
    ...{
      method: 'POST',
      path: 'reset',
      summary: 'Restore the state at the start: clinic, clock, quirks, faults, limits',
    },
    answer: done,
    handle: ({ installation }) => installation.reset(),
  }),
  control({
    ...{ method: 'GET', path: 'clock', summary: "The clinic's clock" },
    answer: clock,
    handle: ({ installation }) => shownClock(installation),
  }),
  control({
    ...{ method: 'POST', path: 'clock', summary: 'Set the clock forward; events that are due by then happen' },
    body: clockChange,
    answer: clock,
    handle: ({ installation, body }) => {
      setClock(installation, body);
      return shownClock(installation);
    },
  }),
  control({
    ...{ method: 'GET', path: 'snapshots', summary: 'The snapshots that are kept in memory' },
    answer: z.object({ snapshots: z.array(snapshot) }),
    handle: ({ installation }) => ({ snapshots: installation.snapshots }),
  }),
  control({
    ...{ method: 'POST', path: 'snapshots', summary: 'Store the clinic and its clock under a name' },
    body: z.strictObject({ name }),
    answer: snapshot,
    handle: ({ installation, body }) => {
      installation.takeSnapshot(body.name);
      return installation.snapshots.find((one) => one.name === body.name);
    },
  }),
  control({
    ...{ method: 'POST', path: 'snapshots/:name/restore', summary: 'Restore the clinic and its clock from a snapshot' },
    answer: clock,
    handle: ({ installation, name }) => {
      installation.restoreSnapshot(name);
      return shownClock(installation);
    },
  }),
  control({
    ...{ method: 'DELETE', path: 'snapshots/:name', summary: 'Delete a snapshot' },
    answer: done,
    handle: ({ installation, name }) => installation.deleteSnapshot(name),
  }),
  control({
    ...{
      method: 'POST',
      path: 'fixtures',
      summary: 'Add the clients, patients, invoices, payments and prepayments in the body',
    },
    body: fixturesSchema,
    answer: z.looseObject({ clients: z.record(z.string(), z.looseObject({ id: z.int(), url: z.string() })) }),
    handle: ({ installation, body, origin }) =>
      installation.attempt(() =>
        applyFixtures(installation.clinic, body, `${origin}/${installation.installation}/api/0.1`),
      ),
  }),
];
