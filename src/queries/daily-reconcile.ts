import { isApiTarget } from '../config/erp.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import type { Clock } from '../domain/clock.ts';
import type { Ed25519Key } from '../domain/signature.ts';
import { priorities } from '../practice/budget.ts';
import type { InstallationReport } from '../reconcile/reconcile-report.ts';
import { type chainNames, saveChainVerdict } from '../reconcile/verdict.ts';
import { type ChainReport, chainReport } from './ledger.ts';
import { refreshUsage } from './mapping-shown.ts';
import { type ReconcileNote, type ReconcilePorts, reconcileWithSource } from './reconcile.ts';
import { type ReconcileErpPorts, reconcileWithErp } from './reconcile-erp.ts';

export interface DailyPorts extends ReconcilePorts, Pick<ReconcileErpPorts, 'databaseId' | 'delivery'> {
  /** Limits the rate of requests to the ERP. */
  erpClock: Clock;
  /** The key pair whose public key checks the seals. Null if seals are not checked. */
  sealKey: Ed25519Key | null;
  signal: AbortSignal;
}

/** The result for one installation. */
export interface DailyResult {
  report: InstallationReport;
  chain: ChainReport;
  /** Names of the failed checks: equations, `chain`, `seals`. */
  failing: string[];
}

/**
 * Runs the checks of `reconcile` and `ledger verify`, and reads the ERP's books back if possible, with the lowest
 * priority. Stores the verdict. Throws the error that ended the checks early; results stored before that error are
 * kept.
 */
export async function reconcileDaily(
  ports: DailyPorts,
  installation: InstallationConfig,
  onNote: (note: ReconcileNote) => void,
): Promise<DailyResult> {
  const { db, signal, sealKey } = ports;
  const { id } = installation;
  const practice = (of: number) => ports.practice(of).forWindow({ signal });
  const own = await reconcileWithSource({ ...ports, practice, priority: priorities.scrub }, [installation], (_, note) =>
    onNote(note),
  );
  const chain = await chainReport(db, id, { key: sealKey ?? undefined, signal });
  const broken = brokenNames(chain);
  await saveChainVerdict(db, id, broken);
  const whole = isApiTarget(installation.erp)
    ? await reconcileWithErp({ ...ports, clock: ports.erpClock }, own, [installation], {
        ...{ full: false, inSlices: true, signal },
        onProgress: () => undefined,
        onWaiting: () => onNote({ reason: 'waiting_for_reading' }),
      })
    : own;
  // Last, so that the results of the checks are stored even if a large clinic exceeds the limit of a statement.
  await refreshUsage(db, installation, ports.clock());
  const [report] = whole.installations;
  if (report === undefined) throw new Error(`installation ${id} was not reconciled`);
  const equations = Object.entries(report.equations).flatMap(([name, { ok }]) => (ok ? [] : [name]));
  return { report, chain, failing: [...equations, ...broken] };
}

function brokenNames({ broken, seals }: ChainReport): (typeof chainNames)[number][] {
  return [...(broken === null ? [] : ['chain' as const]), ...(seals?.ok === false ? ['seals' as const] : [])];
}
