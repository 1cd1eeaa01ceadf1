import { query } from '../db/pool.ts';
import { settleRowSets } from '../mirror/row-sets.ts';
import { type PullContext, type PullResult, pullList } from './pull.ts';

/**
 * Walks what a question keeps of the rows and settles the sets of `invoices`, all of which it asks for. Left as they are, to be
 * asked for again, are sets that the walk cannot vouch for:
 *
 * - of an invoice whose version changed meanwhile, pulled by someone else: its rows may be newer than those received;
 * - with a row that changed after the walk began, where it took several answers: these may show different states;
 * - with a row that the walk did not receive, although another answer showed it no earlier than the walk began, as far as source
 *   times can tell: either it is gone since, or it is new.
 */
export async function pullAndSettle(
  context: PullContext,
  invoices: number[],
  question: Record<string, string>,
  /** Invoices whose sets the walk has brought, known once it has ended. */
  covered: () => Promise<number[]>,
): Promise<PullResult> {
  const { db, installation } = context;
  const versions = async () => {
    const found = await query<{ id: number; version: number }>(
      db,
      `select id, version from mirror_record where installation = ? and kind = 'invoice' and id = any(?)`,
      [installation, invoices],
    );
    return new Map(found.map(({ id, version }) => [id, version]));
  };
  const before = await versions();
  const received = new Set<number>();
  let answers = 0;
  const onSaved = ({ ids }: { ids: number[] }) => {
    answers += 1;
    for (const id of ids) received.add(id);
  };
  const result = await pullList(context, 'row', question, null, { keepWalk: false, onSaved });
  const { earliest } = result;
  const rows = await query<{ id: number; parent_id: number; modified: Date | null }>(
    db,
    `select id, parent_id, modified from mirror_record where installation = ? and kind = 'row' and parent_id = any(?)
       and gone_at is null and source_time >= ?`,
    [installation, invoices, earliest],
  );
  const doubtful = new Set<number>();
  for (const { id, parent_id, modified } of rows) {
    if (!received.has(id) || (answers > 1 && modified !== null && modified > earliest)) doubtful.add(parent_id);
  }
  const after = await versions();
  const settled = (await covered()).filter((id) => !doubtful.has(id) && before.get(id) === after.get(id));
  await db.transaction((trx) => settleRowSets(trx, installation, settled, earliest));
  return result;
}
