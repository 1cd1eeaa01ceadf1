// Prints the closing line `N passed, N failed` of test runs from vitest's JSON reports, and fails where a test failed or
// a run had none. Run: `node scripts/test-summary.ts REPORT…`.
import { readFileSync } from 'node:fs';

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

const runs = process.argv.slice(2).map(summary);
const passed = runs.reduce((n, run) => n + run.passed, 0);
const failed = runs.reduce((n, run) => n + run.failed, 0);
console.log(`${passed} passed, ${failed} failed`);
if (failed > 0 || runs.length === 0 || runs.some((run) => run.passed === 0)) process.exitCode = 1;

function summary(file: string): { passed: number; failed: number } {
  let report: Report;
  try {
    report = JSON.parse(readFileSync(file, 'utf8')) as Report;
  } catch (error) {
    console.error(`The test run left no report: ${(error as Error).message}`);
    return { passed: 0, failed: 1 };
  }
  // A file that could not even be loaded has no tests to count.
  const broken = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  return { passed: report.numPassedTests, failed: report.numFailedTests + broken.length };
}
