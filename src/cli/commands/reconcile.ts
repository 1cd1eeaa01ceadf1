import { UserError } from '../../domain/errors.ts';
import { reconcileWithSource } from '../../queries/reconcile.ts';
import { reconcileWithErp } from '../../queries/reconcile-erp.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { chosenBooks } from '../books.ts';
import type { CommandContext } from '../context.ts';
import { reconcileText } from '../render/reconcile.ts';
import { noteText } from '../render/reconcile-notes.ts';
import { withApp } from '../with-app.ts';

export interface ReconcileCommandOptions {
  installation?: number;
  erp?: true;
  full?: true;
  complete?: true;
}

/**
 * The equations over the whole books, with `erp` those in the ERP, too; exit code 1 on a difference. With `complete`, exit code 1
 * also when anything is outside the books, or nothing in them.
 */
export function reconcile(context: CommandContext, options: ReconcileCommandOptions): Promise<number> {
  const { erp = false, full = false, complete = false } = options;
  if (full && !erp) {
    throw new UserError('usage', '--full is for reading back the ERP.', 'Add --erp, or leave --full out.', 2);
  }
  return withApp(context, { temporal: false }, async (app) => {
    const chosen = await chosenBooks(app, options.installation);
    const ownBooks = await reconcileWithSource(app, chosen, (installation, note) =>
      context.note(noteText(installation, note)),
    );
    const report = erp
      ? await reconcileWithErp({ ...app, clock: systemClock }, ownBooks, chosen, {
          ...{ full, signal: context.signal },
          onProgress: (installation, entries) => app.log.debug({ installation, entries }, 'read back from the ERP'),
          onWaiting: (installation) => context.note(noteText(installation, { reason: 'waiting_for_reading' })),
        })
      : ownBooks;
    await context.result(report, () => reconcileText(report));
    const isWhole = report.complete && !report.installations.some(({ empty }) => empty);
    return report.ok && (isWhole || !complete) ? 0 : 1;
  });
}
