// Prints the last line `N passed, N failed` of test runs from vitest's JSON reports, and before it each failed test with its error.
// Exits with code 1 if a test failed or a run had no test. Run: `node scripts/test-summary.ts REPORT…`
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

interface Report {
  testResults: {
    name: string;
    status: string;
    message?: string;
    assertionResults: { status: string; fullName: string; failureMessages?: string[] | null }[];
  }[];
}

interface Summary {
  passed: number;
  /** The error of each failed test. */
  failed: Map<string, string>;
}

const errorCharacters = 2_000;
const runs = process.argv.slice(2).map(summary);
const passed = runs.reduce((n, run) => n + run.passed, 0);
const failed = runs.reduce((n, run) => n + run.failed.size, 0);
for (const run of runs) for (const [test, error] of run.failed) console.log(`\nFailed: ${test}\n${error}`);
console.log(`${passed} passed, ${failed} failed`);
if (failed > 0 || runs.length === 0 || runs.some((run) => run.passed === 0)) process.exitCode = 1;

/** Each test by `file: full name`. A file that could not be loaded has no tests, so it counts as one failed test. */
function summary(path: string): Summary {
  const found: Summary = { passed: 0, failed: new Map() };
  let read: Report;
  try {
    read = JSON.parse(readFileSync(path, 'utf8')) as Report;
  } catch (error) {
    found.failed.set(path, `The test run left no report: ${(error as Error).message}`);
    return found;
  }
  for (const { name, status, message, assertionResults } of read.testResults) {
    const file = relative(process.cwd(), name);
    for (const [index, test] of assertionResults.entries()) {
      // Tests of one file may have the same name, so the key contains their position.
      const key = `${test.fullName} (${index + 1} in ${file})`;
      if (test.status === 'passed') found.passed += 1;
      if (test.status === 'failed') found.failed.set(key, short((test.failureMessages ?? []).join('\n')));
    }
    if (status === 'failed' && !assertionResults.some((test) => test.status === 'failed')) {
      found.failed.set(file, short(message ?? 'The file could not be loaded.'));
    }
  }
  return found;
}

function short(text: string): string {
  return text.length > errorCharacters ? `${text.slice(0, errorCharacters)}…` : text;
}
