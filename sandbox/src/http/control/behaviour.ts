// Control endpoints for the server's behaviour (quirks, faults, limits) and its applications.
import { z } from 'zod';
import { applicationOf, applicationSchema } from '../../auth.ts';
import { faultsSchema, noFaults } from '../../faults.ts';
import { given } from '../../given.ts';
import { defaultQuirks, quirksSchema } from '../../quirks.ts';
import { scenarioNames, scenarios } from '../../scenarios.ts';
import { control, done } from './route.ts';

export const behaviourRoutes = [
  control({
    ...{ method: 'GET', path: 'quirks', summary: 'The quirks in force' },
    answer: quirksSchema,
    handle: ({ installation }) => installation.quirks,
  }),
  control({
    ...{ method: 'POST', path: 'quirks', summary: 'Set the quirks in the body; the others stay' },
    body: quirksSchema.partial(),
    answer: quirksSchema,
    handle: ({ installation: { quirks }, body }) => Object.assign(quirks, given(body)),
  }),
  control({
    ...{ method: 'DELETE', path: 'quirks', summary: 'Set every quirk to its default' },
    answer: quirksSchema,
    handle: ({ installation: { quirks } }) => Object.assign(quirks, defaultQuirks),
  }),
  control({
    ...{ method: 'GET', path: 'faults', summary: 'The faults in force, with their remaining counts' },
    answer: faultsSchema,
    handle: ({ installation }) => installation.faults.read(),
  }),
  control({
    ...{ method: 'POST', path: 'faults', summary: 'Set the faults in the body; the others stay; null ends a fault' },
    body: faultsSchema.partial(),
    answer: faultsSchema,
    handle: ({ installation: { faults }, body }) => {
      faults.set(given(body));
      return faults.read();
    },
  }),
  control({
    ...{ method: 'DELETE', path: 'faults', summary: 'End every fault' },
    answer: faultsSchema,
    handle: ({ installation: { faults } }) => {
      faults.set(noFaults);
      return faults.read();
    },
  }),
  control({
    ...{ method: 'GET', path: 'scenarios', summary: 'The named sets of quirks and faults' },
    answer: z.object({ scenarios: z.array(z.looseObject({ name: z.string(), about: z.string() })) }),
    handle: () => ({ scenarios: scenarioNames.map((name) => ({ name, ...scenarios[name] })) }),
  }),
  control({
    ...{
      method: 'POST',
      path: 'scenario',
      summary: 'Set the quirks and faults of a scenario, and all others to their defaults',
    },
    body: z.strictObject({ name: z.enum(scenarioNames) }),
    answer: z.object({ quirks: quirksSchema, faults: faultsSchema }),
    handle: ({ installation, body: { name } }) => {
      installation.behave(scenarios[name]);
      return { quirks: installation.quirks, faults: installation.faults.read() };
    },
  }),
  control({
    ...{ method: 'GET', path: 'applications', summary: 'The OAuth2 applications, without their secrets' },
    answer: z.object({ applications: z.array(applicationSchema.omit({ client_secret: true, token: true })) }),
    handle: ({ installation: { auth } }) => ({ applications: auth.applications() }),
  }),
  control({
    ...{ method: 'POST', path: 'applications', summary: 'Add an application, or replace the one with its client id' },
    body: applicationSchema,
    answer: done,
    handle: ({ installation: { auth }, body }) => auth.put(applicationOf(body)),
  }),
  control({
    ...{ method: 'POST', path: 'legacy_key', summary: "Set the clinic's legacy API key; null removes it" },
    body: z.strictObject({ key: z.string().min(1).max(255).nullable() }),
    answer: done,
    handle: ({ installation: { auth }, body }) => auth.setLegacyKey(body.key),
  }),
];
