import { givesNumbers } from '../src/config/erp.ts';
import type { InstallationConfig } from '../src/config/load.ts';
import { transactionsOf } from '../src/db/lease.ts';
import { companyKeyOf } from '../src/erp/company.ts';
import { isBarred, sourceBar } from '../src/ledger/copies.ts';
import { pullByIds } from '../src/sync/by-id.ts';
import { closeSourcePeriods } from '../src/writeback/close-periods.ts';
import { type NumberReport, writeBackNumbers } from '../src/writeback/numbers.ts';
import type { ActivityDeps } from './deps.ts';
import type { Heartbeat } from './heartbeat.ts';
import { sourceAccess } from './source-access.ts';

/** A later time is left to the deliveries that the daemon begins. */
const longestWaitMs = 300_000;
/** While the practice software is down. */
const downPauseMs = 60_000;

const nothingToTell: NumberReport = { written: 0, left: 0, taken: 0, nextDueMs: null, waitingFor: null };

/**
 * A step of the delivery run: tells the practice software the ERP's numbers of delivered documents, for `longestMs` at most. What it refuses never fails
 * the delivery. The mirror is written without the lease of a lane: of each record the later answer stands, whoever asked.
 */
export async function tellNumbers(
  deps: ActivityDeps,
  configured: InstallationConfig,
  heartbeat: Heartbeat,
  longestMs: number,
): Promise<NumberReport> {
  if (!givesNumbers(configured.erp)) return nothingToTell;
  if (await isBarred(deps.db, sourceBar(configured.baseUrl))) return nothingToTell;
  const installation = configured.id;
  const { signal } = heartbeat;
  const transact = transactionsOf(deps.db);
  const { context, client } = sourceAccess(deps, { installation, kind: 'window' }, heartbeat, transact);
  const report = await writeBackNumbers(
    configured,
    {
      ...{ db: deps.db, transact, signal },
      clock: { elapsed: () => performance.now() },
      refresh: (kind, ids) => pullByIds(context, kind, ids),
      send: (document) => client.writeDocumentId(document, context.priority),
      read: (document) => client.readExternalId(document, context.priority),
      onProgress: (done) => heartbeat.beat({ step: 'writing back numbers', done, total: null }),
      onRefused: ({ kind, id }, { code, message }) =>
        deps.log.warn({ installation, document: `${kind} ${id}`, code }, message),
    },
    { longestMs },
  );
  const { erp } = configured;
  const company = companyKeyOf(erp);
  if (erp.kind === 'tryton' && erp.closeSourcePeriods && company !== null && report.waitingFor === null) {
    await closeSourcePeriods(installation, company, {
      ...{ db: deps.db, transact, client, signal },
      onClosed: (department, through) =>
        deps.log.info({ installation, department, through }, 'the period is closed in the practice software, too'),
      onRefused: (department, message) => deps.log.warn({ installation, department }, message),
    });
  }
  return { ...report, nextDueMs: nextSliceMs(report) };
}

/** Until a slice is worth its while for the numbers alone; null: the next that begins anyway, after five minutes at most, will do. */
function nextSliceMs({ nextDueMs, waitingFor }: NumberReport): number | null {
  if (nextDueMs === null || nextDueMs > longestWaitMs) return null;
  return waitingFor === null ? nextDueMs : Math.max(nextDueMs, downPauseMs);
}
