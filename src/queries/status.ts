import { integer, oneOf } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import type { PlainError } from '../domain/errors.ts';
import { booksHead } from '../ledger/head.ts';
import { lastSeal } from '../ledger/seals.ts';
import type { BudgetUsage } from '../practice/budget-store.ts';
import { documentKinds, documentStates, type InstallationId, type Remark } from '../terms.ts';
import type { DeliveryStatus } from './deliveries.ts';
import { type ScrubStatus, scrubLateTodo, scrubStatus } from './scrub.ts';
import { newestWindow, type WindowState } from './windows.ts';

/** One installation, as `status --json` prints it. */
export interface InstallationStatus {
  installation: InstallationId;
  /** Age of the source state that the books reflect; null before the first window. */
  lag_seconds: number | null;
  synced_to: Date | null;
  last_window: { outcome: WindowState; opened_at: Date; error: PlainError | null; remarks: Remark[] } | null;
  budgets: {
    action: string;
    limit: number;
    limit_now: number;
    used: number;
    free: number;
    waiting: number;
    blocked_until: Date | null;
  }[];
  states: DocumentStates;
  /** Documents with a problem. */
  problems: number;
  /** The last seal (0: none), and how many links of the chains came after it; null where nothing is sealed. */
  seal: { n: number; seq: number; sealed_at: Date | null; unsealed: number } | null;
  scrub: ScrubStatus;
  /** Null where the books stay in our own PostgreSQL. */
  delivery: DeliveryStatus | null;
  next_step: string;
}

/** How many documents of each kind are in each state. */
type DocumentStates = Record<'invoices' | 'payments' | 'prepayments', Record<string, number>>;

export interface StatusPorts {
  db: Connection;
  budget: { usage(): Promise<BudgetUsage[]> };
  now: Date;
  /** Seconds between two windows of the schedule. */
  everySeconds: number;
  /** Whether the books are sealed (`seal_key`). */
  seals: boolean;
  /** Days of a pass of the scrub; 0: off. */
  scrubDays: number;
}

/** What `status` prints of one installation: lag, last window, rate budgets, states of its documents, and what to do next. */
export async function installationStatus(
  ports: StatusPorts,
  installation: InstallationId,
  delivery: DeliveryStatus | null = null,
): Promise<InstallationStatus> {
  const { db, now, everySeconds } = ports;
  const closed = await newestWindow(db, installation, 'closed');
  const last = await newestWindow(db, installation, null);
  const { states, problems } = await countDocuments(db, installation);
  const lagSeconds = closed?.to ? (now.getTime() - closed.to.getTime()) / 1000 : null;
  const budgets = await ports.budget.usage();
  const scrub = await scrubStatus(db, installation, ports.scrubDays, now);
  const lastError = last?.outcome === 'failed' ? last.error : null;
  return {
    installation,
    lag_seconds: lagSeconds === null ? null : Math.round(lagSeconds),
    synced_to: closed?.to ?? null,
    last_window: last && { outcome: last.outcome, opened_at: last.opened_at, error: lastError, remarks: last.remarks },
    budgets: budgets.map((usage) => ({
      action: usage.action,
      limit: usage.limit,
      limit_now: usage.limitNow,
      used: usage.used,
      free: usage.free,
      waiting: usage.waiting,
      blocked_until: usage.blockedUntil,
    })),
    states,
    problems,
    seal: ports.seals ? await sealState(db, installation) : null,
    scrub,
    delivery,
    next_step: nextStep({
      lagSeconds,
      lastError,
      problems,
      everySeconds,
      isBlocked: budgets.some(({ blockedUntil }) => blockedUntil),
      isScrubLate: scrub.late,
      delivery,
    }),
  };
}

async function sealState(db: Connection, installation: InstallationId): Promise<InstallationStatus['seal']> {
  const head = await booksHead(db, installation);
  const last = (await lastSeal(db, installation)) ?? { n: 0, seq: 0, summaries: 0, sealed_at: null };
  const unsealed = head.seq - last.seq + head.summaries - last.summaries;
  return { n: last.n, seq: last.seq, sealed_at: last.sealed_at, unsealed };
}

const plurals = { invoice: 'invoices', payment: 'payments', prepayment: 'prepayments' } as const;

async function countDocuments(
  db: Connection,
  installation: InstallationId,
): Promise<{ states: DocumentStates; problems: number }> {
  const found = await rows(
    db,
    { kind: oneOf(documentKinds), state: oneOf(documentStates), n: integer, problems: integer },
    `select kind, state, count(*) as n, count(problem_code) as problems from document
     where installation = ? group by kind, state order by kind, state`,
    [installation],
  );
  const states: DocumentStates = { invoices: {}, payments: {}, prepayments: {} };
  let problems = 0;
  for (const each of found) {
    states[plurals[each.kind]][each.state] = each.n;
    problems += each.problems;
  }
  return { states, problems };
}

/** A lag of more schedule intervals than this suggests that no daemon is running. */
const lateIntervals = 3;

function nextStep(now: {
  lagSeconds: number | null;
  lastError: PlainError | null;
  problems: number;
  everySeconds: number;
  isBlocked: boolean;
  isScrubLate: boolean;
  delivery: DeliveryStatus | null;
}): string {
  if (now.isBlocked) {
    return 'Wait: the source asked for a pause (429), and is asked again when it is over. If it asked by mistake, run `vetledger budget reset`.';
  }
  if (now.lastError) return now.lastError.todo;
  if (now.lagSeconds === null) return 'Run `vetledger sync` to load everything for the first time.';
  if (now.problems > 0 || (now.delivery?.refused ?? 0) > 0)
    return 'Run `vetledger problems` to see what is held or refused, and what to do.';
  if (now.lagSeconds > now.everySeconds * lateIntervals) {
    return 'No window closed lately: see that `vetledger run` is up, or run `vetledger sync`.';
  }
  const delivery = now.delivery === null ? null : deliveryStep(now.delivery);
  if (delivery !== null) return delivery;
  if (now.isScrubLate) return scrubLateTodo;
  return 'Nothing to do.';
}

/** What to do about a delivery; null: nothing. */
function deliveryStep({ paused, left, last_error, unapproved }: DeliveryStatus): string | null {
  if (paused) return 'Run `vetledger deliver resume` when the delivery may go on.';
  if (left > 0 && last_error) return 'Run `vetledger erp check`: the ERP cannot be worked with.';
  if (unapproved > 0) {
    return 'Run `vetledger deliver --dry-run`, and then `vetledger deliver --approve --through DATE`: what was loaded waits for consent.';
  }
  return null;
}
