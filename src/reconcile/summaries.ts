import { type Db, query } from '../db/pool.ts';
import { Money } from '../domain/money.ts';
import type { CalendarDate } from '../terms.ts';
import { type Difference, figure, type Listed, type ReconcileInput } from './report.ts';

/**
 * Part of equation E1, in posting mode `daily_summary`: the summaries are what their entries are, per account, role, side,
 * department and VAT group, amounts and VAT bases; each entry is in a summary of its own day; none was left out by a window
 * that could have summed it up.
 */
export async function checkSummaries(db: Db, input: ReconcileInput): Promise<Difference[]> {
  return [...(await unequalSummaries(db, input)), ...(await strangers(db, input)), ...(await leftOut(db, input))];
}

async function unequalSummaries(db: Db, input: ReconcileInput): Promise<Difference[]> {
  const rows = await query<{ id: string; account: string; role: string; side: string; amount: string; base: string }>(
    db,
    `select id, account, role, side, sum(amount) as amount, sum(base) as base from (
       select s.id, s.department_id, l.account, l.role, l.side, l.vat_group, l.vat_rate, l.amount,
         coalesce(l.vat_base, 0) as base
       from summary_entry s join summary_line l on l.summary_id = s.id where s.installation = ?
       union all
       select s.id, l.department_id, l.account, l.role, l.side, l.vat_group, l.vat_rate, -l.amount, -coalesce(l.vat_base, 0)
       from summary_entry s join summary_member m on m.summary_id = s.id join entry_line l on l.entry_id = m.entry_id
       where s.installation = ?) both_ways
     group by id, department_id, account, role, side, vat_group, vat_rate
     having sum(amount) <> 0 or sum(base) <> 0 order by id, account, side`,
    [input.id, input.id],
  );
  return rows.map(({ id, account, role, side, amount, base }) => {
    const what = new Money(amount).isZero() ? 'VAT base' : side;
    const difference = new Money(what === 'VAT base' ? base : amount);
    return {
      document: `summary ${id}`,
      amount: difference,
      message: `its ${what} on ${account} (${role}) is ${figure(difference, input.decimals)} more than that of its entries`,
    };
  });
}

async function strangers(db: Db, input: ReconcileInput): Promise<Difference[]> {
  const rows = await query<{ id: string; summary_id: string; amount: string }>(
    db,
    `select e.id, m.summary_id,
       (select sum(l.amount) from entry_line l where l.entry_id = e.id and l.side = 'debit') as amount
     from summary_entry s join summary_member m on m.summary_id = s.id join entry e on e.id = m.entry_id
     where s.installation = ? and (e.installation <> s.installation or e.entry_date <> s.summary_date
       or e.posting_mode <> 'daily_summary') order by e.installation, e.seq`,
    [input.id],
  );
  return rows.map(({ id, summary_id, amount }) => ({
    document: `entry ${id}`,
    amount: new Money(amount),
    message: `it is not of the day of ${summary_id}, or goes to the general ledger by itself`,
  }));
}

/** A window that opened after an entry was posted and its day was over, and that closed, has summed it up. */
async function leftOut(db: Db, input: ReconcileInput): Promise<Difference[]> {
  const rows = await query<{ id: string; entry_date: CalendarDate; amount: string }>(
    db,
    `select e.id, e.entry_date,
       (select sum(l.amount) from entry_line l where l.entry_id = e.id and l.side = 'debit') as amount
     from entry e where e.installation = ? and e.posting_mode = 'daily_summary'
       and not exists (select from summary_member m where m.entry_id = e.id)
       and greatest(e.created_at, (e.entry_date + 1)::timestamp at time zone ?) < (
         select max(w.opened_at) from sync_window w where w.installation = e.installation and w.outcome = 'closed')
     order by e.seq`,
    [input.id, input.timezone],
  );
  return rows.map(({ id, entry_date, amount }) => ({
    document: `entry ${id}`,
    amount: new Money(amount),
    message: `it is in no daily summary, though ${entry_date} is over`,
  }));
}

/** Entries that wait for their day's summary, per day: the day is not over, or no window has come since. */
export async function unsummarised(db: Db, input: ReconcileInput): Promise<Listed['unsummarised']> {
  return query<{ date: CalendarDate; entries: number }>(
    db,
    `select e.entry_date as date, count(*) as entries from entry e
     where e.installation = ? and e.posting_mode = 'daily_summary'
       and not exists (select from summary_member m where m.entry_id = e.id)
     group by e.entry_date order by e.entry_date`,
    [input.id],
  );
}
