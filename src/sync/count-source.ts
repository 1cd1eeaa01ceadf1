import { integer, nullable } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { type Connection, execute, row } from '../db/rows.ts';
import { orderCensus } from '../mirror/installation-state.ts';
import { countAside } from '../mirror/put-aside.ts';
import type { PracticeClient } from '../practice/client.ts';
import type { DocumentKind } from '../terms.ts';
import { unlessRefused } from './capabilities/refused-filter.ts';

/** The most attempts to count the source, if records are created between two requests. */
const countTries = 4;

export interface CountContext {
  db: Db;
  installation: number;
  client: Pick<PracticeClient, 'list'>;
  priority?: number;
}

/**
 * The number of documents in the source up to the highest id in the mirror. Newer ones belong to the next window
 * (ACCOUNTING E6). It is the count of all documents minus the count above that id. The latter is requested before and
 * after, to ensure that none was created in between. If the server ignores `id__gt`, all documents are counted. Null if
 * new documents kept arriving.
 */
export async function countCovered(context: CountContext, kind: DocumentKind): Promise<number | null> {
  const { client, db, installation, priority } = context;
  const list = (filters: Record<string, string>) =>
    client.list(kind, filters, null, priority === undefined ? {} : { priority });
  const { highest } = await row(
    db,
    { highest: nullable(integer) },
    'select max(id) as highest from mirror_record where installation = ? and kind = ?',
    [installation, kind],
  );
  if (highest === null) return (await list({})).count;
  const countNewer = async () => {
    const filters = { id__gt: String(highest) };
    // The next walk stores a refused filter. In this count, a refusal only means that newer documents cannot be
    // counted.
    const answer = await unlessRefused(
      () => list(filters),
      filters,
      async () => undefined,
    );
    if (!answer?.results.every(({ id }) => id > highest)) return null;
    // Records without a usable id are not newer than any id. They are counted with those of the mirror.
    return answer.count - (answer.unusable?.length ?? 0);
  };
  let newer = await countNewer();
  for (let attempt = 0; attempt < countTries; attempt++) {
    const { count } = await list({});
    if (newer === null) return count;
    const newerAfter = await countNewer();
    if (newerAfter === newer) return count - newer;
    newer = newerAfter;
  }
  return null;
}

export interface MirrorCount {
  /** Number of documents that the mirror has or has put aside. Documents that are gone from the source are left out. */
  known: number;
  /**
   * Number of documents that the source should count: all except posted ones that it does not show (ACCOUNTING
   * "Absence").
   */
  shown: number;
}

export async function countMirror(
  { db, installation }: Pick<CountContext, 'db' | 'installation'>,
  kind: DocumentKind,
): Promise<MirrorCount> {
  const { all, missing } = await row(
    db,
    { all: integer, missing: integer },
    `select count(*) as all, count(missing_at) as missing from mirror_record
     where installation = ? and kind = ? and gone_at is null`,
    [installation, kind],
  );
  const known = all + (await countAside(db, installation, kind));
  return { known, shown: known - missing };
}

/**
 * Requests a census in the next window, unless this pair of counts (the source's and ours) has requested one since the
 * last daily census. Returns whether it was requested now.
 */
export async function requestCensus(
  db: Connection,
  installation: number,
  kind: DocumentKind,
  { source, known }: { source: number; known: number },
): Promise<boolean> {
  const pair = `${source}/${known}`;
  const added = await execute(
    db,
    `update source_count set census_pairs = census_pairs || ?::text
     where installation = ? and kind = ? and not ?::text = any(census_pairs)`,
    [pair, installation, kind, pair],
  );
  if (added > 0) await orderCensus(db, installation);
  return added > 0;
}

/** Forgets all pairs of counts after the daily census, so that each of them can request a census again. */
export async function clearCensusPairs(db: Connection, installation: number): Promise<void> {
  await execute(db, `update source_count set census_pairs = '{}' where installation = ?`, [installation]);
}

/** Stores a list's count in the source, which `reconcile` uses if the source cannot be reached. */
export async function storeCount(
  db: Connection,
  installation: number,
  kind: DocumentKind,
  count: number,
): Promise<void> {
  await execute(
    db,
    `insert into source_count (installation, kind, count, counted_at) values (?, ?, ?, clock_timestamp())
     on conflict (installation, kind) do update set count = excluded.count, counted_at = excluded.counted_at`,
    [installation, kind, count],
  );
}
