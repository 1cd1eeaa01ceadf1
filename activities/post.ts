import { knownLockDates } from '../src/bookkeeping/lock-dates.ts';
import { withMappingInForce } from '../src/bookkeeping/mapping-versions.ts';
import { postWaiting } from '../src/bookkeeping/post.ts';
import { postingContexts } from '../src/bookkeeping/posting-context.ts';
import { describeUnexpected } from '../src/db/database-errors.ts';
import { countWaiting } from '../src/documents/count.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import type { ApiUse, WindowInput } from '../workflows/messages.ts';
import { type ActivityDeps, installationOf, lockDates } from './deps.ts';
import { withLease } from './heartbeat.ts';

export interface PostReport {
  /** Entries appended, reversals included. */
  posted: number;
  /** Documents held at the end. */
  held: number;
  /** Documents whose parts are to be fetched again before they are judged for good. */
  refetch: number;
  /** For lock dates. */
  api: ApiUse;
}

export function postActivities(deps: ActivityDeps) {
  return {
    /** Judges and posts every document that waits; `last`: even those whose parts could not be fetched again. */
    async post(input: WindowInput, window: OpenWindow, last: boolean): Promise<PostReport> {
      return withLease(deps, input, window, async (heartbeat, { transact }) => {
        const installation = await withMappingInForce(deps.db, installationOf(deps, input.installation));
        const lockDateOf =
          input.span === null
            ? knownLockDates(deps.db, installation.id)
            : lockDates(deps, installation.id, heartbeat, transact);
        const contextFor = postingContexts(installation, lockDateOf, deps.clock);
        const posted = await postWaiting(deps.db, installation, contextFor, {
          windowId: window.id,
          finalRound: last,
          transact,
          onHeld: ({ kind, id }, error) =>
            deps.log.error(
              { installation: installation.id, document: `${kind} ${id}`, ...describeUnexpected(error) },
              'posting failed; held',
            ),
          onProgress: (judged) => heartbeat.beat({ step: 'posting', done: judged, total: null }),
        });
        const { held, wanted } = await countWaiting(deps.db, installation.id);
        return { posted, held, refetch: wanted, api: heartbeat.use() };
      });
    },
  };
}
