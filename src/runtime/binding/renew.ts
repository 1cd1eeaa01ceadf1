import type { Client } from '@temporalio/client';
import { UserError } from '../../domain/errors.ts';
import type { App } from '../app.ts';
import { ensureBound } from './bind.ts';
import { whereDatabaseIs } from './noted.ts';

/** A database restored from an old disk is recognised by its old incarnation, so the incarnation must change often. */
const renewEveryMs = 3_600_000;
/**
 * Interval of checks for a standby that has taken over. The binding is then renewed, so that the former server has an
 * old incarnation.
 */
const lookEveryMs = 5_000;

export interface Renewing {
  /** Rejects if Temporal knows a later state of this database than the database itself; never resolves. */
  failed: Promise<never>;
  stop(): Promise<void>;
}

/**
 * Renews the incarnation every hour, and as soon as PostgreSQL is on another timeline. A failure that does not show a
 * copy is retried with the next renewal.
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
      else app.log.warn({ err }, 'the binding to Temporal was not renewed; this is retried');
      return false;
    }
  };
  const look = async () => {
    // The heartbeats report an outage.
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
