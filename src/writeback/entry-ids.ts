import { integer } from '../db/columns.ts';
import { type Connection, row, rows } from '../db/rows.ts';
import { maxAttempts } from '../practice/retry.ts';
import type { InstallationId } from '../terms.ts';
import { type Claimant, claim, isFree, newPlan, type Selection, unreadWriteBacks } from './outbox.ts';
import { type Patience, type Place, WriteBack, type WriteBackPorts, type WriteBackReport } from './write-back.ts';

const batchSize = 500;
const entryIds: Selection = { kind: 'prepayment', values: ['entry_id'] };
/** A window ends before anybody tries again, and is itself tried again where the source is down. */
const ofWindows: Patience = { attempts: maxAttempts, failuresInARow: 1, waits: null };

/**
 * A window tells the source the entry id of each posted prepayment, and looks for what it has accepted. What it refuses, or does not
 * show afterwards, is tried again by the next window. Throws PracticeError where the source cannot be asked.
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
      // What was posted meanwhile may have lower ids.
      if (last === undefined && isNewRound) return [];
      if (last === undefined) isNewRound = true;
    }
  };
  await work.tell(next);
  await work.readBack();
  return work.report;
}

/**
 * Posted prepayments by id after `after` whose entry in force is not written back: plans them, and returns their ids. The column
 * `written_entry_id` follows the table `write_back`.
 */
export async function planEntryIds(
  trx: Connection,
  installation: InstallationId,
  { after, limit, claimant: { lane, token } }: { after: number; limit: number; claimant: Claimant },
): Promise<number[]> {
  // PostgreSQL takes them for nearly all prepayments; looked up one by one, they cost what they are.
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

/** How many prepayments the source does not have the entry id of, those that are not posted yet among them. */
export async function countUnwrittenEntryIds(db: Connection, installation: InstallationId): Promise<number> {
  const { n } = await row(
    db,
    { n: integer },
    `select count(*) as n from document where installation = ? and kind = 'prepayment' and written_entry_id is null`,
    [installation],
  );
  return n;
}

/** Whether `planEntryIds` may find something: also what another lane has claimed. */
export async function areEntryIdsWaiting(db: Connection, installation: InstallationId): Promise<boolean> {
  // In the order of the index, as PostgreSQL would read the table for any one row where it expects many.
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

/** Whether a window has entry ids to look for that the source has accepted. */
export async function isReadBackWaiting(db: Connection, installation: InstallationId): Promise<boolean> {
  return (await unreadWriteBacks(db, installation, entryIds, { after: 0, limit: 1 })).length > 0;
}
