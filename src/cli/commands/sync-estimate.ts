import type { StepProgress } from '../../../activities/context.ts';
import { PracticeError } from '../../domain/practice-error.ts';
import { priorities } from '../../practice/budget.ts';
import { actionOf, type Dialect, limitOf } from '../../records/dialect.ts';
import { type App, installationOf } from '../../runtime/app.ts';
import { about, estimateLoad, estimateText, type ListLoad, ListProgress, type Pace } from '../../sync/estimate.ts';
import { applyFacts, type PullOwner } from '../../sync/pull.ts';
import { recordsLeft } from '../../sync/remaining.ts';
import { pullStep, streamNames } from '../../sync/streams.ts';
import { type RecordKind, recordKinds } from '../../terms.ts';

/** Counting gives up after this long: the budget is busy, or the window's opening will tell what is wrong. */
const countingMs = 15_000;
/** What a page takes beside its answer, to be saved. */
const savingSeconds = 0.05;

interface Counted {
  records: Record<RecordKind, number>;
  pace: Pace;
}

/** A full load that is about to begin or to go on: every record of an installation. */
export interface LoadPlan {
  /** `about 61 minutes: invoicerow is the limit (…)`. */
  text: string;
  seconds: number;
  /** What is left of a list that is being pulled, in words; null for every other step. */
  left(progress: StepProgress): string | null;
}

/**
 * What a backfill, or a first sync, will take of an installation's rate budgets: by the walks that a stopped one left, else by
 * one request of weight 1 for each list. Null for a window that asks for changes only, and where nothing can be counted now.
 */
export async function planLoad(
  app: App,
  installation: number,
  run: { trigger: string; from?: string | null },
  signal: AbortSignal,
): Promise<LoadPlan | null> {
  const owner: PullOwner = run.trigger === 'backfill' ? 'backfill' : 'window';
  const from = run.from ?? null;
  const known = await recordsLeft(app.db, installation, owner, from);
  if (known === null) return null;
  const ended = AbortSignal.any([signal, AbortSignal.timeout(countingMs)]);
  try {
    return await planOf(app, installation, await count(app, installation, known, from, ended));
  } catch (error) {
    if (error instanceof PracticeError || ended.aborted) return null;
    throw error;
  }
}

/** The records that are left of each list, and how fast the source answers. */
async function count(
  app: App,
  installation: number,
  known: Record<RecordKind, number | null>,
  from: string | null,
  signal: AbortSignal,
): Promise<Counted> {
  const { dialect, rateWindowSeconds, timezone } = installationOf(app.config, installation);
  await applyFacts(app.db, { installation, timezone, dialect });
  const client = app.practice(installation).forWindow({ signal });
  const pace: Pace = {
    defaultPageSize: dialect.default_page_size,
    maxPageSize: dialect.max_page_size,
    windowSeconds: rateWindowSeconds,
    latencySeconds: 0,
  };
  const records = { invoice: 0, row: 0, payment: 0, prepayment: 0 };
  await Promise.all(
    recordKinds.map(async (stream) => {
      const left = known[stream];
      records[stream] = left ?? 0;
      if (left !== null) return;
      const filters: Record<string, string> = {};
      if (stream === 'invoice' && from !== null) filters.invoice_date__gte = from;
      const askedMs = performance.now();
      const answer = await client.list(stream, filters, null, { priority: priorities.backfill });
      const waitedMs = client.counters().byAction[actionOf(dialect, stream, 'list')]?.waitedMs ?? 0;
      pace.latencySeconds = Math.max(pace.latencySeconds, (performance.now() - askedMs - waitedMs) / 1000);
      const received = answer.results.length;
      if (received > 0 && received < answer.count) pace.defaultPageSize = received;
      records[stream] = answer.count;
    }),
  );
  pace.latencySeconds += savingSeconds;
  return { records, pace };
}

async function planOf(app: App, installation: number, { records, pace }: Counted): Promise<LoadPlan> {
  const { dialect } = installationOf(app.config, installation);
  const loads = await loadsOf(app, installation, dialect, records, pace.windowSeconds);
  const estimate = estimateLoad(Object.values(loads), pace);
  const startedMs = performance.now();
  const running = new Map(
    recordKinds.map((stream) => [pullStep(stream), new ListProgress(loads[stream], pace, startedMs)]),
  );
  const toLoad = recordKinds.map((stream) => `${records[stream]} ${streamNames[stream]}`).join(', ');
  return {
    text: `${estimateText(estimate)} (${toLoad} to load)`,
    seconds: estimate.seconds,
    left({ step, done, total: records }) {
      const list = running.get(step);
      if (!list || records === null) return null;
      const nowMs = performance.now();
      list.note(done, nowMs);
      return done >= records ? null : `${about(list.secondsLeft(records - done, nowMs))} left`;
    },
  };
}

/** Each list's load with its budget as it stands now. */
async function loadsOf(
  app: App,
  installation: number,
  dialect: Dialect,
  records: Record<RecordKind, number>,
  windowSeconds: number,
): Promise<Record<RecordKind, ListLoad>> {
  const usage = new Map((await app.budget(installation).usage()).map((budget) => [budget.action, budget]));
  const loadOf = (stream: RecordKind): ListLoad => {
    const action = actionOf(dialect, stream, 'list');
    const budget = usage.get(action);
    return {
      action,
      records: records[stream],
      limit: budget?.limitNow ?? limitOf(dialect, action),
      // When each part of it is free again is not known; all of it is after a window.
      busy: budget && budget.used > 0 ? [{ weight: budget.used, seconds: windowSeconds }] : [],
    };
  };
  return Object.fromEntries(recordKinds.map((stream) => [stream, loadOf(stream)])) as Record<RecordKind, ListLoad>;
}
