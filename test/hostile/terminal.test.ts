// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration’s own way to name a variable
// Names, ids and errors with control characters for terminals, in all places where they are printed.

import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { windowsTable } from '../../src/cli/commands/windows.ts';
import { CommandContext } from '../../src/cli/context.ts';
import { main } from '../../src/cli/main.ts';
import { problemsText } from '../../src/cli/render/problems.ts';
import { instant, table } from '../../src/cli/render/text.ts';
import { windowBlock } from '../../src/cli/render/window.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { folderOf, vetledger } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { demoConfig } from '../support/demo-config.ts';

const { url } = useDatabase();
const utc = (_: number, time: Date | string | null) => instant(time);
const hostile = '\u001b]0;owned\u0007\u001b[2J\u202eAino\u0085\r\nerror: everything is paid';
/** Matches characters that move the cursor, start a line or change the direction of text. */
const obeyed = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

function contextOf(json: boolean) {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const signal = new AbortController().signal;
  const context = new CommandContext({ env: {}, stdout, stderr, signal }, { config: 'x', ...(json ? { json } : {}) });
  return { context, told: () => `${stdout.read() ?? ''}${stderr.read() ?? ''}` };
}

const alike = {
  installation: 1,
  document: hostile,
  code: 'internal_error',
  message: hostile,
  todo: hostile,
  since: '2026-01-01T00:00:00Z',
};
const window = {
  installation: 1,
  from: null,
  to: '2026-01-01T00:00:00Z',
  outcome: 'failed' as const,
  error: { code: 'x', message: hostile, todo: hostile },
  seen: { invoices: 0, rows: 0, payments: 0, prepayments: 0 },
  pulled: { invoices: 0, rows: 0, payments: 0, prepayments: 0 },
  ...{ posted: 0, held: 0, delivered: 0, written_back: 0, remarks: [] },
  api: { requests: 0, weight: 0, throttled: 0, waited_seconds: 0 },
};

test.each([
  ['problems', () => problemsText([{ ...alike, id: hostile } as never])],
  ['a window', () => windowBlock(window as never, utc)],
  [
    'windows',
    () =>
      windowsTable(
        [{ ...window, id: 1, kind: hostile, trigger: hostile, opened_at: '2026-01-01T00:00:00Z' } as never],
        utc,
      ),
  ],
  ['a table', () => table(['name'], [[hostile]])],
])('%s: control and direction characters are seen, not obeyed, and no line is forged', async (_, text) => {
  const { context, told } = contextOf(false);
  await context.result({}, text);
  const shown = told();
  expect(shown).not.toMatch(obeyed);
  expect(shown).toContain('\\u001b]0;owned\\u0007\\u001b[2J\\u202eAino\\u0085\\r\\nerror: everything is paid');
  expect(shown).not.toMatch(/^error: everything is paid/m);
});

test('JSON has them as escapes of the same meaning; notes and errors show them', async () => {
  const { context, told } = contextOf(true);
  await context.result({ name: hostile }, () => '');
  const json = told();
  expect(json).not.toMatch(obeyed);
  expect(JSON.parse(json)).toEqual({ name: hostile });
  const noted = contextOf(false);
  noted.context.note(hostile);
  expect(noted.told()).not.toMatch(obeyed);
  const stderr = new PassThrough();
  const io = { env: {}, stdout: new PassThrough(), stderr, signal: new AbortController().signal };
  expect(await main(['explain', hostile, hostile], io)).toBe(2);
  expect(String(stderr.read())).not.toMatch(obeyed);
});

const config = (databaseUrl: string) =>
  demoConfig([{ id: 1, base_url: 'http://127.0.0.1:1' }], { database_url: databaseUrl });

test.each([
  ['tok-0123456789\n', 'a line end'],
  ['tok-01234\r56789', 'a line end'],
  ['tok-01234\u000056789', 'a control character'],
  ['tok 0123456789', 'a blank'],
  ['tök-0123456789', 'not ASCII'],
])('a token that no header can carry (%j) is refused at start, by its variable', async (token, what) => {
  const folder = folderOf({ 'vetledger.yaml': config('') });
  const error = await loadConfig(join(folder, 'vetledger.yaml'), { PRACTICE_TOKEN: token }).then(
    () => expect.unreachable(),
    (caught: unknown) => caught as Error,
  );
  expect(error).toMatchObject({ code: 'secret_unusable', exitCode: 2 });
  expect(error.message).toContain('PRACTICE_TOKEN');
  expect(error.message).toContain(what);
  expect(error.message).not.toContain('01234');
});

test('an export is a file that its owner alone can read', async () => {
  const folder = folderOf({ 'vetledger.yaml': config('"${DATABASE_URL}"') });
  const out = join(folder, 'books.csv');
  const env = { PRACTICE_TOKEN: 'tok-0123456789', DATABASE_URL: url };
  const ran = await vetledger(
    ['export', '--config', join(folder, 'vetledger.yaml'), '--format', 'csv', '--out', out],
    env,
  );
  expect(ran).toMatchObject({ code: 0 });
  expect(statSync(out).mode & 0o777).toBe(0o600);
});

test('an export into a file on a full disk fails by name, instead of ending as if it were written', () => {
  const folder = folderOf({ 'vetledger.yaml': config('"${DATABASE_URL}"') });
  const bin = new URL('../../bin/vetledger.js', import.meta.url).pathname;
  const ran = spawnSync(
    '/bin/sh',
    [
      '-c',
      'exec "$@" > /dev/full',
      'sh',
      process.execPath,
      bin,
      'export',
      '--config',
      join(folder, 'vetledger.yaml'),
      '--format',
      'csv',
    ],
    { encoding: 'utf8', env: { PATH: process.env.PATH, PRACTICE_TOKEN: 'tok-0123456789', DATABASE_URL: url } },
  );
  expect(ran.stderr).toContain('disk of this machine is full');
  expect(ran.status).toBe(3);
});
