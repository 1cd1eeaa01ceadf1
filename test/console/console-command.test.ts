// `vetledger console`: it serves pages with its own database role, and needs no secret of the daemon.

import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { folderOf, vetledger } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { demoConfig, demoMapping, fromEnvironment } from '../support/demo-config.ts';

const { consoleUrl, url: databaseUrl } = useDatabase();

const configured = (settings: Record<string, string>) => {
  const text = demoConfig([{ id: 4711, base_url: 'http://127.0.0.1:9', mapping: demoMapping }], {
    database_url: fromEnvironment('DATABASE_URL'),
    temporal: `{address: ${fromEnvironment('TEMPORAL_ADDRESS')}}`,
    ...settings,
  });
  return `${folderOf({ 'vetledger.yaml': text })}/vetledger.yaml`;
};
const withRole = { console: `{database_url: ${fromEnvironment('CONSOLE_DATABASE_URL')}}` };

test.each([
  ['127.0.0.1', null],
  ['0.0.0.0', 'Let only a proxy with TLS reach it.'],
])(
  'at %s it serves pages until its signal, with the URL of its role alone',
  { timeout: 60_000 },
  async (host, note) => {
    const [stdout, stderr, end] = [new PassThrough(), new PassThrough(), new AbortController()];
    const env = { PATH: process.env.PATH, CONSOLE_DATABASE_URL: consoleUrl, VETLEDGER_LOG: 'silent' };
    const args = ['console', '--config', configured(withRole), '--listen', `${host}:0`, '--json'];
    const ended = main(args, { env, stdout, stderr, signal: end.signal });
    const [line] = await once(stdout, 'data');
    const served: { url: string } = JSON.parse(String(line));
    const url = served.url.replace('0.0.0.0', '127.0.0.1');
    const page = await fetch(`${url}/sign-in`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<h1>Sign in</h1>')]);
    end.abort();
    expect(await ended).toBe(0);
    expect(stderr.read()?.toString() ?? null).toEqual(note === null ? null : expect.stringContaining(note));
    await expect(fetch(`${url}/sign-in`)).rejects.toThrow();
  },
);

test.each<[string, Record<string, string>, NodeJS.ProcessEnv, string]>([
  ['without the URL of its role', {}, {}, 'config_invalid'],
  ['with a URL whose variable is unset', withRole, { DATABASE_URL: databaseUrl }, 'environment_missing'],
  ['with an address that is none', withRole, { CONSOLE_DATABASE_URL: consoleUrl }, 'usage'],
])('%s it does not start', async (name, settings, env, code) => {
  const listen = name.includes('address') ? ['--listen', 'here'] : [];
  const ran = await vetledger(['console', '--config', configured(settings), '--json', ...listen], {
    PATH: process.env.PATH,
    ...env,
  });
  expect([ran.code, ran.json().error.code]).toEqual([2, code]);
});
