import { judgingBatch } from '../src/bookkeeping/judge-documents.ts';
import { knownLockDates } from '../src/bookkeeping/lock-dates.ts';
import { withMappingInForce } from '../src/bookkeeping/mapping-versions.ts';
import { postWaiting } from '../src/bookkeeping/post.ts';
import { postInvoicesInLoad, postPrepaymentsInLoad } from '../src/bookkeeping/post-in-load.ts';
import { postingContexts } from '../src/bookkeeping/posting-context.ts';
import { describeUnexpected } from '../src/db/database-errors.ts';
import { countWaiting } from '../src/documents/count.ts';
import { leftText, loadLeft } from '../src/sync/load-left.ts';
import { acceptNextSets, scanSoFar } from '../src/sync/scan-so-far.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import { stepTexts } from '../src/texts/steps.ts';
import { countUnwrittenEntryIds } from '../src/writeback/entry-ids.ts';
import type { ApiUse, WindowInput } from '../workflows/messages.ts';
import { type ActivityDeps, installationOf, lockDates } from './deps.ts';
import { withLease } from './heartbeat.ts';
import { sourceAccess } from './source-access.ts';
import { writesBack } from './write-back.ts';

export interface PostReport {
  /** Entries appended, including reversals. */
  posted: number;
  /** Documents held afterwards. */
  held: number;
  /** Documents whose parts must be fetched again before the final judgement. */
  refetch: number;
  /** The cost of reading lock dates. */
  api: ApiUse;
}

/** The progress of posting during a first load. */
export interface LoadPosted {
  posted: number;
  /** Whether the next pass may find more to post at once. */
  isMore: boolean;
  /** An estimate of the rest of the load, in words; null until each list has shown its count. */
  left: string | null;
  /** The cost of reading lock dates. */
  api: ApiUse;
}

export function postActivities(deps: ActivityDeps) {
  return {
    /** Judges and posts all waiting documents. With `last`, also those whose parts could not be fetched again. */
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
              'posting failed; the document is held',
            ),
          onProgress: (judged) => heartbeat.beat({ step: stepTexts.posting, done: judged, total: null }),
        });
        const { held, wanted } = await countWaiting(deps.db, installation.id);
        return { posted, held, refetch: wanted, api: heartbeat.use() };
      });
    },

    /**
     * Posts documents during a first load that later records of the load cannot change: prepayments, and invoices whose
     * row sets the scan already covers, with their payments.
     */
    async postInLoad(input: WindowInput, window: OpenWindow): Promise<LoadPosted> {
      return withLease(deps, input, window, async (heartbeat, { transact }) => {
        const { db } = deps;
        const installation = await withMappingInForce(db, installationOf(deps, input.installation));
        const lockDateOf = lockDates(deps, installation.id, heartbeat, transact);
        const contextFor = postingContexts(installation, lockDateOf, deps.clock);
        const poster = { db, installation, contextFor, windowId: window.id, transact };
        const beat = (done: number) => heartbeat.beat({ step: stepTexts.posting, done, total: null });
        const prepayments = await postPrepaymentsInLoad(poster);
        let posted = prepayments.entries;
        beat(posted);
        if (prepayments.isMore) return { posted, isMore: true, left: null, api: heartbeat.use() };
        const { context } = sourceAccess(deps, input, heartbeat, transact);
        const scan = await scanSoFar(context);
        for (let after = 0; scan !== null; ) {
          const sets = await acceptNextSets(context, scan, { after, limit: judgingBatch });
          const last = sets.at(-1);
          if (last === undefined) break;
          posted += await postInvoicesInLoad(poster, sets);
          beat(posted);
          after = last;
        }
        const writes = (await writesBack(db, installation)) ? await countUnwrittenEntryIds(db, installation.id) : 0;
        const elapsedSeconds = (deps.clock().getTime() - Date.parse(window.opened.askedAt)) / 1000;
        const windowSeconds = installation.rateWindowSeconds;
        const left = await loadLeft(context, { writes, windowSeconds, elapsedSeconds });
        return { posted, isMore: false, left: left && leftText(left), api: heartbeat.use() };
      });
    },
  };
}
