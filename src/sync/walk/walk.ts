import type { ListAnswer } from '../../practice/client.ts';
import { idDimension } from './dimensions.ts';
import { divide } from './divide.ts';
import { type Part, Questions, Unbounded } from './questions.ts';
import type { WalkOptions, WalkPorts, WalkResult, WalkState } from './types.ts';

export { pageSizeFor } from './questions.ts';
export * from './types.ts';

/**
 * Walks one list of the source completely, whatever its order (DESIGN "Sync: a walk is believed only when it proves itself").
 *
 * - A single page whose `count` fits is complete in any order.
 * - Keyset: pages asked by `id__gt` stand only if each answer's `count` falls by just the records received before it; where the
 *   list is not ascending, it is asked for with `ordering=id`.
 * - Where neither comes in the order of ids, or the proof keeps failing, the list is divided (src/sync/walk/divide.ts).
 */
export async function walk(ports: WalkPorts, options: WalkOptions): Promise<WalkResult> {
  const questions = new Questions(ports, options, [idDimension, ...options.dimensions]);
  const { after, resume } = options;
  let start = resume ?? blank(after);
  let first: ListAnswer | null = null;
  if (questions.bounds(idDimension, 'lower')) {
    for (const ordered of questions.ignored.has('ordering') ? [false] : [false, true]) {
      const left = await ascend(questions, start, ordered).catch(unlessUnbounded);
      if (left === 'complete') return { received: questions.received, began: questions.began! };
      if (left === 'unbounded') {
        first = null;
        break;
      }
      start = blank(left.low);
      first = left.answer;
    }
  }
  for (;;) {
    const bounded = questions.bounds(idDimension, 'lower');
    // Without a lower bound the whole list is asked for, and what was proven of it is received again.
    const low = bounded ? start.proven : after;
    const part: Part = bounded && low !== null ? { id: { from: low + 1, to: null } } : {};
    const outcome = await divide(questions, options.dimensions, part, bounded ? first : null, low).catch(
      unlessUnbounded,
    );
    if (outcome !== 'unbounded') return { received: questions.received, began: questions.began! };
    first = null;
  }
}

function unlessUnbounded(error: unknown): 'unbounded' {
  if (error instanceof Unbounded) return 'unbounded';
  throw error;
}

function blank(after: number | null): WalkState {
  return { proven: after, after, expected: null, open: null, received: 0, began: null };
}

/** Answers in a row that do not follow from the one before, until another way is taken. */
const keysetTries = 3;

/** What a walk by ascending ids leaves to be done: everything above `low`; `answer` is the beginning of that. */
interface Left {
  low: number | null;
  answer: ListAnswer | null;
}

async function ascend(questions: Questions, from: WalkState, ordered: boolean): Promise<'complete' | Left> {
  const above = (id: number | null, pageSize: number | null) =>
    questions.first(id === null ? {} : { id: { from: id + 1, to: null } }, pageSize, ordered);
  let { proven, after, expected, open } = from;
  let mismatches = 0;
  let empties = 0;
  let answer: ListAnswer | null = null;
  for (;;) {
    // The first page goes without page_size: it weighs 1, and teaches the default and the count.
    answer ??= await above(after, expected === null ? null : questions.size(expected));
    if (expected !== null && answer.count !== expected) {
      // Inserted or deleted meanwhile, or not in the order of ids: where the counts agree now, the page before stands all the same.
      if (++mismatches > keysetTries) return { low: proven, answer: null };
      const again = await above(proven, null);
      if (open === null || again.count - answer.count !== open) {
        [after, expected, open, answer] = [proven, null, null, again];
        continue;
      }
    }
    if (expected !== null) mismatches = 0;
    // Everything up to `after` is proven.
    proven = after;
    const ids = answer.results.map(({ id }) => id);
    if (ids.length >= answer.count) {
      // In whatever order: taken up again, the walk has only to see that there is nothing above.
      const last = ids.reduce((highest, id) => Math.max(highest, id), after ?? 0);
      await questions.save(answer, { proven: last, after: last, expected: null, open: null });
      return 'complete';
    }
    if (ids.length === 0) {
      if (++empties > keysetTries) return { low: proven, answer: null };
      [expected, open, answer] = [answer.count, 0, null];
      continue;
    }
    // A record listed twice in a row (a join gone wrong in the server) does not change the order.
    if (ids.some((id, i) => i > 0 && id < ids[i - 1]!)) {
      if (ordered) await questions.note('ordering');
      return { low: proven, answer };
    }
    empties = 0;
    [after, expected, open] = [ids[ids.length - 1]!, answer.count - ids.length, ids.length];
    await questions.save(answer, { proven, after, expected, open });
    answer = null;
  }
}
