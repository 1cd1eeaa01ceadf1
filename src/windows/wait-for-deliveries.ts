import { isDelivered } from '../config/erp.ts';
import { companyLeaseSeconds } from '../db/lease.ts';
import { sleep } from '../domain/concurrency.ts';
import { foreignIn } from '../erp/claims/claim-store.ts';
import { companyKeyOf } from '../erp/company.ts';
import { countTouched } from '../erp/open-items/item-store.ts';
import { deliveryWaits, type UnitWait } from '../erp/outbox/delivery-waits.ts';
import { companyState, deliveredSince, dueWork } from '../erp/outbox/outbox-queries.ts';
import { type App, installationOf } from '../runtime/app.ts';
import { isDelivering } from '../runtime/request-deliveries.ts';
import type { Engine } from '../runtime/worker.ts';
import { windowOpenedAt } from '../sync/sync-windows.ts';

/**
 * Starts the delivery of each installation now, and repeats it. A process may die after its window closed and before it
 * requested the delivery; otherwise nothing would deliver these units.
 */
export function startDeliveries(app: App, engine: Engine, everyMs: number): { stop(): Promise<void> } {
  // A reload may add installations.
  const delivered = () => app.config.installations.filter(({ erp }) => isDelivered(erp));
  if (delivered().length === 0) return { stop: async () => undefined };
  let running = Promise.resolve();
  let isStopped = false;
  const request = async () => {
    for (const { id } of delivered()) {
      if (isStopped) return;
      try {
        await engine.requestDelivery(id);
      } catch (err) {
        // An outage is logged separately.
        const level = app.outages.of('temporal') === null ? 'warn' : 'debug';
        app.log[level]({ err, installation: id }, 'the delivery could not be started; this is retried');
      }
    }
  };
  const next = () => {
    running = running.then(request);
  };
  next();
  const timer = setInterval(next, everyMs);
  return {
    stop: async () => {
      isStopped = true;
      clearInterval(timer);
      await running;
    },
  };
}

export interface DeliveryProgress {
  installation: number;
  /** Units settled since the wait began. */
  done: number;
  left: number;
  /** Invoices whose open items are not matched in the ERP yet. */
  openItems: number;
}

export interface DeliveryWait {
  /** Limit of the wait; null waits until the deliveries have ended. */
  seconds: number | null;
  /**
   * Stops waiting for an ERP that refuses or does not answer, if no unit was settled for this time. The pause before a
   * unit in doubt is looked up does not count, since no request is sent in it.
   */
  stuckSeconds?: number;
  signal: AbortSignal;
  onProgress?: (progress: DeliveryProgress) => void;
}

const pollMs = 500;

/**
 * Waits until no delivery of these installations is running, so nothing is due. Returns the installations whose
 * deliveries are still running at the end of the wait or after an abort.
 */
export async function waitForDeliveries(
  app: App,
  engine: Engine,
  installations: readonly number[],
  { seconds, stuckSeconds, signal, onProgress }: DeliveryWait,
): Promise<number[]> {
  const deadline = seconds === null ? null : performance.now() + seconds * 1000;
  const waits = new Map(installations.map((id) => [id, new Waiting()]));
  const given: number[] = [];
  for (;;) {
    for (const [id, wait] of waits) {
      const { left } = await dueWork(app.db, id);
      wait.see(left, stuckSeconds === undefined ? null : await doubtOf(app, id));
      onProgress?.({ installation: id, done: wait.most - left, left, openItems: await countTouched(app.db, id) });
      const isStuck = stuckSeconds !== undefined && wait.idleMs() > stuckSeconds * 1000 && (await isInTrouble(app, id));
      if (isStuck) given.push(id);
      if (isStuck || !(await isDelivering(app, engine.client, id))) waits.delete(id);
    }
    const isOver = signal.aborted || (deadline !== null && performance.now() >= deadline);
    if (waits.size === 0 || isOver) return [...given, ...waits.keys()];
    await Promise.race([sleep(pollMs, signal).catch(() => undefined), engine.failed]);
  }
}

/**
 * The remaining units of one installation, and how long their number has not changed although the ERP could be reached.
 */
class Waiting {
  most = 0;
  #left = 0;
  #changedAt = performance.now();
  /** Each of these pauses counts once in a row, because the ERP causes a doubt that directly follows another one. */
  #takenOverAt: number | null = null;
  #looksUpAt: number | null = null;

  see(left: number, doubt: UnitWait | null): void {
    const now = performance.now();
    if (left !== this.#left) {
      this.#changedAt = now;
      this.#takenOverAt = null;
      this.#looksUpAt = null;
    }
    this.#left = left;
    this.most = Math.max(this.most, left);
    if (doubt === null || doubt.inDoubt === 0) return;
    // The lease of a holder that died must expire first.
    this.#takenOverAt ??= now + companyLeaseSeconds * 1000;
    if (doubt.looksUpInMs !== null && doubt.looksUpInMs > 0) this.#looksUpAt ??= now + doubt.looksUpInMs;
  }

  idleMs(): number {
    return performance.now() - Math.max(this.#changedAt, this.#takenOverAt ?? 0, this.#looksUpAt ?? 0);
  }
}

async function doubtOf({ config, db }: App, id: number): Promise<UnitWait | null> {
  const company = companyKeyOf(installationOf(config, id).erp);
  return company === null ? null : ((await deliveryWaits(db, [{ id, company }]))[0] ?? null);
}

/** Whether the last answer of an installation's ERP was an error. */
async function isInTrouble({ config, db }: App, id: number): Promise<boolean> {
  const company = companyKeyOf(installationOf(config, id).erp);
  const state = company === null ? null : await companyState(db, company);
  const { last_error_at: errorAt = null, last_answer_at: answeredAt = null } = state ?? {};
  if (company !== null && (await foreignIn(db, [{ company, installation: id }])).length > 0) return true;
  return errorAt !== null && (answeredAt === null || errorAt > answeredAt);
}

/** Adds to each report the number of units delivered since its window opened. */
export async function withDelivered<Report extends { installation: number; window: number | null; delivered: number }>(
  { db }: Pick<App, 'db'>,
  reports: readonly Report[],
): Promise<Report[]> {
  return Promise.all(
    reports.map(async (report) => {
      const openedAt = report.window === null ? null : await windowOpenedAt(db, report.window);
      const delivered = openedAt === null ? 0 : await deliveredSince(db, report.installation, openedAt);
      return { ...report, delivered };
    }),
  );
}
