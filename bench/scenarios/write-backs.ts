// (k) The cost of writing back a prepayment without rate limits: processor time of the daemon, requests and weight.
import { applyMapping } from '../../src/bookkeeping/mapping-versions.ts';
import { postWaiting } from '../../src/bookkeeping/post.ts';
import { postingContexts } from '../../src/bookkeeping/posting-context.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { transactionsOf } from '../../src/db/lease.ts';
import { priorities } from '../../src/practice/budget.ts';
import { type App, openApp } from '../../src/runtime/app.ts';
import type { PullContext } from '../../src/sync/context.ts';
import { pullList } from '../../src/sync/pull-list.ts';
import { PageReader } from '../../src/sync/read-again.ts';
import { ownEchoes } from '../../src/writeback/echoes.ts';
import { writeBackEntryIds } from '../../src/writeback/entry-ids.ts';
import { writeSection } from '../measure.ts';
import { vetledger } from '../parts/engines.ts';
import { count, fixed, leastWeight, median, sumOf, table } from '../parts/figures.ts';
import { startSource } from '../parts/sandbox.ts';
import type { Services } from '../parts/services.ts';

interface Run {
  prepayments: number;
  seconds: number;
  /** Milliseconds of processor time for each write-back. */
  cpuMs: number;
  requests: number;
  writes: number;
  /** The weight of the list requests over the least weight of reading the list once. */
  weight: number;
}

export async function writeBacks(services: Services, quick: boolean): Promise<void> {
  const invoices = quick ? 1_000 : 20_000;
  const runs: Run[] = [];
  for (let turn = 0; turn < (quick ? 1 : 3); turn += 1) {
    runs.push(await oneRun(services, invoices));
    console.error(JSON.stringify(runs.at(-1)));
  }
  const of = (field: keyof Run) => median(runs.map((each) => each[field]));
  writeSection(
    '(k) Write-back of prepayments, unthrottled',
    [
      ...services.heading,
      '',
      `${count(of('prepayments'))} posted prepayments get their entry ids: each is read, written, and read again. Limits off,`,
      `no latency. Median of ${runs.length}; processor time of the process that does it, the server being another one; the aim is 0.6 ms for each.`,
      '',
      table(
        ['seconds', 'processor time for each, ms', 'list requests', 'weight of the list over one reading', 'writes'],
        [
          [
            fixed(of('seconds'), 1),
            fixed(of('cpuMs'), 2),
            count(of('requests')),
            fixed(of('weight'), 2),
            count(of('writes')),
          ],
        ],
      ),
    ].join('\n'),
  );
}

async function oneRun(services: Services, invoices: number): Promise<Run> {
  const source = await startSource({ invoices, rateWindowSeconds: 0, latencyMs: 0 });
  const engine = await vetledger({ source, services });
  const env = {
    ...process.env,
    PRACTICE_TOKEN: source.token,
    DATABASE_URL: engine.databaseUrl,
    VETLEDGER_LOG: 'error',
  };
  let app: App | null = null;
  try {
    const config = await loadConfig(engine.configFile, env);
    app = await openApp(config, { temporal: false, progress: () => undefined, env });
    const { writeBack, prepayments } = await posted(app);
    await source.marks();
    const started = performance.now();
    const before = process.cpuUsage();
    await writeBack();
    const { user, system } = process.cpuUsage(before);
    const seconds = (performance.now() - started) / 1000;
    const marks = await source.marks();
    return {
      ...{ prepayments, seconds, cpuMs: (user + system) / 1000 / prepayments },
      requests: sumOf(marks, 'requests', ['unallocatedpayment.list']),
      writes: sumOf(marks, 'requests', ['unallocatedpayment.partial_update']),
      weight: sumOf(marks, 'weight', ['unallocatedpayment.list']) / leastWeight(source.counts, 'unallocatedpayment'),
    };
  } finally {
    await app?.close();
    await engine.dispose();
    source.stop();
  }
}

/** Pulls and posts the prepayments. Returns their number, and a function that writes them back. */
async function posted(app: App): Promise<{ prepayments: number; writeBack: () => Promise<unknown> }> {
  const { db } = app;
  const [installation] = app.config.installations;
  if (installation === undefined) throw new Error('the configuration has no installation');
  const { id, timezone, dialect, keepRaw } = installation;
  const client = app.practice(id);
  const transact = transactionsOf(db);
  const context: PullContext = {
    ...{ installation: id, timezone, dialect, keepRaw, client, db, transact },
    ...{ owner: 'window', run: 'bench', priority: priorities.live, overlapMs: 0, onProgress: () => undefined },
    findOwnEchoes: ownEchoes(db, id, dialect),
  };
  const { seen } = await pullList(context, 'prepayment', {}, null);
  await applyMapping(db, installation, { actedBy: 'the bench', reason: 'made' });
  await postWaiting(
    db,
    installation,
    postingContexts(installation, async () => null, app.clock),
    {
      ...{ windowId: null, finalRound: true, transact, onProgress: () => undefined },
    },
  );
  const reader = new PageReader(context, 'prepayment');
  const never = new AbortController().signal;
  const ports = {
    ...{ db, transact, record: transact, signal: never, onProgress: () => undefined },
    pause: () => Promise.reject(new Error('nothing fails here')),
    refresh: (_kind: string, ids: readonly number[], isLarge: boolean) => reader.read(ids, isLarge),
    roomInMs: client.writeRoomInMs,
    elapsed: () => performance.now(),
    read: () => Promise.reject(new Error('the records carry it')),
    send: (document: Parameters<typeof client.writeExternalId>[0]) => client.writeExternalId(document),
    onRefused: () => undefined,
  };
  return { prepayments: seen, writeBack: () => writeBackEntryIds(installation, ports, { lane: 'live', token: 1 }) };
}
