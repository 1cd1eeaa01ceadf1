// A process with the practice APIs of many installations: one server with a clinic for each. The parent forks this
// file.
import { randomBytes } from 'node:crypto';
import { startSandbox } from '../../sandbox/src/index.ts';

export interface ManySources {
  /** The installations have consecutive ids from this one. */
  first: number;
  installations: number;
  /** The number of invoices of each installation. */
  invoices: number;
}

const { first, installations, invoices } = JSON.parse(process.argv[2]!) as ManySources;
const token = randomBytes(16).toString('hex');
const ofOne = (n: number) => ({
  ...{ installation: first + n, seed: n + 1, invoices, historyDays: 30, token },
  ...{ clientId: 'bench', clientSecret: randomBytes(16).toString('hex') },
});
const others = Array.from({ length: installations - 1 }, (_, n) => ofOne(n + 1));
const sandbox = await startSandbox({ ...ofOne(0), others });
const all = sandbox.installations;
process.on('message', ({ events }: { events: number }) => {
  for (let n = 0; n < events; n += 1) all[Math.floor(Math.random() * all.length)]!.live();
});
process.on('disconnect', () => process.exit(0));
process.send!({ url: sandbox.url, token });
