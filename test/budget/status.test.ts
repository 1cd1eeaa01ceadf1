import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bar } from '../../src/cli/render/text.ts';
import { loadDialect } from '../../src/config/dialect.ts';
import { Budget, priorities } from '../../src/practice/budget.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { vetledger } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { demoConfig, fromEnvironment } from '../support/demo-config.ts';

test.each([
  // Columns: used, free, limit, the bar
  [0, 60, 60, '[....................]'],
  [30, 30, 60, '[##########..........]'],
  [60, 0, 60, '[####################]'],
  [1, 299, 300, '[#...................]'],
  [299, 1, 300, '[###################.]'],
  [0, 30, 60, '[..........----------]'],
  [20, 10, 60, '[#######...----------]'],
  [0, 0, 60, '[--------------------]'],
  [40, 0, 60, '[#############-------]'],
  [59, 1, 60, '[###################.]'],
])('%i used and %i free of %i', (used, free, limit, expected) => {
  expect(bar({ used, free, limit })).toBe(expected);
});

describe('status', () => {
  const { db, url: databaseUrl } = useDatabase();
  let folder: string;
  let config: string;
  const stop = new AbortController();

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'vetledger-status-'));
    config = join(folder, 'vetledger.yaml');
    writeFileSync(
      config,
      demoConfig([{ id: 4711, base_url: 'http://127.0.0.1:9' }], { database_url: fromEnvironment('DATABASE_URL') }),
    );
  });

  afterAll(async () => {
    stop.abort();
    rmSync(folder, { recursive: true, force: true });
  });

  test('shows what of each budget is used and free, who waits, and what a 429 did', async () => {
    const dialect = loadDialect();
    const budget = new Budget({
      db,
      installation: 4711,
      dialect,
      windowSeconds: 60,
      requestTimeoutSeconds: 90,
      clock: systemClock,
    });
    const take = (action: string, weight: number) => budget.take(action, weight, priorities.live, stop.signal);
    await take('invoice.list', 20);
    await take('invoicerow.list', 90);
    const waiting = take('invoicerow.list', 20).catch(() => 'given up');
    const refused = await take('unallocatedpayment.list', 20);
    refused.finish();
    await refused.throttled(1);
    const blocked = await take('invoicepayment.list', 20);
    await blocked.throttled(3_600_000);
    // Waits until the first Retry-After has passed and the waiting request has asked.
    await expect
      .poll(async () => (await budget.usage()).map(({ waiting, blockedUntil }) => [waiting, blockedUntil !== null]))
      .toEqual([
        [0, false],
        [0, true],
        [1, false],
        [0, false],
      ]);

    const env = { PATH: process.env.PATH, PRACTICE_TOKEN: 'x', DATABASE_URL: databaseUrl, VETLEDGER_LOG: 'silent' };
    const { json } = await vetledger(['status', '--config', config, '--json'], env);
    const whole = { limit_now: 100, waiting: 0, blocked_until: null };
    expect(json().installations[0].budgets).toEqual([
      { ...whole, action: 'invoice.list', limit: 60, limit_now: 60, used: 20, free: 40 },
      {
        ...whole,
        action: 'invoicepayment.list',
        limit: 100,
        limit_now: 1,
        used: 20,
        free: 0,
        blocked_until: expect.any(String),
      },
      { ...whole, action: 'invoicerow.list', limit: 100, used: 90, free: 10, waiting: 1 },
      { ...whole, action: 'unallocatedpayment.list', limit: 200, limit_now: 100, used: 20, free: 80 },
    ]);
    const { stdout } = await vetledger(['status', '--config', config], env);
    const lines = stdout.split('\n').map((line) => line.trim());
    expect(lines).toContain('invoice.list             [#######.............]    20    40   60');
    expect(lines).toContain('invoicerow.list          [##################..]    90    10  100  1 process waiting');
    expect(lines).toContain(
      'unallocatedpayment.list  [##........----------]    20    80  100  lowered from 200 after a 429',
    );
    expect(stdout).toMatch(
      /invoicepayment\.list +\[.*\] +20 +0 +1 +lowered from 100 after a 429, blocked until .* \+0[23]:00: the source requested this pause \(Retry-After\)/,
    );
    expect(stdout).toContain('vetledger budget reset');
    const until = Date.parse(json().installations[0].budgets[1].blocked_until);
    expect(until - Date.now()).toBeLessThanOrEqual(15 * 60_000);

    const unasked = await vetledger(['budget', 'reset', '--config', config], env);
    expect(unasked.code).toBe(2);
    expect(unasked.stderr).toContain('--yes');
    const only = ['--action', 'invoicepayment.list', '--yes', '--json', '--config', config];
    expect((await vetledger(['budget', 'reset', ...only], env)).json()).toEqual({
      reset: [{ installation: 4711, action: 'invoicepayment.list' }],
    });
    expect((await vetledger(['budget', 'reset', ...only], env)).json()).toEqual({ reset: [] });
    const [, open, , lowered] = await budget.usage();
    expect(open).toMatchObject({ limitNow: 100, used: 20, free: 80, blockedUntil: null });
    expect(lowered).toMatchObject({ limitNow: 100, limit: 200 });
    expect((await vetledger(['budget', 'reset', '--action', 'x', '--config', config], env)).code).toBe(1);
    stop.abort();
    expect(await waiting).toBe('given up');
    await budget.close();
  });
});
