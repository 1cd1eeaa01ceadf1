// The practice APIs of many installations in one process: one server, a clinic for each. The parent forks this file.
import { randomBytes } from 'node:crypto';
import { Auth } from '../../sandbox/src/auth.ts';
import { Clinic } from '../../sandbox/src/clinic.ts';
import { FaultInjector } from '../../sandbox/src/faults.ts';
import { generate } from '../../sandbox/src/generator.ts';
import { createApp } from '../../sandbox/src/http/app.ts';
import { RateLimits } from '../../sandbox/src/http/rate.ts';
import { StatsKeeper } from '../../sandbox/src/http/stats.ts';
import { live } from '../../sandbox/src/live.ts';
import { defaultQuirks } from '../../sandbox/src/quirks.ts';
import { routes } from '../../sandbox/src/resources/index.ts';
import { Zone } from '../../sandbox/src/zone.ts';

export interface ManySources {
  /** Installations have the ids from this one on. */
  first: number;
  installations: number;
  /** Invoices of each. */
  invoices: number;
}

const { first, installations, invoices } = JSON.parse(process.argv[2]!) as ManySources;
const token = randomBytes(16).toString('hex');
const auth = new Auth({ token, clientId: 'bench', clientSecret: randomBytes(16).toString('hex') });
const quirks = { ...defaultQuirks };
const clinics = Array.from({ length: installations }, (_, n) => {
  const clinic = new Clinic({ seed: n + 1, zone: new Zone('Europe/Helsinki'), decimals: 2, quirks, clock: Date.now });
  generate(clinic, { seed: n + 1, invoices, historyDays: 30, endMs: Date.now() - 2 * 86_400_000 });
  return clinic;
});
const apis = clinics.map((clinic, n) => ({
  ...{ installation: first + n, clinic, quirks, auth, latencyMs: 0, stats: new StatsKeeper() },
  limits: new RateLimits(60),
  faults: new FaultInjector(n + 1, {}),
}));
const installationOf = (id: number) => apis[id - first] ?? null;
const app = await createApp({ routes, installationOf, quirks, clock: Date.now });
await app.listen({ port: 0, host: '127.0.0.1' });
const address = app.server.address();
process.on('message', ({ events }: { events: number }) => {
  for (let n = 0; n < events; n += 1) live(clinics[Math.floor(Math.random() * clinics.length)]!, 1);
});
process.on('disconnect', () => process.exit(0));
process.send!({ url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, token });
