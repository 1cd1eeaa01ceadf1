import type { App } from '../runtime/app.ts';
import { nameOnQueue } from '../runtime/request-deliveries.ts';

/** The note of a schedule that we have paused because no process serves its installation any more. */
export const orphanNote = 'no process serves the installation';

/**
 * The Temporal Schedule that opens an installation's windows on a task queue. Another queue has one of its own, so that daemons
 * with different queues leave each other's alone.
 */
export function scheduleId(app: Pick<App, 'temporalName' | 'config'>, installation: number): string {
  return `sync-window/${nameOnQueue(app, installation)}`;
}
