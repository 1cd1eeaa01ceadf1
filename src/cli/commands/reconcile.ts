import { reconcileWithSource } from '../../queries/reconcile.ts';
import { chosenBooks } from '../books.ts';
import type { CommandContext } from '../context.ts';
import { reconcileText } from '../render/reconcile.ts';
import { noteText } from '../render/reconcile-notes.ts';
import { withApp } from '../with-app.ts';

/** The equations over the whole books; exit code 1 on a difference. */
export function reconcile(context: CommandContext, options: { installation?: number }): Promise<number> {
  return withApp(context, { temporal: false }, async (app) => {
    const chosen = await chosenBooks(app, options.installation);
    const report = await reconcileWithSource(app, chosen, (installation, note) =>
      context.note(noteText(installation, note)),
    );
    await context.result(report, () => reconcileText(report));
    return report.ok ? 0 : 1;
  });
}
