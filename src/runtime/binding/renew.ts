import type { Client } from '@temporalio/client';
import { UserError } from '../../domain/errors.ts';
import type { App } from '../app.ts';
import { ensureBound } from './bind.ts';
import { whereDatabaseIs } from './noted.ts';

/** A database whose disk was put back is noticed by an incarnation that is behind, so it must not stay the same for long. */
const renewEveryMs = 3_600_000;
/** How soon a standby that has taken over is noticed: its binding is renewed then, so that the server before it is behind. */
const lookEveryMs = 5_000;

export interface Renewing {
  /** Rejects where Temporal has come to know another state of this database than its own; never resolves. */
  failed: Promise<never>;
  stop(): Promise<void>;
}

/**
 * Renews the incarnation every hour, and as soon as PostgreSQL is on another timeline. What fails for another reason than a copy is tried
 * again with the next one.
 */
export function startRenewing(
  app: App,
  client: Client,
  { everyMs, lookMs } = { everyMs: renewEveryMs, lookMs: lookEveryMs },
): Renewing {
  let timeline: string | null = null;
  let fail: (error: UserError) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined);
  const renew = async () => {
    try {
      await ensureBound(app, client, { renews: true });
      return true;
    } catch (err) {
      if (err instanceof UserError && err.code === 'database_copied') fail(err);
      else app.log.warn({ err }, 'the binding to Temporal was not renewed; it is tried again');
      return false;
    }
  };
  const look = async () => {
    // An outage shows in the heartbeats.
    const now = await whereDatabaseIs(app.presenceDb).catch(() => null);
    if (now === null || now.timeline === null || now.timeline === timeline) return;
    if (timeline === null || (await renew())) timeline = now.timeline;
  };
  let running = look();
  const then = (work: () => Promise<unknown>) => {
    running = running.then(async () => {
      await work();
    });
  };
  const timers = [setInterval(() => then(renew), everyMs), setInterval(() => then(look), lookMs)];
  return {
    failed,
    stop: async () => {
      for (const timer of timers) clearInterval(timer);
      await running;
    },
  };
}
