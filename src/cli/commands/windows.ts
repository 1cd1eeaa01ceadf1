import { recordedWindows } from '../../queries/windows.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import type { CommandContext } from '../context.ts';
import { windowsTable } from '../render/window.ts';
import { withApp } from '../with-app.ts';

/** The latest windows and how they ended. */
export function windows(
  context: CommandContext,
  options: { installation?: number; failed?: true; limit: number },
): Promise<number> {
  return withApp(context, { temporal: false }, async ({ db, config }) => {
    const ids = chosenInstallations(config, options.installation).map(({ id }) => id);
    const failedOnly = options.failed === true;
    const found = await recordedWindows(db, ids, { failedOnly, limit: options.limit });
    await context.result({ windows: found }, () => {
      if (found.length > 0) return windowsTable(found);
      return failedOnly ? 'No window failed.' : 'No window has run yet; start with `vetledger sync`.';
    });
    return 0;
  });
}
