// Makes the screenshots of the docs: the first result in a terminal, the list of windows in the Temporal UI, and the
// page of a failed window. Run: `node scripts/screenshot.ts`. It starts embedded servers and a sandbox clinic, where
// some windows close, one fails and one is retried. `--only result` or `--only windows` makes some of them; `--url
// <Temporal UI>` uses a running UI. It needs Chromium (the environment variable CHROMIUM gives its path).
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { startSandbox } from '../sandbox/src/index.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { openApp } from '../src/runtime/app.ts';
import { startEngine } from '../src/runtime/worker.ts';
import { runWindowNow } from '../src/windows/run-window.ts';
import { demoConfig } from '../test/support/demo-config.ts';
import { chromiumPath, type Page, withPage } from './browser.ts';

const target = fileURLToPath(new URL('../docs/images/', import.meta.url));
const bin = fileURLToPath(new URL('../bin/vetledger.js', import.meta.url));
const columns = ['Status', 'Installation', 'SyncHealth', 'WindowFrom', 'WindowTo', 'Workflow ID'];

const { values } = parseArgs({ options: { url: { type: 'string' }, only: { type: 'string' } } });
chromiumPath();
mkdirSync(target, { recursive: true });
if (values.only !== 'windows' && !values.url) await takeFirstResult();
if (values.url) await takePictures(values.url);
else if (values.only !== 'result') await withWindows(takePictures);

/**
 * Starts the servers and a sandbox, and runs windows: two closed, one failed, one that covers the failed one, one that
 * is being retried.
 */
async function withWindows(work: (uiUrl: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'vetledger-pictures-'));
  // If root starts PostgreSQL, it runs as another user, who must be able to enter the folder.
  chmodSync(folder, 0o711);
  const sandbox = await startSandbox({ seed: 1, invoices: 400, rateWindowSeconds: 1 });
  const file = join(folder, 'vetledger.yaml');
  writeFileSync(
    file,
    demoConfig([{ id: sandbox.installation, base_url: sandbox.url, rate_window_seconds: 1, overlap_seconds: 60 }], {
      data_dir: 'data',
    }),
  );
  const progress = (line: string) => console.error(line);
  const env = { ...process.env, PRACTICE_TOKEN: sandbox.token, VETLEDGER_LOG: 'silent' };
  const app = await openApp(await loadConfig(file, env), { temporal: true, progress, env, ui: true });
  try {
    const uiUrl = app.temporal?.uiUrl;
    if (!uiUrl) throw new Error('the Temporal server has no web UI');
    const engine = await startEngine(app, {}, progress);
    const never = new AbortController().signal;
    const window = (trigger: string) => runWindowNow(app, engine, sandbox.installation, { trigger, signal: never });
    try {
      await window('sync');
      await window('sync');
      sandbox.live(12);
      sandbox.setFaults({ unauthorizedOnce: { action: 'invoicepayment.list', count: 9 } });
      await window('sync');
      sandbox.setFaults({ unauthorizedOnce: null });
      await window('sync');
      sandbox.setFaults({ http500: { action: 'invoicepayment.list' } });
      const retrying = window('sync');
      await sleep(9_000);
      try {
        await work(uiUrl);
      } finally {
        sandbox.setFaults({ http500: null });
        await retrying;
      }
    } finally {
      await engine.stop();
    }
  } finally {
    await app.close();
    await sandbox.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function takePictures(uiUrl: string): Promise<void> {
  await withPage(async (page) => {
    await page.size(1500, 560);
    await page.go(`${uiUrl}/namespaces/default/workflows`);
    // The UI stores the columns of its list here.
    const chosen = { default: columns.map((label) => ({ label })) };
    await page.run(
      `localStorage.setItem('namespace-workflow-table-columns', ${JSON.stringify(JSON.stringify(chosen))})`,
    );
    await page.go(`${uiUrl}/namespaces/default/workflows`);
    await page.until(
      `document.body.innerText.includes('WindowTo') && document.querySelectorAll('tbody tr').length > 1`,
    );
    // The panel of saved views would hide two columns.
    await page.run(`document.querySelector('[aria-label="Collapse saved views"]')?.click()`);
    await save(page, 'temporal-windows.png');
    const failed = `${uiUrl}/namespaces/default/workflows?query=${encodeURIComponent(`SyncHealth='failed'`)}`;
    await page.go(failed);
    await page.until(`document.querySelector('tbody a[href*="/workflows/"]') !== null`);
    await page.go(String(await page.run(`document.querySelector('tbody a[href*="/workflows/"]').href`)));
    await page.until(`[...document.links].some((link) => link.innerText.includes('User Metadata'))`);
    await page.run(`[...document.links].find((link) => link.innerText.includes('User Metadata')).click()`);
    // The UI renders Markdown in frames.
    await page.until(`document.querySelectorAll('iframe').length > 0`);
    await save(page, 'temporal-failed-window.png');
  });
}

/** Shows the terminal output of `vetledger dev --once`, up to the equations. */
async function takeFirstResult(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'vetledger-pictures-'));
  chmodSync(folder, 0o711);
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [bin, 'dev', '--once', '--no-ui'], {
      env: { ...process.env, VETLEDGER_DATA_DIR: join(folder, 'data') },
    });
    const blocks = stdout.split('\n\n');
    const last = blocks.findIndex((block) => block.startsWith('Equations\n'));
    if (last < 0) throw new Error(`no first result in: ${stdout}`);
    const text = blocks.slice(0, last + 1).join('\n\n');
    await withPage(async (page) => {
      await page.size(800, 1000);
      await page.run(`document.body.innerHTML = ${JSON.stringify(terminal(`$ npm start -- --once\n${text}`))}`);
      await page.size(
        800,
        Number(await page.run('Math.ceil(document.querySelector("pre").getBoundingClientRect().bottom)')),
      );
      await save(page, 'first-result.png');
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function terminal(text: string): string {
  const shown = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const style =
    'margin:0;padding:16px 20px;background:#1e2127;color:#d7dae0;font:13px/17px DejaVu Sans Mono,monospace;white-space:pre-wrap';
  return `<style>body{margin:0}</style><pre style="${style}">${shown}</pre>`;
}

async function save(page: Page, name: string): Promise<void> {
  writeFileSync(join(target, name), await page.picture());
  console.error(`${join(target, name)} written`);
}
