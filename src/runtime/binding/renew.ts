import type { Client } from '@temporalio/client';
import { UserError } from '../../domain/errors.ts';
import type { App } from '../app.ts';
import { ensureBound } from './bind.ts';

/** A database whose disk was put back is noticed by an incarnation that is behind, so it must not stay the same for long. */
const renewEveryMs = 3_600_000;

export interface Renewing {
  /** Rejects where Temporal has come to know another state of this database than its own; never resolves. */
  failed: Promise<never>;
  stop(): Promise<void>;
}

/** Renews the incarnation every hour. What fails for another reason is tried again with the next one. */
export function startRenewing(app: App, client: Client, everyMs = renewEveryMs): Renewing {
  let running = Promise.resolve();
  let fail: (error: UserError) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined);
  const renew = async () => {
    try {
      await ensureBound(app, client, { renews: true });
    } catch (err) {
      if (err instanceof UserError && err.code === 'database_copied') fail(err);
      else app.log.warn({ err }, 'the binding to Temporal was not renewed; it is tried again in an hour');
    }
  };
  const timer = setInterval(() => {
    running = running.then(renew);
  }, everyMs);
  return {
    failed,
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
}
