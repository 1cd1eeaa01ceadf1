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
import { refetchedSetsAtMost } from './pull-rows.ts';
import { saveAnswer } from './save-answer.ts';
import { isWholeList } from './walk/count-proof.ts';

/** The most requests of one window for records put aside, beside those for row sets. */
const placesAtMost = 4;

/**
 * Requests records that were put aside again if they are due, since the source may have sent a wrong answer only once.
 * Rows come with the row sets of their invoices, which are marked as stale, so that the window fetches them. Any other
 * record is requested by the range of ids in which it was. The census handles records that this does not find, or whose
 * request fails. It runs before rows are pulled, so that the rows of a recovered invoice are fetched, too. It sends no
 * request if nothing is due.
 */
export async function pullDueAside(context: PullContext): Promise<void> {
  const { db, installation, transact } = context;
  const found = await dueAside(db, installation, { sets: invoicesPerRequest, places: placesAtMost });
  if (found.length === 0) return;
  const invoices = [...new Set(found.flatMap(({ invoice }) => invoice ?? []))].slice(
    0,
    await refetchedSetsAtMost(context),
  );
  const due = found.filter(({ invoice }) => invoice === null || invoices.includes(invoice));
  // The requests are recorded before they are sent, so that further attempts of the window do not repeat a request
  // that always fails.
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
      await pullPlace(context, kind, place);
    } catch (error) {
      if (!(error instanceof PracticeError)) throw error;
    }
  }
}

/**
 * Requests the records put aside of a list, at most `atMost` of each sort. Rows come with the sets of their invoices,
 * records with an id by this id, and others by their place. Returns false if a place could not be read, so that only
 * the whole list can show whether such a record still exists.
 */
export async function pullAside(context: PullContext, kind: RecordKind, atMost: number): Promise<boolean> {
  const { db, installation } = context;
  const invoices = kind === 'row' ? await invoicesOfAside(db, installation, invoicesPerRequest) : [];
  if (invoices.length > 0) await pullRowSets(context, invoices);
  await pullByIds(context, kind, await asideIds(db, installation, kind, atMost));
  let isKnown = true;
  for (const place of await unusablePlaces(db, installation, kind, atMost)) {
    isKnown = (await pullPlace(context, kind, place)) && isKnown;
  }
  return isKnown;
}

/**
 * Pulls the records at a place. Removes put-aside records that are no longer there. Returns false if the place could
 * not be read.
 */
async function pullPlace(context: PullContext, kind: RecordKind, place: Place): Promise<boolean> {
  const answer = await answerAt(context, kind, place);
  if (answer === null) return false;
  await saveAnswer(context, kind, answer, async (trx, saved) => {
    await context.watch?.saved(trx, kind, saved);
    await endUnseen(trx, context.installation, kind, answer.askedAt, { place });
  });
  return true;
}

/** All records of a list at a place, in one answer. Null if one answer cannot contain them. */
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
