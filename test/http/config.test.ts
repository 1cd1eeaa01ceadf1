// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own way to name a variable
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { folderOf } from '../cli/support.ts';

const secret = 'secret-of-the_config.test';
const env = { PRACTICE_TOKEN: 'token', WEBHOOK_SECRET: secret };

const load = (webhooks: string, over: NodeJS.ProcessEnv = {}) => {
  const text = `installations:
  - {id: 4711, base_url: "http://127.0.0.1:1", auth: {token: "\${PRACTICE_TOKEN}"}, timezone: Europe/Helsinki, currency: EUR, mapping: m.yaml}
${webhooks}
`;
  return loadConfig(join(folderOf({ 'vetledger.yaml': text, 'm.yaml': 'roles: {}\n' }), 'vetledger.yaml'), {
    ...env,
    ...over,
  });
};

test('webhooks are received nowhere unless the configuration says so', async () => {
  expect((await load('')).webhooks).toBeNull();
});

test.each([
  ['{secret: "${WEBHOOK_SECRET}"}', '127.0.0.1', 8787],
  ['{listen: "0.0.0.0:80", secret: "${WEBHOOK_SECRET}"}', '0.0.0.0', 80],
  ['{listen: "localhost:0", secret: "${WEBHOOK_SECRET}"}', 'localhost', 0],
  ['{listen: "[::1]:8787", secret: "${WEBHOOK_SECRET}"}', '::1', 8787],
])('%s listens on %s, port %i', async (webhooks, host, port) => {
  expect((await load(`webhooks: ${webhooks}`)).webhooks).toEqual({ host, port, secret });
});

describe('what is wrong is named, and no secret is printed', () => {
  test.each<[string, string, NodeJS.ProcessEnv, string, RegExp]>([
    ['secret in the file', `{secret: ${secret}}`, {}, 'secret_in_config', /webhooks\.secret contains a secret/],
    ['secret of digits', '{secret: 1234567890123456}', {}, 'secret_in_config', /webhooks\.secret contains a secret/],
    ['no secret', '{listen: "127.0.0.1:1"}', {}, 'config_invalid', /webhooks\.secret is missing/],
    [
      'variable not set',
      '{secret: "${WEBHOOK_SECRET}"}',
      { WEBHOOK_SECRET: undefined },
      'environment_missing',
      /webhooks\.secret needs the environment variable WEBHOOK_SECRET/,
    ],
    [
      'short secret',
      '{secret: "${WEBHOOK_SECRET}"}',
      { WEBHOOK_SECRET: 'fifteen-letters' },
      'config_invalid',
      /webhooks\.secret must be 16 to 200 letters/,
    ],
    [
      'secret that a path would change',
      '{secret: "${WEBHOOK_SECRET}"}',
      { WEBHOOK_SECRET: 'with/slashes/and+plus==' },
      'config_invalid',
      /webhooks\.secret must be 16 to 200 letters/,
    ],
    ['no port', '{listen: "127.0.0.1", secret: "${WEBHOOK_SECRET}"}', {}, 'config_invalid', /listen must be host:port/],
    [
      'port too high',
      '{listen: "a:65536", secret: "${WEBHOOK_SECRET}"}',
      {},
      'config_invalid',
      /listen must be host:port/,
    ],
    [
      'unknown key',
      '{secrets: x, secret: "${WEBHOOK_SECRET}"}',
      {},
      'config_unknown_key',
      /webhooks\.secrets is not a key/,
    ],
  ])('%s', async (_what, webhooks, over, code, message) => {
    const error = (await load(`webhooks: ${webhooks}`, over).catch((caught: unknown) => caught)) as Error;
    expect(error).toMatchObject({ code, exitCode: 2, message: expect.stringMatching(message) });
    expect(error.message).not.toContain(over.WEBHOOK_SECRET ?? secret);
  });
});
