import { integer, nullable } from '../db/columns.ts';
import { type Connection, row, rows } from '../db/rows.ts';
import { PracticeError } from '../domain/practice-error.ts';
import type { InstallationId, SourceKind } from '../terms.ts';
import type { PlainError } from '../texts/plain-error.ts';
import { isOpen, newPlan, type Selection } from './outbox.ts';
import { type Patience, type Place, WriteBack, type WriteBackPorts } from './write-back.ts';

const batchSize = 100;
const unitsAtATime = 500;
const ofDeliveries: Patience = {
  ...{ attempts: 1, failuresInARow: 3 },
  waits: { firstMs: 60_000, longestMs: 86_400_000 },
};

export interface NumberReport {
  /** Documents for which a read showed the ERP's number, or the restored earlier value. */
  written: number;
  /**
   * Documents whose number is not written yet. `taken` counts those for which the source has a value of another
   * program.
   */
  left: number;
  taken: number;
  /** Milliseconds until the next one may be tried; 0 is now. Null if none is waiting. */
  nextDueMs: number | null;
  /** The reason why it ended early: the practice software cannot be reached, or refuses the credentials. */
  waitingFor: PlainError | null;
}

/** Writes the ERP's numbers of delivered documents to the source, until `isOver`. */
export async function writeBackNumbers(
  installation: Place,
  ports: WriteBackPorts,
  isOver: () => boolean,
): Promise<NumberReport> {
  const { id, dialect } = installation;
  const { kinds } = dialect.external_info;
  for (let taken = unitsAtATime; taken === unitsAtATime && !isOver(); ) {
    ports.signal.throwIfAborted();
    taken = await ports.transact((trx) => planNumbers(trx, id, { kinds, limit: unitsAtATime }));
  }
  let written = 0;
  let waitingFor: PlainError | null = null;
  for (const kind of kinds) {
    const work = new WriteBack(installation, ports, { kind, values: ['erp_number', 'former'] }, ofDeliveries);
    try {
      await writeBackDue(id, ports, work, isOver);
    } catch (error) {
      ports.signal.throwIfAborted();
      if (!(error instanceof PracticeError)) throw error;
      const { code, message, todo } = error;
      waitingFor = { code, message, todo };
    }
    written += work.report.confirmed;
    if (waitingFor !== null) break;
  }
  return { written, ...(await numbersLeft(ports.db, id)), waitingFor };
}

async function writeBackDue(id: InstallationId, ports: WriteBackPorts, work: WriteBack, isOver: () => boolean) {
  let after = 0;
  const next = async () => {
    const ids = await dueDocuments(ports.db, id, work.selection, { after, limit: batchSize });
    after = ids.at(-1) ?? after;
    return ids;
  };
  await work.write(next, isOver);
  await work.readBack();
}

/**
 * Takes units that have a new number, or that were cancelled without being sent, and plans the write-back of their
 * documents. A document gets the number of its entry in force, or of that entry's daily summary. A document without an
 * entry in force gets back the value that the source had before ours. Nothing is planned while the newest entry is not
 * delivered. Returns how many units were taken.
 */
async function planNumbers(
  trx: Connection,
  installation: InstallationId,
  { kinds, limit }: { kinds: readonly SourceKind[]; limit: number },
): Promise<number> {
  const { taken } = await row(
    trx,
    { taken: integer },
    `with due as (
       delete from erp_number_due d using (
         select unit_id from erp_number_due where installation = ? limit ? for update skip locked
       ) next
       where d.installation = ? and d.unit_id = next.unit_id returning d.unit_id
     ), touched as (
       select e.kind, e.document_id from due join entry e on e.id = due.unit_id
       union
       select e.kind, e.document_id from due join summary_member m on m.summary_id = due.unit_id join entry e on e.id = m.entry_id
     ), newest as (
       select n.kind, n.document_id, n.reverses is not null as restores, coalesce(m.summary_id, n.id) as unit_id
       from touched t
       cross join lateral (
         select * from entry e where e.installation = ? and e.kind = t.kind and e.document_id = t.document_id
         order by e.n desc limit 1) n
       left join summary_member m on m.entry_id = n.id
       where t.kind = any(?)
     ), planned as (
       insert into write_back as b (installation, kind, document_id, unit_id, value_is, value)
       select ?, n.kind, n.document_id, n.unit_id, case when n.restores then 'former' else 'erp_number' end,
         case when n.restores then earlier.previous_value else u.erp_number end
       from newest n
       join erp_unit u on u.installation = ? and u.unit_id = n.unit_id
         and ((u.state = 'delivered' and u.erp_number is not null) or (n.restores and u.state = 'cancelled_out'))
       left join write_back earlier on earlier.installation = ? and earlier.kind = n.kind and earlier.document_id = n.document_id
       where not n.restores or earlier.document_id is not null
       order by n.kind, n.document_id
       on conflict (installation, kind, document_id) do update set ${newPlan}
       where b.unit_id <> excluded.unit_id or b.value_is <> excluded.value_is or b.value is distinct from excluded.value
     )
     select count(*)::int as taken from due`,
    [installation, limit, ...Array(2).fill(installation), kinds, ...Array(3).fill(installation)],
  );
  return taken;
}

/** The next documents whose number may be written now, by id above `after`. */
async function dueDocuments(
  db: Connection,
  installation: InstallationId,
  { kind, values }: Selection,
  { after, limit }: { after: number; limit: number },
): Promise<number[]> {
  const found = await rows(
    db,
    { id: integer },
    `select b.document_id as id from write_back b
     where b.installation = ? and b.kind = ? and b.document_id > ? and ${isOpen} and b.value_is = any(?)
       and (b.not_before is null or b.not_before <= clock_timestamp())
     order by b.document_id limit ?`,
    [installation, kind, after, values, limit],
  );
  return found.map(({ id }) => id);
}

/**
 * Counts the documents whose number is not written yet, and the documents for which the source has a value of another
 * program. `nextDueMs` is the time until the next number may be tried; 0 is now, null is never.
 */
async function numbersLeft(
  db: Connection,
  installation: InstallationId,
): Promise<{ left: number; taken: number; nextDueMs: number | null }> {
  return row(
    db,
    { left: integer, taken: integer, nextDueMs: nullable(integer) },
    `select (count(*) filter (where state <> 'taken'))::int as left, (count(*) filter (where state = 'taken'))::int as taken,
       case when exists (select from erp_number_due where installation = ?) then 0
         when count(*) > 0 then
           greatest(0, ceil(extract(epoch from min(coalesce(not_before, clock_timestamp())) - clock_timestamp()) * 1000))
         end::bigint as "nextDueMs"
     from write_back
     where installation = ? and value_is <> 'entry_id'
       and (state in ('pending', 'failed', 'taken') or state = 'done' and read_back is null)`,
    [installation, installation],
  );
}
