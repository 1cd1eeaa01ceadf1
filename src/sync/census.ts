import { integer } from '../db/columns.ts';
import { rows } from '../db/rows.ts';
import { inForceOf } from '../documents/missing-documents.ts';
import { censusDue, noteCensusTaken } from '../mirror/installation-state.ts';
import {
  invoicesWithMissingRows,
  listsWithMissing,
  markNotShown,
  type NotShown,
  reportAllMissing,
} from '../mirror/not-shown.ts';
import { endUnseen } from '../mirror/put-unusable-aside.ts';
import { type DocumentKind, documentKinds } from '../terms.ts';
import { pullAside } from './aside.ts';
import { pullByIds } from './by-id.ts';
import { invoicesPerRequest } from './by-invoice.ts';
import { repeatsRecords } from './capabilities/server.ts';
import type { PullContext } from './context.ts';
import { countCovered, countMirror, forgetPairs, requestCensus, storeCount } from './count-source.ts';
import { pullList } from './pull-list.ts';
import { pullRowSets } from './pull-row-sets.ts';
import { problemsOfLateRows } from './pull-rows.ts';

/** Records looked up by their ids in one census: those put aside, those never posted, and posted ones for evidence. */
const lookUpsAtMost = 200;

export interface CensusLine {
  kind: DocumentKind;
  /** Documents in the source up to the highest id of the mirror. */
  source: number;
  /** Documents that the mirror holds of them. */
  shown: number;
  /** Ids of records never posted that the source no longer has, confirmed by a look-up of their ids. */
  gone: number[];
  /** Posted documents that the list does not show. */
  missing: number;
}

/**
 * Takes a census where one is due. Where none is and records are missing, their lists are counted, and their row sets fetched
 * again, in case the source shows them again: a pair of counts that is new asks for a census.
 */
export async function takeCensusIfDue(context: PullContext): Promise<CensusLine[]> {
  const { db, installation, transact } = context;
  const due = await censusDue(db, installation);
  if (due === null) return [];
  if (due === 'count') {
    const lists = await listsWithMissing(db, installation);
    let isAsked = false;
    for (const kind of documentKinds) {
      const source = lists.has(kind) ? await countCovered(context, kind) : null;
      if (source === null) continue;
      const { known, shown } = await countMirror(context, kind);
      if (source !== shown)
        isAsked = (await transact((trx) => requestCensus(trx, installation, kind, { source, known }))) || isAsked;
    }
    if (!isAsked) {
      if (lists.has('row')) await pullMissingRows(context);
      return [];
    }
  }
  return takeCensus(context);
}

/**
 * Compares each list's count in the source with the mirror (DESIGN "Sync"). A list that differs is walked: missed records are
 * pulled. Of records that the list does not show, those never posted are looked up once more and then marked gone; posted ones are
 * marked missing, whatever their ids answer (ACCOUNTING "Absence"). A list that repeats records is walked each time, since its count
 * is too high.
 */
export async function takeCensus(context: PullContext): Promise<CensusLine[]> {
  const { db, transact, installation } = context;
  const lines: CensusLine[] = [];
  await pullMissingRows(context);
  await pullHeldRows(context);
  for (const kind of documentKinds) {
    const isAsideKnown = await pullAside(context, kind, lookUpsAtMost);
    if (kind === 'invoice') await pullAside(context, 'row', lookUpsAtMost);
    const hasRepeats = () => repeatsRecords(db, installation, kind);
    let source = await countCovered(context, kind);
    let gone: number[] = [];
    if (!isAsideKnown || (await hasRepeats()) || source !== (await countMirror(context, kind)).shown) {
      const walked = await walkWholeList(context, kind);
      gone = walked.gone;
      source = (await hasRepeats()) ? walked.distinct : await countCovered(context, kind);
    }
    const missing = await transact((trx) => reportAllMissing(trx, installation, kind));
    if (source === null) continue;
    const count = source;
    await transact((trx) => storeCount(trx, installation, kind, count));
    lines.push({ kind, source, shown: (await countMirror(context, kind)).shown, gone, missing });
  }
  // If a list could not be counted, the next window takes the census again.
  if (lines.length === documentKinds.length) {
    await transact(async (trx) => {
      if (await noteCensusTaken(trx, installation)) await forgetPairs(trx, installation);
    });
  }
  return lines;
}

/** Fetches the row sets again of which rows are missing; those of the next census, where there are more. */
async function pullMissingRows(context: PullContext): Promise<void> {
  const invoices = await invoicesWithMissingRows(context.db, context.installation, invoicesPerRequest);
  if (invoices.length > 0) await pullRowSets(context, invoices);
}

/** Fetches the row sets again for which invoices are held: rows that were not shown may be shown now, and no `modified` tells of it. */
async function pullHeldRows(context: PullContext): Promise<void> {
  const { db, installation } = context;
  const held = await rows(
    db,
    { id: integer },
    `select id from document where installation = ? and kind = 'invoice' and problem_code = any(?) order by judged_at, id limit ?`,
    [installation, problemsOfLateRows, invoicesPerRequest],
  );
  if (held.length > 0)
    await pullRowSets(
      context,
      held.map(({ id }) => id).sort((a, b) => a - b),
    );
}

/** Pulls a list and notes what it does not show; `distinct` counts the different records received. */
async function walkWholeList(context: PullContext, kind: DocumentKind): Promise<{ gone: number[]; distinct: number }> {
  const { db, transact, installation } = context;
  const received = new Set<number>();
  const onSaved = ({ ids, unusable }: { ids: number[]; unusable: number[] }) => {
    for (const id of [...ids, ...unusable]) received.add(id);
  };
  const { read } = await pullList(context, kind, {}, null, { keepWalk: false, onSaved });
  await transact((trx) => endUnseen(trx, installation, kind, read.askedAt));
  const notShown = await rows(
    db,
    { id: integer },
    `select id from mirror_record where installation = ? and kind = ? and gone_at is null and missing_at is null
       and answered_at < ? order by id`,
    [installation, kind, read.askedAt],
  );
  const ids = notShown.map(({ id }) => id);
  const posted = await inForceOf(db, installation, kind, ids, { lock: false });
  const neverPosted = ids.filter((id) => !posted.has(id)).slice(0, lookUpsAtMost);
  const forEvidence = ids.filter((id) => posted.has(id)).slice(0, lookUpsAtMost);
  const asked = new Set([...neverPosted, ...forEvidence]);
  let confirmed = read;
  const found = await pullByIds(
    context,
    kind,
    [...asked].sort((a, b) => a - b),
    ({ read: again }) => {
      confirmed = again;
    },
  );
  const absent = ids.flatMap((id): NotShown[] => {
    if (found.has(id) || (!asked.has(id) && !posted.has(id))) return [];
    return [{ id, answer: asked.has(id) ? 'no_record' : 'not_asked' }];
  });
  const { gone } = await transact((trx) => markNotShown(trx, installation, kind, absent, confirmed));
  return { gone, distinct: received.size };
}
