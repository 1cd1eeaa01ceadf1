// Runs each example of README.md unchanged.
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../src/index.ts';
import { readSettings } from '../src/settings.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const guide = readFileSync(join(root, 'README.md'), 'utf8');
const blocks = [...guide.matchAll(/^```(sh|ts|py|json)\n([\s\S]*?)^```$/gm)].map(([, language, text], n) => ({
  n,
  language: language as string,
  text: text as string,
}));
const hasPython = spawnSync('python3', ['--version']).status === 0;

let sandbox: Sandbox;
let folder: string;
beforeAll(async () => {
  sandbox = await startSandbox({ invoices: 20, rateWindowSeconds: 0 });
  folder = mkdtempSync(join(tmpdir(), 'sandbox-guide-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/vetledger-sandbox'));
});
afterAll(async () => {
  await sandbox.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run = async (command: string, args: string[]): Promise<string> => {
  const env = { ...process.env, SANDBOX: sandbox.url, API: `${sandbox.url}/4711/api/0.1` };
  const { stdout } = await promisify(execFile)(command, args, { cwd: folder, env, timeout: 60_000 });
  return stdout;
};

test('there are examples in each language', () => {
  expect(blocks.map(({ language }) => language).sort()).toEqual([
    'json',
    'py',
    'sh',
    'sh',
    'sh',
    'sh',
    'ts',
    'ts',
    'ts',
  ]);
});

test.each(blocks.filter(({ language }) => language === 'sh'))('the commands of block $n', async ({ text }) => {
  // A refused request fails the example.
  const strict = 'curl() { command curl --fail-with-body "$@"; }\n';
  const script = `set -e\n${strict}${text.replaceAll('http://127.0.0.1:8090', sandbox.url)}`;
  expect(await run('bash', ['-c', script])).not.toBe('');
});

test.each(blocks.filter(({ language }) => language === 'ts'))('the program of block $n', async ({ n, text }) => {
  const file = join(folder, `block-${n}.ts`);
  writeFileSync(file, text);
  const printed = await run(process.execPath, [file]);
  const expected = [...text.matchAll(/console\.log\(.*\); \/\/ (\S+)$/gm)].map(([, value]) => value);
  expect(printed.trim().split('\n')).toEqual(expected);
});

test.skipIf(!hasPython).each(blocks.filter(({ language }) => language === 'py'))(
  'the program of block $n in Python',
  async ({ n, text }) => {
    const file = join(folder, `block-${n}.py`);
    writeFileSync(file, text);
    await run('python3', [file]);
  },
);

test('the settings file is one', () => {
  const file = join(folder, 'settings.json');
  writeFileSync(file, blocks.find(({ language }) => language === 'json')?.text ?? '');
  const [first, second] = readSettings(file);
  expect(first).toMatchObject({ installation: 4711, durable: true, stateFile: join(folder, 'clinic-4711.ndjson') });
  expect(second).toMatchObject({ installation: 4712, rateWindowSeconds: 0, quirks: { timestamps: 'zulu' } });
  expect(second?.faults?.http500).toEqual({ probability: 0.03 });
});
