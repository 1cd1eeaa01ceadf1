// An operator's failed window in the browser, with a real Temporal: found, understood, priced, replayed and covered.
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeLink } from '../../src/console/users/subjects.ts';
import { type Db, openDatabase } from '../../src/db/pool.ts';
import { startActing } from '../../src/windows/acting.ts';
import { type AskedWindows, askedWindows } from '../../src/windows/asked-windows.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { chromiumPath } from './chromium.ts';
import { openTestConsole, type TestConsole } from './support.ts';

if (chromiumPath === undefined)
  console.error('test/console/replay-in-browser: skipped, because Chromium is missing (apt-get install chromium)');
const id = 4711;
const signal = new AbortController().signal;
let clinic: TestClinic;
let windows: AskedWindows;

beforeAll(async () => {
  clinic = await startTestClinic({ seed: 29, invoices: 40 });
  windows = askedWindows(clinic.app, clinic.engine, signal);
  expect((await clinic.sync()).outcome).toBe('closed');
});
afterAll(() => clinic?.stop());

test('two daemons that start the workflow of one action start one run, and a later one finds it', async () => {
  for (const request of [
    { read: 'times', from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' },
    { read: 'backfill', from: '2026-01-01' },
  ] as const) {
    expect(await windows.startedBy(id, 77, request)).toBeNull();
    const runs = await Promise.all([windows.start(id, 77, request), windows.start(id, 77, request)]);
    expect(runs[1]).toEqual(runs[0]);
    await clinic.engine.client.workflow.getHandle(runs[0].workflow).result();
    expect(await windows.startedBy(id, 77, request)).toEqual(runs[0]);
    expect(await windows.start(id, 77, request)).toEqual(runs[0]);
  }
});

describe.skipIf(chromiumPath === undefined)('in Chromium', { timeout: 60_000 }, () => {
  let consoleDb: Db;
  let site: TestConsole;
  let browser: Browser;
  let page: Page;
  let url: string;
  let acting: { stop(): Promise<void> };

  beforeAll(async () => {
    consoleDb = openDatabase(clinic.consoleUrl);
    site = await openTestConsole({ db: clinic.app.db, consoleDb });
    url = await site.app.listen({ host: '127.0.0.1', port: 0 });
    acting = startActing(clinic.app, windows, 100);
    browser = await chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox'] });
    page = await (await browser.newContext()).newPage();
    await page.goto(
      `${url}/link/${await makeLink(clinic.app.db, await site.user('olavi', [['operator', id]]), 'sign_in')}`,
    );
    await page.click('button');
  });
  afterAll(async () => {
    await browser?.close();
    await acting?.stop();
    await site?.close();
    await consoleDb?.destroy();
  });

  test('a failed window is found, understood, priced, replayed and covered', async () => {
    clinic.sandbox.setFaults({ unauthorizedOnce: { count: 9, action: 'unallocatedpayment.list' } });
    clinic.sandbox.clinic.createInvoice({ rows: [{ sum: '124.00', vat_percentage: '24' }] });
    const failed = await clinic.sync();
    clinic.sandbox.setFaults({ unauthorizedOnce: null });
    expect(failed.outcome).toBe('failed');

    await page.goto(`${url}/${id}/windows`);
    await page.selectOption('select[name=outcome]', 'failed');
    await page.click('.filters button');
    const row = page.locator('tr', { has: page.locator(`#w${failed.window}`) });
    expect(await row.textContent()).toContain(failed.error!.message);
    expect(await row.textContent()).toContain('nothing yet');

    await row.getByRole('link', { name: 'Replay' }).click();
    await page.getByRole('button', { name: 'Find the price' }).click();
    const next = page.getByRole('link', { name: 'Replay' });
    await next.waitFor();
    expect(await page.textContent('main')).toMatch(/cost: \d+ requests?, weight \d+/);

    await next.click();
    await page.fill('input[name=reason]', 'the practice software was down');
    await page.getByRole('button', { name: 'Replay' }).click();
    const window = page.getByRole('link', { name: /^window \d+: closed$/ });
    await window.waitFor({ timeout: 30_000 });
    expect(await page.textContent('main')).toContain('The action is done.');
    const replay = /\d+/.exec((await window.textContent()) ?? '')?.[0];

    await page.goto(`${url}/${id}/windows?outcome=failed`);
    expect(await row.getByRole('link', { name: replay!, exact: true }).count()).toBe(1);
    expect(await row.getByRole('link', { name: 'Replay' }).count()).toBe(0);
    expect(await clinic.wrongBooks()).toEqual([]);
  });
});
