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

/** Time limit of counting: the rate budget may be in use, or the source may fail, which the window reports. */
export const countTimeoutMs = 15_000;

type PerList<T> = Record<RecordKind, T>;

export interface LoadPorts {
  db: Db;
  practice(installation: InstallationId): PracticeClient;
  budget(installation: InstallationId): { usage(): Promise<BudgetUsage[]> };
}

/** A full load that is about to begin or to be continued. */
export interface LoadPlan {
  /** Records of each list that are still to be loaded. */
  records: PerList<number>;
  estimate: LoadEstimate;
  /** Seconds until the list of this step is complete; null for other steps, and after completion. */
  secondsLeft(progress: { step: string; done: number; total: number | null }): number | null;
}

/** The load: by which walks, and for a backfill from which invoice date. */
export interface LoadRun {
  owner: PullOwner;
  from: string | null;
}

/**
 * Estimates the duration of a backfill or a first sync from the installation's rate budgets. The remaining records of
 * each list are known from the walks of a stopped load, or counted by the source with one request of weight 1. Null for
 * a window that reads only changes, and if the source does not answer within 15 s.
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

/** The remaining records of each list, and how fast the source answers. */
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

/** The load of each list, with the current state of its rate budget. */
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
    // The usage does not show when each used weight expires. After one rate window, all of it has expired.
    busy: budget && budget.used > 0 ? [{ weight: budget.used, seconds: windowSeconds }] : [],
  };
}
