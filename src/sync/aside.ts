import { asideIds } from '../mirror/put-aside.ts';
import { endUnseen, type Place, unusablePlaces } from '../mirror/unusable.ts';
import type { ListAnswer } from '../practice/client.ts';
import type { RecordKind } from '../terms.ts';
import { pullByIds } from './by-id.ts';
import { ignoredFilters, noteIgnored } from './capabilities/filters.ts';
import { unlessRefused } from './capabilities/refused.ts';
import type { PullContext } from './context.ts';
import { saveAnswer } from './save-answer.ts';
import { isWholeList } from './walk/count-proof.ts';

/**
 * Asks again for what was put aside of a list, `atMost` of each sort: by its id what has one, by its place what has none. False where
 * a place could not be looked at, so that only the whole list can tell whether such a record still shows.
 */
export async function pullAside(context: PullContext, kind: RecordKind, atMost: number): Promise<boolean> {
  const { db, installation } = context;
  await pullByIds(context, kind, await asideIds(db, installation, kind, atMost));
  let isKnown = true;
  for (const place of await unusablePlaces(db, installation, kind, atMost)) {
    const answer = await answerAt(context, kind, place);
    if (answer === null) {
      isKnown = false;
      continue;
    }
    await saveAnswer(context, kind, answer, async (trx, saved) => {
      await context.watch?.saved(trx, kind, saved);
      await endUnseen(trx, installation, kind, answer.askedAt, { place });
    });
  }
  return isKnown;
}

/** All that a list has between two ids, in one answer; null where that cannot be had. */
async function answerAt(context: PullContext, kind: RecordKind, { above, below }: Place): Promise<ListAnswer | null> {
  const { client, db, installation, priority, transact } = context;
  const filters = {
    ...(above === null ? {} : { id__gt: String(above) }),
    ...(below === null ? {} : { id__lt: String(below) }),
  };
  const ignored = await ignoredFilters(db, installation, kind);
  if (Object.keys(filters).some((filter) => ignored.has(filter))) return null;
  const answer = await unlessRefused(
    () => client.list(kind, filters, null, { priority }),
    filters,
    (filter) => transact((trx) => noteIgnored(trx, installation, kind, filter)),
  );
  if (answer === null || !isWholeList(answer)) return null;
  const isBetween = ({ id }: { id: number }) => (above === null || id > above) && (below === null || id < below);
  return answer.results.every(isBetween) ? answer : null;
}
