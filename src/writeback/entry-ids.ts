import { integer } from '../db/columns.ts';
import { type Connection, row, rows } from '../db/rows.ts';
import { maxAttempts } from '../practice/retry.ts';
import type { InstallationId } from '../terms.ts';
import { type Claimant, claim, isFree, newPlan, type Selection, unreadWriteBacks } from './outbox.ts';
import { type Patience, type Place, WriteBack, type WriteBackPorts, type WriteBackReport } from './write-back.ts';

const batchSize = 500;
const entryIds: Selection = { kind: 'prepayment', values: ['entry_id'] };
/** A window gives up at the first failure, because the whole window is tried again if the source is down. */
const ofWindows: Patience = { attempts: maxAttempts, failuresInARow: 1, waits: null };

/**
 * Writes the entry id of each posted prepayment to the source, and reads back what the source accepted. A refused id,
 * or one that a later read does not show, is tried again by the next window. Throws PracticeError if the source cannot
 * be reached.
 */
export async function writeBackEntryIds(
  installation: Place,
  ports: WriteBackPorts,
  claimant: Claimant,
): Promise<WriteBackReport> {
  const { id } = installation;
  const work = new WriteBack(installation, ports, entryIds, ofWindows);
  const tried = new Set<number>();
  let after = 0;
  const claimNext = (): Promise<{ ids: number[]; last: number | undefined }> =>
    ports.transact(async (trx) => {
      const due = await planEntryIds(trx, id, { after, limit: batchSize, claimant });
      return { ids: await claim(trx, id, 'prepayment', due, claimant), last: due.at(-1) };
    });
  const next = async () => {
    for (let isNewRound = after === 0; ; ) {
      const { ids, last } = await claimNext();
      after = last ?? 0;
      const fresh = ids.filter((each) => !tried.has(each));
      for (const each of fresh) tried.add(each);
      if (fresh.length > 0) return fresh;
      // A prepayment that was posted in the meantime may have a lower id.
      if (last === undefined && isNewRound) return [];
      if (last === undefined) isNewRound = true;
    }
  };
  await work.write(next);
  await work.readBack();
  return work.report;
}

/**
 * Plans the write-back of posted prepayments with an id above `after` whose entry in force is not written back. Returns
 * their ids. A trigger keeps the column `written_entry_id` equal to the table `write_back`.
 */
export async function planEntryIds(
  trx: Connection,
  installation: InstallationId,
  { after, limit, claimant: { lane, token } }: { after: number; limit: number; claimant: Claimant },
): Promise<number[]> {
  // Without the lateral join, PostgreSQL would expect nearly all prepayments to be due and read them all.
  const due = await rows(
    trx,
    { id: integer },
    `with due as (
       select d.id, d.entry_id from document d
       cross join lateral (
         select gone_at from mirror_record r where r.installation = d.installation and r.kind = d.kind and r.id = d.id limit 1) m
       where d.installation = ? and d.kind = 'prepayment' and d.id > ? and d.state = 'posted' and d.entry_id is not null
         and d.written_entry_id is distinct from d.entry_id and m.gone_at is null
       order by d.id limit ?
     ), planned as (
       insert into write_back as b (installation, kind, document_id, unit_id, value_is, value)
       select ?::bigint, 'prepayment', id, entry_id, 'entry_id', entry_id from due order by id
       on conflict (installation, kind, document_id) do update set ${newPlan}
       where (b.value_is <> 'entry_id' or b.value is distinct from excluded.value or b.state = 'absent') and ${isFree}
     )
     select id from due order by id`,
    [installation, after, limit, installation, lane, token],
  );
  return due.map(({ id }) => id);
}

/** The number of prepayments whose entry id the source does not have, including those that are not posted yet. */
export async function countUnwrittenEntryIds(db: Connection, installation: InstallationId): Promise<number> {
  const { n } = await row(
    db,
    { n: integer },
    `select count(*) as n from document where installation = ? and kind = 'prepayment' and written_entry_id is null`,
    [installation],
  );
  return n;
}

/** Whether an entry id is not written back. It may be claimed by another lane. */
export async function areEntryIdsWaiting(db: Connection, installation: InstallationId): Promise<boolean> {
  // The order makes PostgreSQL use the index. It would read the whole table if it expected many rows.
  const found = await rows(
    db,
    {},
    `select from document
     where installation = ? and kind = 'prepayment' and state = 'posted' and entry_id is not null
       and written_entry_id is distinct from entry_id order by id limit 1`,
    [installation],
  );
  return found.length > 0;
}

/** Whether the source has accepted entry ids that were not read back yet. */
export async function isReadBackWaiting(db: Connection, installation: InstallationId): Promise<boolean> {
  return (await unreadWriteBacks(db, installation, entryIds, { after: 0, limit: 1 })).length > 0;
}
