// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own way to name a file
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Config, loadConfig } from '../../src/config/load-config.ts';
import { openApp } from '../../src/runtime/app.ts';
import { withTemporalClient } from '../../src/runtime/temporal-client.ts';
import { runDaemon } from '../../src/windows/daemon.ts';
import { nudgeNow } from '../../src/windows/nudge-now.ts';
import { reloadPlan } from '../../src/windows/reload.ts';
import { orphanNote } from '../../src/windows/schedule-names.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { demoMapping } from '../support/demo-config.ts';
import { waitFor } from '../workflows/support.ts';

let clinic: TestClinic;
const servers: Server[] = [];
const token = (text: string) => writeFileSync(join(dirname(clinic.config), 'token'), `${text}\n`, { mode: 0o600 });
const own = (id: number, url: string) => {
  const entry = /^ {2}- id: 4711\n(?: {4}.*\n)*/m.exec(configured)?.[0] ?? '';
  return entry.replace('4711', String(id)).replace(clinic.sandbox.url, url);
};
let configured = '';
let mappingFile = '';
const demo = readFileSync(demoMapping, 'utf8');
/** Writes the configuration with these installations in addition to 4711. */
const write = (others: string) => {
  const [entry] = /^ {2}- id: 4711\n(?: {4}.*\n)*/m.exec(configured) ?? [''];
  writeFileSync(clinic.config, configured.replace(entry, `${entry}${others}`));
};

async function serve(answer: 'nothing' | 401): Promise<string> {
  const server = createServer((_, response) => {
    if (answer === 401) response.writeHead(401).end('{}');
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  clinic = await startTestClinic({ seed: 53, invoices: 6 });
  await clinic.engine.stop();
  clinic.engine.stop = async () => {};
  mappingFile = join(dirname(clinic.config), 'mapping.yaml');
  writeFileSync(mappingFile, demo);
  configured = readFileSync(clinic.config, 'utf8')
    .replace('${PRACTICE_TOKEN}', '${file:token}')
    .replace(/^( +mapping: ).*$/m, '$1mapping.yaml');
  token('a-token-that-was-revoked');
  write('');
});
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await clinic.stop();
});

test('a daemon takes installations in and out, a fault changes nothing, and none that fails stops the others', async () => {
  const config = await loadConfig(clinic.config, clinic.env);
  const app = await openApp(config, { temporal: true, progress: () => undefined, env: clinic.env, pacesSignIn: true });
  const stop = new AbortController();
  let reload: () => void = () => undefined;
  const said = {
    error: vi.spyOn(app.log, 'error'),
    warn: vi.spyOn(app.log, 'warn'),
    info: vi.spyOn(app.log, 'info'),
  };
  const logged = (level: 'error' | 'info', text: string) =>
    waitFor(
      text,
      () => said[level].mock.calls.some((call) => call.some((part) => String(part).includes(text))),
      40_000,
    );
  const daemon = runDaemon(app, {
    signal: stop.signal,
    reloads: {
      env: clinic.env,
      subscribe: (handler) => {
        reload = handler;
        return () => undefined;
      },
    },
  });
  const closed = async () =>
    Number(
      (
        await clinic.rows<{ n: number }>(
          `select sum(coalesce(idle_windows, 1)) as n from sync_window where outcome = 'closed'`,
        )
      )[0]?.n,
    );
  const refusedAt = (id: number) =>
    waitFor(
      'refused sign-in',
      async () =>
        (await clinic.rows<{ refusals: number }>('select refusals from sign_in where installation = ?', [id]))[0],
      40_000,
    );
  const nudge = (id: number) =>
    waitFor('nudged window', () =>
      withTemporalClient(app, async (client) => (await nudgeNow(app, client, id)).state === 'asked'),
    );
  const work = async () => {
    await refusedAt(4711);
    // The file gets the right token. The next window reads it, without a reload and before the pause is over.
    token(clinic.sandbox.token);
    await nudge(4711);
    await waitFor('first window', closed, 40_000);
    expect(await clinic.rows('select installation from sign_in')).toEqual([]);

    writeFileSync(clinic.config, `${configured}no_such_key: 1\n`);
    reload();
    await logged('error', 'the configuration was not reloaded');
    expect(app.config.installations.map(({ id }) => id)).toEqual([4711]);

    // A missing or wrong mapping refuses the whole file, including its other changes.
    const [{ mappingHash, overlapSeconds }] = app.config.installations as [Config['installations'][number]];
    for (const [mapping, why] of [
      ['roles: {receivable: [1700]}\n', /not valid: roles\.receivable/],
      ['roles: {receivable: "1700"\n', /not valid YAML: .* line 2/],
      [null, /mapping\.yaml does not exist/],
    ] as const) {
      if (mapping === null) rmSync(mappingFile);
      else writeFileSync(mappingFile, mapping);
      const entry = own(4714, clinic.sandbox.url).replace(/overlap_seconds: \d+/, 'overlap_seconds: 77');
      write(entry);
      said.error.mockClear();
      reload();
      await logged('error', 'the configuration was not reloaded, and nothing has changed');
      const message = String(said.error.mock.calls.at(-1)?.[1]);
      expect(message).toContain(mappingFile);
      expect(message).toMatch(why);
      expect(app.config.installations).toMatchObject([{ id: 4711, mappingHash, overlapSeconds }]);
      const closedBefore = await closed();
      await nudge(4711);
      await waitFor('window by the mapping before', async () => (await closed()) > closedBefore, 40_000);
    }
    // A changed mapping file is applied, but not one that was in force before.
    const versions = () =>
      clinic.rows<{ number: number }>('select number from mapping_version where installation = 4711');
    const accountOf = () => app.config.installations[0]?.mapping.roles.gift_card_liability;
    const [mapped, account] = [(await versions()).length, accountOf()];
    for (const [text, expected] of [
      [demo.replace(`gift_card_liability: "${account}"`, 'gift_card_liability: "2998"'), '2998'],
      [demo, '2998'],
    ] as const) {
      writeFileSync(mappingFile, text);
      said.info.mockClear();
      reload();
      await logged('info', 'the configuration was reloaded');
      expect([accountOf(), (await versions()).length]).toEqual([expected, mapped + 1]);
    }
    expect(said.warn.mock.calls.map(([fields]) => fields)).toContainEqual({
      installation: 4711,
      code: 'mapping_not_in_force',
    });

    // The source of one installation never answers, and that of the other refuses the token.
    write(own(4712, await serve('nothing')) + own(4713, await serve(401)));
    reload();
    await logged('info', 'the configuration was reloaded');
    expect((await refusedAt(4713)).refusals).toBe(1);
    const before = await closed();
    await nudge(4711);
    await waitFor('window beside those that fail', async () => (await closed()) > before, 40_000);
    await withTemporalClient(app, async (client) => {
      said.info.mockClear();
      write('');
      reload();
      await logged('info', 'the configuration was reloaded');
      expect(app.config.installations.map(({ id }) => id)).toEqual([4711]);
      const { state } = await client.schedule.getHandle(`sync-window/4713-${app.temporalName}`).describe();
      expect(state).toMatchObject({ paused: true, note: orphanNote });
      for (const id of [4711, 4712, 4713]) {
        await client.schedule.getHandle(`sync-window/${id}-${app.temporalName}`).delete();
      }
    });
  };
  try {
    await Promise.race([work(), daemon]);
  } finally {
    stop.abort();
    await daemon;
    await app.close();
  }
});

test('what waits for a restart is named, and keeps what it was', async () => {
  const now = await loadConfig(clinic.config, clinic.env);
  const change = (of: Partial<Config>): Config => ({ ...now, ...of });
  const [one] = now.installations;
  expect(reloadPlan(now, await loadConfig(clinic.config, clinic.env))).toMatchObject({
    added: [],
    removed: [],
    changed: [],
    restart: [],
  });
  expect(
    reloadPlan(now, change({ databaseUrl: 'postgresql://x', schedule: { ...now.schedule, everySeconds: 7 } })).restart,
  ).toEqual(['database_url']);
  const erp = { kind: 'csv' as const, folder: '/x', from: null, auto: false };
  const delivered = { ...one!, overlapSeconds: 7, erp: erp as unknown as Config['installations'][number]['erp'] };
  const plan = reloadPlan(now, change({ installations: [delivered] }));
  expect(plan).toMatchObject({ changed: [4711], restart: ['installations[4711].erp'] });
  expect(plan.installations[0]).toMatchObject({ overlapSeconds: 7, erp: { kind: 'ledger' } });
  expect(reloadPlan(now, change({ installations: [{ ...one!, id: 4712 }] }))).toMatchObject({
    added: [4712],
    removed: [4711],
  });
});
