import type { InstallationConfig } from '../config/load-config.ts';
import type { Db } from '../db/pool.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { priorities } from '../practice/budget.ts';
import type { BudgetUsage } from '../practice/budget-store.ts';
import type { PracticeClient } from '../practice/client.ts';
import { actionOf, type Dialect, limitOf } from '../records/dialect.ts';
import { readDefaultPageSizes } from '../sync/capabilities/server.ts';
import type { PullOwner } from '../sync/context.ts';
import {
  estimateLoad,
  type ListLoad,
  ListProgress,
  type LoadEstimate,
  type Pace,
  savingSeconds,
} from '../sync/load-estimate.ts';
import { type ListLeft, recordsLeft } from '../sync/records-left.ts';
import { pullStep } from '../sync/streams.ts';
import { receivedIn } from '../sync/walk/count-proof.ts';
import { type InstallationId, type RecordKind, recordKinds } from '../terms.ts';

/** Counting stops after this long: the rate budget is in use, or the window will report what is wrong with the source. */
export const countTimeoutMs = 15_000;

type PerList<T> = Record<RecordKind, T>;

export interface LoadPorts {
  db: Db;
  practice(installation: InstallationId): PracticeClient;
  budget(installation: InstallationId): { usage(): Promise<BudgetUsage[]> };
}

/** A full load that is about to begin or to be continued. */
export interface LoadPlan {
  /** Records still to be loaded of each list. */
  records: PerList<number>;
  estimate: LoadEstimate;
  /** Seconds until the list that a step pulls is complete; null for other steps, and once it is. */
  secondsLeft(progress: { step: string; done: number; total: number | null }): number | null;
}

/** What is going to be loaded: by which walks, and for a backfill from which invoice date on. */
export interface LoadRun {
  owner: PullOwner;
  from: string | null;
}

/**
 * Estimates how long a backfill, or a first sync, takes by the installation's rate budgets. What is left of each list is known
 * from the walks of a load that was stopped, or asked of the source with one request of weight 1. Null for a window that asks
 * for changes only, and where the source cannot be asked within 15 s.
 */
export async function planLoad(
  ports: LoadPorts,
  installation: InstallationConfig,
  run: LoadRun,
  signal: AbortSignal,
): Promise<LoadPlan | null> {
  const known = await recordsLeft(ports.db, installation.id, run.owner, run.from);
  if (known === null) return null;
  const ended = AbortSignal.any([signal, AbortSignal.timeout(countTimeoutMs)]);
  try {
    const { records, pageSizes, pace } = await countRecords(ports, installation, known, run.from, ended);
    const loads = await listLoads(ports, installation, records, pageSizes, pace.windowSeconds);
    return planOf(loads, records, pace);
  } catch (error) {
    if (error instanceof PracticeError || ended.aborted) return null;
    throw error;
  }
}

/** The records left of each list, and how fast the source answers. */
async function countRecords(
  ports: LoadPorts,
  { id: installation, dialect, rateWindowSeconds }: InstallationConfig,
  known: PerList<ListLeft>,
  from: string | null,
  signal: AbortSignal,
): Promise<{ records: PerList<number>; pageSizes: PerList<number>; pace: Pace }> {
  const pageSizes = await readDefaultPageSizes(ports.db, installation, dialect);
  const client = ports.practice(installation).forWindow({ signal });
  const pace: Pace = {
    maxPageSize: dialect.max_page_size,
    windowSeconds: rateWindowSeconds,
    latencySeconds: 0,
  };
  const records: PerList<number> = { invoice: 0, row: 0, payment: 0, prepayment: 0 };
  await Promise.all(
    recordKinds.map(async (list) => {
      const { left } = known[list];
      records[list] = left ?? 0;
      if (left !== null) return;
      const filters: Record<string, string> = {};
      if (list === 'invoice' && from !== null) filters.invoice_date__gte = from;
      const askedMs = performance.now();
      const answer = await client.list(list, filters, null, { priority: priorities.backfill });
      const waitedMs = client.counters().byAction[actionOf(dialect, list, 'list')]?.waitedMs ?? 0;
      pace.latencySeconds = Math.max(pace.latencySeconds, (performance.now() - askedMs - waitedMs) / 1000);
      const received = receivedIn(answer);
      if (received > 0 && received < answer.count) pageSizes[list] = received;
      records[list] = answer.count;
    }),
  );
  pace.latencySeconds += savingSeconds;
  return { records, pageSizes, pace };
}

function planOf(loads: PerList<ListLoad>, records: PerList<number>, pace: Pace): LoadPlan {
  const startedMs = performance.now();
  const byStep = new Map(recordKinds.map((list) => [pullStep(list), new ListProgress(loads[list], pace, startedMs)]));
  return {
    records,
    estimate: estimateLoad(Object.values(loads), pace),
    secondsLeft({ step, done, total }) {
      const list = byStep.get(step);
      if (!list || total === null) return null;
      const nowMs = performance.now();
      list.note(done, nowMs);
      return done >= total ? null : list.secondsLeft(total - done, nowMs);
    },
  };
}

/** Each list's load, with its rate budget as it is now. */
export async function listLoads(
  ports: Pick<LoadPorts, 'budget'>,
  { id, dialect }: InstallationConfig,
  records: PerList<number>,
  pageSizes: PerList<number>,
  windowSeconds: number,
): Promise<PerList<ListLoad>> {
  const usage = new Map((await ports.budget(id).usage()).map((budget) => [budget.action, budget]));
  const loadOf = (list: RecordKind) => ({
    ...listLoad(list, dialect, records[list], usage, windowSeconds),
    defaultPageSize: pageSizes[list],
  });
  return {
    invoice: loadOf('invoice'),
    row: loadOf('row'),
    payment: loadOf('payment'),
    prepayment: loadOf('prepayment'),
  };
}

function listLoad(
  list: RecordKind,
  dialect: Dialect,
  records: number,
  usage: ReadonlyMap<string, BudgetUsage>,
  windowSeconds: number,
): Omit<ListLoad, 'defaultPageSize'> {
  const action = actionOf(dialect, list, 'list');
  const budget = usage.get(action);
  return {
    action,
    records,
    limit: budget?.limitNow ?? limitOf(dialect, action),
    // Usage has no expiry per slot; after one rate window, all slots have expired.
    busy: budget && budget.used > 0 ? [{ weight: budget.used, seconds: windowSeconds }] : [],
  };
}
