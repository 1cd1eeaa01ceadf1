// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own way to name a variable
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { ConfigError } from '../../src/domain/errors.ts';
import { folderOf } from '../cli/support.ts';

const good = `installations:
  - id: 4711
    base_url: http://127.0.0.1:8090/
    auth: {token: "\${PRACTICE_TOKEN}"}
    timezone: Europe/Helsinki
    currency: EUR
    start_date: 2026-01-01
    mapping: mappings/demo.yaml
    erp: {kind: ledger}
    rate_window_seconds: 0.5
    overlap_seconds: 600
data_dir: .vetledger
schedule: {every: 5m}
embedded: true
database_url: "\${DATABASE_URL}"
temporal: {address: "\${TEMPORAL_ADDRESS}", namespace: default, task_queue: vetledger}
window_timeout_minutes: 0.1
`;
const mapping = 'roles: {receivable: 1700, cash: 0100}\nrevenue: same\nvat: same\n';
const secret = 'tok-4d1f0c';
const env = { PRACTICE_TOKEN: secret };

function write(text: string, files: Record<string, string> = { 'mappings/demo.yaml': mapping }): string {
  return join(folderOf({ 'vetledger.yaml': text, ...files }), 'vetledger.yaml');
}

describe('a good configuration', () => {
  test('is read with its defaults, units and relative paths', async () => {
    const file = write(good);
    const config = await loadConfig(file, env);
    const folder = file.replace(/\/vetledger\.yaml$/, '');
    expect(config).toMatchObject({
      file,
      dataDir: `${folder}/.vetledger`,
      schedule: { everySeconds: 300 },
      databaseUrl: null,
      temporal: { address: null, namespace: 'default', taskQueue: 'vetledger' },
      windowTimeoutMinutes: 0.1,
    });
    expect(config.installations[0]).toMatchObject({
      id: 4711,
      baseUrl: 'http://127.0.0.1:8090',
      auth: { token: secret },
      timezone: 'Europe/Helsinki',
      currency: 'EUR',
      decimals: 2,
      startDate: '2026-01-01',
      mappingPath: `${folder}/mappings/demo.yaml`,
      rateWindowSeconds: 0.5,
      overlapSeconds: 600,
      clockSkewLimitSeconds: 60,
    });
  });

  test('takes databases and servers from the environment, and the data folder', async () => {
    const config = await loadConfig(write(good), {
      ...env,
      DATABASE_URL: 'postgresql://u:p@db/books?sslmode=verify-full',
      TEMPORAL_ADDRESS: 'localhost:7233',
      VETLEDGER_DATA_DIR: '/var/lib/vetledger',
    });
    expect(config.databaseUrl).toBe('postgresql://u:p@db/books?sslmode=verify-full');
    expect(config.temporal.address).toBe('localhost:7233');
    expect(config.dataDir).toBe('/var/lib/vetledger');
  });

  test('needs no more than installations, and takes numbers from the environment', async () => {
    const text = `installations:
  - {id: "\${CLINIC}", base_url: "https://api.example.com/\${REGION}", auth: {client_id: app, client_secret: "\${SECRET}"},
     timezone: Asia/Kuwait, currency: KWD, mapping: mappings/demo.yaml}
`;
    const config = await loadConfig(write(text), { CLINIC: '12', REGION: 'eu', SECRET: 's' });
    expect(config.installations[0]).toMatchObject({
      id: 12,
      baseUrl: 'https://api.example.com/eu',
      auth: { clientId: 'app', clientSecret: 's' },
      decimals: 3,
      startDate: null,
      rateWindowSeconds: 60,
      overlapSeconds: 600,
      clockSkewLimitSeconds: 60,
      erp: { kind: 'ledger' },
    });
    expect(config.windowTimeoutMinutes).toBe(30);
  });

  test.each([
    ['', { fromMinute: 60, toMinute: 300 }],
    ['reconcile: {between: "22:30-04:00"}', { fromMinute: 1350, toMinute: 240 }],
    ['reconcile: {between: never}', null],
  ])('the books are reconciled between times of the day, or never: %s', async (line, between) => {
    expect((await loadConfig(write(`${good}${line}\n`), env)).reconcileBetween).toEqual(between);
  });

  test('a schedule says how often windows open while nothing happens, and at night', async () => {
    const read = async (schedule: string) =>
      (await loadConfig(write(good.replace('{every: 5m}', schedule)), env)).schedule;
    expect(await read('{every: 5m, idle: 15m, night: {from: 22:00, to: "06:30", every: 30m}}')).toEqual({
      everySeconds: 300,
      idle: { everySeconds: 900, afterWindows: 6 },
      night: { fromMinute: 1320, toMinute: 390, everySeconds: 1800 },
    });
    expect(await read('{every: 1m, idle: 1h, idle_after: 2}')).toEqual({
      everySeconds: 60,
      idle: { everySeconds: 3600, afterWindows: 2 },
    });
    expect(await read('{every: 30s}')).toEqual({ everySeconds: 30 });
  });

  test('an installation has the name that people call it by, or none', async () => {
    const named = good.replace('    timezone', '    name: "Eläinklinikka Haukka"\n    timezone');
    expect((await loadConfig(write(named), env)).installations[0]!.name).toBe('Eläinklinikka Haukka');
    expect((await loadConfig(write(good), env)).installations[0]!.name).toBeNull();
  });

  test('account codes of the mapping keep the digits they were written with', async () => {
    const config = await loadConfig(write(good), env);
    expect(config.installations[0]!.mapping.roles).toMatchObject({ receivable: '1700', cash: '0100' });
  });

  test('the mapping hash depends on contents, not on comments or the order of keys', async () => {
    const hash = async (text: string) =>
      (await loadConfig(write(good, { 'mappings/demo.yaml': text }), env)).installations[0]!.mappingHash;
    const original = await hash(mapping);
    expect(await hash(`# ours\n${mapping.replace('revenue: same\nvat: same', 'vat: same\nrevenue: same')}`)).toBe(
      original,
    );
    expect(await hash(mapping.replace('1700', '1701'))).not.toBe(original);
  });

  test('overrides of the practice API’s description hold for their installation', async () => {
    const text = good.replace('    erp:', '    practice_api: {default_page_size: 25}\n    erp:');
    const config = await loadConfig(write(text), env);
    expect(config.installations[0]!.dialect.default_page_size).toBe(25);
  });
});

const second = good.slice(good.indexOf('  - id'), good.indexOf('data_dir'));

describe('a wrong configuration names the key and what to do, and ends with exit code 2', () => {
  type Row = [what: string, change: (text: string) => string, code: string, message: RegExp, todo?: RegExp];
  const rows: Row[] = [
    [
      'unknown key',
      (t) => t.replace('data_dir', 'datadir'),
      'config_unknown_key',
      /: datadir is not a key/,
      /data_dir/,
    ],
    [
      'unknown key of an installation',
      (t) => t.replace('timezone', 'timezon'),
      'config_unknown_key',
      /installations\[0\]\.timezon is/,
      /timezone/,
    ],
    [
      'idle shorter than every',
      (t) => t.replace('{every: 5m}', '{every: 5m, idle: 1m}'),
      'config_invalid',
      /schedule\.idle must not be shorter than schedule\.every/,
    ],
    [
      'a time of day that does not exist',
      (t) => t.replace('{every: 5m}', '{every: 5m, night: {from: 24:00, to: 06:00, every: 30m}}'),
      'config_invalid',
      /schedule\.night\.from must be/,
    ],
    ...['01:00', '01:00-01:00', '1-5', '01:00-05:00-07:00', 'off'].map(
      (between): [string, (text: string) => string, string, RegExp] => [
        `reconcile between ${between}`,
        (t) => `${t}reconcile: {between: "${between}"}\n`,
        'config_invalid',
        /reconcile\.between must be a span of the day/,
      ],
    ),
    [
      'a night without an end',
      (t) => t.replace('{every: 5m}', '{every: 5m, night: {from: "22:00", to: "22:00", every: 30m}}'),
      'config_invalid',
      /schedule\.night\.to must differ/,
    ],
    ['unknown key far from any', (t) => `${t}qqqqq: 1\n`, 'config_unknown_key', /qqqqq/, /installations, data_dir/],
    ['unknown key of auth', (t) => t.replace('{token:', '{tokken:'), 'config_unknown_key', /auth\.tokken/, /token/],
    [
      'missing key',
      (t) => t.replace('    currency: EUR\n', ''),
      'config_invalid',
      /installations\[0\]\.currency is missing/,
    ],
    ['no installations', () => 'data_dir: x\n', 'config_invalid', /installations is missing/],
    ['empty installations', () => 'installations: []\n', 'config_invalid', /at least one installation/],
    ['empty file', () => '', 'config_invalid', /installations is missing/],
    ['no table', () => 'hello\n', 'config_invalid', /not a table/],
    ['a list', () => '- 1\n', 'config_invalid', /not a table/],
    ['no YAML', () => 'installations: [\n', 'configuration_invalid', /not valid YAML/],
    ['a key twice', (t) => `${t}data_dir: y\n`, 'configuration_invalid', /not valid YAML.*twice/],
    [
      'id no number',
      (t) => t.replace('id: 4711', 'id: abc'),
      'config_invalid',
      /installations\[0\]\.id must be a number/,
    ],
    ['id negative', (t) => t.replace('id: 4711', 'id: -1'), 'config_invalid', /installations\[0\]\.id must be a whole/],
    [
      'id twice',
      (t) => t.replace('data_dir', `${second}data_dir`),
      'config_invalid',
      /installations\[1\]\.id names installation 4711 a second/,
    ],
    [
      'base_url no URL',
      (t) => t.replace('http://127.0.0.1:8090/', '127.0.0.1'),
      'config_invalid',
      /base_url must be an http/,
    ],
    ['base_url another protocol', (t) => t.replace('http://', 'ftp://'), 'config_invalid', /base_url must be an http/],
    [
      'timezone',
      (t) => t.replace('Europe/Helsinki', 'Europe/Helsinky'),
      'config_invalid',
      /timezone is not a time zone/,
    ],
    [
      'timezone as offset',
      (t) => t.replace('Europe/Helsinki', '"+02:00"'),
      'config_invalid',
      /timezone is not a time zone/,
    ],
    ['currency', (t) => t.replace('EUR', 'EURO'), 'config_invalid', /currency is not a currency/],
    ['start_date', (t) => t.replace('2026-01-01', '2026-02-30'), 'config_invalid', /start_date is not a date/],
    ['erp kind', (t) => t.replace('kind: ledger', 'kind: sap'), 'config_invalid', /erp\.kind must be ledger/],
    ['rate window', (t) => t.replace('0.5', '0'), 'config_invalid', /rate_window_seconds must be a number above 0/],
    ['overlap', (t) => t.replace('600', '-1'), 'config_invalid', /overlap_seconds must be 0 or more/],
    ['schedule', (t) => t.replace('5m', '5 minutes'), 'config_invalid', /schedule\.every must be a length of time/],
    ['schedule of nothing', (t) => t.replace('5m', '0s'), 'config_invalid', /schedule\.every must be a length of time/],
    [
      'window time-out',
      (t) => t.replace('0.1\n', 'soon\n'),
      'config_invalid',
      /window_timeout_minutes must be a number/,
    ],
    [
      'database',
      (t) => t.replace('"${DATABASE_URL}"', 'mysql://db/x'),
      'config_invalid',
      /database_url must begin with postgresql/,
    ],
    [
      'temporal',
      (t) => t.replace('"${TEMPORAL_ADDRESS}"', 'temporal'),
      'config_invalid',
      /temporal\.address must be host:port/,
    ],
    ...['proxy.example', '10.0.0.0/33', '0.0.0.0/0', '10.0.0.0/8/8', 'true'].map(
      (proxy): Row => [
        `a trusted proxy ${proxy}`,
        (t) => `${t}console: {trusted_proxies: ["${proxy}"]}\n`,
        'config_invalid',
        /console\.trusted_proxies\S* must be an IP address or a network/,
      ],
    ),
    [
      'two ways to sign in',
      (t) => t.replace('{token:', '{client_id: x, token:'),
      'config_invalid',
      /auth needs either token/,
    ],
    [
      'half a way to sign in',
      (t) => t.replace('token: "${PRACTICE_TOKEN}"', 'client_id: x'),
      'config_invalid',
      /auth needs either token/,
    ],
    [
      'practice_api',
      (t) => t.replace('    erp:', '    practice_api: {fieldz: 1}\n    erp:'),
      'config_invalid',
      /installations\[0\]\.practice_api: .*fieldz/,
    ],
    [
      'missing secret',
      (t) => t.replace('PRACTICE_TOKEN', 'OTHER_TOKEN'),
      'environment_missing',
      /auth\.token needs the environment variable OTHER_TOKEN/,
      /export OTHER_TOKEN/,
    ],
    [
      'token in the file',
      (t) => t.replace('"${PRACTICE_TOKEN}"', 'tok-4d1f0c'),
      'secret_in_config',
      /auth\.token contains a secret/,
    ],
    [
      'part of a token in the file',
      (t) => t.replace('${PRACTICE_TOKEN}', 'tok-4d1f0c${PRACTICE_TOKEN}'),
      'secret_in_config',
      /auth\.token contains a secret/,
    ],
    [
      'client secret in the file',
      (t) => t.replace('token: "${PRACTICE_TOKEN}"', 'client_id: x, client_secret: tok-4d1f0c'),
      'secret_in_config',
      /client_secret contains a secret/,
    ],
    [
      'numeric secret in the file',
      (t) => t.replace('"${PRACTICE_TOKEN}"', '123456'),
      'secret_in_config',
      /auth\.token contains a secret/,
    ],
    [
      'database password in the file',
      (t) => t.replace('"${DATABASE_URL}"', 'postgresql://u:tok-4d1f0c@db/x'),
      'secret_in_config',
      /database_url contains a secret/,
    ],
    [
      'database password as a parameter',
      (t) => t.replace('"${DATABASE_URL}"', 'postgresql://db/x?password=tok-4d1f0c'),
      'secret_in_config',
      /database_url contains a secret/,
    ],
    [
      'password in base_url',
      (t) => t.replace('http://', 'http://u:tok-4d1f0c@'),
      'config_invalid',
      /base_url must be an http/,
    ],
    [
      'mapping file missing',
      (t) => t.replace('demo.yaml', 'none.yaml'),
      'mapping_missing',
      /none\.yaml does not exist/,
    ],
  ];
  test.each(rows)('%s', async (_what, change, code, message, todo) => {
    const changed = change(good);
    expect(changed).not.toBe(good);
    const error = await loadConfig(write(changed), env).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConfigError);
    const { exitCode, code: given, message: text, todo: next } = error as ConfigError;
    expect({ exitCode, given }).toEqual({ exitCode: 2, given: code });
    expect(text).toMatch(message);
    expect(next).toMatch(todo ?? /\w+/);
    expect(`${text} ${next}`).not.toContain(secret);
  });

  test('the database may have its password from the environment inside an address', async () => {
    const file = write(good.replace('"${DATABASE_URL}"', '"postgresql://u:${DB_PASSWORD}@localhost/x"'));
    expect((await loadConfig(file, { ...env, DB_PASSWORD: 'p' })).databaseUrl).toBe('postgresql://u:p@localhost/x');
  });

  const wrongMappings: [string, string, RegExp][] = [
    ['unknown key', 'rolez: {}\n', /rolez: unknown key; did you mean roles/],
    ['unknown role', 'roles: {recievable: 1}\n', /roles\.recievable: unknown key; did you mean receivable/],
    ['no YAML', 'roles: {\n', /not valid YAML/],
  ];
  test.each(wrongMappings)('mapping file: %s', async (_what, text, message) => {
    const error = await loadConfig(write(good, { 'mappings/demo.yaml': text }), env).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ code: 'mapping_invalid', exitCode: 2 });
    expect((error as Error).message).toMatch(message);
  });

  test('no file', async () => {
    await expect(loadConfig(join(folderOf({}), 'vetledger.yaml'), env)).rejects.toMatchObject({
      code: 'configuration_missing',
      exitCode: 2,
    });
  });
});

describe('an Odoo as ERP', () => {
  const words = 'kind: odoo, url: "https://odoo.example", database: clinic';
  const secrets = { ODOO_PASSWORD: 'password-from-outside', ODOO_KEY: 'key-from-outside' };
  const erpOf = async (text: string) => {
    const file = write(good.replace('{kind: ledger}', `{${words}${text}}`));
    return (await loadConfig(file, { ...env, ...secrets })).installations[0]!.erp;
  };

  test.each([
    [
      ', user: api, password: "${ODOO_PASSWORD}"',
      { protocol: 'jsonrpc', user: 'api', password: secrets.ODOO_PASSWORD },
    ],
    [', api_key: "${ODOO_KEY}"', { protocol: 'json2', user: '', password: secrets.ODOO_KEY }],
    [', api_key: "${ODOO_KEY}", protocol: json2', { protocol: 'json2', user: '', password: secrets.ODOO_KEY }],
  ])('%s', async (text, expected) =>
    expect(await erpOf(text)).toMatchObject({ kind: 'odoo', company: null, ...expected }),
  );

  test.each([
    ['', /erp\.user is missing/],
    [', user: api', /is missing/],
    [', protocol: json2, user: api, password: "${ODOO_PASSWORD}"', /erp\.api_key is missing/],
    [', api_key: "${ODOO_KEY}", user: api', /user is not a key of kind odoo with an api_key/],
    [', api_key: "${ODOO_KEY}", protocol: xmlrpc', /must be jsonrpc or json2/],
    [', user: api, password: "${ODOO_PASSWORD}", folder: out', /folder is not a key of kind odoo/],
    [', api_key: in-clear', /in the file itself/],
  ])('%s is refused', async (text, message) => expect(erpOf(text)).rejects.toThrow(message));
});

describe('a Xero as ERP', () => {
  const words = 'kind: xero, company: Clinic, client_id: us';
  const erpOf = async (text: string) => {
    const file = write(good.replace('{kind: ledger}', `{${words}${text}}`));
    return (await loadConfig(file, { ...env, SECRET: 'secret-from-outside' })).installations[0]!.erp;
  };

  test('has a client, an organisation and the address of Xero', async () =>
    expect(await erpOf(', client_secret: "${SECRET}"')).toMatchObject({
      ...{ kind: 'xero', url: 'https://api.xero.com', company: 'Clinic', user: 'us' },
      ...{ clientSecret: 'secret-from-outside', post: 'posted' },
    }));

  test.each([
    ['', /erp\.client_secret is missing/],
    [', client_secret: in-clear', /in the file itself/],
    [', client_secret: "${SECRET}", api_key: "${SECRET}"', /api_key is not a key of kind xero/],
  ])('%s is refused', async (text, message) => expect(erpOf(text)).rejects.toThrow(message));
});

describe('a Netvisor as ERP', () => {
  const words =
    'kind: netvisor, url: "https://integration.netvisor.example/", company: 1234567-8, user: AV_1, client_id: Kli_1, client_secret: "${SECRET}"';
  const secrets = { SECRET: 'secret-from-outside', KEY: 'key-from-outside' };
  const erpOf = async (text: string) => {
    const file = write(good.replace('{kind: ledger}', `{${words}${text}}`));
    return (await loadConfig(file, { ...env, ...secrets })).installations[0]!.erp;
  };

  test('has an API user, a software partner and a business id', async () =>
    expect(await erpOf(', api_key: "${KEY}", owned_accounts: [1700]')).toMatchObject({
      ...{ kind: 'netvisor', url: 'https://integration.netvisor.example', company: '1234567-8', user: 'AV_1' },
      ...{ password: secrets.KEY, clientId: 'Kli_1', clientSecret: secrets.SECRET, ownedAccounts: ['1700'] },
    }));

  test.each([
    ['', /erp\.api_key is missing/],
    [', api_key: in-clear', /in the file itself/],
    [', api_key: "${KEY}", post: draft', /post is not a key of kind netvisor/],
  ])('%s is refused', async (text, message) => expect(erpOf(text)).rejects.toThrow(message));
});

describe('a Fortnox as ERP', () => {
  const words = 'kind: fortnox, client_id: us, client_secret: "${SECRET}"';
  const erpOf = async (text: string) => {
    const file = write(good.replace('{kind: ledger}', `{${words}${text}}`));
    return (await loadConfig(file, { ...env, SECRET: 'secret-from-outside' })).installations[0]!.erp;
  };

  test('has a client, the number of a company and the address of Fortnox', async () =>
    expect(await erpOf(', company: "1234567"')).toMatchObject({
      ...{ kind: 'fortnox', url: 'https://api.fortnox.se', company: '1234567', user: 'us' },
      ...{ clientSecret: 'secret-from-outside', post: 'posted' },
    }));

  test.each([
    ['', /erp\.company is missing/],
    [', company: Kliniken', /must be the number of the company/],
    [', company: "1234567", post: draft', /post is not a key of kind fortnox/],
    [', company: "1234567", api_key: "${SECRET}"', /api_key is not a key of kind fortnox/],
  ])('%s is refused', async (text, message) => expect(erpOf(text)).rejects.toThrow(message));
});

describe('a Procountor as ERP', () => {
  const words =
    'kind: procountor, url: "https://procountor.example/api/", company: Clinic, client_id: us, client_secret: "${SECRET}"';
  const secrets = { SECRET: 'secret-from-outside', KEY: 'key-from-outside' };
  const erpOf = async (text: string) => {
    const file = write(good.replace('{kind: ledger}', `{${words}${text}}`));
    return (await loadConfig(file, { ...env, ...secrets })).installations[0]!.erp;
  };

  test('has a client and the key of one company', async () =>
    expect(await erpOf(', api_key: "${KEY}"')).toMatchObject({
      ...{ kind: 'procountor', url: 'https://procountor.example/api', company: 'Clinic', user: 'us' },
      ...{ clientSecret: secrets.SECRET, password: secrets.KEY, post: 'posted' },
    }));

  test.each([
    ['', /erp\.api_key is missing/],
    [', api_key: in-clear', /in the file itself/],
    [', api_key: "${KEY}", database: clinic', /database is not a key of kind procountor/],
  ])('%s is refused', async (text, message) => expect(erpOf(text)).rejects.toThrow(message));
});
