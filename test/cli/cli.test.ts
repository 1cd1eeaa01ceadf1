import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { describe, expect, inject, test } from 'vitest';
import type { Io } from '../../src/cli/context.ts';
import { main } from '../../src/cli/main.ts';
import { createProgram, examplesOf } from '../../src/cli/program.ts';
import { PracticeError } from '../../src/domain/practice-error.ts';
import { ServiceError } from '../../src/embedded/service-error.ts';
import { toUserError } from '../../src/runtime/user-errors.ts';
import { folderOf, vetledger } from './support.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const bin = join(root, 'bin/vetledger.js');

function program(): Promise<Command> {
  const none = new PassThrough();
  return createProgram({ env: {}, stdout: none, stderr: none, signal: new AbortController().signal }, '0', () => {});
}

function runnable(parent: Command, path: string[] = []): [string, Command][] {
  return parent.commands.flatMap((command) => {
    const own = [...path, command.name()];
    const group = command.commands.length > 0 && examplesOf(command).length === 0;
    return [...(group ? [] : [[own.join(' '), command] as [string, Command]]), ...runnable(command, own)];
  });
}

describe('help', async () => {
  const commands = runnable(await program()).map(([name]) => name);

  test('names every command', async () => {
    const { code, stdout } = await vetledger(['--help']);
    expect(code).toBe(0);
    const first = [...new Set(commands.map((name) => name.split(' ')[0]!))];
    expect(first).toEqual([
      ...[
        'dev',
        'run',
        'sync',
        'backfill',
        'windows',
        'replay',
        'pause',
        'resume',
        'cancel',
        'nudge',
        'status',
        'problems',
        'explain',
        'preview',
        'repost',
        'deliver',
        'late',
        'erp',
      ],
      ...[
        'reconcile',
        'ledger',
        'adopt',
        'console',
        'user',
        'erase',
        'export',
        'report',
        'mapping',
        'migrate',
        'doctor',
        'budget',
        'sandbox',
        'remove-data',
      ],
    ]);
    for (const name of first) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect(stdout).toContain('Exit codes:');
  });

  test.each(commands)('of %s has its options and an example that is right', async (name) => {
    const { code, stdout, stderr } = await vetledger([...name.split(' '), '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('--json');
    expect(stdout).toMatch(new RegExp(`^ {2}\\$ vetledger ${name}`, 'm'));
  });

  test('the version is that of the package', async () => {
    expect((await vetledger(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('wrong usage ends with exit code 2, says what and what to do', () => {
  const rows: [args: string, message: RegExp][] = [
    ['', /No command was given/],
    ['ledger', /No command was given/],
    ['snyc', /unknown command 'snyc'[\s\S]*sync/],
    ['status --verbose', /unknown option '--verbose'/],
    ['status now', /too many arguments/],
    ['sync --installation abc', /--installation.*whole number/],
    ['backfill --from 2026-02-30', /--from.*date like/],
    ['export', /Give --format FORMAT or --binder MONTH/],
    ['export --format xls', /Allowed choices are hledger, csv, beancount/],
    ['export --format csv --from 2026-02-01 --to 2026-01-01', /--from 2026-02-01 is after --to 2026-01-01/],
    ['ledger close', /required option '--through <date>'/],
    ['explain invoice', /missing required argument 'id'/],
    ['explain bill 1', /bill is not a kind of document/],
    ['explain invoice x', /x is not an id/],
    ['problems retry', /Choose what to judge again/],
    ['problems retry 4711-invoice-1', /not the id of a document/],
    ['mapping check', /missing required argument 'file'/],
    ['sandbox --rate-window 0', /--rate-window.*above 0/],
    ['sandbox --port 70000', /no port 70000/],
  ];
  test.each(rows)('vetledger %s', async (line, message) => {
    const args = line.split(' ').filter(Boolean);
    const plain = await vetledger(args);
    expect({ code: plain.code, stdout: plain.stdout }).toEqual({ code: 2, stdout: '' });
    expect(plain.stderr).toMatch(message);
    expect(plain.stderr).toMatch(/^error: [\s\S]*\nwhat to do: .+\n$/);
    expect(plain.stderr).not.toMatch(/^\s+at /m);
  });

  test.each([
    ['ledger close', 'vetledger ledger close --help'],
    ['report vat --month 2026-13', 'vetledger report vat --help'],
    ['late decide 4711/invoice/1 --redate', 'vetledger late decide --help'],
    ['sync --installation abc', 'vetledger sync --help'],
    ['reprot vat', 'vetledger --help'],
    ['ledger clsoe', 'vetledger ledger --help'],
  ])('vetledger %s: the help of that very command is named', async (line, help) => {
    expect((await vetledger(line.split(' '))).stderr).toContain(`what to do: Run \`${help}\``);
  });

  test('with --json stdout is one error document', async () => {
    const { code, stderr, json } = await vetledger(['export', '--format', 'xls', '--json']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' });
    expect(json()).toEqual({ error: { code: 'usage', message: expect.any(String), todo: expect.any(String) } });
  });
});

test.each([
  ['pause', '{"paused":[]}\n'],
  ['cancel', '{"cancelled":[]}\n'],
])('%s of all installations, and the answer is no: the JSON has none', async (command, expected) => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const io = { env: {}, stdin: Object.assign(stdin, { isTTY: true }), stdout, stderr };
  const ended = main([command, '--reason', 'x', '--json'], {
    ...io,
    signal: new AbortController().signal,
  } as unknown as Io);
  await once(stderr, 'data');
  stdin.write('n\n');
  expect(await ended).toBe(0);
  expect(String(stdout.read())).toBe(expected);
});

describe('errors', () => {
  const rows: [what: string, error: unknown, exitCode: number, code: string][] = [
    [
      'a service',
      new ServiceError({ code: 'postgres_unreachable', message: 'gone', todo: 'start it' }),
      3,
      'postgres_unreachable',
    ],
    ['a refused token', new PracticeError('unauthorized', 'no'), 3, 'unauthorized'],
    ['an unreachable API', new PracticeError('unreachable', 'no'), 3, 'unreachable'],
    ['a lost connection', Object.assign(new Error('bye'), { code: '57P01' }), 3, 'postgres_unreachable'],
    ['a fault of ours', new TypeError('oops'), 1, 'internal_error'],
    ['something else thrown', 'oops', 1, 'internal_error'],
  ];
  test.each(rows)('%s', (_what, error, exitCode, code) => {
    expect(toUserError(error)).toMatchObject({ exitCode, code, todo: expect.stringMatching(/\w/) });
  });

  test('a configuration that is not there: exit code 2, as text and as JSON', async () => {
    const config = join(folderOf({}), 'none.yaml');
    const plain = await vetledger(['status', '--config', config]);
    expect(plain.code).toBe(2);
    expect(plain.stderr).toContain(`${config} does not exist`);
    const asJson = await vetledger(['status', '--config', config, '--json']);
    expect(asJson.json().error.code).toBe('configuration_missing');
    expect(asJson.stderr).toBe('');
  });

  test('the stack only when asked for', async () => {
    const config = join(folderOf({}), 'none.yaml');
    expect((await vetledger(['status', '--config', config, '--debug'])).stderr).toMatch(/^\s+at /m);
    expect((await vetledger(['status', '--config', config], { VETLEDGER_DEBUG: '1' })).stderr).toMatch(/^\s+at /m);
    expect((await vetledger(['status', '--config', config])).stderr).not.toMatch(/^\s+at /m);
  });
});

describe('services out of reach end with exit code 3', () => {
  const config = `installations:
  - {id: 1, base_url: http://127.0.0.1:9, auth: {token: "$\{TOKEN}"}, timezone: UTC, currency: EUR, mapping: map.yaml}
database_url: "$\{DATABASE_URL}"
temporal: {address: "$\{TEMPORAL_ADDRESS}"}
`;
  const file = () => join(folderOf({ 'vetledger.yaml': config, 'map.yaml': 'vat: same\n' }), 'vetledger.yaml');
  const nowhere = 'postgresql://vetledger:pass-9f3e@127.0.0.1:9/x';

  test('PostgreSQL', async () => {
    const env = { TOKEN: 't', DATABASE_URL: nowhere, TEMPORAL_ADDRESS: '127.0.0.1:9' };
    const { code, json, stderr } = await vetledger(['status', '--json', '--config', file()], env);
    expect(code).toBe(3);
    expect(json().error).toMatchObject({
      code: 'postgres_unreachable',
      message: expect.stringContaining('127.0.0.1:9'),
    });
    expect(JSON.stringify(json()) + stderr).not.toContain('pass-9f3e');
  });

  test('a role that PostgreSQL does not let in', async () => {
    const url = new URL(inject('databaseUrl'));
    url.username = 'not_made_yet';
    const env = { TOKEN: 't', DATABASE_URL: url.href, TEMPORAL_ADDRESS: '127.0.0.1:9' };
    const { code, json } = await vetledger(['status', '--json', '--config', file()], env);
    expect(code).toBe(3);
    expect(json().error).toMatchObject({
      code: 'postgres_unreachable',
      message: expect.stringContaining('not_made_yet'),
      todo: expect.stringContaining('run `vetledger migrate`'),
    });
  });

  test('Temporal', async () => {
    const env = { TOKEN: 't', DATABASE_URL: inject('databaseUrl'), TEMPORAL_ADDRESS: '127.0.0.1:9' };
    const { code, json } = await vetledger(['sync', '--json', '--config', file()], env);
    expect(code).toBe(3);
    expect(json().error.code).toBe('temporal_unreachable');
  });

  test('an unset secret ends with exit code 2 before anything is asked', async () => {
    const { code, json } = await vetledger(['sync', '--json', '--config', file()], { DATABASE_URL: nowhere });
    expect(code).toBe(2);
    expect(json().error).toMatchObject({ code: 'environment_missing', message: expect.stringContaining('TOKEN') });
  });
});

describe('mapping check without a configuration', () => {
  const rows: [what: string, text: string, code: number, says: RegExp][] = [
    ['a good file', 'roles: {receivable: 1700}\n', 0, /the file is valid/],
    [
      'one VAT group alone',
      'vat: {General: "2931"}\n',
      0,
      /^(?:(?!Warning).)*Warning: only VAT group General has a VAT account(?!.*Warning)/s,
    ],
    ['an unknown key', 'rolez: {}\n', 2, /did you mean roles/],
    ['a payment type that would never close', 'payment_types: {8: {role: cash}}\n', 2, /payment_types\.8/],
  ];
  test.each(rows)('%s', async (_what, text, code, says) => {
    const folder = folderOf({ 'map.yaml': text });
    const args = ['mapping', 'check', join(folder, 'map.yaml'), '--config', join(folder, 'none.yaml')];
    const ran = await vetledger(args);
    expect(ran.code).toBe(code);
    expect(ran.stdout + ran.stderr).toMatch(says);
  });
});

describe('sandbox', () => {
  test('a taken port is named, exit code 2', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    try {
      const { code, stderr } = await vetledger(['sandbox', '--port', String(port), '--invoices', '5']);
      expect(code).toBe(2);
      expect(stderr).toMatch(new RegExp(`Port ${port} .*taken[\\s\\S]*--port`));
    } finally {
      taken.close();
    }
  });

  test('says with --json where it is, answers there, and ends on the signal with exit code 0', async () => {
    const child = spawn(process.execPath, [bin, 'sandbox', '--port', '0', '--invoices', '5', '--json'], {
      env: { ...process.env, PRACTICE_TOKEN: 'tok-1' },
    });
    const [line] = await once(child.stdout, 'data');
    const { url, installation, token } = JSON.parse(String(line));
    expect(token).toBe('tok-1');
    const answer = await fetch(`${url}/${installation}/api/0.1/invoice/`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer.status).toBe(200);
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});

describe('as a program', () => {
  test('ends with the exit code, the error on stderr alone', async () => {
    const ended = await run(process.execPath, [bin, 'status', '--config', '/nowhere/x.yaml']).catch((error) => error);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(/^error: .*\nwhat to do: /);
    expect(ended.stderr).not.toMatch(/Warning/);
  });

  test('the generated docs are what the code says', async () => {
    // In this process, since another one would load the whole program again.
    const { outdatedFiles } = await import('../../scripts/docs.ts');
    expect(outdatedFiles(), 'run `npm run docs`').toEqual([]);
  });
});
