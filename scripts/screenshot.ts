// Makes the pictures of docs/OPERATIONS.md: the list of windows in the Temporal UI, and one failed window's page.
// Run: `node scripts/screenshot.ts` starts embedded servers and a sandbox clinic, and lets some windows close, one fail and
// one wait; `--url <Temporal UI>` takes the pictures of a UI that runs already. Needs Chromium (CHROMIUM names another path).
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startSandbox } from '../sandbox/index.ts';
import { loadConfig } from '../src/config/load.ts';
import { openApp } from '../src/runtime/app.ts';
import { startEngine } from '../src/runtime/worker.ts';
import { runWindow } from '../src/windows/windows.ts';

const target = fileURLToPath(new URL('../docs/images/', import.meta.url));
const mapping = fileURLToPath(new URL('../mappings/demo.yaml', import.meta.url));
const size = { width: 1500, height: 560 };
const stepTimeoutMs = 30_000;
const columns = ['Status', 'Installation', 'SyncHealth', 'WindowFrom', 'WindowTo', 'Workflow ID'];

const { values } = parseArgs({ options: { url: { type: 'string' } } });
const chromium = process.env.CHROMIUM ?? '/usr/bin/chromium';
if (!existsSync(chromium)) {
  console.error(
    `error: Chromium is not at ${chromium}\nwhat to do: install it (apt-get install chromium), or name its path in CHROMIUM`,
  );
  process.exit(1);
}
mkdirSync(target, { recursive: true });
if (values.url) await takePictures(values.url);
else await withWindows(takePictures);

/** The parts of the demo with a life of a few windows: closed, failed, covered, and one that tries again just now. */
async function withWindows(work: (uiUrl: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'vetledger-pictures-'));
  // Started by root, PostgreSQL runs as another user, who has to pass through.
  chmodSync(folder, 0o711);
  const sandbox = await startSandbox({ seed: 1, invoices: 400, rateWindowSeconds: 1 });
  const file = join(folder, 'vetledger.yaml');
  writeFileSync(
    file,
    `installations:
  - id: ${sandbox.installation}
    base_url: ${sandbox.url}
    auth: {token: "\${PRACTICE_TOKEN}"}
    timezone: Europe/Helsinki
    currency: EUR
    mapping: ${mapping}
    rate_window_seconds: 1
    overlap_seconds: 60
data_dir: data
`,
  );
  const progress = (line: string) => console.error(line);
  const env = { ...process.env, PRACTICE_TOKEN: sandbox.token, VETLEDGER_LOG: 'silent' };
  const app = await openApp(await loadConfig(file, env), { temporal: true, progress, env, ui: true });
  try {
    const engine = await startEngine(app, {}, progress);
    const never = new AbortController().signal;
    const window = (trigger: string) => runWindow(app, engine, sandbox.installation, { trigger, signal: never });
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
        await work(app.temporal!.uiUrl!);
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
  const profile = mkdtempSync(join(tmpdir(), 'vetledger-chromium-'));
  const flags = [
    '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking',
    '--disable-component-update --disable-sync --remote-debugging-port=0 --force-color-profile=srgb --hide-scrollbars',
  ].flatMap((line) => line.split(' '));
  const browser = spawn(chromium, [...flags, `--user-data-dir=${profile}`, 'about:blank'], { stdio: 'ignore' });
  const exited = new Promise<void>((resolve) => browser.once('exit', () => resolve()));
  try {
    const page = await openPage(profile);
    try {
      await page.go(`${uiUrl}/namespaces/default/workflows`);
      // The UI keeps the columns of its list here.
      const chosen = { default: columns.map((label) => ({ label })) };
      await page.run(
        `localStorage.setItem('namespace-workflow-table-columns', ${JSON.stringify(JSON.stringify(chosen))})`,
      );
      await page.go(`${uiUrl}/namespaces/default/workflows`);
      await page.until(
        `document.body.innerText.includes('WindowTo') && document.querySelectorAll('tbody tr').length > 1`,
      );
      // The saved views take the place of two columns.
      await page.run(`document.querySelector('[aria-label="Collapse saved views"]')?.click()`);
      await page.picture('temporal-windows.png');
      const failed = `${uiUrl}/namespaces/default/workflows?query=${encodeURIComponent(`SyncHealth='failed'`)}`;
      await page.go(failed);
      await page.until(`document.querySelector('tbody a[href*="/workflows/"]') !== null`);
      await page.go(String(await page.run(`document.querySelector('tbody a[href*="/workflows/"]').href`)));
      await page.until(`[...document.links].some((link) => link.innerText.includes('User Metadata'))`);
      await page.run(`[...document.links].find((link) => link.innerText.includes('User Metadata')).click()`);
      // The UI shows Markdown in frames of their own.
      await page.until(`document.querySelectorAll('iframe').length > 0`);
      await page.picture('temporal-failed-window.png');
    } finally {
      page.close();
    }
  } finally {
    browser.kill('SIGKILL');
    await exited;
    rmSync(profile, { recursive: true, force: true });
  }
}

/** A page of the browser over its DevTools protocol. */
async function openPage(profile: string) {
  const port = await until('Chromium', () => {
    const file = join(profile, 'DevToolsActivePort');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n')[0] : undefined;
  });
  const listed = await fetch(`http://127.0.0.1:${port}/json/list`, { signal: AbortSignal.timeout(stepTimeoutMs) });
  const pages = (await listed.json()) as { type: string; webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(pages.find(({ type }) => type === 'page')!.webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', () => reject(new Error('Chromium’s DevTools do not answer')), { once: true });
  });
  const waiting = new Map<number, (result: Record<string, unknown>) => void>();
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result?: Record<string, unknown> };
    if (id !== undefined) waiting.get(id)?.(result ?? {});
  });
  let last = 0;
  const call = (method: string, params: object = {}) => {
    const id = ++last;
    const answer = new Promise<Record<string, unknown>>((resolve, reject) => {
      waiting.set(id, resolve);
      setTimeout(() => reject(new Error(`Chromium gave no answer to ${method}`)), stepTimeoutMs).unref();
    });
    socket.send(JSON.stringify({ id, method, params }));
    return answer;
  };
  const run = async (expression: string) => {
    const answer = await call('Runtime.evaluate', { expression, awaitPromise: true });
    return (answer.result as { value?: unknown } | undefined)?.value;
  };
  await call('Emulation.setDeviceMetricsOverride', { ...size, deviceScaleFactor: 1, mobile: false });
  return {
    run,
    async go(url: string) {
      await call('Page.navigate', { url });
      await sleep(2_000);
    },
    until: (expression: string) => until(`page with ${expression}`, () => run(expression)),
    async picture(name: string) {
      await sleep(1_500);
      const { data } = await call('Page.captureScreenshot', { format: 'png' });
      writeFileSync(join(target, name), Buffer.from(data as string, 'base64'));
      console.error(`${join(target, name)} written`);
    },
    close: () => socket.close(),
  };
}

async function until<T>(what: string, check: () => T | Promise<T>): Promise<NonNullable<Awaited<T>>> {
  const deadline = performance.now() + stepTimeoutMs;
  for (;;) {
    const found = await check();
    if (found) return found as NonNullable<Awaited<T>>;
    if (performance.now() > deadline) throw new Error(`no ${what} within ${stepTimeoutMs / 1000} s`);
    await sleep(200);
  }
}
