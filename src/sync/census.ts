import { markGone } from '../mirror/gone.ts';
import { noteCensusTaken } from '../mirror/installation-state.ts';
import type { DocumentKind } from '../terms.ts';
import { documentKinds } from '../terms.ts';
import { repeatsRecords } from './capabilities/server.ts';
import { countCovered, countMirror, storeCount } from './counts.ts';
import { pullEach } from './parts.ts';
import { type PullContext, pullList } from './pull.ts';

/** Missing records looked up a second time in one census; the rest waits for the next. */
const secondLookups = 200;

export interface CensusLine {
  kind: DocumentKind;
  /** What the source counts, newer records than the mirror's highest id aside. */
  source: number;
  mirror: number;
  /** Records that the source no longer has, confirmed by a second look-up. */
  gone: number[];
}

/**
 * Nothing lost, checked against the source (DESIGN): each list's own count is compared with the mirror. A difference is
 * walked: what was missed is pulled, what is missing from the source is looked up once more and then marked gone. A list that
 * holds records twice is walked whatever it counts.
 */
export async function takeCensus(context: PullContext): Promise<CensusLine[]> {
  const { db, installation } = context;
  const lines: CensusLine[] = [];
  for (const kind of documentKinds) {
    const repeats = () => repeatsRecords(db, installation, kind);
    let source = await countCovered(context, kind);
    let gone: number[] = [];
    if ((await repeats()) || source !== (await countMirror(context, kind))) {
      const walked = await walkDifference(context, kind);
      gone = walked.gone;
      source = (await repeats()) ? walked.received : await countCovered(context, kind);
    }
    if (source === null) continue;
    await storeCount(db, installation, kind, source);
    lines.push({ kind, source, mirror: await countMirror(context, kind), gone });
  }
  // A list that could not be counted is tried again by the next window.
  if (lines.length === documentKinds.length) await noteCensusTaken(db, installation);
  return lines;
}

/** `received`: different records that the list holds. */
async function walkDifference(context: PullContext, kind: DocumentKind): Promise<{ gone: number[]; received: number }> {
  const received = new Set<number>();
  const onSaved = (saved: { ids: number[] }) => {
    for (const id of saved.ids) received.add(id);
  };
  const { earliest } = await pullList(context, kind, {}, null, { keepWalk: false, onSaved });
  const missing = await context.db.raw<{ rows: { id: number }[] }>(
    `select id from mirror_record where installation = ? and kind = ? and gone_at is null and source_time < ?
     order by id limit ?`,
    [context.installation, kind, earliest, secondLookups],
  );
  const ids = missing.rows.map(({ id }) => id);
  let confirmed = earliest;
  const found = await pullEach(context, kind, ids, ({ began }) => {
    if (began > confirmed) confirmed = began;
  });
  const gone = ids.filter((id) => !found.has(id));
  if (gone.length === 0) return { gone, received: received.size };
  await context.db.transaction((trx) => markGone(trx, context.installation, kind, gone, confirmed));
  return { gone, received: received.size };
}
