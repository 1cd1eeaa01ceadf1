import { markDirty } from '../mirror/store.ts';
import type { DocumentKind } from '../terms.ts';
import { documentKinds } from '../terms.ts';
import { countCovered, storeCount } from './counts.ts';
import { pullOne } from './parts.ts';
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
    // A list that grew between every two questions is counted again tomorrow.
    if (source === null) continue;
    await storeCount(context.db, context.installation, kind, source);
    lines.push({ kind, source, mirror: await countMirror(context, kind), gone });
  }
  return lines;
}

async function countMirror(context: PullContext, kind: DocumentKind): Promise<number> {
  const found = await context.db.raw<{ rows: { n: number }[] }>(
    `select count(*) as n from mirror_record where installation = ? and kind = ? and gone_at is null`,
    [context.installation, kind],
  );
  return found.rows[0]!.n;
}

async function walkDifference(context: PullContext, kind: DocumentKind): Promise<number[]> {
  const { earliest } = await pullList(context, kind, {}, null, { keepWalk: false });
  const missing = await context.db.raw<{ rows: { id: number }[] }>(
    `select id from mirror_record where installation = ? and kind = ? and gone_at is null and source_time < ?
     order by id limit ?`,
    [context.installation, kind, earliest, secondLookups],
  );
  const gone: number[] = [];
  for (const { id } of missing.rows) if (!(await pullOne(context, kind, id)).found) gone.push(id);
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

/** Whether the daily census is due. */
export async function censusDue(context: Pick<PullContext, 'db' | 'installation'>): Promise<boolean> {
  const found = await context.db.raw<{ rows: { n: number }[] }>(
    `select count(*) as n from source_count where installation = ? and kind = any(?)
       and counted_at > clock_timestamp() - interval '24 hours'`,
    [context.installation, [...documentKinds]],
  );
  return found.rows[0]!.n < documentKinds.length;
}
