import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rng } from '../../sandbox/src/rng.ts';
import type { PracticeClient } from '../../src/practice/client.ts';
import { installationOf } from '../../src/runtime/app.ts';
import type { PullContext, PullOwner } from '../../src/sync/context.ts';
import { openWithInvoices, walkInvoices } from '../../src/sync/opening.ts';
import { pullPayments } from '../../src/sync/payments.ts';
import { pullChanged } from '../../src/sync/pull-changed.ts';
import { pullRows } from '../../src/sync/pull-rows.ts';
import { completeScan, scanRows } from '../../src/sync/row-scan.ts';
import { forgetWalks, walkOnce } from '../../src/sync/saved-walks.ts';
import { pullStream } from '../../src/sync/streams.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { pullContextOf } from '../support/pull-context.ts';

const ports = {
  pause: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
  sourceNow: () => null,
};
const defaultPage = 50;

class Killed extends Error {}

let clinic: TestClinic;
beforeAll(async () => {
  clinic = await startTestClinic({ seed: 71, invoices: 3_000, rateWindowSeconds: 0.2, overlapSeconds: 60 });
});
afterAll(() => clinic?.stop());

/** The weight of the list requests that the sandbox has granted, by action. */
function listWeights(): Record<string, number> {
  const lists = Object.entries(clinic.sandbox.stats().byAction).filter(([action]) => action.endsWith('.list'));
  return Object.fromEntries(lists.map(([action, { weight }]) => [action, weight]));
}

/** The least weight of the lists: each record once, 50 records for a weight of 1. */
function leastWeights(): Record<string, number> {
  const { invoices, invoiceRows, invoicePayments, prepayments } = clinic.sandbox.clinic;
  const weight = (records: number) => Math.ceil(records / defaultPage);
  return {
    'invoice.list': weight(invoices.size),
    'invoicerow.list': weight(invoiceRows.size),
    'invoicepayment.list': weight(invoicePayments.size),
    'unallocatedpayment.list': weight(prepayments.size),
  };
}

const sum = (weights: Record<string, number>) => Object.values(weights).reduce((total, each) => total + each, 0);

async function spent(work: () => Promise<void>): Promise<Record<string, number>> {
  const before = listWeights();
  await work();
  return Object.fromEntries(
    Object.entries(listWeights()).map(([action, after]) => [action, after - (before[action] ?? 0)]),
  );
}

function contextOf(owner: PullOwner, run: string, client: Pick<PracticeClient, 'list'>): PullContext {
  const { dialect, id, timezone } = installationOf(clinic.app.config, clinic.sandbox.installation);
  const { db } = clinic.app;
  return pullContextOf({ installation: id, timezone, dialect, db, client, owner, run, overlapMs: 60_000 });
}

/** Runs the activities of a stage in parallel. A run does not repeat activities that it has completed. */
type Stage = (activities: Record<string, () => Promise<unknown>>) => Promise<void>;

function stagesOf(completed: Set<string>): Stage {
  return async (activities) => {
    const started = Object.entries(activities)
      .filter(([name]) => !completed.has(name))
      .map(async ([name, activity]) => {
        await activity();
        completed.add(name);
      });
    await Promise.allSettled(started);
    await Promise.all(started);
  };
}

/** Pulls like the workflow of a first window. */
async function firstLoad(context: PullContext, stage: Stage): Promise<void> {
  const now = new Date().toISOString();
  const window = { opened: { sourceTime: now, askedAt: now } };
  await stage({ opening: () => openWithInvoices(context, null) });
  await stage({
    invoices: () => pullStream(context, 'invoice', window, ports),
    prepayments: () => pullStream(context, 'prepayment', window, ports),
    payments: () => pullStream(context, 'payment', window, ports),
    scan: () => scanRows(context),
  });
  await stage({ rows: () => pullStream(context, 'row', window, ports) });
}

/** Pulls like the workflow of a backfill. */
async function backfill(context: PullContext, stage: Stage): Promise<void> {
  await stage({ opening: () => openWithInvoices(context, null) });
  await stage({
    invoices: () => walkInvoices(context, null),
    prepayments: () => walkOnce(context, 'prepayment', '', () => pullChanged(context, 'prepayment', null)),
    payments: () => walkOnce(context, 'payment', '', () => pullPayments(context, null)),
    scan: () => scanRows(context),
  });
  await stage({
    rows: async () => {
      await completeScan(context);
      await pullRows(context, null, ports);
    },
  });
  await forgetWalks(context.db, context.installation, 'backfill');
}

const loads = [
  ['first load', 'window', firstLoad],
  ['backfill', 'backfill', backfill],
] as const;

/** Deletes everything that was pulled. */
async function forgetAll(): Promise<void> {
  for (const table of ['mirror_record', 'mirror_version', 'document', 'sync_cursor', 'sync_walk']) {
    await clinic.rows(`delete from ${table}`);
  }
}

async function expectWhole(): Promise<void> {
  const counts = await clinic.rows<{ kind: string; n: number }>(
    `select kind, count(*) as n from mirror_record where gone_at is null group by kind`,
  );
  const { invoices, invoiceRows, invoicePayments, prepayments } = clinic.sandbox.clinic;
  expect(Object.fromEntries(counts.map(({ kind, n }) => [kind, n]))).toEqual({
    ...{ invoice: invoices.size, row: invoiceRows.size, payment: invoicePayments.size, prepayment: prepayments.size },
  });
  const [stale] = await clinic.rows<{ n: number }>(
    `select count(*) as n from mirror_record where kind = 'invoice' and needs_rows
       and (rows_source_time is null or rows_source_time < rows_fresh_from)`,
  );
  expect(stale!.n).toBe(0);
}

/** Pages of 1,000 would be too few for kills between them. */
const smallPages = (client: PracticeClient): Pick<PracticeClient, 'list'> => ({
  list: (kind, filters, pageSize, options) =>
    client.list(kind, filters, pageSize === null ? null : Math.min(pageSize, 2 * defaultPage), options),
});

/**
 * A process whose client dies at the `nth` request, before sending it or before its answer is saved. Afterwards it
 * answers no call.
 */
class Process {
  /** The number of requests that an earlier process had already sent, by list. */
  readonly repeated: Record<string, number> = {};
  readonly client: Pick<PracticeClient, 'list'>;

  constructor(nth: number, answered: boolean, asked: Set<string>, client: Pick<PracticeClient, 'list'>) {
    let requests = 0;
    this.client = {
      list: async (kind, filters, ...rest) => {
        requests += 1;
        if (requests > nth || (requests === nth && !answered)) throw new Killed();
        const question = JSON.stringify([kind, filters]);
        if (asked.has(question)) this.repeated[kind] = (this.repeated[kind] ?? 0) + 1;
        asked.add(question);
        const answer = await client.list(kind, filters, ...rest);
        if (requests >= nth) throw new Killed();
        return answer;
      },
    };
  }
}

describe.each(loads)('a %s', (_name, owner, load) => {
  test('weighs next to nothing more than its records', { timeout: 120_000 }, async () => {
    await forgetAll();
    const client = clinic.app.practice(4711).forWindow();
    const weights = await spent(() => load(contextOf(owner, 'undisturbed', client), stagesOf(new Set())));
    await expectWhole();
    expect(sum(weights), JSON.stringify([weights, leastWeights()])).toBeLessThanOrEqual(1.02 * sum(leastWeights()));
  });

  test('killed again and again asks for one page of each list again at most', { timeout: 120_000 }, async () => {
    await forgetAll();
    const rng = new Rng(1, 'kills');
    const client = smallPages(clinic.app.practice(4711).forWindow());
    const asked = new Set<string>();
    let runs = 1;
    let stage = stagesOf(new Set());
    for (let kills = 0; ; kills++) {
      // After every third kill, a new run continues: a window after an abandoned one, or a new backfill.
      if (kills % 3 === 2) {
        runs += 1;
        stage = stagesOf(new Set());
      }
      const process = new Process(rng.int(2, 40), rng.chance(0.5), asked, client);
      const ended = await load(contextOf(owner, `run ${runs}`, process.client), stage).then(
        () => true,
        (error: unknown) => {
          if (!(error instanceof Killed)) throw error;
          return false;
        },
      );
      for (const [list, questions] of Object.entries(process.repeated)) expect(questions, list).toBeLessThanOrEqual(1);
      if (!ended) continue;
      expect(kills).toBeGreaterThan(3);
      await expectWhole();
      return;
    }
  });
});

test('a list walked to its end by a process that died before it was noted costs one question more', async () => {
  await forgetAll();
  const context = contextOf('backfill', 'one run', clinic.app.practice(4711).forWindow());
  const first = await pullPayments(context, null);
  const weights = await spent(async () => {
    expect(await pullPayments(context, null)).toMatchObject({ seen: first.seen, pulled: first.pulled });
  });
  expect(weights['invoicepayment.list']).toBe(1);
});
