// The overview of this server as data: installations with their clocks, applications, quirks and faults, and their
// newest requests.
import { isDeepStrictEqual } from 'node:util';
import type { Installation } from '../installation.ts';
import { shownExchange } from '../journal/exchange.ts';
import { defaultQuirks, type Quirks } from '../quirks.ts';
import { type Scenario, scenarioNames, scenarios } from '../scenarios.ts';
import { shownClock } from './control/state.ts';

const maxInstallations = 20;
const maxNewest = 20;

export type Overview = ReturnType<typeof overviewOf>;
export type ShownInstallation = Overview['installations'][number];

export const overviewOf = (installations: readonly Installation[], origin: string) => ({
  links: {
    docs: `${origin}/docs/`,
    schema: `${origin}/schema/`,
    control_schema: `${origin}/sandbox/schema/`,
    health: `${origin}/health`,
  },
  installations: installations.slice(0, maxInstallations).map((one) => installationOf(one, origin)),
  /** The number of installations that are not listed. */
  more: Math.max(0, installations.length - maxInstallations),
});

const installationOf = (one: Installation, origin: string) => {
  const { installation, clinic, auth, quirks, faults, requests, attempts } = one;
  const control = `${origin}/${installation}/sandbox`;
  const quirksInForce = changed(quirks);
  const faultsInForce = without(faults.read(), (_, value) => value === null);
  return {
    installation,
    api: `${origin}/${installation}/api/0.1/`,
    token_url: `${origin}/${installation}/oauth2/token/`,
    clock: shownClock(one),
    records: {
      clients: clinic.clients.size,
      patients: clinic.registers.patients.size,
      invoices: clinic.invoices.size,
      payments: clinic.invoicePayments.size,
    },
    applications: auth.credentials(),
    scenario: scenarioOf(quirksInForce, faultsInForce),
    quirks: quirksInForce,
    faults: faultsInForce,
    links: {
      requests: `${control}/requests`,
      webhook_attempts: `${control}/webhook_attempts`,
      messages: `${control}/messages`,
      stats: `${control}/stats`,
    },
    requests: requests.newest(maxNewest).map(shownExchange),
    webhook_attempts: attempts.newest(maxNewest),
  };
};

/** A copy of the object without the members for which `leavesOut` returns true. */
const without = <T extends object>(object: T, leavesOut: (name: keyof T, value: unknown) => boolean): Partial<T> =>
  Object.fromEntries(
    Object.entries(object).filter(([name, value]) => !leavesOut(name as keyof T, value)),
  ) as Partial<T>;

const changed = (quirks: Partial<Quirks>): Partial<Quirks> =>
  without(quirks, (name, value) => isDeepStrictEqual(value, defaultQuirks[name]));

/** The name of the scenario with exactly these quirks and faults; null if there is none. */
const scenarioOf = (quirks: object, faults: object): string | null => {
  if (Object.keys({ ...quirks, ...faults }).length === 0) return null;
  const found = scenarioNames.find((name) => {
    const { quirks: its = {}, faults: strikes = {} } = scenarios[name] as Scenario;
    return isDeepStrictEqual([changed(its), strikes], [quirks, faults]);
  });
  return found ?? null;
};
