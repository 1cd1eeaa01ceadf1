import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from 'vetledger-sandbox';
import { adoptIdentity } from '../bookkeeping/identity.ts';
import { loadConfig } from '../config/load-config.ts';
import { ConfigError, codeOf } from '../domain/errors.ts';
import { visibleLines } from '../domain/text.ts';
import { inLanguage, shown } from '../languages/language.ts';
import { reconcileWithSource } from '../queries/reconcile.ts';
import type { ReconcileReport } from '../reconcile/reconcile-report.ts';
import { type App, openApp } from '../runtime/app.ts';
import { type Engine, startEngine } from '../runtime/worker.ts';
import type { Language } from '../texts/catalogue.ts';
import { fieldTitles, labels } from '../texts/commands/labels.ts';
import { devTexts } from '../texts/commands/windows.ts';
import { commandErrors } from '../texts/errors/commands.ts';
import { runSchedules } from '../windows/daemon.ts';
import { runWindowNow, type WindowReport } from '../windows/run-window.ts';
import { withDelivered } from '../windows/wait-for-deliveries.ts';
import { count } from '../wording/words.ts';
import { localTimes } from './books.ts';
import { reconcileText } from './commands/reconcile-text.ts';
import { importSandbox } from './commands/sandbox.ts';
import { type DemoConsole, startDemoConsole } from './dev-console.ts';
import { type DemoErp, startDemoTryton } from './dev-tryton.ts';
import { ProgressBars } from './progress.ts';
import { noteText } from './render/reconcile-notes.ts';
import { fieldLines } from './render/text.ts';
import { apiUse, windowLine, windowsDocument } from './render/window.ts';
import { deliverNow } from './run-deliveries.ts';
import { exitCodeOf, notOpenedError } from './run-windows.ts';

export interface DevOptions {
  once: boolean;
  ui: boolean;
  /** The ERP of the demo. Null if the demo delivers nothing. */
  erp: 'tryton' | null;
  /** Whether a close needs a second accountant. */
  twoPersons: boolean;
  /** Folder of all data; the next start continues from it. A demo with an ERP uses a subfolder. */
  dataDir: string;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  json: boolean;
  /** The language of texts. */
  language: Language;
  stderr: NodeJS.WritableStream;
}

/** The clinic of the demo: realistic, but small enough to be loaded in half a minute with the short rate window. */
const demo = {
  installation: 4711,
  seed: 1,
  invoices: 2600,
  rateWindowSeconds: 6,
  scheduleEvery: '10s',
  liveEveryMs: 3_000,
  liveEvents: 2,
} as const;

/**
 * Runs all of vetledger on embedded services, with a sandbox clinic that stays active until the signal. Returns the exit code:
 * with `once`, 0 only if the first window closed and the books reconcile.
 */
export async function runDev(options: DevOptions): Promise<number> {
  const say = (line: string) => void options.stderr.write(`${visibleLines(shown(line, options.language))}\n`);
  const dataDir = options.erp === null ? options.dataDir : join(options.dataDir, `dev-${options.erp}`);
  const folder = join(dataDir, 'dev');
  mkdirSync(folder, { recursive: true });
  const erp =
    options.erp === null
      ? null
      : await startDemoTryton({ dataDir, sharedDir: options.dataDir, env: options.env, stderr: options.stderr });
  try {
    return await runDemo(options, dataDir, folder, erp, say);
  } finally {
    await erp?.release();
    if (!options.once) say(devTexts.stopped);
  }
}

async function runDemo(
  options: DevOptions,
  dataDir: string,
  folder: string,
  erp: DemoErp | null,
  say: (line: string) => void,
): Promise<number> {
  say(devTexts.clinicStarting);
  const sandbox = await startClinic(folder);
  say(devTexts.clinic(sandbox));
  let app: App | null = null;
  try {
    const file = writeConfig(folder, sandbox, erp, options.twoPersons);
    // DATABASE_URL and TEMPORAL_ADDRESS do not apply: the file below names neither.
    const env = { ...options.env, ...erp?.env, PRACTICE_TOKEN: sandbox.token, VETLEDGER_DATA_DIR: dataDir };
    // Secret and port change with each run, so they are not in the file.
    const webhooks = { host: '127.0.0.1', port: 0, secret: randomBytes(16).toString('hex') };
    const config = { ...(await loadConfig(file, env)), webhooks };
    app = await openApp(config, { temporal: true, upgradesEmbedded: true, progress: say, env, ui: options.ui });
    await adoptClinic(app);
    return await work(app, sandbox, options, erp, say);
  } finally {
    await app?.close();
    await sandbox.stop();
  }
}

/** Accepts a changed address: the clinic is the same as at the last start, even if it has another port. */
async function adoptClinic(app: App): Promise<void> {
  for (const installation of app.config.installations) {
    await adoptIdentity(app.db, installation, {
      reason: devTexts.otherPort,
      actedBy: 'vetledger dev',
    });
  }
}

async function work(
  app: App,
  sandbox: Sandbox,
  options: DevOptions,
  erp: DemoErp | null,
  say: (line: string) => void,
): Promise<number> {
  say(devTexts.workerStarting);
  const bars = new ProgressBars(options.stderr, options.language);
  let first = true;
  const engine = await startEngine(
    app,
    {
      onProgress: (progress) => {
        if (first) bars.show(progress);
      },
      onWindow: (window) => {
        if (!first && !isIdle(window)) say(windowLine(window));
      },
    },
    say,
    { command: 'dev', scrubs: !options.once },
  );
  try {
    say(devTexts.firstSync);
    const opened = await runWindowNow(app, engine, demo.installation, { trigger: 'dev', signal: options.signal });
    bars.end();
    first = false;
    if (opened.failedToOpen) throw notOpenedError(opened.failedToOpen);
    const isDelivered = erp === null || (await deliverFirst(app, engine, options, say));
    const [window = opened] = await withDelivered(app, [opened]);
    const reconciled = await firstResult(app, sandbox, window, options, erp, say);
    const code = reconciled === 0 && !isDelivered ? 1 : reconciled;
    if (options.once || options.signal.aborted) return code;
    const site = await demoConsole(app, options, say);
    say(devTexts.clinicLives({ every: demo.scheduleEvery }));
    const living = setInterval(() => {
      for (const event of sandbox.live(demo.liveEvents)) say(`  ${devTexts.clinicDid({ event: event.text })}`);
    }, demo.liveEveryMs);
    const sendTo = (url: string) =>
      sandbox.setWebhooks({ url: `${url}/${demo.installation}/${app.config.webhooks?.secret}` });
    try {
      await runSchedules(app, engine, { signal: options.signal, onListening: sendTo });
    } finally {
      clearInterval(living);
      await site?.stop();
    }
    return 0;
  } finally {
    bars.end();
    await engine.stop();
  }
}

/** Starts the console and prints a link for each user of the demo. Null if it does not start; the demo continues without it. */
async function demoConsole(app: App, { env }: DevOptions, say: (line: string) => void): Promise<DemoConsole | null> {
  const { file: configFile, dataDir } = app.config;
  try {
    const site = await startDemoConsole({ db: app.db, installation: demo.installation, configFile, dataDir, env });
    for (const { name, link } of site.links) say(devTexts.consoleLink({ name, link }));
    return site;
  } catch (error) {
    say(devTexts.consoleFailed({ reason: error instanceof Error ? error.message : String(error) }));
    return null;
  }
}

/** Delivers all entries of the first window without a time limit. False if an entry was refused or the signal ended the wait. */
async function deliverFirst(
  app: App,
  engine: Engine,
  { signal, stderr, language }: DevOptions,
  say: (line: string) => void,
): Promise<boolean> {
  say(devTexts.delivering);
  const context = { io: { stderr }, signal, language, note: say };
  const statuses = await deliverNow(context, app, engine, [demo.installation], { seconds: null });
  return [...statuses.values()].every(({ left, refused, unapproved }) => left + refused + unapproved === 0);
}

/** Whether a window changed nothing. The webhooks of our own write-backs open such windows. */
function isIdle({ outcome, pulled, posted }: WindowReport): boolean {
  return outcome === 'closed' && posted === 0 && Object.values(pulled).every((n) => n === 0);
}

async function firstResult(
  app: App,
  sandbox: Sandbox,
  window: WindowReport,
  options: DevOptions,
  erp: DemoErp | null,
  say: (line: string) => void,
): Promise<number> {
  if (window.outcome === 'failed') {
    say(windowLine(window));
    if (options.json) process.stdout.write(`${visibleLines(JSON.stringify(windowsDocument([window])))}\n`);
    return exitCodeOf([window]);
  }
  const report = await reconcileWithSource(app, app.config.installations, (installation, note) =>
    say(noteText(installation, note, localTimes(app.config))),
  );
  if (options.json) {
    process.stdout.write(`${visibleLines(JSON.stringify({ ...windowsDocument([window]), reconcile: report }))}\n`);
  } else {
    const text = inLanguage(options.language, () => firstText(app, sandbox, { window, report, erp }));
    process.stdout.write(text);
  }
  return report.ok ? 0 : 1;
}

/** What `dev` prints after the first window: the books, and where the parts of the demo are. */
function firstText(
  app: App,
  sandbox: Sandbox,
  { window, report, erp }: { window: WindowReport; report: ReconcileReport; erp: DemoErp | null },
): string {
  const exports = [`export PRACTICE_TOKEN=${sandbox.token}`, ...(erp === null ? [] : [erp.exports])];
  const places: [title: string, text: string][] = [
    ...(erp === null
      ? []
      : [['Tryton', shown(erp.address)] as [string, string], ['', shown(erp.login)] as [string, string]]),
    [fieldTitles.temporalUi, app.temporal?.uiUrl ?? labels.off],
    [fieldTitles.sandbox, sandbox.url],
    [fieldTitles.shell, `${exports.join('; ')}; npx vetledger status --config ${app.config.file}`],
  ];
  return [
    visibleLines(reconcileText(report)),
    '',
    visibleLines(windowLine(window)),
    devTexts.apiUsed({ use: apiUse(window) }),
    ...(erp === null ? [] : [devTexts.delivered({ entries: count(window.delivered, 'entry') })]),
    '',
    ...fieldLines(places).map((line) => line.slice(2)),
    '',
  ].join('\n');
}

const clinicUnusable = (error: unknown): ConfigError =>
  new ConfigError(
    commandErrors.demoClinicUnusable({ reason: error instanceof Error ? error.message : String(error) }),
    error,
  );

/** Starts the clinic of the last start, or a new one. It keeps its port if possible, because its records contain their URLs. */
async function startClinic(folder: string): Promise<Sandbox> {
  const { startSandbox } = await importSandbox();
  const portFile = join(folder, 'sandbox-port');
  const port = existsSync(portFile) ? Number(readFileSync(portFile, 'utf8')) : 0;
  const options = {
    installation: demo.installation,
    seed: demo.seed,
    invoices: demo.invoices,
    rateWindowSeconds: demo.rateWindowSeconds,
    stateFile: join(folder, 'sandbox.json'),
    wholeLife: true,
  };
  let sandbox: Sandbox;
  try {
    sandbox = await startSandbox({ ...options, port });
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE') throw clinicUnusable(error);
    sandbox = await startSandbox({ ...options, port: 0 });
  }
  writeFileSync(portFile, String(sandbox.port));
  return sandbox;
}

/** Writes a configuration file, so that every command works on the demo. */
function writeConfig(folder: string, sandbox: Sandbox, erp: DemoErp | null, twoPersons: boolean): string {
  const file = join(folder, 'vetledger.yaml');
  const mapping = erp?.mapping ?? new URL('../../mappings/demo.yaml', import.meta.url).pathname;
  writeFileSync(
    file,
    `# Written by \`vetledger dev\` at each start.
installations:
  - id: ${demo.installation}
    base_url: ${sandbox.url}
    auth: {token: "\${PRACTICE_TOKEN}"}
    timezone: Europe/Helsinki
    currency: EUR
    mapping: ${JSON.stringify(mapping)}
    erp: ${erp?.setting ?? '{kind: ledger}'}
    rate_window_seconds: ${demo.rateWindowSeconds}
    overlap_seconds: 60
data_dir: ..
schedule: {every: ${demo.scheduleEvery}}
${twoPersons ? 'two_persons: true\n' : ''}`,
  );
  return file;
}
