import type { scrub } from '../../workflows/index.ts';
import { longRuns } from '../../workflows/messages.ts';
import { labelOf } from '../domain/installation-name.ts';
import type { App } from '../runtime/app.ts';
import type { Engine } from '../runtime/worker.ts';
import { startedTexts } from '../texts/temporal.ts';

/**
 * Starts the scrub of each installation whose configuration has one; a running scrub continues. A scrub ends
 * automatically when the configuration turns it off, and pauses without a daemon. If its run fails or Temporal ends it,
 * Temporal starts another one.
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
      staticSummary: startedTexts.scrub({ label: labelOf({ id, name }) }),
      staticDetails: startedTexts.scrubDetails({ label: labelOf({ id, name }), days: scrubDays }),
    });
  }
}

function scrubId(app: App, installation: number): string {
  return `scrub/${installation}-${app.temporalName}`;
}
