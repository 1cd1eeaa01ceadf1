import { type Db, query } from '../db/pool.ts';
import type { PracticeClient } from '../practice/client.ts';
import type { DocumentKind } from '../terms.ts';
import { unlessRefused } from './capabilities/refused.ts';

/** The clinic works on while we count; so often it is tried to count between two of its records. */
const countTries = 4;

export interface CountContext {
  db: Db;
  installation: number;
  client: Pick<PracticeClient, 'list'>;
  priority?: number;
}

/**
 * How many documents the source says it has, those aside that are newer than the mirror's: they belong to the next window
 * (ACCOUNTING E6). Where the server ignores `id__gt`, newer ones cannot be told apart and are counted. Null when new ones
 * kept coming between the questions.
 */
export async function countCovered(context: CountContext, kind: DocumentKind): Promise<number | null> {
  const list = (filters: Record<string, string>) =>
    context.client.list(kind, filters, null, context.priority === undefined ? {} : { priority: context.priority });
  const [row] = await query<{ highest: number | null }>(
    context.db,
    'select max(id) as highest from mirror_record where installation = ? and kind = ?',
    [context.installation, kind],
  );
  const highest = row!.highest;
  if (highest === null) return (await list({})).count;
  const countNewer = async () => {
    const newer = { id__gt: String(highest) };
    // A walk notes it; here it only means that newer ones cannot be told apart.
    const answer = await unlessRefused(
      () => list(newer),
      newer,
      async () => undefined,
    );
    return answer?.results.every(({ id }) => id > highest) ? answer.count : null;
  };
  let newer = await countNewer();
  for (let tried = 0; tried < countTries; tried++) {
    const { count } = await list({});
    if (newer === null) return count;
    const newerAfter = await countNewer();
    if (newerAfter === newer) return count - newer;
    newer = newerAfter;
  }
  return null;
}

/** How many documents of this kind the mirror holds, those that are gone from the source aside. */
export async function countMirror(
  context: Pick<CountContext, 'db' | 'installation'>,
  kind: DocumentKind,
): Promise<number> {
  const [row] = await query<{ n: number }>(
    context.db,
    'select count(*) as n from mirror_record where installation = ? and kind = ? and gone_at is null',
    [context.installation, kind],
  );
  return row!.n;
}

export async function storeCount(db: Db, installation: number, kind: DocumentKind, count: number): Promise<void> {
  await query(
    db,
    `insert into source_count (installation, kind, count, counted_at) values (?, ?, ?, clock_timestamp())
     on conflict (installation, kind) do update set count = excluded.count, counted_at = excluded.counted_at`,
    [installation, kind, count],
  );
}
