// A PostgreSQL fails over to a standby while a daemon runs, with `database_failover`.

import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/index.ts';
import { acquirePostgres } from '../../src/embedded/index.ts';
import { migrateAsOwner } from '../../src/runtime/database.ts';
import { vetledger } from '../cli/support.ts';
import { temporaryFolder } from '../embedded/support.ts';
import { startDaemon } from '../support/daemon-process.ts';
import { fromEnvironment } from '../support/demo-config.ts';
import { TcpProxy } from '../support/proxy.ts';
import { queryAlone } from '../support/server.ts';
import { startStandby } from '../support/standby.ts';
import { waitFor } from '../workflows/support.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ seed: 5, invoices: 20, rateWindowSeconds: 1 });
});
afterAll(() => sandbox.stop());

const closed = ({ event }: { event: string }) => event === 'window_closed';

test('a promoted standby: trusted, the daemon continues and the old primary is behind; otherwise, or if it lacks commits, it is refused', {
  timeout: 300_000,
}, async () => {
  const dataDir = temporaryFolder();
  const primary = await acquirePostgres({ dataDir, progress: () => undefined, env: process.env });
  onTestFinished(() => primary.release());
  await migrateAsOwner(primary);
  const proxy = new TcpProxy({ host: '127.0.0.1', port: Number(new URL(primary.url).port) });
  await proxy.listen();
  onTestFinished(() => proxy.close());
  const through = Object.assign(new URL(primary.url), { port: String(proxy.port) }).href;
  const settings = { database_url: fromEnvironment('DATABASE_URL'), database_failover: 'trusted' };
  const daemon = startDaemon(sandbox, { settings, env: { DATABASE_URL: through } });
  await daemon.event('closed window', closed);
  const standby = await startStandby(dataDir, primary.ownerUrl, { follows: true });
  const late = await startStandby(dataDir, primary.ownerUrl, { follows: false });
  const sync = (url: string, config = daemon.config) =>
    vetledger(['sync', '--config', config, '--json'], { ...daemon.env, DATABASE_URL: url });
  const binding = async (ownerUrl: string) => {
    const [found] = await queryAlone<{ value: string }>(
      ownerUrl,
      `select value from vetledger.meta where key = 'binding'`,
    );
    return JSON.parse(found?.value ?? '') as { timeline: string; incarnation: string; next: string | null };
  };

  // Connections reach the standby before its promotion, so PostgreSQL is read-only for a moment.
  const from = daemon.events().length;
  await standby.caughtUp();
  proxy.leadTo({ host: '127.0.0.1', port: standby.port });
  await daemon.event(
    'outage',
    ({ event, error }) => event === 'outage' && (error as { code: string }).code === 'postgres_read_only',
    from,
  );
  const before = await binding(primary.ownerUrl);
  expect(before.timeline).toBe('00000001');
  await standby.promote();
  await daemon.event('recovery', ({ event }) => event === 'recovery', from);
  await daemon.event('closed window', closed, daemon.events().length);
  const promoted = standby.urlOf(primary.ownerUrl);
  const after = await waitFor('binding of the new timeline', async () => {
    const found = await binding(promoted);
    return found.timeline === '00000002' && found.next === null ? found : null;
  });
  expect(after.incarnation).not.toBe(before.incarnation);
  expect(daemon.log()).toContainEqual(
    expect.objectContaining({ remark: expect.stringContaining('timeline 00000002; it was bound on 00000001') }),
  );
  expect(daemon.process.exitCode).toBeNull();

  // The old primary still runs, but no process may use it.
  const old = await sync(primary.url);
  expect([old.code, old.json().error]).toEqual([2, expect.objectContaining({ code: 'database_copied' })]);
  // A standby that lacks the commits since the last renewal.
  await late.promote();
  const lacking = await sync(late.urlOf(primary.url));
  expect([lacking.code, lacking.json().error.code]).toEqual([2, 'database_copied']);
  expect(lacking.json().error.message).toContain('a standby that lacks commits has taken over');

  // Without that setting, a promoted standby looks like a copy.
  daemon.process.kill('SIGTERM');
  expect((await daemon.ended)[0]).toBe(0);
  const stood = (await binding(promoted)).incarnation;
  await queryAlone(
    promoted,
    `update vetledger.meta set value = jsonb_set(value::jsonb, '{timeline}', '"00000001"')::text where key = 'binding'`,
  );
  const wary = daemon.config.replace('.yaml', '-wary.yaml');
  writeFileSync(wary, readFileSync(daemon.config, 'utf8').replace(/^database_failover:.*\n/m, ''));
  const refused = await sync(standby.urlOf(primary.url), wary);
  expect([refused.code, refused.json().error.code]).toEqual([2, 'database_copied']);
  expect(refused.json().error.message).toContain(
    'a standby has taken over (timeline 00000002; it was bound on 00000001)',
  );
  expect((await sync(standby.urlOf(primary.url))).code).toBe(0);
  expect((await binding(promoted)).incarnation).not.toBe(stood);
});
