import { isApiTarget } from '../config/erp.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import type { Clock } from '../domain/clock.ts';
import type { Ed25519Key } from '../domain/signature.ts';
import { priorities } from '../practice/budget.ts';
import type { InstallationReport } from '../reconcile/reconcile-report.ts';
import { type chainNames, saveChainVerdict } from '../reconcile/verdict.ts';
import { type ChainReport, chainReport } from './ledger.ts';
import { type ReconcileNote, type ReconcilePorts, reconcileWithSource } from './reconcile.ts';
import { type ReconcileErpPorts, reconcileWithErp } from './reconcile-erp.ts';

export interface ByItselfPorts extends ReconcilePorts, Pick<ReconcileErpPorts, 'databaseId' | 'delivery'> {
  /** For the pace of requests to the ERP. */
  erpClock: Clock;
  /** Its public half checks the seals; null: they are not looked at. */
  sealKey: Ed25519Key | null;
  signal: AbortSignal;
}

/** What was found of one installation. */
export interface ByItself {
  report: InstallationReport;
  chain: ChainReport;
  /** Names of what is not as it should be: equations, `chain`, `seals`. */
  failing: string[];
}

/**
 * What `reconcile` and `ledger verify` do, and reading the ERP's books back where that is possible, behind all other requests. The
 * verdict is kept. Throws what keeps it from an end; what was found by then stands.
 */
export async function reconcileByItself(
  ports: ByItselfPorts,
  installation: InstallationConfig,
  onNote: (note: ReconcileNote) => void,
): Promise<ByItself> {
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
  const [report] = whole.installations;
  if (report === undefined) throw new Error(`installation ${id} was not reconciled`);
  const equations = Object.entries(report.equations).flatMap(([name, { ok }]) => (ok ? [] : [name]));
  return { report, chain, failing: [...equations, ...broken] };
}

function brokenNames({ broken, seals }: ChainReport): (typeof chainNames)[number][] {
  return [...(broken === null ? [] : ['chain' as const]), ...(seals?.ok === false ? ['seals' as const] : [])];
}
