import { recordedWindows } from '../../queries/windows.ts';
import { type App, chosenInstallations } from '../../runtime/app.ts';
import { gapsOf } from '../../sync/replay/coverage-of.ts';
import { named } from '../books.ts';
import type { CommandContext } from '../context.ts';
import { gapsDocument, gapsText } from '../render/gaps.ts';
import { windowsTable, windowsTodo } from '../render/window.ts';
import { withApp } from '../with-app.ts';

interface WindowsOptions {
  installation?: number;
  failed?: true;
  gaps?: true;
  limit: number;
}

/** The latest windows and how they ended; with --gaps whether they have left a gap. */
export function windows(context: CommandContext, options: WindowsOptions): Promise<number> {
  return withApp(context, { temporal: false }, async (app) => {
    const { db, config } = app;
    const ids = chosenInstallations(config, options.installation).map(({ id }) => id);
    if (options.gaps) return gaps(context, app, ids);
    const failedOnly = options.failed === true;
    const found = await recordedWindows(db, ids, { failedOnly, limit: options.limit });
    const windows = named(config, found);
    await context.result({ windows }, () => {
      if (found.length > 0)
        return [windowsTable(windows), windowsTodo(found)].filter((part) => part !== null).join('\n\n');
      return failedOnly ? 'No window failed.' : 'No window has run yet; start with `vetledger sync`.';
    });
    return 0;
  });
}

/** Exit code 1 where something was left unread between two windows. */
async function gaps(context: CommandContext, { db }: App, installations: readonly number[]): Promise<number> {
  const reports: Parameters<typeof gapsText>[0][] = [];
  for (const installation of installations) reports.push({ installation, ...(await gapsOf(db, installation)) });
  await context.result(gapsDocument(reports), () => reports.map(gapsText).join('\n'));
  return reports.some((report) => report.gaps.length > 0) ? 1 : 0;
}
