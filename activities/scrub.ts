import { changedIdentity } from '../src/bookkeeping/identity.ts';
import { releaseLease, takeLease } from '../src/db/lease.ts';
import { scrubSlice } from '../src/sync/scrub/scrub.ts';
import type { ScrubInput, ScrubReport } from '../workflows/messages.ts';
import { type ActivityDeps, installationOf } from './deps.ts';
import { isServedElsewhere } from './elsewhere.ts';
import { ownHolder, withHeartbeat } from './heartbeat.ts';
import { sourceAccess } from './source-access.ts';

/**
 * Requests per slice. The position is saved after each request; a slice only limits what a cancelled activity leaves
 * undone.
 */
const requestsAtMost = 50;
/** Pause before a process that may not scrub now checks again. */
const elsewherePauseMs = 60_000;
/** Pause before the next slice, if another process serves the installation. */
const soonMs = 1_000;

export function scrubActivities(deps: ActivityDeps) {
  return {
    /** Reads the part of the scrub's pass that is due. */
    async scrubSlice(input: ScrubInput): Promise<ScrubReport> {
      const configured = deps.installations.get(input.installation);
      if (await isServedElsewhere(deps, input.installation)) return { state: 'elsewhere', pauseMs: soonMs };
      if (!configured || configured.scrubDays === 0) return { state: 'off', pauseMs: 0 };
      if (!deps.scrubs) return { state: 'elsewhere', pauseMs: elsewherePauseMs };
      return withHeartbeat(deps, input, async (heartbeat): Promise<ScrubReport> => {
        const installation = installationOf(deps, input.installation);
        // If the source does not belong to these books, no request is sent.
        if (await changedIdentity(deps.db, installation)) return { state: 'elsewhere', pauseMs: elsewherePauseMs };
        const lease = await takeLease(deps.db, { installation: installation.id, lane: 'scrub' }, ownHolder());
        if (lease === null) return { state: 'elsewhere', pauseMs: elsewherePauseMs };
        const { transact } = heartbeat.hold(lease);
        try {
          const { context } = sourceAccess(deps, { ...input, kind: 'scrub' }, heartbeat, transact);
          return await scrubSlice(context, {
            days: installation.scrubDays,
            minShare: installation.scrubMinShare,
            requestsAtMost,
            now: deps.clock,
          });
        } finally {
          await releaseLease(deps.db, lease);
        }
      });
    },
  };
}
