// The console in a real browser: signing in, each screen without errors, accessible, on a small screen, and signing out.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Decimal } from 'decimal.js';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endAction } from '../../src/actions/record.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { makeLink } from '../../src/console/users/subjects.ts';
import { createLog } from '../../src/runtime/log.ts';
import { Acting } from '../../src/windows/acting.ts';
import { vetledger } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { SourceFigures } from '../support/source-figures.ts';
import { query } from '../support/sql.ts';
import { chromiumPath } from './chromium.ts';
import { crawl } from './crawl.ts';
import { hostileName, now, openTestConsole, type TestConsole } from './support.ts';

if (chromiumPath === undefined)
  console.error('test/console/browser: skipped, because Chromium is missing (apt-get install chromium)');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const id = 4711;

describe.skipIf(chromiumPath === undefined)('in Chromium', { timeout: 60_000 }, () => {
  const database = useDatabase();
  let site: TestConsole;
  let clinic: MirroredClinic;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let url: string;
  const faults: string[] = [];

  beforeAll(async () => {
    clinic = new MirroredClinic(database.db, database.url, { id, seed: 7, invoices: 30 });
    await clinic.configure(readFileSync(demoMapping, 'utf8'), { erp: '{kind: ledger}' });
    clinic.clinic.createInvoice({
      rows: [{ sum: '100.00', vat_percentage: '14', name: hostileName }],
    });
    await clinic.pull();
    await clinic.post();
    site = await openTestConsole(database);
    url = await site.app.listen({ host: '127.0.0.1', port: 0 });
    browser = await chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox'] });
    context = await browser.newContext();
    page = await context.newPage();
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(String(error)));
    const user = await site.user('aino', [
      ['accountant', id],
      ['operator', id],
    ]);
    await page.goto(`${url}/link/${await makeLink(database.db, user, 'sign_in')}`);
    await page.click('button');
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await site?.close();
    clinic?.remove();
  });

  test('a link signs in, and the first page shows the clinic with its hostile name as text', async () => {
    expect(page.url()).toBe(`${url}/clinics`);
    expect(await page.textContent('tbody tr')).toContain(hostileName);
    expect(await page.locator('img').count()).toBe(0);
  });

  test('on pages of every kind, hostile names make no element', async () => {
    const reader = await site.signedIn('aino');
    const pages = await crawl((address) => reader.get(address), ['/clinics', `/${id}/reports/vat`]);
    expect([...pages.values()].filter((body) => body.includes('&lt;img src=x')).length).toBeGreaterThan(5);
    const foreign = 'img, iframe, object, embed, [onerror], script:not([src^="/static/"])';
    for (const [address, body] of pages) {
      if (!body.startsWith('<!doctype html>')) continue;
      await page.goto(`${url}${address}`);
      expect([address, await page.locator(foreign).count()]).toEqual([address, 0]);
    }
    expect(faults).toEqual([]);
  });

  test('each screen of the navigation opens, without an error and without a serious finding of axe', async () => {
    const links = await page.locator('nav a').evaluateAll((all) => all.map((each) => each.getAttribute('href')));
    await page.goto(`${url}/${id}/month`);
    const own = await page.locator('nav a').evaluateAll((all) => all.map((each) => each.getAttribute('href')));
    const forms = [
      ...['read-again?read=backfill', 'read-now', 'cancel', 'approve', 'resend', 'undo', 'acknowledge'],
      ...['late', 'match', 'pause-windows', 'reconcile', 'proposal', 'deliver-now'],
    ];
    const paths = [...new Set([...links, ...own, '/account', ...forms.map((form) => `/${id}/actions/${form}`)])];
    expect(paths.length).toBeGreaterThan(7);
    for (const path of paths) {
      const answer = await page.goto(`${url}${path}`);
      expect([path, answer?.status()]).toEqual([path, 200]);
      await page.evaluate(axe);
      const found: { violations: { id: string; impact: string; nodes: { html: string }[] }[] } =
        await page.evaluate('axe.run()');
      const serious = found.violations
        .filter(({ impact }) => ['serious', 'critical'].includes(impact))
        .map((each) => `${path}: ${each.id} ${each.nodes[0]?.html}`);
      expect(serious).toEqual([]);
    }
    expect(faults).toEqual([]);
  });

  test('on a screen of 320 pixels, only tables scroll sideways', async () => {
    await page.setViewportSize({ width: 320, height: 600 });
    for (const path of [
      '/clinics',
      `/${id}/month`,
      `/${id}/decide`,
      `/${id}/reports/vat`,
      `/${id}/windows`,
      `/${id}/actions/read-again`,
      `/${id}/audit`,
    ]) {
      await page.goto(`${url}${path}`);
      expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, 320]);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test('with the keyboard alone, the first stop skips to the content', async () => {
    await page.goto(`${url}/clinics`);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
  });

  describe('two persons in two browsers', () => {
    let strict: TestConsole;
    let acting: { stop(): Promise<void> };
    let address: string;
    const january = '2026-01';
    const figures = () => new SourceFigures(clinic.clinic, 'Europe/Helsinki');

    beforeAll(async () => {
      strict = await openTestConsole(database, {}, { common: { two_persons: 'true' } });
      address = await strict.app.listen({ host: '127.0.0.1', port: 0 });
      const config = { ...(await loadConfig(clinic.config, clinic.env)), twoPersons: true };
      const { db } = database;
      const acts = new Acting({ db, promptDb: db, config, clock: () => now, log: createLog('silent') });
      const timer = setInterval(() => acts.look(new AbortController().signal).catch(() => undefined), 200);
      acting = { stop: async () => clearInterval(timer) };
    });
    afterAll(async () => {
      await acting?.stop();
      await strict?.close();
    });
    const signedIn = async (name: string) => {
      const user = await strict.user(name, [['accountant', id]]);
      const opened = await (await browser.newContext()).newPage();
      await opened.goto(`${address}/link/${await makeLink(database.db, user, 'sign_in')}`);
      await opened.click('button');
      return opened;
    };
    const term = (of: Page, name: string) => of.locator('dt', { hasText: name }).locator('+ dd').textContent();

    test('close January with the figures of the clinic, file its VAT return, and reopen it', async () => {
      const [first, second] = [await signedIn('bertta'), await signedIn('cecilia')];
      await first.goto(`${address}/${id}/month?month=${january}`);
      await first.getByRole('link', { name: 'Close the books' }).click();
      const tax = figures().totalVat(january);
      expect(Number(tax)).toBeGreaterThan(0);
      expect(await term(first, `VAT of the return ${january}`)).toBe(tax);
      await first.fill('input[name=reason]', 'January complete');
      await first.getByRole('button', { name: 'Close', exact: true }).click();
      await first.getByText('waits for the approval of a second person').waitFor();
      expect(await first.getByRole('button', { name: 'Approve' }).count()).toBe(0);

      await second.goto(`${address}/${id}/month?month=${january}`);
      await second.getByRole('link', { name: /requested by bertta/ }).click();
      expect(await term(second, `VAT of the return ${january}`)).toBe(tax);
      await second.fill('input[name=reason]', 'checked');
      await second.getByRole('button', { name: 'Approve' }).click();
      await second.getByText('The action is done.').waitFor();
      await first.goto(`${address}/${id}/month?month=${january}`);
      expect(await first.textContent('main')).toContain('This month is closed.');
      expect(await first.textContent('.period')).toBe('closed through 2026-01-31 by bertta');
      expect(await first.locator('tr', { hasText: 'closed through 2026-01-31' }).textContent()).toContain('cecilia');
      const open = figures()
        .openItems('2026-01-31')
        .reduce((sum, each) => sum.plus(each.open), new Decimal(0));
      await first.getByRole('link', { name: 'Receivables' }).click();
      expect(await first.locator('tfoot').first().textContent()).toContain(open.toFixed(2));

      await first.goto(`${address}/${id}/month?month=${january}`);
      await first.getByRole('link', { name: 'Mark the VAT return as filed' }).click();
      await first.fill('input[name=reason]', 'OmaVero');
      await first.getByRole('button', { name: 'Mark as filed' }).click();
      await first.getByText('The action is done.').waitFor();

      await second.goto(`${address}/${id}/month?month=${january}`);
      await second.getByRole('link', { name: 'Reopen the books' }).click();
      expect(await second.textContent('main')).toContain(`VAT returns are filed for ${january}.`);
      await second.fill('input[name=reason]', 'a wrong statement');
      await second.getByRole('button', { name: 'Reopen' }).click();
      const asked = second.url();
      await first.goto(asked);
      await first.fill('input[name=reason]', 'agreed');
      await first.getByRole('button', { name: 'Approve' }).click();
      await first.getByText('The action is done.').waitFor();
      expect(await first.textContent('.period')).toBe('reopened by cecilia; closed through 2025-12-31');
    });
  });

  test('99 late documents are decided together once, although the network is cut in the request', async () => {
    const many = 99;
    const closed = ['ledger', 'close', '--through', '2026-01-31', '--yes', '--config', clinic.config];
    expect((await vetledger(closed, clinic.env)).code).toBe(0);
    for (let n = 0; n < many; n++)
      clinic.clinic.createInvoice({ rows: [{ sum: '2.00', vat_percentage: '14' }], invoice_date: '2026-01-20' });
    await clinic.pull();
    await clinic.post();
    await page.goto(`${url}/${id}/decide?code=period_locked&month=2026-01`);
    await page.click('text=Decide about all late documents of this filter');
    await page.selectOption('select[name=decision]', 'redate');
    await page.click('text=Show the effect');
    const form = page.locator('form[method=post][action$="/actions/late"]');
    expect(await page.textContent('caption')).toBe(`${many} documents`);
    await form.locator('input[name=reason]').fill('agreed with the clinic');
    // The request arrives, and its answer is lost.
    const statuses: number[] = [];
    await page.route('**/actions/late', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      const headers = { ...(await route.request().allHeaders()), 'sec-fetch-site': 'same-origin' };
      statuses.push((await route.fetch({ headers, maxRedirects: 0 })).status());
      await route.abort('connectionreset');
    });
    await form.locator('button').click();
    await page.waitForURL(/chrome-error|actions\/late/);
    await page.unroute('**/actions/late');
    expect(statuses).toEqual([303]);
    await page.goto(`${url}/${id}/actions/late?code=period_locked&month=2026-01&decision=redate`);
    await form.locator('input[name=reason]').fill('agreed with the clinic');
    await form.locator('button').click();
    await page.waitForURL(/actions\/\d+$/);
    const config = await loadConfig(clinic.config, clinic.env);
    const ports = { db: database.db, promptDb: database.db, config, clock: () => now, log: createLog('silent') };
    await new Acting(ports).look(new AbortController().signal);
    await page.waitForSelector('text=differ from those that were shown');
    const decided = await query<{ documents: number; decisions: number }>(
      database.db,
      `select count(distinct document_id)::int as documents, count(*)::int as decisions from late_decision
       where installation = ? and decision = 'redate'`,
      [id],
    );
    expect(decided).toEqual([{ documents: many, decisions: many }]);
    await clinic.post();
    await page.goto(`${url}/${id}/decide?code=period_locked`);
    expect(await page.textContent('main')).toContain('Nothing is held, late, missing or refused.');
  });

  test('the slash focuses the search, and is a letter in a field', async () => {
    await page.goto(`${url}/${id}/mapping`);
    await page.keyboard.press('/');
    expect(await page.evaluate('document.activeElement.name')).toBe('q');
    await page.keyboard.press('/');
    expect(await page.inputValue('input[name=q]')).toBe('/');
  });

  test('the outcome of an action appears on its page without a new page', async () => {
    await page.goto(`${url}/${id}/actions/pause-windows`);
    await page.fill('input[name=reason]', 'a test');
    await page.click('form:has(input[name=reason]) button');
    const action = Number(/actions\/(\d+)/.exec(page.url())?.[1]);
    expect(await page.getAttribute('main', 'data-refresh')).toBe('2');
    await page.evaluate('window.isSame = true');
    await database.db.transaction((trx) => endAction(trx, action, {}));
    await page.waitForSelector('main:not([data-refresh])');
    expect(await page.evaluate('window.isSame')).toBe(true);
    await page.reload();
    expect(await page.evaluate('window.isSame')).toBeUndefined();
  });

  test('a changed language stays, and signing out ends the session', async () => {
    await page.goto(`${url}/account`);
    await page.selectOption('select[name=language]', 'fi');
    await page.click('form[action="/account/language"] button');
    expect(await page.getAttribute('html', 'lang')).toBe('fi');
    await page.click('form[action="/sign-out"] button');
    expect(page.url()).toBe(`${url}/sign-in`);
    await page.goto(`${url}/clinics`);
    expect(page.url()).toContain('/sign-in');
  });
});
