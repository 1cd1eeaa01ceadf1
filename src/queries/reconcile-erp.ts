import { randomUUID } from 'node:crypto';
import { isApiTarget, isDelivered } from '../config/erp.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { LeaseBusy, LeaseExpired, LeaseLost } from '../db/lease.ts';
import type { Db } from '../db/pool.ts';
import { type Held, withLease } from '../db/with-lease.ts';
import type { Clock } from '../domain/clock.ts';
import { UserError } from '../domain/errors.ts';
import { readBooks } from '../erp/books/read-erp-books.ts';
import { type SearchPorts, searchForeign } from '../erp/claims/search-foreign.ts';
import { companyKeyOf } from '../erp/company.ts';
import type { Delivery } from '../erp/delivery.ts';
import { erpPriorities, pacedTarget } from '../erp/erp-pace.ts';
import { undeliveredThrough } from '../erp/outbox/undelivered.ts';
import { ErpError } from '../erp/port.ts';
import { checkErpBooks } from '../reconcile/e7-erp.ts';
import { reportOf } from '../reconcile/index.ts';
import type { InstallationReport, ReconcileReport } from '../reconcile/reconcile-report.ts';
import { saveVerdicts } from '../reconcile/verdict.ts';
import { reconcileErrors } from '../texts/errors/reconcile.ts';

export interface ReconcileErpPorts {
  db: Db;
  databaseId: string;
  delivery: Pick<Delivery, 'target'>;
  /** Limits the rate of requests. */
  clock: Clock;
}

export interface ReconcileErpOptions {
  /** Whether to read everything back, instead of only changes since the last reading. */
  full: boolean;
  /** Whether to read only some months completely with each reading, and everything only the first time. */
  inSlices?: boolean;
  signal: AbortSignal;
  onProgress(installation: number, entries: number): void;
  /** The reading calls this if another reading of the installation's books must end first. */
  onWaiting(installation: number): void;
}

/**
 * Adds E7 to the report of each installation whose ERP can be read back: it compares the entries in the ERP with the
 * delivered units. An installation that is delivered in files, or not delivered, has no E7. Its report is complete only
 * if no unit waits for delivery or was refused. Throws UserError if an ERP cannot be read, or if another reading of the
 * same books does not end in time.
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

/** A last day that covers entries of any date. */
const lastDay = '9999-12-31';

/** The wait for another reading. It is longer than the lease of a killed process. */
export const booksWaitMs = 120_000;

/**
 * Runs work as the only reader of an installation's books. Each reading continues from the previous reading and deletes
 * results that it did not see again. Two parallel readings would therefore delete each other's results. Throws
 * UserError if another reading does not end in time.
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
      throw new UserError(reconcileErrors.booksBusy({ installation, seconds: booksWaitMs / 1000 }), 4);
    }
    if (!(error instanceof LeaseLost || error instanceof LeaseExpired)) throw error;
    throw new UserError(reconcileErrors.booksTakenOver({ installation }), 4, error);
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
      const { balances } = await withRetries(() => lookAt().then(read), { clock, signal }).catch((error: unknown) => {
        throw error instanceof ErpError ? unreadable(installation, error) : error;
      });
      // The equation is computed under the lease, because the equation uses the stored results, which the next reading
      // changes.
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

/** Looks for entries of other databases, and for own entries that this database does not know. Throws ErpError. */
async function lookForOthers(
  { signal, ...ports }: Omit<SearchPorts, 'ask'> & { signal: AbortSignal },
  full: boolean,
): Promise<void> {
  const request = { signal, priority: erpPriorities.books };
  const isComplete = await searchForeign({ ...ports, ask: (send) => send(request) }, { full, claims: false });
  if (!isComplete) throw new ErpError('doubt', reconcileErrors.entriesNotShown);
}

/** Pauses before further attempts, since a parallel delivery may lock the ERP briefly. Stored results stay. */
const pausesMs = [1_000, 5_000, 20_000];

async function withRetries<Result>(
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
  const plain = reconcileErrors.erpUnreadable({ installation: id, kind: erp.kind, reason: error.message });
  return new UserError(plain, 3, error);
}
