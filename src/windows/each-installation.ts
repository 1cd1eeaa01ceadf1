import type { Client } from '@temporalio/client';
import { forEachAtATime } from '../domain/concurrency.ts';
import type { App } from '../runtime/app.ts';
import type { Engine } from '../runtime/worker.ts';

/** Limit of Temporal's answers about one installation, and about its list of Schedules. */
const answerWithinMs = 10_000;

/** Limits the time of work with Temporal. Otherwise a hanging server would block everything after it. */
export function answered<Result>(client: Pick<Client, 'withDeadline'>, work: () => Promise<Result>): Promise<Result> {
  return client.withDeadline(Date.now() + answerWithinMs, work);
}

/** Whether PostgreSQL or Temporal is known not to answer. The outage itself is logged elsewhere. */
export function hasOutage({ outages }: Pick<App, 'outages'>): boolean {
  return outages.of('temporal') !== null || outages.of('postgres') !== null;
}

/**
 * Does the work for every installation, `atATime` in parallel. An error of one installation is logged with `failure`,
 * and the others continue. An outage ends the work and is thrown.
 */
export async function eachInstallation<One extends { installation: number }>(
  app: Pick<App, 'log' | 'outages'>,
  { client }: Pick<Engine, 'client'>,
  some: readonly One[],
  { failure, atATime = 1, signal }: { failure: string; atATime?: number; signal?: AbortSignal | undefined },
  work: (one: One) => Promise<void>,
): Promise<void> {
  await forEachAtATime(atATime, some, async (one) => {
    if (signal?.aborted) return;
    try {
      await answered(client, () => work(one));
    } catch (err) {
      if (hasOutage(app)) throw err;
      app.log.warn({ err, installation: one.installation }, failure);
    }
  });
}
