// Controls a headless Chromium over its DevTools protocol, to take the screenshots of the docs.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const stepTimeoutMs = 30_000;
const flags = [
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking',
  '--disable-component-update --disable-sync --remote-debugging-port=0 --force-color-profile=srgb --hide-scrollbars',
].flatMap((line) => line.split(' '));

export type Page = Awaited<ReturnType<typeof openPage>>;

/**
 * The path of Chromium: `$CHROMIUM`, or the place where Debian installs it. If it is missing, prints what to do and
 * exits.
 */
export function chromiumPath(): string {
  const path = process.env.CHROMIUM ?? '/usr/bin/chromium';
  if (existsSync(path)) return path;
  console.error(
    `error: Chromium is not at ${path}\nwhat to do: install it (apt-get install chromium), or name its path in CHROMIUM`,
  );
  process.exit(1);
}

/** Starts Chromium with a temporary profile, passes its page to `work`, and stops it. */
export async function withPage(work: (page: Page) => Promise<void>): Promise<void> {
  const profile = mkdtempSync(join(tmpdir(), 'vetledger-chromium-'));
  const browser = spawn(chromiumPath(), [...flags, `--user-data-dir=${profile}`, 'about:blank'], { stdio: 'ignore' });
  const exited = new Promise<void>((resolve) => browser.once('exit', () => resolve()));
  try {
    const page = await openPage(profile);
    try {
      await work(page);
    } finally {
      page.close();
    }
  } finally {
    browser.kill('SIGKILL');
    await exited;
    rmSync(profile, { recursive: true, force: true });
  }
}

async function openPage(profile: string) {
  const port = await until('Chromium', () => {
    const file = join(profile, 'DevToolsActivePort');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n')[0] : undefined;
  });
  const listed = await fetch(`http://127.0.0.1:${port}/json/list`, { signal: AbortSignal.timeout(stepTimeoutMs) });
  const pages = (await listed.json()) as { type: string; webSocketDebuggerUrl: string }[];
  const found = pages.find(({ type }) => type === 'page');
  if (!found) throw new Error('Chromium opened no page');
  const socket = new WebSocket(found.webSocketDebuggerUrl);
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
  return {
    run,
    size: (width: number, height: number) =>
      call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false }),
    async go(url: string) {
      await call('Page.navigate', { url });
      await sleep(2_000);
    },
    until: (expression: string) => until(`page with ${expression}`, () => run(expression)),
    async picture(): Promise<Buffer> {
      await sleep(1_500);
      const { data } = await call('Page.captureScreenshot', { format: 'png' });
      return Buffer.from(String(data), 'base64');
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
