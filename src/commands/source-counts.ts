import type { App } from '../app.ts';
import type { PracticeClient } from '../practice/client.ts';
import { PracticeError } from '../practice/errors.ts';
import { type DocumentKind, documentKinds } from '../terms.ts';
import { instant } from './text.ts';

export type SourceCounts = Partial<Record<DocumentKind, { count: number } | null>>;

/** The clinic works on while we count; so often it is tried to count between two of its records. */
const countTries = 4;

/**
 * How many documents the source says it has, those aside that are newer than the mirror's: they belong to the next window
 * (ACCOUNTING E6). Asked now, and stored; when the source cannot be asked, the stored counts where no window came since,
 * and `note` is told.
 */
export async function sourceCounts(
  app: App,
  installation: number,
  note: (line: string) => void,
): Promise<SourceCounts> {
  const counts: SourceCounts = {};
  try {
    for (const kind of documentKinds) {
      const count = await countCovered(app, installation, kind);
      if (count === null)
        note(`${installation}: the source's ${kind}s could not be counted apart from newer ones; E6 goes without.`);
      else await store(app, installation, kind, count);
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

async function countCovered(app: App, installation: number, kind: DocumentKind): Promise<number | null> {
  const client = app.practice(installation);
  const { rows } = await app.db.raw<{ rows: { highest: number | null }[] }>(
    'select max(id) as highest from mirror_record where installation = ? and kind = ?',
    [installation, kind],
  );
  const highest = rows[0]!.highest;
  if (highest === null) return (await client.list(kind, {}, null)).count;
  let newer = await countNewer(client, kind, highest);
  for (let tried = 0; tried < countTries && newer !== null; tried++) {
    const { count } = await client.list(kind, {}, null);
    const newerAfter = await countNewer(client, kind, highest);
    if (newerAfter === newer) return count - newer;
    newer = newerAfter;
  }
  return null;
}

/** Null where the server ignores the filter. */
async function countNewer(client: PracticeClient, kind: DocumentKind, highest: number): Promise<number | null> {
  const { count, results } = await client.list(kind, { id__gt: String(highest) }, null);
  return results.every(({ id }) => id > highest) ? count : null;
}

async function store(app: App, installation: number, kind: DocumentKind, count: number): Promise<void> {
  await app.db.raw(
    `insert into source_count (installation, kind, count, counted_at) values (?, ?, ?, clock_timestamp())
     on conflict (installation, kind) do update set count = excluded.count, counted_at = excluded.counted_at`,
    [installation, kind, count],
  );
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
