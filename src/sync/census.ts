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
import { type SourceKind, sourceKinds } from '../terms.ts';
import { pullAside } from './aside.ts';
import { pullByIds } from './by-id.ts';
import { invoicesPerRequest } from './by-invoice.ts';
import { repeatsRecords } from './capabilities/server.ts';
import type { PullContext } from './context.ts';
import { clearCensusPairs, countCovered, countMirror, requestCensus, storeCount } from './count-source.ts';
import { pullList } from './pull-list.ts';
import { pullRowSets } from './pull-row-sets.ts';
import { problemsOfLateRows } from './pull-rows.ts';

/**
 * The most records that one census looks up by id, for each of three groups: put aside, never posted, and posted (as
 * evidence).
 */
const lookUpsAtMost = 200;

export interface CensusLine {
  kind: SourceKind;
  /** Documents in the source, up to the highest id of the mirror. */
  source: number;
  /** Documents of the mirror that the source shows. */
  shown: number;
  /** Ids of records that were never posted and that the source no longer has, confirmed by a request for each id. */
  gone: number[];
  /** Number of posted documents that the list does not show. */
  missing: number;
}

/**
 * Takes a census if one is due. If none is due but records are missing, their lists are counted and their row sets
 * fetched, in case the source shows them again. If the counts have changed, a census is taken.
 */
export async function takeCensusIfDue(context: PullContext): Promise<CensusLine[]> {
  const { db, installation, transact } = context;
  const due = await censusDue(db, installation);
  if (due === null) return [];
  if (due === 'count') {
    const lists = await listsWithMissing(db, installation);
    let isAsked = false;
    for (const kind of sourceKinds) {
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
 * Compares each list's count in the source with the mirror (DESIGN "Sync"). A list that differs is walked, and new
 * records are pulled. Records that the list does not show are handled in two ways. Those never posted are looked up by
 * id and then marked gone. Posted ones are marked missing, whatever the look-up returns (ACCOUNTING "Absence"). A list
 * that repeats records is always walked, because its count is too high.
 */
export async function takeCensus(context: PullContext): Promise<CensusLine[]> {
  const { db, transact, installation } = context;
  const lines: CensusLine[] = [];
  await pullMissingRows(context);
  await pullHeldRows(context);
  for (const kind of sourceKinds) {
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
  if (lines.length === sourceKinds.length) {
    await transact(async (trx) => {
      if (await noteCensusTaken(trx, installation)) await clearCensusPairs(trx, installation);
    });
  }
  return lines;
}

/** Fetches row sets with missing rows again. If there are too many for one census, the next one fetches the rest. */
async function pullMissingRows(context: PullContext): Promise<void> {
  const invoices = await invoicesWithMissingRows(context.db, context.installation, invoicesPerRequest);
  if (invoices.length > 0) await pullRowSets(context, invoices);
}

/**
 * Fetches the row sets of invoices that are held because of their rows. The source may show more rows now without a new
 * `modified`.
 */
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

/** Pulls a list and marks records that it does not show. `distinct` is the number of different records received. */
async function walkWholeList(context: PullContext, kind: SourceKind): Promise<{ gone: number[]; distinct: number }> {
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
