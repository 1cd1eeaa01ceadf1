// Prometheus's own tool reads the alert rules and runs their cases.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const fileOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const rulesFile = fileOf('deploy/prometheus/alerts.yaml');
const casesFile = fileOf('test/deploy/alerts.test.yaml');

/**
 * The path of promtool: `$VETLEDGER_PROMTOOL`, the cache folder, or the system (CONTRIBUTING); null if there is none.
 */
function findPromtool(): string | null {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const given = process.env.VETLEDGER_PROMTOOL;
  const places = given ? [given] : [join(cache, 'vetledger/promtool/promtool'), '/usr/bin/promtool'];
  return places.find((place) => existsSync(place)) ?? null;
}

const promtool = findPromtool();
if (promtool === null)
  console.warn('promtool is not installed: the cases of the alerts are skipped (see CONTRIBUTING)');

test.skipIf(promtool === null)(
  'promtool accepts the rules, and each fires where its cases say so',
  () => {
    const run = (what: string, file: string) => spawnSync(promtool ?? '', [what, 'rules', file], { encoding: 'utf8' });
    const success = { status: 0, stdout: expect.stringContaining('SUCCESS'), stderr: '' };
    expect(run('check', rulesFile)).toMatchObject(success);
    expect(run('test', casesFile)).toMatchObject({ status: 0, stdout: expect.stringContaining('SUCCESS') });
  },
  120_000,
);
