// npm run month-end [-- --write]: plays a month-end of the sandbox clinic through the real commands, and compares every report with the
// clinic's own records. `--write` also writes the outputs into docs/accountants/month-end.md. Exit code 1 where anything differs.

import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startEphemeralPostgres, startEphemeralTemporal } from '../../src/embedded/index.ts';
import { closedInErp } from './closed-in-erp.ts';
import { filled } from './page.ts';
import { playMonthEnd } from './play.ts';

const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
const page = new URL('../../docs/accountants/month-end.md', import.meta.url);
const began = performance.now();
const say = (line: string) => console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${line}`);

say('starting PostgreSQL and Temporal');
const services = await Promise.allSettled([startEphemeralPostgres(), startEphemeralTemporal()]);
try {
  const [postgres, temporal] = services;
  if (postgres.status === 'rejected') throw postgres.reason;
  if (temporal.status === 'rejected') throw temporal.reason;
  const worlds = { databaseUrl: postgres.value.ownerUrl, temporalAddress: temporal.value.address };
  const played = await playMonthEnd(worlds, say);
  await played.goOn();
  await played.stop();
  const { differences, transcript } = played;
  say('another clinic: October is closed in its ERP before all of it was sent');
  differences.push(...(await closedInErp(worlds)));
  for (const difference of differences) console.log(`DIFFERENT ${difference}`);
  const text = readFileSync(page, 'utf8');
  const now = filled(text, transcript);
  if (values.write) writeFileSync(page, now);
  else if (now !== text) differences.push('docs/accountants/month-end.md');
  if (now !== text)
    say(
      `docs/accountants/month-end.md ${values.write ? 'is written' : 'is out of date; run `npm run month-end -- --write`'}`,
    );
  say(differences.length === 0 ? 'the month-end is right' : `${differences.length} differences`);
  process.exitCode = differences.length === 0 ? 0 : 1;
} finally {
  await Promise.all(services.map((service) => (service.status === 'fulfilled' ? service.value.release() : undefined)));
}
