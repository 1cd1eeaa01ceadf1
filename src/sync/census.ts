import { markDirty } from '../mirror/store.ts';
import type { DocumentKind } from '../terms.ts';
import { documentKinds } from '../terms.ts';
import { censusFact, countCovered, countMirror, storeCount } from './counts.ts';
import { noteFact } from './facts.ts';
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
 * walked: what was missed is pulled, what is missing from the source is looked up once more and then marked gone.
 */
export async function takeCensus(context: PullContext): Promise<CensusLine[]> {
  const lines: CensusLine[] = [];
  for (const kind of documentKinds) {
    let source = await countCovered(context, kind);
    let gone: number[] = [];
    if (source !== (await countMirror(context, kind))) {
      gone = await walkDifference(context, kind);
      source = await countCovered(context, kind);
    }
    if (source === null) continue;
    await storeCount(context.db, context.installation, kind, source);
    lines.push({ kind, source, mirror: await countMirror(context, kind), gone });
  }
  // A list that could not be counted is tried again by the next window.
  if (lines.length === documentKinds.length) await noteFact(context.db, context.installation, censusFact, 'taken');
  return lines;
}

async function walkDifference(context: PullContext, kind: DocumentKind): Promise<number[]> {
  const { earliest } = await pullList(context, kind, {}, null, { keepWalk: false });
  const missing = await context.db.raw<{ rows: { id: number }[] }>(
    `select id from mirror_record where installation = ? and kind = ? and gone_at is null and source_time < ?
     order by id limit ?`,
    [context.installation, kind, earliest, secondLookups],
  );
  const ids = missing.rows.map(({ id }) => id);
  const found = await pullEach(context, kind, ids);
  const gone = ids.filter((id) => !found.has(id));
  if (gone.length === 0) return gone;
  await context.db.transaction(async (trx) => {
    await trx.raw(
      `update mirror_record set gone_at = clock_timestamp() where installation = ? and kind = ? and id = any(?)`,
      [context.installation, kind, gone],
    );
    await markDirty(trx, context.installation, kind, gone);
  });
  return gone;
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
