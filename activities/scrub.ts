import { changedIdentity } from '../src/bookkeeping/identity.ts';
import { releaseLease, takeLease } from '../src/db/lease.ts';
import { scrubSlice } from '../src/sync/scrub/scrub.ts';
import type { ScrubInput, ScrubReport } from '../workflows/messages.ts';
import { type ActivityDeps, installationOf } from './deps.ts';
import { isServedElsewhere } from './elsewhere.ts';
import { ownHolder, withHeartbeat } from './heartbeat.ts';
import { sourceAccess } from './source-access.ts';

/** Requests of one slice. What is read is saved with each of them; a slice only bounds what a cancelled activity leaves. */
const requestsAtMost = 50;
/** After so long a process that may not scrub now asks again. */
const elsewherePauseMs = 60_000;
/** After so long the next slice may come to a process that serves the installation. */
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
        // A source that is not the one of these books is not asked.
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
