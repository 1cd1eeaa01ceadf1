import type { Connection } from '../db/rows.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { savePageOrAside } from '../mirror/put-aside.ts';
import { contradictedIn } from '../mirror/refused-records.ts';
import type { SaveResult } from '../mirror/types.ts';
import type { ListAnswer } from '../practice/client.ts';
import type { RecordKind } from '../terms.ts';
import { practiceTexts } from '../texts/errors/practice.ts';
import { ignoredFilters, noteIgnored } from './capabilities/filters.ts';
import { unlessRefused } from './capabilities/refused-filter.ts';
import type { PullContext } from './context.ts';
import { isWholeList, receivedIn } from './walk/count-proof.ts';

/** The most records that are requested alone because an answer contradicted itself. The census requests the others. */
const askedAloneAtMost = 20;

/**
 * Saves an answer together with the work of `inTransaction`. An id that occurs in two versions in the answer is put
 * aside and requested alone (ACCOUNTING P6). One version in an answer of one record is accepted. These requests come
 * before the saving, so that an interrupted pull requests the page again.
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

/** An answer that contains one record alone, in one version. Null if the source gives none. */
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

/** If a page has more unusable records than this and no usable one, the whole page is refused. */
const unusableAtMost = 5;

/**
 * Refuses a page without any usable record of ours: the wrong installation answers, or the configured names of fields
 * are wrong. A few such records are put aside instead, because one record must not stop its installation. `isWhole`
 * means that the whole list was requested.
 */
export function refuseForeignPage(kind: RecordKind, answer: ListAnswer, isWhole: boolean): void {
  const { results, unusable = [] } = answer;
  const [first] = unusable;
  if (results.length > 0 || first === undefined) return;
  const isMany = unusable.length > unusableAtMost;
  if (unusable.every(({ code }) => code === 'foreign_record')) {
    if (!isMany && !(isWhole && isWholeList(answer))) return;
    throw new PracticeError('other_tenant', practiceTexts.allForeign({ list: kind, reason: first.why }));
  }
  if (!isMany) return;
  throw new PracticeError('malformed_record', practiceTexts.noUsableId({ list: kind, reason: first.why }));
}
