import { PracticeError } from '../../domain/practice-error.ts';
import type { App } from '../../runtime/app.ts';
import { countCovered, countMirror, listsTwice, storeCount, wantCensus } from '../../sync/counts.ts';
import { type DocumentKind, documentKinds } from '../../terms.ts';
import { instant } from '../render/text.ts';

export type SourceCounts = Partial<Record<DocumentKind, { count: number } | null>>;

/**
 * How many documents the source says it has, those aside that are newer than the mirror's: they belong to the next window
 * (ACCOUNTING E6). Asked now, and stored; one that differs from the mirror has the next window walk the lists. A list that holds
 * records twice is not asked: the daily census walks it. When the source cannot be asked, the stored counts where no window came
 * since, and `note` is told.
 */
export async function sourceCounts(
  app: App,
  installation: number,
  note: (line: string) => void,
): Promise<SourceCounts> {
  const counts: SourceCounts = {};
  try {
    for (const kind of documentKinds) {
      if (await listsTwice(app.db, installation, kind)) {
        note(`${installation}: the source lists some ${kind}s twice, so its count tells nothing; E6 goes without.`);
        counts[kind] = null;
        continue;
      }
      const client = app.practice(installation);
      const count = await countCovered({ db: app.db, installation, client }, kind);
      if (count === null)
        note(`${installation}: the source's ${kind}s could not be counted apart from newer ones; E6 goes without.`);
      else {
        await storeCount(app.db, installation, kind, count);
        if (count !== (await countMirror({ db: app.db, installation }, kind))) await wantCensus(app.db, installation);
      }
      counts[kind] = count === null ? null : { count };
    }
    return counts;
  } catch (error) {
    if (!(error instanceof PracticeError)) throw error;
    return storedCounts(app, installation, (line) =>
      note(`${installation}: the source cannot be asked (${error.message}); ${line}`),
    );
  }
}

async function storedCounts(app: App, installation: number, note: (line: string) => void): Promise<SourceCounts> {
  const { rows } = await app.db.raw<{ rows: { kind: DocumentKind; count: number; counted_at: Date }[] }>(
    `select kind, count, counted_at from source_count c where installation = ? and kind = any(?) and not exists
       (select from sync_window w where w.installation = c.installation and w.opened_at > c.counted_at)`,
    [installation, [...documentKinds]],
  );
  if (rows.length === 0) {
    note('no counts of it are as new as the mirror; E6 goes without them.');
    return {};
  }
  const times = rows.map(({ counted_at }) => counted_at.getTime());
  note(`its counts of ${instant(new Date(Math.min(...times)))} are used.`);
  return Object.fromEntries(rows.map(({ kind, count }) => [kind, { count }]));
}
