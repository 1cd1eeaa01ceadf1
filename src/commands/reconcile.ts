import { type App, chosenInstallations, installationOf } from '../app.ts';
import {
  type ReconcileInput,
  type ReconcileReport,
  reconcile as reconcileBooks,
  renderReconcile,
} from '../reconcile/index.ts';
import type { CommandContext } from './context.ts';
import { sourceCounts } from './source-counts.ts';
import { withApp } from './with-app.ts';

/** The equations over the whole books; exit code 1 on a difference. */
export function reconcile(context: CommandContext, options: { installation?: number }): Promise<number> {
  return withApp(context, { temporal: false }, async (app) => {
    const ids = chosenInstallations(app.config, options.installation).map(({ id }) => id);
    const report = await reconcileApp(app, ids, context.note);
    await context.result(report, () => renderReconcile(report));
    return report.ok ? 0 : 1;
  });
}

/** Counts what the source has, and reconciles; `note` is told where the source could not be asked. */
export async function reconcileApp(app: App, ids: number[], note: (line: string) => void): Promise<ReconcileReport> {
  const inputs: ReconcileInput[] = [];
  for (const id of ids) {
    const { currency, decimals, timezone, startDate, dialect } = installationOf(app.config, id);
    inputs.push({
      ...{ id, currency, decimals, timezone, startDate, dialect },
      refundLowersUnused: dialect.prepayment.refund_lowers_unused_amount,
      sourceCounts: await sourceCounts(app, id, note),
    });
  }
  return reconcileBooks(app.db, inputs);
}
