import type { App } from '../runtime/app.ts';
import { nameOnQueue } from '../runtime/request-deliveries.ts';
import { startedTexts } from '../texts/temporal.ts';

/** The note of a schedule that vetledger paused because no process serves its installation any more. */
export const orphanNote = startedTexts.unserved;

/**
 * The id of the Temporal Schedule that starts an installation's windows on a task queue. Each task queue has its own,
 * so that daemons with different queues do not interfere.
 */
export function scheduleId(app: Pick<App, 'temporalName' | 'config'>, installation: number): string {
  return `sync-window/${nameOnQueue(app, installation)}`;
}
