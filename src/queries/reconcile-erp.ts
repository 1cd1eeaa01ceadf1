import { randomUUID } from 'node:crypto';
import { isApiTarget, isDelivered } from '../config/erp.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { LeaseBusy, LeaseExpired, LeaseLost } from '../db/lease.ts';
import type { Db } from '../db/pool.ts';
import { type Held, withLease } from '../db/with-lease.ts';
import type { Clock } from '../domain/clock.ts';
import { UserError } from '../domain/errors.ts';
import { readBooks } from '../erp/books/read-erp-books.ts';
import { type LookPorts, look } from '../erp/claims/look.ts';
import { companyKeyOf } from '../erp/company.ts';
import type { Delivery } from '../erp/delivery.ts';
import { erpPriorities, pacedTarget } from '../erp/erp-pace.ts';
import { undeliveredThrough } from '../erp/outbox/undelivered.ts';
import { ErpError } from '../erp/port.ts';
import { checkErpBooks } from '../reconcile/e7-erp.ts';
import { reportOf } from '../reconcile/index.ts';
import type { InstallationReport, ReconcileReport } from '../reconcile/reconcile-report.ts';
import { saveVerdicts } from '../reconcile/verdict.ts';

export interface ReconcileErpPorts {
  db: Db;
  databaseId: string;
  delivery: Pick<Delivery, 'target'>;
  /** For the pace of requests. */
  clock: Clock;
}

export interface ReconcileErpOptions {
  /** Everything is read back, not only what has changed since the last time. */
  full: boolean;
  /** Some months are read whole with each reading, and never everything at once but for the first time. */
  inSlices?: boolean;
  signal: AbortSignal;
  onProgress(installation: number, entries: number): void;
  /** Another reading of this installation's books is waited for. */
  onWaiting(installation: number): void;
}

/**
 * Adds E7 to a report, for each installation whose ERP's books can be read back: what the ERP holds is what was delivered. An
 * installation that is delivered in files, or not at all, has none. Whichever way it is delivered, its report is complete only where
 * nothing waits for delivery or was refused. Throws UserError where an ERP cannot be read, or another reading
 * of the same books does not end.
 */
export async function reconcileWithErp(
  ports: ReconcileErpPorts,
  report: ReconcileReport,
  installations: readonly InstallationConfig[],
  options: ReconcileErpOptions,
): Promise<ReconcileReport> {
  const reports: InstallationReport[] = [];
  for (const each of report.installations) {
    const installation = installations.find(({ id }) => id === each.installation);
    reports.push(installation === undefined ? each : await withErp(ports, each, installation, options));
  }
  await saveVerdicts(ports.db, reports);
  return reportOf(reports);
}

async function withErp(
  ports: ReconcileErpPorts,
  report: InstallationReport,
  installation: InstallationConfig,
  options: ReconcileErpOptions,
): Promise<InstallationReport> {
  const { id, erp } = installation;
  if (!isDelivered(erp)) return report;
  const readBack = await withBooks(ports, report, installation, options);
  const undelivered = await undeliveredThrough(ports.db, id, lastDay, erp.from);
  return {
    ...readBack,
    complete: readBack.complete && Object.keys(undelivered).length === 0,
    not_in_erp: undelivered,
  };
}

/** Entries of any date. */
const lastDay = '9999-12-31';

/** Longer than the lease of a killed process lasts. */
export const booksWaitMs = 120_000;

/**
 * Does work as the only reader of an installation's books. Each reading counts on from the last and forgets what it has not seen
 * itself: two at once would forget what the other has just noted. Throws UserError where another does not end in time.
 */
async function onlyReader<Result>(
  ports: { db: Db; clock: Clock; signal: AbortSignal; onWaiting(): void },
  installation: number,
  work: (held: Held) => Promise<Result>,
): Promise<Result> {
  const wait = { holder: `reconcile/${randomUUID()}`, waitMs: booksWaitMs };
  try {
    return await withLease({ ...ports, ...wait }, { installation, lane: 'books' }, work);
  } catch (error) {
    if (error instanceof LeaseBusy) {
      throw new UserError(
        {
          code: 'erp_books_busy',
          message: `Another \`vetledger reconcile --erp\` is reading the books of installation ${installation} back from the ERP, and was not done within ${booksWaitMs / 1000} s.`,
          todo: 'Wait for it to end, and run the command again.',
        },
        4,
      );
    }
    if (!(error instanceof LeaseLost || error instanceof LeaseExpired)) throw error;
    throw new UserError(
      {
        code: 'erp_books_taken_over',
        message: `The reading of the books of installation ${installation} stood still for so long that another \`vetledger reconcile --erp\` could take its place. What it had noted by then stays.`,
        todo: 'Run the command again once the other one has ended: it goes on from there.',
      },
      4,
      error,
    );
  }
}

async function withBooks(
  { db, databaseId, delivery, clock }: ReconcileErpPorts,
  report: InstallationReport,
  installation: InstallationConfig,
  { full, inSlices = false, signal, onProgress, onWaiting }: ReconcileErpOptions,
): Promise<InstallationReport> {
  const { id, erp, decimals } = installation;
  const company = companyKeyOf(erp);
  if (company === null || !isApiTarget(erp)) return report;
  const target = pacedTarget(delivery.target(installation), { db, clock });
  if (target.books === undefined) return report;
  const { ownedAccounts } = erp;
  const { equation, listed } = await onlyReader(
    { db, clock, signal, onWaiting: () => onWaiting(id) },
    id,
    async ({ signal, transact }) => {
      const ports = { db, transact, databaseId, installation, target, ownedAccounts, signal };
      const read = () => readBooks({ ...ports, onProgress: (entries) => onProgress(id, entries) }, { full, inSlices });
      const lookAt = () =>
        lookForOthers({ db, transact, databaseId, target, claim: { company, installation: id }, signal }, full);
      const { balances } = await again(() => lookAt().then(read), { clock, signal }).catch((error: unknown) => {
        throw error instanceof ErpError ? unreadable(installation, error) : error;
      });
      // Still in turn: it is told from what was noted, which the next reading changes.
      return checkErpBooks(db, { id, decimals, company, ownedAccounts, balances });
    },
  );
  return {
    ...report,
    ok: report.ok && equation.ok,
    equations: { ...report.equations, E7: equation },
    erp: listed,
  };
}

/** Looks for entries of other databases, and of this one that it does not know. Throws ErpError. */
async function lookForOthers(
  { signal, ...ports }: Omit<LookPorts, 'ask'> & { signal: AbortSignal },
  full: boolean,
): Promise<void> {
  const request = { signal, priority: erpPriorities.books };
  const isComplete = await look({ ...ports, ask: (send) => send(request) }, { full, claims: false });
  if (!isComplete) throw new ErpError('doubt', 'it did not show all entries with keys of vetledger');
}

/** Pauses before further attempts: a delivery beside it locks the ERP for a moment. What was noted by then stays. */
const pausesMs = [1_000, 5_000, 20_000];

async function again<Result>(
  read: () => Promise<Result>,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<Result> {
  for (const pauseMs of pausesMs) {
    try {
      return await read();
    } catch (error) {
      const isPassing = error instanceof ErpError && (error.means === 'locked' || error.means === 'throttled');
      if (!isPassing) throw error;
      await clock.sleep(Math.max(pauseMs, error.retryAfterMs ?? 0), signal);
    }
  }
  return read();
}

function unreadable({ id, erp }: InstallationConfig, error: ErpError): UserError {
  return new UserError(
    {
      code: 'erp_unreadable',
      message: `The books of installation ${id} could not be read back from the ERP (${erp.kind}): ${error.message}`,
      todo: 'Check with `vetledger erp check` that the ERP can be reached and the API user may read; then run the command again.',
    },
    3,
    error,
  );
}
