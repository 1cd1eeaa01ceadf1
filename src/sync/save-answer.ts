import type { Connection } from '../db/rows.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { savePageOrAside } from '../mirror/put-aside.ts';
import { contradictedIn } from '../mirror/refused-records.ts';
import type { SaveResult } from '../mirror/types.ts';
import type { ListAnswer } from '../practice/client.ts';
import type { RecordKind } from '../terms.ts';
import { ignoredFilters, noteIgnored } from './capabilities/filters.ts';
import { unlessRefused } from './capabilities/refused-filter.ts';
import type { PullContext } from './context.ts';
import { isWholeList, receivedIn } from './walk/count-proof.ts';

/** Records of one answer that are asked for alone, the answer having contradicted itself; the census asks for the others. */
const askedAloneAtMost = 20;

/**
 * Saves an answer together with what `inTransaction` does. An id of which the answer has two versions is put aside and asked for alone
 * (ACCOUNTING P6): one version in an answer of one record is believed. It is asked before anything is saved, so that a pull that ends
 * there asks for the page again.
 */
export async function saveAnswer<T>(
  context: PullContext,
  kind: RecordKind,
  answer: ListAnswer,
  inTransaction: (trx: Connection, saved: SaveResult) => Promise<T>,
): Promise<T> {
  const { findOwnEchoes, transact } = context;
  const alone: ListAnswer[] = [];
  for (const id of contradictedIn(context, kind, answer.results).slice(0, askedAloneAtMost)) {
    const one = await askAlone(context, kind, id);
    if (one !== null) alone.push(one);
  }
  const result = await savePageOrAside(transact, context, kind, answer, findOwnEchoes, inTransaction);
  for (const one of alone) {
    await savePageOrAside(transact, context, kind, one, findOwnEchoes, async (trx, saved) => {
      await context.watch?.saved(trx, kind, saved);
    });
  }
  return result;
}

/** The answer that has one record alone, in one version; null where the source gives none. */
async function askAlone(context: PullContext, kind: RecordKind, id: number): Promise<ListAnswer | null> {
  const { client, db, installation, priority, transact } = context;
  const filters = { id__gt: String(id - 1) };
  if ((await ignoredFilters(db, installation, kind)).has('id__gt')) return null;
  const answer = await unlessRefused(
    () => client.list(kind, filters, 1, { priority }),
    filters,
    (filter) => transact((trx) => noteIgnored(trx, installation, kind, filter)),
  );
  return answer !== null && receivedIn(answer) === 1 && answer.results[0]?.id === id ? answer : null;
}

/** So many records without one of ours among them are no accident of some records. */
const fewStrangers = 5;

/**
 * Refuses a page that has no record of ours at all: the wrong installation answers, or the names of fields are wrong. A few such
 * records are put aside instead, since one record must not stop its installation; `isWhole` tells that nothing beside them was asked.
 */
export function refuseStrangers(kind: RecordKind, answer: ListAnswer, isWhole: boolean): void {
  const { results, unusable = [] } = answer;
  const [first] = unusable;
  if (results.length > 0 || first === undefined) return;
  const isMany = unusable.length > fewStrangers;
  if (unusable.every(({ code }) => code === 'foreign_record')) {
    if (!isMany && !(isWhole && isWholeList(answer))) return;
    throw new PracticeError(
      'other_tenant',
      `every record of a page of the ${kind} list is of another installation or another resource; of the first, ${first.why}`,
    );
  }
  if (!isMany) return;
  throw new PracticeError(
    'malformed_record',
    `no record of a page of the ${kind} list has a usable id; of the first, ${first.why}`,
  );
}
