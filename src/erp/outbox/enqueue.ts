import { insertRows } from '../../db/bulk.ts';
import { bool, date, integer, nullable, oneOf, text } from '../../db/columns.ts';
import { type Connection, execute, row, rows } from '../../db/rows.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';
import { entryKey } from '../entry-key.ts';
import { lookUpThrough } from './look-up-first.ts';
import { unitKinds } from './unit.ts';

const pageSize = 2_000;

export interface EnqueueOptions {
  installation: InstallationId;
  databaseId: string;
  /** Key of the company, from `companyKey` (entry-key.ts). */
  company: string;
  /** Units before this date are excluded; null excludes none. */
  from: CalendarDate | null;
  /** Whether units of first loads and backfills need no approval. */
  auto: boolean;
}

/**
 * Puts new units of the chains into the outbox, in the caller's transaction; returns their number. Concurrent callers
 * wait for each other. The cost depends on the number of new units only.
 */
export async function enqueueUnits(trx: Connection, to: EnqueueOptions): Promise<number> {
  const { installation } = to;
  await execute(trx, 'insert into erp_cursor (installation) values (?) on conflict do nothing', [installation]);
  const cursor = await row(
    trx,
    { entry_seq: integer, summary_seq: integer },
    'select entry_seq, summary_seq from erp_cursor where installation = ? for update',
    [installation],
  );
  const through = await lookUpThrough(trx, installation);
  const entries = await enqueueAll(trx, to, cursor.entry_seq, newEntries, through);
  const summaries = await enqueueAll(trx, to, cursor.summary_seq, newSummaries, through);
  if (entries.last > cursor.entry_seq || summaries.last > cursor.summary_seq) {
    await execute(trx, 'update erp_cursor set entry_seq = ?, summary_seq = ? where installation = ?', [
      entries.last,
      summaries.last,
      installation,
    ]);
  }
  return entries.added + summaries.added;
}

const newUnitShape = {
  unit_id: text,
  kind: oneOf(unitKinds),
  seq: integer,
  unit_date: date,
  follows: nullable(text),
  reverses: nullable(text),
  is_backlog: bool,
  is_unit: bool,
  window_id: nullable(integer),
};

type ReadPage = (trx: Connection, installation: InstallationId, after: number) => Promise<NewUnit[]>;
interface NewUnit {
  unit_id: string;
  kind: (typeof unitKinds)[number];
  seq: number;
  unit_date: CalendarDate;
  follows: string | null;
  reverses: string | null;
  is_backlog: boolean;
  /** False for an entry that reaches the general ledger in a daily summary. */
  is_unit: boolean;
  /** The window that posted the entry; null if none did. */
  window_id: number | null;
}

async function enqueueAll(
  trx: Connection,
  to: EnqueueOptions,
  from: number,
  read: ReadPage,
  through: number | null | undefined,
): Promise<{ last: number; added: number }> {
  let last = from;
  let added = 0;
  for (;;) {
    const page = await read(trx, to.installation, last);
    const units = page.filter(({ is_unit }) => is_unit);
    await insertRows(
      trx,
      'erp_unit',
      insertTypes,
      units.map((unit) => unitRow(unit, to, through)),
    );
    added += units.length;
    last = page.at(-1)?.seq ?? last;
    if (page.length < pageSize) return { last, added };
  }
}

const insertTypes = {
  installation: 'bigint',
  unit_id: 'text',
  kind: 'text',
  seq: 'bigint',
  unit_date: 'date',
  follows: 'text',
  reverses: 'text',
  erp_key: 'text',
  company: 'text',
  state: 'text',
  needs_approval: 'boolean',
  is_backlog: 'boolean',
  doubt: 'text',
};

/** `through`: the result of `lookUpThrough`. */
function unitRow({ is_unit: _, window_id, ...unit }: NewUnit, to: EnqueueOptions, through: number | null | undefined) {
  const isExcluded = to.from !== null && unit.unit_date < to.from;
  // An entry without a window, such as a repost, may have been sent before the restore too.
  const isOld = through !== undefined && (through === null || window_id === null || window_id <= through);
  const needsApproval = unit.is_backlog && !to.auto;
  const mayBeInErp = isOld && !isExcluded && !needsApproval;
  return {
    ...unit,
    installation: to.installation,
    erp_key: entryKey(to.databaseId, unit.unit_id),
    company: to.company,
    state: isExcluded ? 'excluded' : mayBeInErp ? 'uncertain' : 'pending',
    doubt: mayBeInErp ? 'no_answer' : null,
    needs_approval: needsApproval,
  };
}

/** Whether a first load or a backfill posted the entry. */
const isBacklog = `coalesce(w.kind = 'backfill' or (w.kind = 'window' and w.from_time is null), false)`;

function newEntries(trx: Connection, installation: InstallationId, after: number): Promise<NewUnit[]> {
  return rows(
    trx,
    newUnitShape,
    // The condition `e.n > 1` lets PostgreSQL look up predecessors only for the few entries that have one.
    `select e.id as unit_id, 'entry' as kind, e.seq, e.entry_date as unit_date, e.posting_mode = 'document' as is_unit,
       case when e.n > 1 then (
         select p.id from entry p
         where p.installation = e.installation and p.kind = e.kind and p.document_id = e.document_id and p.n < e.n
           and p.posting_mode = 'document'
         order by p.n desc limit 1) end as follows,
       case when e.reverses is not null then (
         select r.id from entry r where r.id = e.reverses and r.posting_mode = 'document') end as reverses,
       ${isBacklog} as is_backlog, e.window_id
     from (select * from entry where installation = ? and seq > ? order by seq limit ?) e
     left join sync_window w on w.id = e.window_id
     order by e.seq`,
    [installation, after, pageSize],
  );
}

function newSummaries(trx: Connection, installation: InstallationId, after: number): Promise<NewUnit[]> {
  return rows(
    trx,
    newUnitShape,
    `select s.id as unit_id, 'daily_summary' as kind, s.seq, s.summary_date as unit_date, true as is_unit,
       null::text as follows, null::text as reverses, ${isBacklog} as is_backlog, s.window_id
     from (select * from summary_entry where installation = ? and seq > ? order by seq limit ?) s
     left join sync_window w on w.id = s.window_id
     order by s.seq`,
    [installation, after, pageSize],
  );
}
