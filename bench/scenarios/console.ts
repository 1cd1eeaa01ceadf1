// (m) The screens of the console over many clinics and a large one: time of the server, processor time and size of each page.
import { loadavg } from 'node:os';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../src/config/load-config.ts';
import { consoleApp, cookieName } from '../../src/console/server.ts';
import { openDatabase } from '../../src/db/pool.ts';
import { startEphemeralPostgres } from '../../src/embedded/index.ts';
import { createLog } from '../../src/runtime/log.ts';
import { machine, writeSection } from '../measure.ts';
import { count, fixed, table } from '../parts/figures.ts';
import { type FleetSize, large, makeFleet, today } from '../parts/fleet.ts';
import { processWith, usageOf } from '../parts/processes.ts';

const sizes: Record<'whole' | 'quick', FleetSize> = {
  whole: { clinics: 300, invoices: 2_000, largest: 200_000, open: 1_200, windows: 20_000, actions: 2_000 },
  quick: { clinics: 10, invoices: 100, largest: 2_000, open: 120, windows: 500, actions: 50 },
};

/** Processor milliseconds of the console and PostgreSQL for a page of each kind. */
const aims = { list: 150, fleet: 300, report: 2_000 } as const;
const aimKb = 60;

interface Page {
  name: string;
  kind: keyof typeof aims;
  path: string;
}

const lists = ({ windows, actions, largest }: FleetSize): [name: string, path: string][] => [
  ['Month', 'month?month=2025-12'],
  ['Month, a closed month', 'month?month=2025-10'],
  ['To decide', 'decide'],
  ['To decide, deep', 'decide?after=2024-09-01'],
  ['To decide, by code', 'decide?code=period_locked'],
  ['To decide, by account', 'decide?account=3060'],
  ['To decide, search', 'decide?q=client+5'],
  ['To decide, remarks', 'decide?code=overpaid'],
  ['Document', `documents/invoice/${largest / 2}`],
  ['Document, search by number', `documents?q=KU-${largest / 2}`],
  ['Mapping', 'mapping'],
  ['Delivery', 'delivery'],
  ['Delivery, deep', `delivery?after=2024-06-30+${large}/invoice/${largest / 2}/1`],
  ['Delivery, by state', 'delivery?state=refused'],
  ['Delivery, search', `delivery?q=invoice/${largest / 2}`],
  ['Windows', 'windows'],
  ['Windows, deep', `windows?after=${windows / 2}`],
  ['Windows, failed', 'windows?failed=yes'],
  ['Audit', 'audit'],
  ['Audit, deep', `audit?after=${actions}`],
  ['Audit, by kind', 'audit?kind=close_books'],
];

const reports: [name: string, path: string][] = [
  ['trial balance', 'trial-balance?as_of=2025-12-31'],
  ['trial balance by dimension', 'trial-balance?as_of=2024-06-30&by=dimension_1'],
  ['trial balance, search', 'trial-balance?as_of=2025-12-31&q=3060'],
  ['income', 'income?month=2025-11'],
  ['account', 'account?account=3060&from=2023-01-01&to=2025-12-31'],
  ['account, deep', 'account?account=3060&from=2023-01-01&to=2025-12-31&after=2024-06-30_1_0'],
  ['journal', 'journal?from=2023-01-01&to=2025-12-31'],
  ['journal, deep', 'journal?from=2023-01-01&to=2025-12-31&after=2024-06-30_1_0'],
  ['vat', 'vat?month=2025-11'],
  ['receivables', 'receivables?as_of=2025-12-31'],
  ['prepayments', 'prepayments?as_of=2025-12-31'],
  ['vouchers', 'vouchers?as_of=2025-12-31'],
  ['clearing', 'clearing?month=2025-11'],
];

function pagesOf(size: FleetSize): Page[] {
  return [
    { name: 'Clinics', kind: 'fleet', path: '/clinics' },
    { name: 'Machine', kind: 'fleet', path: '/machine' },
    ...lists(size).map(([name, path]): Page => ({ name, kind: 'list', path: `/${large}/${path}` })),
    ...reports.map(
      ([name, path]): Page => ({ name: `Reports: ${name}`, kind: 'report', path: `/${large}/reports/${path}` }),
    ),
  ];
}

export interface Measured extends Page {
  p50: number;
  p95: number;
  /** Processor milliseconds of a request, of the console with PostgreSQL. */
  cpu: number;
  kb: number;
}

export async function consolePages(quick: boolean): Promise<void> {
  const size = sizes[quick ? 'quick' : 'whole'];
  const postgres = await startEphemeralPostgres(undefined, { large: true });
  try {
    const server = processWith(`port=${new URL(postgres.url).port}`);
    const before = usageOf(server);
    const fleet = await makeFleet(postgres, size);
    const built = usageOf(server) - before + process.cpuUsage().user / 1e6;
    const measured = await measurePages({ ...fleet, ...postgres }, size);
    fleet.dispose();
    report(measured, size, built);
  } finally {
    await postgres.release();
  }
}

/** Asks for each page with the role of the console. `only`: part of a name. */
export async function measurePages(
  { config, cookie, url, consoleUrl }: { config: Config; cookie: string; url: string; consoleUrl: string | null },
  size: FleetSize,
  only = '',
): Promise<Measured[]> {
  const db = openDatabase(consoleUrl ?? url, { max: 2 });
  const clock = () => new Date(`${today}T06:00:00Z`);
  const app = await consoleApp({ config, db, log: createLog('error'), clock, version: 'bench', temporalUi: null });
  try {
    const server = processWith(`port=${new URL(url).port}`);
    const measured: Measured[] = [];
    for (const page of pagesOf(size).filter(({ name }) => name.includes(only))) {
      const own = await measurePage(app, cookie, page, server);
      measured.push(own);
      console.error(own.name, fixed(own.p50, 0), fixed(own.p95, 0), fixed(own.cpu, 0), fixed(own.kb, 1));
    }
    return measured;
  } finally {
    await app.close();
    await db.destroy();
  }
}

/** Repeats a quick page more often, because processor time is counted in steps of 10 ms. */
async function measurePage(app: FastifyInstance, cookie: string, page: Page, server: number): Promise<Measured> {
  const ask = async () => {
    const began = performance.now();
    const answer = await app.inject({
      ...{ method: 'GET', url: page.path },
      headers: { host: 'localhost', cookie: `${cookieName}=${cookie}`, 'accept-encoding': 'br' },
    });
    if (answer.statusCode >= 400 || answer.headers.location === '/sign-in')
      throw new Error(`${page.path} answers ${answer.statusCode}`);
    return { ms: performance.now() - began, bytes: answer.rawPayload.length };
  };
  const { ms: first } = await ask();
  const turns = first > 5_000 ? 2 : first > 500 ? 5 : 20;
  const [own, before] = [process.cpuUsage(), usageOf(server)];
  const asked: Awaited<ReturnType<typeof ask>>[] = [];
  for (let turn = 0; turn < turns; turn += 1) asked.push(await ask());
  const { user, system } = process.cpuUsage(own);
  const cpu = ((user + system) / 1_000 + (usageOf(server) - before) * 1_000) / turns;
  const times = asked.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share: number) => times[Math.ceil(share * turns) - 1] ?? 0;
  const kb = Math.max(...asked.map(({ bytes }) => bytes)) / 1_000;
  return { ...page, p50: at(0.5), p95: at(0.95), cpu, kb };
}

function report(measured: readonly Measured[], size: FleetSize, built: number): void {
  const { clinics, invoices, largest, open, windows, actions } = size;
  writeSection(
    '(m) Pages of the console',
    [
      ...machine(),
      '',
      `${count(clinics)} clinics with ${count(invoices)} invoices each, and one with ${count(largest)}, whose pages these are: three years of posted documents, with`,
      `records, units and windows; ${count(open)} documents wait for a decision, ${count(windows)} rows of windows, ${count(actions)} actions. The console asks with its`,
      'database role, so row-level security applies. Milliseconds from the request to the compressed page, processor milliseconds of the console',
      `and PostgreSQL, and size (brotli). Aims in processor milliseconds, because other work runs beside it: a list ${aims.list}, Clinics and Machine`,
      `${aims.fleet}, a report ${count(aims.report)}; each page ${aimKb} KB. The machine’s load over the last 15 minutes was ${fixed(loadavg()[2] ?? 0)}; the data took ${count(built)} s of`,
      'processor time.',
      '',
      table(
        ['page', 'p50, ms', 'p95, ms', 'processor, ms', 'of the aim', 'KB'],
        measured.map(({ name, kind, p50, p95, cpu, kb }) => [
          ...[name, count(p50), count(p95), count(cpu), fixed(cpu / aims[kind]), fixed(kb, 1)],
        ]),
      ),
    ].join('\n'),
  );
  const missed = measured.filter(({ kind, cpu, kb }) => cpu > aims[kind] || kb > aimKb);
  if (missed.length > 0) throw new Error(`aim missed: ${missed.map(({ name }) => name).join(', ')}`);
}
