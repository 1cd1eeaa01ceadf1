import type { Db } from '../db/pool.ts';
import { type RecordKind, recordKinds } from '../terms.ts';
import { readCursors } from './cursors.ts';
import { finishedQuestion, keptForHours } from './finished.ts';
import type { PullOwner } from './pull.ts';

/**
 * How many records of each list a load that was stopped has left; null where only the source can tell. The whole is null for a
 * live window whose first load is behind it. `from` is the backfill's first invoice date.
 */
export async function recordsLeft(
  db: Db,
  installation: number,
  owner: PullOwner,
  from: string | null,
): Promise<Record<RecordKind, number | null> | null> {
  const left: Record<RecordKind, number | null> = { invoice: null, row: null, payment: null, prepayment: null };
  if (owner === 'window') {
    const cursors = await readCursors(db, installation);
    for (const stream of recordKinds) if (cursors[stream].value !== null) left[stream] = 0;
    if (recordKinds.every((stream) => left[stream] === 0)) return null;
  }
  const walks = await db.raw<{ rows: { stream: RecordKind; question: string; expected: number | null }[] }>(
    `select stream, state->>'question' as question, (state->'state'->>'expected')::int as expected from sync_walk
     where installation = ? and owner = ? and saved_at > clock_timestamp() - make_interval(hours => ?)`,
    [installation, owner, keptForHours],
  );
  for (const { stream, question, expected } of walks.rows) {
    if (question === finishedQuestion(stream === 'invoice' ? (from ?? '') : '')) left[stream] = 0;
    else if (stream !== 'invoice' || dayIn(question) === from) left[stream] ??= expected;
  }
  return left;
}

/** The day from which a walk under way asks for invoices. */
function dayIn(question: string): string | null {
  return /"invoice_date__gte":"([^"]+)"/.exec(question)?.[1] ?? null;
}
