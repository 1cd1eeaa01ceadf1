// Prints the closing line `N passed, N failed` of test runs from vitest's JSON reports, and before it each test that failed, with its
// error. Fails where a test failed or a run had none. `--again REPORT` names a report of the failed files, each run a second time and
// alone: a test that passed there counts as passed and is named as unsteady. Run: `node scripts/test-summary.ts REPORT… [--again REPORT]`;
// `--failed-files` prints the files with a failed test and nothing else.
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { parseArgs } from 'node:util';

interface Report {
  testResults: {
    name: string;
    status: string;
    message?: string;
    assertionResults: { status: string; fullName: string; failureMessages?: string[] | null }[];
  }[];
}

interface Summary {
  passed: Set<string>;
  /** Files all of whose tests passed. */
  files: Set<string>;
  failed: Map<string, { file: string; error: string }>;
}

const errorCharacters = 2_000;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { again: { type: 'string' }, 'failed-files': { type: 'boolean', default: false } },
});
const runs = positionals.map(summary);
if (values['failed-files']) {
  const files = runs.flatMap(({ failed }) => [...failed.values()].map(({ file }) => file));
  console.log([...new Set(files)].join('\n'));
} else {
  report();
}

function report(): void {
  const again = values.again !== undefined && existsSync(values.again) ? summary(values.again) : null;
  const passed = runs.reduce((n, run) => n + run.passed.size, 0);
  let unsteady = 0;
  let failed = 0;
  for (const run of runs) {
    for (const [test, { file, error }] of run.failed) {
      const passedAlone = again !== null && (again.passed.has(test) || (test === file && again.files.has(file)));
      if (passedAlone) unsteady += 1;
      else failed += 1;
      console.log(`\n${passedAlone ? 'Unsteady (failed, then passed alone)' : 'Failed'}: ${test}\n${error}`);
    }
  }
  if (unsteady > 0)
    console.log(`\n${unsteady} of the passed tests failed in the whole run and passed when their files ran alone.`);
  console.log(`${passed + unsteady} passed, ${failed} failed`);
  if (failed > 0 || runs.length === 0 || runs.some((run) => run.passed.size === 0)) process.exitCode = 1;
}

/** Each test by `file: full name`. A file that could not be loaded has no tests, so it counts as one failed test. */
function summary(path: string): Summary {
  const found: Summary = { passed: new Set(), files: new Set(), failed: new Map() };
  let read: Report;
  try {
    read = JSON.parse(readFileSync(path, 'utf8')) as Report;
  } catch (error) {
    found.failed.set(path, { file: path, error: `The test run left no report: ${(error as Error).message}` });
    return found;
  }
  for (const { name, status, message, assertionResults } of read.testResults) {
    const file = relative(process.cwd(), name);
    for (const [index, test] of assertionResults.entries()) {
      // Tests of one file may have the same name, so the key contains their position.
      const key = `${test.fullName} (${index + 1} in ${file})`;
      if (test.status === 'passed') found.passed.add(key);
      if (test.status === 'failed')
        found.failed.set(key, { file, error: short((test.failureMessages ?? []).join('\n')) });
    }
    if (status === 'failed' && !assertionResults.some((test) => test.status === 'failed')) {
      found.failed.set(file, { file, error: short(message ?? 'The file could not be loaded.') });
    }
    if (status === 'passed') found.files.add(file);
  }
  return found;
}

function short(text: string): string {
  return text.length > errorCharacters ? `${text.slice(0, errorCharacters)}…` : text;
}
