import type { Client } from '@temporalio/client';
import { forEachAtATime } from '../domain/concurrency.ts';
import type { App } from '../runtime/app.ts';
import type { Engine } from '../runtime/worker.ts';

/** Longest wait for Temporal's answers about one installation, and for its list of Schedules. */
const answerWithinMs = 10_000;

/** Work with Temporal that ends in time: a server that stands still would otherwise hold up everything after it. */
export function answered<Result>(client: Pick<Client, 'withDeadline'>, work: () => Promise<Result>): Promise<Result> {
  return client.withDeadline(Date.now() + answerWithinMs, work);
}

/** Whether one of the services that all installations need is known to be gone. Its outage is logged by itself. */
export function hasOutage({ outages }: Pick<App, 'outages'>): boolean {
  return outages.of('temporal') !== null || outages.of('postgres') !== null;
}

/**
 * Does the work for every installation, so many at a time. The error of one is logged with `failure`, and keeps none of the others; an
 * outage ends all, and is thrown.
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
