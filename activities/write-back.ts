import { givesNumbers } from '../src/config/erp.ts';
import type { InstallationConfig } from '../src/config/load-config.ts';
import { type Transact, transactionsOf } from '../src/db/lease.ts';
import type { Connection } from '../src/db/rows.ts';
import { refreshStatistics, refreshStatisticsFromRows } from '../src/db/statistics.ts';
import { companyKeyOf } from '../src/erp/company.ts';
import { isBarred, sourceBar } from '../src/ledger/adoption.ts';
import { PageReader } from '../src/sync/read-again.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import type { RecordKind } from '../src/terms.ts';
import { stepTexts } from '../src/texts/steps.ts';
import { closeSourcePeriods } from '../src/writeback/close-periods.ts';
import { writeBackEntryIds } from '../src/writeback/entry-ids.ts';
import { type NumberReport, writeBackNumbers } from '../src/writeback/numbers.ts';
import type { WriteBackPorts } from '../src/writeback/write-back.ts';
import type { ApiUse, WindowInput } from '../workflows/messages.ts';
import { type ActivityDeps, installationOf } from './deps.ts';
import { type Heartbeat, withLease } from './heartbeat.ts';
import { type SourceAccess, sourceAccess } from './source-access.ts';

export interface WriteBackReport {
  /** Prepayments whose entry id was seen in the source after it was written. */
  written: number;
  /** Prepayments whose entry id the source accepted, but has not shown yet. */
  unconfirmed: number;
  api: ApiUse;
}

export function writeBackActivities(deps: ActivityDeps) {
  return {
    /**
     * Writes the entry ids of posted prepayments to the source. A refusal by the source never fails the window. If the
     * ERP gives numbers, the window writes nothing: the delivery writes the number later. A copy of the books writes
     * nothing either.
     */
    async writeBack(input: WindowInput, window: OpenWindow): Promise<WriteBackReport> {
      return withLease(deps, input, window, async (heartbeat, { lease, transact, record }) => {
        const configured = installationOf(deps, input.installation);
        const source = sourceAccess(deps, input, heartbeat, transact);
        if (!(await writesBack(deps.db, configured))) return { written: 0, unconfirmed: 0, api: heartbeat.use() };
        const ports = writeBackPorts(deps, heartbeat, source, { transact, record });
        const { confirmed: written, unconfirmed } = await writeBackEntryIds(configured, ports, lease);
        if (written >= refreshStatisticsFromRows) await refreshStatistics(deps.db, 'writeBack');
        return { written, unconfirmed, api: heartbeat.use() };
      });
    },
  };
}

function writeBackPorts(
  { db, log }: ActivityDeps,
  heartbeat: Heartbeat,
  { context, client }: SourceAccess,
  writer: { transact: Transact; record: Transact },
): WriteBackPorts {
  const { installation, priority } = context;
  const readers = new Map<RecordKind, PageReader>();
  const readerOf = (kind: RecordKind) => {
    const reader = readers.get(kind) ?? new PageReader(context, kind);
    readers.set(kind, reader);
    return reader;
  };
  return {
    ...{ db, ...writer, signal: heartbeat.signal, pause: heartbeat.pause },
    refresh: (kind, ids, isLarge) => readerOf(kind).read(ids, isLarge),
    roomInMs: (kind, writes) => client.writeRoomInMs(kind, writes),
    elapsed: () => performance.now(),
    read: (document) => client.readExternalId(document, priority),
    send: (document) => client.writeExternalId(document, priority),
    onProgress: (done) => heartbeat.beat({ step: stepTexts.writingBack, done, total: null }),
    onRefused: ({ kind, id }, { code, message }) =>
      log.warn({ installation, document: `${kind} ${id}`, code }, message),
  };
}

/** Whether windows write entry ids to the source at all. */
export async function writesBack(db: Connection, { erp, baseUrl }: InstallationConfig): Promise<boolean> {
  return !givesNumbers(erp) && !(await isBarred(db, sourceBar(baseUrl)));
}

/** Work that is due later is left to the deliveries that the daemon starts. */
const longestWaitMs = 300_000;
/** Pause while the practice software does not answer. */
const downPauseMs = 60_000;

const nothingWritten: NumberReport = { written: 0, left: 0, taken: 0, nextDueMs: null, waitingFor: null };

/**
 * A step of the delivery: writes the ERP's numbers of delivered documents to the practice software, for at most
 * `longestMs`. A refusal by the source never fails the delivery. It updates the mirror without a lane's lease: the
 * later answer about a record wins.
 */
export async function writeNumbersBack(
  deps: ActivityDeps,
  configured: InstallationConfig,
  heartbeat: Heartbeat,
  longestMs: number,
): Promise<NumberReport> {
  const { id: installation, erp } = configured;
  if (!givesNumbers(erp)) return nothingWritten;
  if (await isBarred(deps.db, sourceBar(configured.baseUrl))) return nothingWritten;
  const transact = transactionsOf(deps.db);
  const source = sourceAccess(deps, { installation, kind: 'window' }, heartbeat, transact);
  const endMs = performance.now() + longestMs;
  const ports = writeBackPorts(deps, heartbeat, source, { transact, record: transact });
  const report = await writeBackNumbers(configured, ports, () => performance.now() >= endMs);
  const company = companyKeyOf(erp);
  if (erp.kind === 'tryton' && erp.closeSourcePeriods && company !== null && report.waitingFor === null) {
    await closeSourcePeriods(installation, company, {
      ...{ db: deps.db, transact, client: source.client, signal: heartbeat.signal },
      onClosed: (department, through) =>
        deps.log.info({ installation, department, through }, 'the period was also closed in the practice software'),
      onRefused: (department, message) => deps.log.warn({ installation, department }, message),
    });
  }
  return { ...report, nextDueMs: nextSliceMs(report) };
}

/**
 * Milliseconds until the numbers alone justify a slice; null if the next regular slice, at most five minutes away, is
 * early enough.
 */
function nextSliceMs({ nextDueMs, waitingFor }: NumberReport): number | null {
  if (nextDueMs === null || nextDueMs > longestWaitMs) return null;
  return waitingFor === null ? nextDueMs : Math.max(nextDueMs, downPauseMs);
}
