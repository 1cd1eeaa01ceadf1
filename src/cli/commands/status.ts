import { type InstallationStatus, installationStatuses, statusSummary } from '../../queries/status.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import { servedInstallations } from '../../runtime/presence.ts';
import { temporalStatus } from '../../windows/temporal-status.ts';
import { untakenTicks } from '../../windows/untaken.ts';
import type { CommandContext } from '../context.ts';
import { statusText, summaryText, temporalLines } from '../render/status.ts';
import { withApp } from '../with-app.ts';

export interface StatusOptions {
  installation?: number;
  check?: true;
}

/**
 * Lag, health and its cause of every installation; of one, its rate budgets, states and problems, too; and whether Temporal answers,
 * without which no window opens.
 */
export function status(context: CommandContext, options: StatusOptions): Promise<number> {
  return withApp(context, { temporal: false }, async (app) => {
    const { db, config, clock } = app;
    const chosen = chosenInstallations(config, options.installation);
    const { schedule, sealKey } = config;
    const temporal = await temporalStatus(config, db);
    const installations: InstallationStatus[] = await installationStatuses(
      {
        ...{ db, now: clock(), schedule, taskQueue: config.temporal.taskQueue },
        served: await servedInstallations(db, config.temporal.taskQueue),
        ticks: temporal?.ok ? await untakenTicks(app, temporal.address) : [],
        ...{ seals: sealKey !== null, temporal: temporal?.error ?? null },
      },
      chosen,
    );
    const summary = statusSummary(installations);
    await context.result({ summary, temporal, installations }, () => {
      const [only, ...more] = installations;
      const text = only !== undefined && more.length === 0 ? statusText(only) : summaryText(summary, installations);
      return [...temporalLines(temporal), text].join('\n');
    });
    return options.check && (summary.late > 0 || temporal?.ok === false) ? 1 : 0;
  });
}
