import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const depcruise = join(root, 'node_modules/.bin/depcruise');

/** The arguments of the last command of `npm run lint`. */
function lintArguments(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const [program, ...args] = (scripts.lint?.split(' && ').at(-1) ?? '').split(' ');
  expect(program).toBe('depcruise');
  return args.map((arg) => (arg === '.dependency-cruiser.js' ? join(root, arg) : arg));
}

/** Runs the linter on a tree of small files. `imports` has the imported paths of each file. */
function lint(imports: Record<string, string[]>): { exitCode: number | null; output: string } {
  const tree = mkdtempSync(join(tmpdir(), 'vetledger-layers-'));
  onTestFinished(() => rmSync(tree, { recursive: true, force: true }));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  };
  write('package.json', '{"type": "module"}');
  for (const name of ['knex', 'pg', 'got', 'fastify', 'commander', '@temporalio/client']) {
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' }));
    write(`node_modules/${name}/index.js`, '');
  }
  for (const folder of ['bin', 'src', 'sandbox/src', 'activities', 'workflows'])
    write(`${folder}/empty.ts`, 'export {};\n');
  const files = new Set([...Object.keys(imports), ...Object.values(imports).flat().map(targetOf).filter(isFile)]);
  for (const file of files) {
    const lines = (imports[file] ?? []).map((imported, index) => importLine(file, imported, index));
    write(file, `${lines.join('\n')}\nexport const value = 1;\nexport type Type = number;\n`);
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, [depcruise, ...lintArguments()], {
    cwd: tree,
    encoding: 'utf8',
    timeout: 60_000,
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
  });
  return { exitCode: status, output: stdout + stderr };
}

const targetOf = (imported: string) => imported.replace(/^type /, '');
const isFile = (target: string) => target.endsWith('.ts');

/** `type path` imports only a type. */
function importLine(from: string, imported: string, index: number): string {
  const target = targetOf(imported);
  const isType = target !== imported;
  const specifier = isFile(target) ? `${'../'.repeat(from.split('/').length - 1)}${target}` : target;
  if (isType)
    return `import type { Type as T${index} } from '${specifier}';\nexport const used${index}: T${index} = 1;`;
  const imports = isFile(target) ? `{ value as v${index} }` : `v${index}`;
  return `import ${imports} from '${specifier}';\nexport const used${index} = v${index};`;
}

test('lint runs the formatter, the type checker and the layers', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  expect(scripts.lint).toBe(
    'biome check . && tsc --noEmit && depcruise --config .dependency-cruiser.js bin src sandbox/src activities workflows',
  );
});

test.each<[what: string, rule: string, imports: Record<string, string[]>]>([
  ['a cycle', 'no-cycles', { 'src/sync/a.ts': ['src/sync/b.ts'], 'src/sync/b.ts': ['src/sync/a.ts'] }],
  [
    'a cycle over three files of two layers',
    'no-cycles',
    {
      'activities/a.ts': ['src/sync/b.ts'],
      'src/sync/b.ts': ['src/sync/c.ts'],
      'src/sync/c.ts': ['activities/a.ts'],
    },
  ],
  ['an import of a later layer', 'mirror-imports-a-later-layer', { 'src/mirror/a.ts': ['src/bookkeeping/b.ts'] }],
  [
    'an import of a type of a later layer',
    'posting-imports-a-later-layer',
    { 'src/posting/a.ts': ['type src/ledger/b.ts'] },
  ],
  ['src/cli from below', 'reconcile-imports-a-later-layer', { 'src/reconcile/a.ts': ['src/cli/b.ts'] }],
  ['src/cli from a workflow', 'workflows-imports-a-later-layer', { 'workflows/a.ts': ['src/cli/b.ts'] }],
  [
    'more than a type of the activities in a workflow',
    'workflows-imports-more-than-types',
    { 'workflows/a.ts': ['activities/b.ts'] },
  ],
  [
    '@temporalio outside its layers',
    'temporal-packages-stay-in-their-layers',
    { 'src/bookkeeping/a.ts': ['@temporalio/client'] },
  ],
  ['@temporalio in a command', 'temporal-packages-stay-in-their-layers', { 'src/cli/a.ts': ['@temporalio/client'] }],
  ['knex in a pure layer', 'sql-packages-stay-in-their-layers', { 'src/posting/a.ts': ['knex'] }],
  ['pg in a command', 'sql-packages-stay-in-their-layers', { 'src/cli/a.ts': ['pg'] }],
  ['got outside the practice client', 'http-client-packages-stay-in-their-layers', { 'src/sync/a.ts': ['got'] }],
  ['fastify outside http', 'http-server-packages-stay-in-their-layers', { 'src/windows/a.ts': ['fastify'] }],
  [
    'commander outside the command line',
    'command-line-packages-stay-in-their-layers',
    { 'src/db/a.ts': ['commander'] },
  ],
  ['files in a pure layer', 'pure-layers-do-no-io', { 'src/mapping/a.ts': ['node:fs'] }],
  ['timers in a pure layer', 'pure-layers-do-no-io', { 'src/domain/a.ts': ['node:timers/promises'] }],
  ['the sandbox in the product', 'the-sandbox-is-apart', { 'src/sync/a.ts': ['sandbox/src/b.ts'] }],
  ['the sandbox in another command', 'the-sandbox-is-apart', { 'src/cli/commands/sync.ts': ['sandbox/src/b.ts'] }],
  ['the product in the sandbox', 'the-sandbox-imports-the-product', { 'sandbox/src/a.ts': ['src/records/b.ts'] }],
])('%s is an error', (_what, rule, imports) => {
  const { exitCode, output } = lint(imports);
  expect(output).toContain(`error ${rule}: `);
  expect(exitCode).toBeGreaterThan(0);
});

test('what the layers allow is no error', () => {
  const { exitCode, output } = lint({
    'src/posting/a.ts': ['src/mapping/b.ts', 'src/records/b.ts', 'src/domain/c.ts', 'src/terms.ts'],
    'src/db/a.ts': ['knex', 'pg'],
    'src/sync/a.ts': ['src/mirror/b.ts', 'src/practice/c.ts', 'src/db/a.ts'],
    'src/practice/c.ts': ['got', 'node:timers/promises'],
    'activities/a.ts': ['src/sync/a.ts', 'type workflows/b.ts', 'workflows/messages.ts', '@temporalio/client'],
    'workflows/b.ts': ['type activities/c.ts', '@temporalio/client'],
    'src/windows/a.ts': ['src/runtime/b.ts', 'src/http/c.ts', '@temporalio/client'],
    'src/cli/dev.ts': ['sandbox/src/a.ts', 'src/windows/a.ts', 'commander'],
    'bin/a.ts': ['src/cli/dev.ts'],
  });
  expect(output).toContain('no dependency violations found');
  expect(exitCode).toBe(0);
});

test('the project keeps to its layers', () => {
  const { status, stdout } = spawnSync(process.execPath, [depcruise, ...lintArguments()], {
    cwd: root,
    encoding: 'utf8',
    timeout: 120_000,
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
  });
  expect(stdout).toContain('no dependency violations found');
  expect(status).toBe(0);
});
