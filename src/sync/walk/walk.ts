import type { ListAnswer } from '../../practice/client.ts';
import { idDimension } from './dimensions.ts';
import { divide } from './divide-range.ts';
import { readByKeyset } from './keyset.ts';
import type { WalkOptions, WalkPorts, WalkResult, WalkState } from './types.ts';
import { type RangeFilter, Unbounded, WalkRequests } from './walk-requests.ts';

/**
 * Reads one list of the source completely, in any order, and proves it by the counts (count-proof.ts):
 *
 * 1. Keyset pagination by `id__gt` (keyset.ts), first in the list's order, then with `ordering=id`. A list of a single
 *    page ends here.
 * 2. If pages are not in the order of ids, or the counts keep mismatching: division into ranges, and pages by offset
 *    (divide-range.ts).
 *
 * Throws ListUnprovable if neither can be proven, and FilterIgnored if the server ignores a filter of `options.base`.
 */
export async function walk(ports: WalkPorts, options: WalkOptions): Promise<WalkResult> {
  const requests = new WalkRequests(ports, options, [idDimension, ...options.dimensions]);
  const { after, resume } = options;
  let start = resume ?? stateAt(after);
  let firstPage: ListAnswer | null = null;
  if (requests.boundOf(idDimension, 'lower')) {
    for (const ordered of requests.ignored.has('ordering') ? [false] : [false, true]) {
      const unread = await readByKeyset(requests, start, ordered, options.expectedRecords ?? null).catch(
        unlessUnbounded,
      );
      if (unread === 'complete') return resultOf(requests);
      if (unread === 'unbounded') {
        firstPage = null;
        break;
      }
      start = stateAt(unread.low);
      firstPage = unread.answer;
    }
  }
  for (;;) {
    const isBounded = requests.boundOf(idDimension, 'lower') !== undefined;
    // Without a lower bound of ids the whole list is read, including records that are proven already.
    const low = isBounded ? start.proven : after;
    const ranges: RangeFilter = isBounded && low !== null ? { id: { from: low + 1, to: null } } : {};
    const outcome = await divide(requests, options.dimensions, ranges, isBounded ? firstPage : null, low).catch(
      unlessUnbounded,
    );
    if (outcome !== 'unbounded') return resultOf(requests);
    firstPage = null;
  }
}

function resultOf({ received, began }: WalkRequests): WalkResult {
  if (began === null) throw new Error('a walk ended without an answer');
  return { received, began };
}

function unlessUnbounded(error: unknown): 'unbounded' {
  if (error instanceof Unbounded) return 'unbounded';
  throw error;
}

function stateAt(after: number | null): WalkState {
  return { proven: after, after, expected: null, open: null, received: 0, began: null };
}
