import { markDirty } from '../mirror/store.ts';
import type { DocumentKind } from '../terms.ts';
import { documentKinds } from '../terms.ts';
import { noteFact } from './capabilities/facts.ts';
import { censusFact, countCovered, countMirror, listsTwice, storeCount } from './counts.ts';
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
    const twice = () => listsTwice(db, installation, kind);
    let source = await countCovered(context, kind);
    let gone: number[] = [];
    if ((await twice()) || source !== (await countMirror(context, kind))) {
      const walked = await walkDifference(context, kind);
      gone = walked.gone;
      source = (await twice()) ? walked.received : await countCovered(context, kind);
    }
    if (source === null) continue;
    await storeCount(db, installation, kind, source);
    lines.push({ kind, source, mirror: await countMirror(context, kind), gone });
  }
  // A list that could not be counted is tried again by the next window.
  if (lines.length === documentKinds.length) await noteFact(db, installation, censusFact, 'taken');
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
  await context.db.transaction(async (trx) => {
    // An answer from before this look-up, arriving late, does not bring them back.
    await trx.raw(
      `update mirror_record set gone_at = clock_timestamp(), source_time = greatest(source_time, ?)
       where installation = ? and kind = ? and id = any(?)`,
      [confirmed, context.installation, kind, gone],
    );
    await markDirty(trx, context.installation, kind, gone);
  });
  return { gone, received: received.size };
}

/** Whether a census is due: a day after the last one, or because reconcile counted a difference since. */
export async function censusDue(context: Pick<PullContext, 'db' | 'installation'>): Promise<boolean> {
  const found = await context.db.raw<{ rows: { n: number }[] }>(
    `select count(*) as n from installation_fact where installation = ? and name = ? and value::text = '"taken"'
       and noted_at > clock_timestamp() - interval '24 hours'`,
    [context.installation, censusFact],
  );
  return found.rows[0]!.n === 0;
}
