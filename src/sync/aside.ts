import { PracticeError } from '../domain/practice-error.ts';
import { asideIds, type DueAside, dueAside, invoicesOfAside, markRequestedAgain } from '../mirror/put-aside.ts';
import { endUnseen, unusablePlaces } from '../mirror/put-unusable-aside.ts';
import { invalidateRowSets } from '../mirror/row-sets.ts';
import type { ListAnswer } from '../practice/client.ts';
import type { Place } from '../records/unusable.ts';
import type { RecordKind } from '../terms.ts';
import { pullByIds } from './by-id.ts';
import { invoicesPerRequest } from './by-invoice.ts';
import { ignoredFilters, noteIgnored } from './capabilities/filters.ts';
import { unlessRefused } from './capabilities/refused-filter.ts';
import type { PullContext } from './context.ts';
import { pullRowSets } from './pull-row-sets.ts';
import { doubtedSetsAtMost } from './pull-rows.ts';
import { saveAnswer } from './save-answer.ts';
import { isWholeList } from './walk/count-proof.ts';

/** Requests of one window for what was put aside, beside those for row sets. */
const placesAtMost = 4;

/**
 * Asks again, in a window, for what was put aside and is due: most of it was one wrong answer. It asks for the ids between which a
 * record stands; the sets of rows become stale, so that the window fetches them. What that cannot tell, or what makes the request fail,
 * is left to the census. Before rows are pulled: the rows of an invoice that comes back are fetched with them. Costs no request where
 * nothing is due.
 */
export async function askAsideAgain(context: PullContext): Promise<void> {
  const { db, installation, transact } = context;
  const found = await dueAside(db, installation, { sets: invoicesPerRequest, places: placesAtMost });
  if (found.length === 0) return;
  const invoices = [...new Set(found.flatMap(({ invoice }) => invoice ?? []))].slice(
    0,
    await doubtedSetsAtMost(context),
  );
  const due = found.filter(({ invoice }) => invoice === null || invoices.includes(invoice));
  // Noted before: a request that never succeeds is not repeated by each attempt of the window.
  await transact(async (trx) => {
    await markRequestedAgain(trx, installation, due);
    await invalidateRowSets(trx, installation, invoices);
  });
  const places = new Map<string, Pick<DueAside, 'kind' | 'place'>>();
  for (const { kind, place, invoice } of due) {
    if (invoice === null) places.set(JSON.stringify([kind, place]), { kind, place });
  }
  for (const { kind, place } of places.values()) {
    try {
      await lookAt(context, kind, place);
    } catch (error) {
      if (!(error instanceof PracticeError)) throw error;
    }
  }
}

/**
 * Asks again for what was put aside of a list, `atMost` of each sort: rows with the sets of their invoices, by its id what has one, by its
 * place what has none. False where a place could not be looked at, so that only the whole list can tell whether such a record still shows.
 */
export async function pullAside(context: PullContext, kind: RecordKind, atMost: number): Promise<boolean> {
  const { db, installation } = context;
  const invoices = kind === 'row' ? await invoicesOfAside(db, installation, invoicesPerRequest) : [];
  if (invoices.length > 0) await pullRowSets(context, invoices);
  await pullByIds(context, kind, await asideIds(db, installation, kind, atMost));
  let isKnown = true;
  for (const place of await unusablePlaces(db, installation, kind, atMost)) {
    isKnown = (await lookAt(context, kind, place)) && isKnown;
  }
  return isKnown;
}

/** Takes what stands at a place, and ends what does not any more; false where that cannot be told. */
async function lookAt(context: PullContext, kind: RecordKind, place: Place): Promise<boolean> {
  const answer = await answerAt(context, kind, place);
  if (answer === null) return false;
  await saveAnswer(context, kind, answer, async (trx, saved) => {
    await context.watch?.saved(trx, kind, saved);
    await endUnseen(trx, context.installation, kind, answer.askedAt, { place });
  });
  return true;
}

/** All that a list has at a place, in one answer; null where that cannot be had. */
async function answerAt(context: PullContext, kind: RecordKind, place: Place): Promise<ListAnswer | null> {
  const { client, db, installation, priority, transact } = context;
  const { above, below } = place;
  const filters = {
    ...place.filters,
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
