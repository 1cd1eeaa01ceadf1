import type { ListAnswer } from '../../practice/client.ts';
import { doubtfulIn, expectedCountAfter, isExpected, isPageProven, isWholeList, receivedIn } from './count-proof.ts';
import { isAscending } from './order.ts';
import type { WalkState } from './types.ts';
import type { WalkRequests } from './walk-requests.ts';

/** After this number of consecutive count mismatches or empty pages, the list is divided instead. */
const mismatchesAtMost = 3;

/**
 * What keyset pagination left unread: everything above `low`. `answer` is the first page of that, if it was received.
 */
export interface Unread {
  low: number | null;
  answer: ListAnswer | null;
}

/**
 * Keyset pagination: pages above the last received id, in ascending order of ids. A page is accepted if the next
 * answer's count fits (count-proof.ts). It ends if the list is complete, if a page is not ascending, or if counts keep
 * mismatching. `ordered` requests `ordering=id`.
 */
export async function readByKeyset(
  requests: WalkRequests,
  start: WalkState,
  ordered: boolean,
  expectedRecords: number | null,
): Promise<'complete' | Unread> {
  const pageAbove = (id: number | null, pageSize: number | null) =>
    requests.firstPage(id === null ? {} : { id: { from: id + 1, to: null } }, pageSize, ordered);
  let { proven, after, expected, open, copies = 0 } = start;
  let mismatches = 0;
  let emptyPages = 0;
  let answer: ListAnswer | null = null;
  for (;;) {
    // If the number of records is unknown, the first page is requested without a page size. It has weight 1, and shows
    // the count and the default page size.
    const wanted = expected === null ? expectedRecords : expected + copies;
    answer ??= await pageAbove(after, wanted === null ? null : requests.pageSizeFor(wanted));
    if (expected !== null && !isExpected(answer.count, expected, copies)) {
      mismatches += 1;
      if (mismatches > mismatchesAtMost) return { low: proven, answer: null };
      const again = await pageAbove(proven, null);
      if (open === null || !isPageProven(again.count, answer.count, open, copies)) {
        [after, expected, open, copies, answer] = [proven, null, null, 0, again];
        continue;
      }
    }
    if (expected !== null) mismatches = 0;
    proven = after;
    const ids = answer.results.map(({ id }) => id);
    if (isWholeList(answer)) {
      const highest = ids.reduce((high, id) => Math.max(high, id), after ?? 0);
      await requests.save(answer, { proven: highest, after: highest, expected: null, open: null });
      return 'complete';
    }
    const last = ids.at(-1);
    if (last === undefined) {
      emptyPages += 1;
      if (emptyPages > mismatchesAtMost) return { low: proven, answer: null };
      [expected, open, copies, answer] = [answer.count, 0, 0, null];
      continue;
    }
    // A record that is repeated directly after itself (a faulty join in the server) does not break the order.
    if (!isAscending(ids)) {
      if (ordered) await requests.noteIgnored('ordering');
      return { low: proven, answer };
    }
    emptyPages = 0;
    [after, expected, open, copies] = [last, expectedCountAfter(answer), receivedIn(answer), doubtfulIn(answer)];
    await requests.save(answer, { proven, after, expected, open, ...(copies > 0 ? { copies } : {}) });
    answer = null;
  }
}
