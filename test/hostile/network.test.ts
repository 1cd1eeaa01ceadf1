// Connections that others on the network could read are refused, or protected by TLS. The tests use real servers.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration’s way to name a variable

import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, readFileSync, statSync } from 'node:fs';
import { createSecureServer, type IncomingHttpHeaders } from 'node:http2';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { text } from '../../src/db/columns.ts';
import { openDatabase } from '../../src/db/pool.ts';
import { row } from '../../src/db/rows.ts';
import { acquirePostgres } from '../../src/embedded/index.ts';
import { folderOf, vetledger } from '../cli/support.ts';
import { temporaryFolder } from '../embedded/support.ts';
import { startTestClinic } from '../support/clinic.ts';
import { demoConfig, fromEnvironment, type Settings } from '../support/demo-config.ts';

const token = 'tok-0123456789';

async function load(baseUrl: string, own: Settings, settings: Settings, env: NodeJS.ProcessEnv = {}) {
  const file = join(
    folderOf({ 'vetledger.yaml': demoConfig([{ id: 1, base_url: baseUrl, ...own }], settings) }),
    'vetledger.yaml',
  );
  return loadConfig(file, { PRACTICE_TOKEN: token, ...env });
}

const home = 'http://127.0.0.1:8090';
const erpAt = (url: string) =>
  `{kind: tryton, url: "${url}", database: books, user: api, password: ${fromEnvironment('PRACTICE_TOKEN')}}`;
const away: [what: string, base: string, own: Settings, settings: Settings][] = [
  ['installations[0].base_url', 'http://clinic.example', {}, {}],
  ['installations[0].base_url', 'http://127.0.0.1.example', {}, {}],
  ['installations[0].base_url', 'http://192.168.1.2', {}, {}],
  ['installations[0].base_url', 'http://[fe80::1]', {}, {}],
  ['installations[0].erp.url', home, { erp: erpAt('http://erp.example') }, {}],
  ['temporal.address', home, {}, { temporal: '{address: "temporal.example:7233"}' }],
  ['temporal.address', home, {}, { temporal: '{address: "temporal.example:7233", tls: false}' }],
  [
    'temporal.address',
    home,
    {},
    { temporal: `{address: "temporal.example:7233", tls: false, api_key: ${fromEnvironment('PRACTICE_TOKEN')}}` },
  ],
  ['database_url', home, {}, { database_url: 'postgresql://db.example/books' }],
  ['database_url', home, {}, { database_url: 'postgresql://db.example/books?sslmode=disable' }],
  ['database_url', home, {}, { database_url: 'postgresql://db.example/books?sslmode=prefer' }],
  ['database_url', home, {}, { database_url: 'postgresql://db.example/books?sslmode=no-verify' }],
  ['database_url', home, {}, { database_url: 'postgresql://localhost/books?host=db.example' }],
];

describe('a configuration', () => {
  test.each(away)(
    'whose %s goes over the network in clear is refused by name (%s %o %o)',
    async (what, base, own, settings) => {
      const error = await load(base, own, settings).then(
        () => expect.unreachable(),
        (caught: unknown) => caught as Error & { todo: string },
      );
      expect(error).toMatchObject({ code: 'insecure_connection', exitCode: 2 });
      expect(error.message).toContain(`${what} `);
      expect(error.todo).toContain('allow_insecure: true');
      expect(await load(base, own, { ...settings, allow_insecure: 'true' })).toBeDefined();
    },
  );

  test.each<[string, Settings, Settings]>([
    ['https://clinic.example', {}, {}],
    ['http://localhost:1', {}, {}],
    ['http://[::1]:1', {}, {}],
    ['http://clinic.example', { allow_insecure: 'true' }, {}],
    [home, { erp: erpAt('http://localhost:8069') }, {}],
    [home, { erp: erpAt('https://erp.example') }, {}],
    [home, {}, { temporal: '{address: "[::1]:7233"}' }],
    [home, {}, { temporal: '{address: "temporal.example:7233", tls: true}' }],
    [home, {}, { temporal: '{address: "temporal.example:7233", allow_insecure: true}' }],
    [home, {}, { temporal: `{address: "temporal.example:7233", api_key: ${fromEnvironment('PRACTICE_TOKEN')}}` }],
    [home, {}, { database_url: 'postgresql://db.example/books?sslmode=verify-full' }],
    [home, {}, { database_url: 'postgresql://localhost/books' }],
    [home, {}, { database_url: 'postgresql:///books?host=/run/postgresql' }],
  ])('with %s %o %o is taken', async (base, own, settings) => {
    expect(await load(base, own, settings)).toBeDefined();
  });

  test('hosts of a private network are named in the environment, one by one', async () => {
    const settings = { temporal: '{address: "temporal:7233"}', database_url: 'postgresql://postgres/books' };
    const env = { VETLEDGER_PRIVATE_HOSTS: 'postgres, temporal' };
    expect(await load(home, {}, settings, env)).toBeDefined();
    await expect(load('http://clinic.example', {}, settings, env)).rejects.toMatchObject({
      code: 'insecure_connection',
    });
  });

  test('an API key is a secret: never in the file', async () => {
    await expect(load(home, {}, { temporal: '{address: "127.0.0.1:7233", api_key: abcdefgh}' })).rejects.toMatchObject({
      code: 'secret_in_config',
    });
  });
});

/** Writes a certificate authority and a certificate for 127.0.0.1. */
function certificates(folder: string) {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const name = ['-addext', 'subjectAltName=IP:127.0.0.1,DNS:temporal.test'];
  openssl(
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=test CA',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
  );
  openssl(
    'req',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-subj',
    '/CN=server',
    ...name,
    '-keyout',
    'server.key',
    '-out',
    'server.csr',
  );
  openssl(
    ...'x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -copy_extensions copy -out server.pem'.split(
      ' ',
    ),
  );
  return { ca: join(folder, 'ca.pem'), key: join(folder, 'server.key'), cert: join(folder, 'server.pem') };
}

test('Temporal behind TLS with a CA of our own: a window runs, and without the CA nothing is sent', async () => {
  const files = certificates(temporaryFolder());
  const [host = '', port = ''] = inject('temporalAddress').split(':');
  const proxy = createServer(
    { key: readFileSync(files.key), cert: readFileSync(files.cert), ALPNProtocols: ['h2'] },
    (secure) => {
      const plain = connect(Number(port), host);
      for (const [from, to] of [
        [secure, plain],
        [plain, secure],
      ] as const) {
        from.on('error', () => to.destroy());
        from.pipe(to);
      }
    },
  );
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  const address = `127.0.0.1:${(proxy.address() as { port: number }).port}`;
  const clinic = await startTestClinic({ invoices: 3 });
  onTestFinished(() => clinic.stop());
  const config = (tls: string) => {
    const written = readFileSync(clinic.config, 'utf8').replace(/^temporal:.*\n/m, '');
    return join(
      folderOf({ 'vetledger.yaml': `${written}\ntemporal: {address: "${address}", tls: ${tls}}\n` }),
      'vetledger.yaml',
    );
  };
  const ran = await vetledger(
    ['sync', '--json', '--config', config(`{server_ca_cert_path: "${files.ca}"}`)],
    clinic.env,
  );
  expect(ran).toMatchObject({ code: 0 });
  expect(ran.json().windows).toMatchObject([{ outcome: 'closed' }]);
  const named = await vetledger(
    ['sync', '--json', '--config', config(`{server_ca_cert_path: "${files.ca}", server_name: temporal.test}`)],
    clinic.env,
  );
  expect(named).toMatchObject({ code: 0 });
  for (const wrong of ['true', `{server_ca_cert_path: "${files.ca}", server_name: other.test}`]) {
    const refused = await vetledger(['sync', '--json', '--config', config(wrong)], clinic.env);
    expect(refused).toMatchObject({ code: 3 });
    expect(refused.json().error.code).toBe('temporal_unreachable');
  }
});

test('an API key goes over TLS only, and a server that refuses it does not see it repeated', async () => {
  const files = certificates(temporaryFolder());
  const seen: IncomingHttpHeaders[] = [];
  const key = 'key-SECRET-0123456789';
  const server = createSecureServer({ key: readFileSync(files.key), cert: readFileSync(files.cert) });
  server.on('stream', (stream, headers) => {
    seen.push(headers);
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16', 'grpc-message': `no ${key}` },
      { endStream: true },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const temporal = `{address: "127.0.0.1:${port}", api_key: ${fromEnvironment('TEMPORAL_API_KEY')}, tls: {server_ca_cert_path: "${files.ca}"}}`;
  const settings = { database_url: fromEnvironment('DATABASE_URL'), temporal };
  const file = join(
    folderOf({ 'vetledger.yaml': demoConfig([{ id: 1, base_url: home }], settings) }),
    'vetledger.yaml',
  );
  const env = { PRACTICE_TOKEN: token, TEMPORAL_API_KEY: key, DATABASE_URL: inject('databaseUrl') };
  const ran = await vetledger(['sync', '--json', '--config', file], env);
  expect(ran).toMatchObject({ code: 3 });
  expect(ran.stdout + ran.stderr).not.toContain('SECRET');
  expect(seen[0]?.authorization).toBe(`Bearer ${key}`);
});

test('PostgreSQL with TLS: its certificate is checked, and a strange one refused', async () => {
  const dataDir = temporaryFolder();
  const postgres = await acquirePostgres({ dataDir, progress: () => {}, env: process.env });
  onTestFinished(() => postgres.release());
  const cluster = join(dataDir, 'postgres');
  const files = certificates(dataDir);
  const { uid, gid } = statSync(cluster);
  for (const file of [files.key, files.cert]) {
    chmodSync(file, 0o600);
    chownSync(file, uid, gid);
  }
  const plain = openDatabase(postgres.ownerUrl);
  onTestFinished(() => plain.destroy());
  await plain.raw(`alter system set ssl_cert_file = '${files.cert}'`);
  await plain.raw(`alter system set ssl_key_file = '${files.key}'`);
  await plain.raw('alter system set ssl = on');
  await plain.raw('select pg_reload_conf()');
  const version = async (query: string) => {
    const db = openDatabase(`${postgres.url}?${query}`, { report: () => {} });
    try {
      return await row(db, { version: text }, 'select version from pg_stat_ssl where pid = pg_backend_pid()');
    } finally {
      await db.destroy();
    }
  };
  expect(await version(`sslmode=verify-full&sslrootcert=${files.ca}`)).toEqual({
    version: expect.stringMatching(/^TLSv1\.[23]$/),
  });
  await expect(version('sslmode=verify-full')).rejects.toThrow(/certificate/);
});
