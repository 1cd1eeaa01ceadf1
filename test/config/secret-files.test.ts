// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own way to name a file
import { chmodSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { readSecretFile } from '../../src/config/secret-files.ts';
import { redact } from '../../src/domain/redact.ts';
import { fileSecret } from '../../src/practice/secret.ts';
import { folderOf } from '../cli/support.ts';

const mapping = 'roles: {receivable: 1700, cash: 0100}\nrevenue: same\nvat: same\n';
const config = (auth: string) => `installations:
  - id: 4711
    base_url: http://127.0.0.1:8090
    auth: ${auth}
    timezone: Europe/Helsinki
    currency: EUR
    mapping: mapping.yaml
`;

function folder(auth: string, secret: string, rights = 0o600): string {
  const made = folderOf({ 'vetledger.yaml': config(auth), 'mapping.yaml': mapping, 'secrets/token': secret });
  chmodSync(join(made, 'secrets/token'), rights);
  return made;
}
const load = (made: string) => loadConfig(join(made, 'vetledger.yaml'), {});

test('a token is read from the file that the configuration names, without its line end, and is redacted from then on', async () => {
  const made = folder('{token: "${file:secrets/token}"}', 'token-in-a-file\n');
  const { installations, warnings } = await load(made);
  expect(installations[0]!.auth).toEqual({ token: 'token-in-a-file', secretFile: join(made, 'secrets/token') });
  expect(warnings).toEqual([]);
  expect(redact('it said token-in-a-file')).toBe('it said …');
});

test('a client secret, too, and one that is a part of a value is not read anew', async () => {
  const whole = await load(folder('{client_id: vet, client_secret: "${file:secrets/token}"}', 'client-secret-9'));
  expect(whole.installations[0]!.auth).toMatchObject({
    clientSecret: 'client-secret-9',
    secretFile: expect.any(String),
  });
  const part = await load(folder('{token: "${file:secrets/token}${file:secrets/token}"}', 'half-token'));
  expect(part.installations[0]!.auth).toEqual({ token: 'half-tokenhalf-token' });
});

test('files that Kubernetes exchanges, by a link to their folder, are read as they are now', async () => {
  const versions = folderOf({
    'one/vetledger.yaml': config('{token: "${file:token}"}'),
    ...{ 'one/mapping.yaml': mapping, 'one/token': 'token-one' },
    'two/vetledger.yaml': config('{token: "${file:token}"}').replace('EUR', 'SEK'),
    ...{ 'two/mapping.yaml': mapping, 'two/token': 'token-two' },
  });
  const mounted = folderOf({});
  const lead = (to: string) => {
    symlinkSync(join(versions, to), join(mounted, '..data_new'));
    renameSync(join(mounted, '..data_new'), join(mounted, '..data'));
  };
  lead('one');
  for (const name of ['vetledger.yaml', 'mapping.yaml', 'token'])
    symlinkSync(join('..data', name), join(mounted, name));
  const first = (await load(mounted)).installations[0]!;
  expect([first.currency, first.auth]).toMatchObject(['EUR', { token: 'token-one' }]);
  const secret = fileSecret('token-one', () => readSecretFile(join(mounted, 'token')).secret);
  lead('two');
  expect([secret.readAgain(), secret.current()]).toEqual([true, 'token-two']);
  const second = (await load(mounted)).installations[0]!;
  expect([second.currency, second.auth]).toMatchObject(['SEK', { token: 'token-two' }]);
});

const isRoot = process.getuid?.() === 0;

test.each([
  [0o600, true],
  [0o644, false],
  [0o602, false],
  [0o660, false],
  // If the test runs as root, the file belongs to the program's group. Otherwise the group does not matter.
  [0o640, isRoot],
])('a file with the rights %o is private: %s', async (rights, isPrivate) => {
  const { warnings } = await load(folder('{token: "${file:secrets/token}"}', 'token-for-all', rights));
  const warning = {
    message: expect.stringMatching(`secrets/token contains a secret.*rights ${rights.toString(8)}`),
    todo: expect.stringContaining(isRoot ? 'chmod g-w,o= ' : 'chmod 600 '),
  };
  expect(warnings).toEqual(isPrivate ? [] : [warning]);
});

test('a key of TLS that others may read is warned of, too', async () => {
  const made = folder('{token: "${file:secrets/token}"}', 'token');
  const tls = 'temporal: {address: "temporal.example:7233", tls: {client_cert_path: crt, client_key_path: key}}\n';
  writeFileSync(join(made, 'vetledger.yaml'), config('{token: "${file:secrets/token}"}') + tls);
  for (const name of ['crt', 'key']) writeFileSync(join(made, name), 'PEM', { mode: 0o644 });
  chmodSync(join(made, 'key'), 0o644);
  expect((await load(made)).warnings).toEqual([
    { message: expect.stringContaining(`${join(made, 'key')} contains a secret`), todo: expect.any(String) },
  ]);
});

test.each([
  ['names no file', '${file:secrets/none}', 'x', 'secret_file_unreadable', /secrets\/none.*ENOENT/],
  ['names an empty file', '${file:secrets/token}', ' \n', 'secret_file_unreadable', /is empty/],
  [
    'names a file of two lines',
    '${file:secrets/token}',
    'one-token\ntwo-token\n',
    'secret_unusable',
    /contains a line end/,
  ],
  [
    'contains a secret beside the file',
    'abc${file:secrets/token}',
    'one-token',
    'secret_in_config',
    /in the file itself/,
  ],
])('a token that %s is refused', async (_, token, text, code, message) => {
  const refused = load(folder(`{token: "${token}"}`, text));
  await expect(refused).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
});

test('the password of an ERP is a secret, too', async () => {
  const made = folder('{token: "${file:secrets/token}"}', 'token-in-a-file');
  const erp = '    erp: {kind: tryton, url: "http://127.0.0.1:1", database: b, user: u, password: in-clear}\n';
  const written = folderOf({
    'vetledger.yaml': config(`{token: "\${file:${made}/secrets/token}"}`) + erp,
    'mapping.yaml': mapping,
  });
  await expect(load(written)).rejects.toMatchObject({ code: 'secret_in_config' });
});
