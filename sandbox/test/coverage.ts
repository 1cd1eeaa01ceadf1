// Finds which test covers which part of the specification. It runs the contract tests, records the endpoints that each
// test calls, and writes CHOICES.md and EVIDENCE.md.
//
// node sandbox/test/coverage.ts
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { routes } from '../src/resources/index.ts';
import { endpointsOf, type Specified } from './specified.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const specification = new URL('../specification.md', import.meta.url);
/** The specification calls the address of the object storage `{upload_url}`. The storage is not part of the API. */
const uploadPath = '/storage/{id}/';
const runTimeoutMs = 600_000;

export interface Coverage {
  specified: Specified[];
  /** For each `METHOD /path/`, the titles of the tests that got a successful answer. */
  tests: Map<string, Set<string>>;
  /** For each section of the specification, the titles of the tests that name it. */
  sections: Map<string, Set<string>>;
  /** The failed tests. */
  failed: string[];
}

export const specificationText = (): string => readFileSync(specification, 'utf8');

/** Runs the contract tests and records their calls. */
export function traced(): Coverage {
  const folder = mkdtempSync(join(tmpdir(), 'vetledger-trace-'));
  try {
    const results = join(folder, 'results.json');
    const args = ['vitest', 'run', 'test/contract', '--reporter=json', `--outputFile=${results}`];
    const env = { ...process.env, VETLEDGER_CONTRACT_TRACE: folder };
    spawnSync('npx', args, { cwd: root, env, stdio: ['ignore', 'ignore', 'inherit'], timeout: runTimeoutMs });
    const tests = new Map<string, Set<string>>();
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.jsonl'))) {
      for (const line of readFileSync(join(folder, file), 'utf8').trimEnd().split('\n')) {
        const { method, path, status, test } = JSON.parse(line) as Record<string, string> & { status: number };
        if (status >= 400) continue;
        add(tests, `${method} ${path!.replace(/:[a-z_]+/g, '{id}')}`, test!.replaceAll(' > ', ': '));
      }
    }
    const { testResults } = JSON.parse(readFileSync(results, 'utf8')) as {
      testResults: {
        assertionResults: { fullName: string; status: string; title: string; ancestorTitles: string[] }[];
      }[];
    };
    const sections = new Map<string, Set<string>>();
    const all = testResults.flatMap(({ assertionResults }) => assertionResults);
    for (const { title, ancestorTitles } of all) {
      const named = /practice-api ((?:"[^"]+"(?:, | and )?)+)/.exec([...ancestorTitles, title].join(' '))?.[1] ?? '';
      for (const [, section] of named.matchAll(/"([^"]+)"/g)) add(sections, section!, title);
    }
    const failed = all.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
    return { specified: endpointsOf(specificationText()), tests, sections, failed };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const add = (groups: Map<string, Set<string>>, group: string, member: string): void => {
  const members = groups.get(group) ?? new Set();
  groups.set(group, members.add(member));
};

export const keyOf = ({ method, path }: Specified): string =>
  `${method} ${path === '{upload_url}' ? uploadPath : path}`;

/** The endpoints of the specification that the sandbox lacks, or that no test covers. */
export function missing({ specified, tests }: Coverage): string[] {
  const served = new Set(routes.map(({ method, path }) => `${method} /${path.replace(/:[a-z_]+/g, '{id}')}`));
  return specified.flatMap((one) => {
    const key = keyOf(one);
    if (one.path !== '{upload_url}' && !served.has(key)) return [`${key} is not served`];
    return tests.has(key) ? [] : [`no test proves ${key}`];
  });
}

/** The sandbox's choices where the specification is silent, from the comments at the head of its files. */
function choices(): string[] {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  return files.sort().flatMap((name) => {
    const lines = readFileSync(join(root, 'src', name), 'utf8').split('\n');
    const end = lines.findIndex((line) => !line.startsWith('//'));
    const comment = lines
      .slice(0, end)
      .map((line) => line.replace(/^\/\/ ?/, ''))
      .join(' ');
    const chosen = /Choices of the sandbox: (.*)$/.exec(comment)?.[1] ?? /[^.]*\bnot shown\b.*$/.exec(comment)?.[0];
    return chosen === undefined ? [] : [`| \`sandbox/src/${name}\` | ${cell(chosen.trim())} |`];
  });
}

const shownTests = 2;
const cell = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('|', '\\|');

/** The first titles and their total number. */
const examples = (titles: Iterable<string> = []): string => {
  const all = [...titles].sort();
  const more = all.length > shownTests ? `; and ${all.length - shownTests} more` : '';
  return `${cell(all.slice(0, shownTests).join('; '))}${more}`;
};

const generated = '<!-- Written by `node sandbox/test/coverage.ts`; edit what it comes from instead. -->';

/** The generated pages by file name. */
export function pages({ specified, tests, sections }: Coverage): Record<string, string> {
  const endpoints = specified.map(
    (one) => `| ${one.section} | \`${one.method} ${one.path}\` | ${examples(tests.get(keyOf(one)))} |`,
  );
  const proofs = [...sections]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([section, titles]) => `| ${cell(section)} | ${titles.size} | ${examples(titles)} |`);
  const choicesPage = [
    generated,
    '# Choices of the sandbox',
    '',
    'Cases that [the specification](specification.md) leaves open, and the choice of the sandbox in each. A real service may differ.',
    '',
    ...['| file | choices |', '| --- | --- |', ...choices()],
  ];
  const evidencePage = [
    generated,
    '# What the tests prove',
    '',
    'Each endpoint of [the specification](specification.md) is served, and the tests named here got a good answer from it. `sandbox/test/specification`',
    'compares every field besides.',
    '',
    ...['| section | endpoint | proved by |', '| --- | --- | --- |', ...endpoints],
    '',
    ...['| section of the specification | tests | such as |', '| --- | --- | --- |', ...proofs],
  ];
  return { 'CHOICES.md': `${choicesPage.join('\n')}\n`, 'EVIDENCE.md': `${evidencePage.join('\n')}\n` };
}

export const pageText = (name: string): string => {
  const file = join(root, name);
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
};

if (import.meta.main) {
  const coverage = traced();
  for (const [name, text] of Object.entries(pages(coverage))) writeFileSync(join(root, name), text);
  const wrong = [...missing(coverage), ...coverage.failed.map((name) => `failed: ${name}`)];
  for (const one of wrong) console.error(one);
  console.log(`${coverage.specified.length} endpoints are specified; ${wrong.length} are wrong or have no test`);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}
