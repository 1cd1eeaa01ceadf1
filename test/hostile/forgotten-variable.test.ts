// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own way to name a variable
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { folderOf, vetledger } from '../cli/support.ts';

const installation =
  '{id: 4711, base_url: "http://127.0.0.1:9", auth: {token: "${PRACTICE_TOKEN}"}, timezone: UTC, currency: EUR, mapping: m.yaml}';
const named = `installations: [${installation}]
database_url: "\${DATABASE_URL}"
temporal: {address: "\${TEMPORAL_ADDRESS}"}
`;
const servers = { DATABASE_URL: 'postgresql://127.0.0.1:9/books', TEMPORAL_ADDRESS: '127.0.0.1:9' };
const folderWith = (config: string) => folderOf({ 'vetledger.yaml': config, 'm.yaml': 'vat: same\n' });

const commands = ['run', 'sync', 'status', 'explain invoice 1', 'doctor', 'ledger verify', 'reconcile'];
const values: [what: string, value: string | undefined, says: RegExp][] = [
  ['not set', undefined, /not set/],
  ['empty', '', /empty/],
  ['blank', '  ', /empty/],
];
const variables = ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'PRACTICE_TOKEN'];
const cases = values.flatMap(([what, value, says]) =>
  variables.map((variable) => [variable, what, value, says] as const),
);

test.each(cases)('%s is %s: every command stops, and none begins empty books', async (variable, _what, value, says) => {
  const folder = folderWith(named);
  const env = { PRACTICE_TOKEN: 't', ...servers, [variable]: value };
  for (const command of commands) {
    const ran = await vetledger([...command.split(' '), '--config', join(folder, 'vetledger.yaml'), '--json'], env);
    expect({ command, code: ran.code }).toEqual({ command, code: 2 });
    const { error } = ran.json();
    expect(error).toMatchObject({ code: 'environment_missing', todo: expect.stringContaining(`export ${variable}=`) });
    expect(error.message).toContain(variable);
    expect(error.message).toMatch(says);
  }
  expect(existsSync(join(folder, '.vetledger'))).toBe(false);
});

test('with `embedded: true` the embedded servers are used where the servers’ variables are not set, and the given ones where they are', async () => {
  const file = join(folderWith(`embedded: true\n${named}`), 'vetledger.yaml');
  const without = await loadConfig(file, { PRACTICE_TOKEN: 't', DATABASE_URL: '' });
  expect([without.databaseUrl, without.temporal.address]).toEqual([null, null]);
  const withServers = await loadConfig(file, { PRACTICE_TOKEN: 't', ...servers });
  expect([withServers.databaseUrl, withServers.temporal.address]).toEqual(Object.values(servers));
  await expect(loadConfig(file, servers)).rejects.toMatchObject({ code: 'environment_missing' });
});

test('`embedded` cannot come from a variable that is not set itself', async () => {
  const file = join(folderWith(`embedded: "\${EMBEDDED}"\n${named}`), 'vetledger.yaml');
  await expect(loadConfig(file, { PRACTICE_TOKEN: 't', ...servers })).rejects.toMatchObject({
    code: 'environment_missing',
  });
  await expect(loadConfig(file, { PRACTICE_TOKEN: 't', ...servers, EMBEDDED: 'true' })).rejects.toMatchObject({
    code: 'config_invalid',
  });
});

test('the vetledger.yaml of a checkout works without servers', async () => {
  const file = new URL('../../vetledger.yaml', import.meta.url).pathname;
  const config = await loadConfig(file, { PRACTICE_TOKEN: 'sandbox-token' });
  expect([config.databaseUrl, config.temporal.address]).toEqual([null, null]);
  expect(readFileSync(file, 'utf8')).toMatch(/^embedded: true/m);
});
