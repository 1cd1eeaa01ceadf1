import { integer } from '../db/columns.ts';
import { rows } from '../db/rows.ts';
import { markGone } from '../mirror/gone.ts';
import { noteCensusTaken } from '../mirror/installation-state.ts';
import { asideIds } from '../mirror/put-aside.ts';
import { type DocumentKind, documentKinds, type RecordKind } from '../terms.ts';
import { pullByIds } from './by-id.ts';
import { repeatsRecords } from './capabilities/server.ts';
import type { PullContext } from './context.ts';
import { pullList } from './pull-list.ts';
import { countCovered, countMirror, storeCount } from './source-counts.ts';

/** Missing records looked up a second time in one census; the others wait for the next census. */
const secondLookupsAtMost = 200;

export interface CensusLine {
  kind: DocumentKind;
  /** Documents in the source up to the highest id of the mirror. */
  source: number;
  mirror: number;
  /** Ids of records that the source no longer has, confirmed by a second look-up. */
  gone: number[];
}

/**
 * Compares each list's count in the source with the mirror (DESIGN "Sync"). A list that differs is walked: missed records are
 * pulled, and records missing from the source are looked up once more and then marked gone. A list that repeats records is
 * walked each time, since its count is too high.
 */
export async function takeCensus(context: PullContext): Promise<CensusLine[]> {
  const { db, transact, installation } = context;
  const lines: CensusLine[] = [];
  for (const kind of documentKinds) {
    await pullAside(context, kind);
    const hasRepeats = () => repeatsRecords(db, installation, kind);
    let source = await countCovered(context, kind);
    let gone: number[] = [];
    if ((await hasRepeats()) || source !== (await countMirror(context, kind))) {
      const walked = await walkWholeList(context, kind);
      gone = walked.gone;
      source = (await hasRepeats()) ? walked.distinct : await countCovered(context, kind);
    }
    if (source === null) continue;
    const count = source;
    await transact((trx) => storeCount(trx, installation, kind, count));
    lines.push({ kind, source, mirror: await countMirror(context, kind), gone });
  }
  // If a list could not be counted, the next window takes the census again.
  if (lines.length === documentKinds.length) await transact((trx) => noteCensusTaken(trx, installation));
  return lines;
}

/** Asks again for the records that could not be stored: the source, or this program, may have changed. */
async function pullAside(context: PullContext, kind: DocumentKind): Promise<void> {
  const again: RecordKind[] = kind === 'invoice' ? ['invoice', 'row'] : [kind];
  for (const each of again) {
    await pullByIds(context, each, await asideIds(context.db, context.installation, each, secondLookupsAtMost));
  }
}

/** Pulls a list and marks what it no longer holds; `distinct` counts the different records received. */
async function walkWholeList(context: PullContext, kind: DocumentKind): Promise<{ gone: number[]; distinct: number }> {
  const { db, transact, installation } = context;
  const received = new Set<number>();
  const onSaved = (saved: { ids: number[] }) => {
    for (const id of saved.ids) received.add(id);
  };
  const { read } = await pullList(context, kind, {}, null, { keepWalk: false, onSaved });
  const missing = await rows(
    db,
    { id: integer },
    `select id from mirror_record where installation = ? and kind = ? and gone_at is null and answered_at < ?
     order by id limit ?`,
    [installation, kind, read.askedAt, secondLookupsAtMost],
  );
  const ids = missing.map(({ id }) => id);
  let confirmed = read;
  const found = await pullByIds(context, kind, ids, ({ read: again }) => {
    confirmed = again;
  });
  const gone = ids.filter((id) => !found.has(id));
  if (gone.length > 0) {
    await transact((trx) => markGone(trx, installation, kind, gone, confirmed));
  }
  return { gone, distinct: received.size };
}
