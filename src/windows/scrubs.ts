import type { scrub } from '../../workflows/index.ts';
import { longRuns } from '../../workflows/messages.ts';
import { labelOf } from '../domain/installation-name.ts';
import type { App } from '../runtime/app.ts';
import type { Engine } from '../runtime/worker.ts';

/**
 * Starts the scrub of each installation that wants one, or lets the running one go on. A scrub ends by itself once its
 * installation no longer wants it; without a daemon it rests. Where its run fails or Temporal ends it, Temporal begins another one.
 */
export async function startScrubs(app: App, engine: Engine): Promise<void> {
  for (const { id, name, scrubDays } of app.config.installations) {
    if (scrubDays === 0) continue;
    await engine.client.workflow.start<typeof scrub>('scrub', {
      workflowId: scrubId(app, id),
      taskQueue: engine.backfillQueue,
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowRunTimeout: longRuns.scrub.runTimeout,
      retry: { initialInterval: '5 minutes', maximumInterval: '1 hour' },
      args: [{ installation: id }],
      staticSummary: `scrub of installation ${labelOf({ id, name })}`,
      staticDetails: `Reads every record of installation **${labelOf({ id, name })}** once more in ${scrubDays} days, behind all other requests, and compares it with the mirror. \`vetledger status\` shows how far it is.`,
    });
  }
}

function scrubId(app: App, installation: number): string {
  return `scrub/${installation}-${app.temporalName}`;
}
