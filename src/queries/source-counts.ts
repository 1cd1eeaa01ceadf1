import { instant, integer, oneOf } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { type Connection, rows } from '../db/rows.ts';
import { PracticeError } from '../domain/practice-error.ts';
import type { PracticeClient } from '../practice/client.ts';
import { repeatsRecords } from '../sync/capabilities/server.ts';
import { countCovered, countMirror, requestCensus, storeCount } from '../sync/count-source.ts';
import { type InstallationId, type SourceKind, sourceKinds } from '../terms.ts';

/** The source's count of each list; null if unknown, undefined if not requested. */
export type SourceCounts = Partial<Record<SourceKind, { count: number } | null>>;

/** The reason why E6 has no count of a list, or uses an older count. */
export type SourceCountNote =
  | { reason: 'lists_twice' | 'new_ones_kept_coming'; list: SourceKind }
  | { reason: 'source_unreachable'; message: string; countedAt: Date | null };

/**
 * Counts the documents in the source. Documents that are newer than the mirror are left out, because the next window
 * reads them (ACCOUNTING E6). Each count is stored. If a count differs from the mirror's, the next window reads the
 * lists, once for each new pair of counts. A list that returned a record twice is not counted: the daily census reads
 * it. If the source does not answer, the stored counts are used, provided that no window has opened since.
 */
export async function sourceCounts(
  ports: { db: Db; practice(installation: InstallationId): PracticeClient; priority?: number },
  installation: InstallationId,
  note: (note: SourceCountNote) => void,
): Promise<SourceCounts> {
  const { db, priority } = ports;
  const client = ports.practice(installation);
  const counts: SourceCounts = {};
  try {
    for (const list of sourceKinds) {
      counts[list] = null;
      if (await repeatsRecords(db, installation, list)) {
        note({ reason: 'lists_twice', list });
        continue;
      }
      const count = await countCovered(
        { db, installation, client, ...(priority === undefined ? {} : { priority }) },
        list,
      );
      if (count === null) {
        note({ reason: 'new_ones_kept_coming', list });
        continue;
      }
      counts[list] = { count };
      await storeCount(db, installation, list, count);
      const { known, shown } = await countMirror({ db, installation }, list);
      if (count !== shown) await requestCensus(db, installation, list, { source: count, known });
    }
    return counts;
  } catch (error) {
    if (!(error instanceof PracticeError)) throw error;
    const stored = await storedCounts(db, installation);
    note({ reason: 'source_unreachable', message: error.message, countedAt: stored.countedAt });
    return stored.counts;
  }
}

/** The counts stored since the last window opened, and the time of the oldest of these counts. */
async function storedCounts(
  db: Connection,
  installation: InstallationId,
): Promise<{ counts: SourceCounts; countedAt: Date | null }> {
  const found = await rows(
    db,
    { kind: oneOf(sourceKinds), count: integer, counted_at: instant },
    `select kind, count, counted_at from source_count c where installation = ? and kind = any(?) and not exists
       (select from sync_window w where w.installation = c.installation and w.opened_at > c.counted_at and w.to_time is not null)
     order by counted_at`,
    [installation, sourceKinds],
  );
  return {
    counts: Object.fromEntries(found.map(({ kind, count }) => [kind, { count }])),
    countedAt: found[0]?.counted_at ?? null,
  };
}
