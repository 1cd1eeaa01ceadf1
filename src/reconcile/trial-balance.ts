import { type Db, query } from '../db/pool.ts';
import { Money } from '../domain/money.ts';
import type { CalendarDate } from '../terms.ts';
import { type Difference, figure, type Listed, type ReconcileInput, type TrialBalanceLine } from './report.ts';

/** Debits, credits and balance of every account that was ever posted to, by account. */
export async function trialBalance(db: Db, input: ReconcileInput): Promise<TrialBalanceLine[]> {
  const rows = await query<{ account: string; roles: string[]; debit: string; credit: string }>(
    db,
    `select l.account, array_agg(distinct l.role) as roles,
       coalesce(sum(l.amount) filter (where l.side = 'debit'), 0) as debit,
       coalesce(sum(l.amount) filter (where l.side = 'credit'), 0) as credit
     from entry e join entry_line l on l.entry_id = e.id where e.installation = ?
     group by l.account order by l.account collate "C"`,
    [input.id],
  );
  return rows.map(({ account, roles, debit, credit }) => ({
    account,
    ...(roles.length === 1 ? { role: roles[0]! } : {}),
    debit: figure(new Money(debit), input.decimals),
    credit: figure(new Money(credit), input.decimals),
    balance: figure(new Money(debit).minus(credit), input.decimals),
  }));
}

/** Equation E1: the trial balance is zero. It is the sum of the entries, so each that is not balanced is a difference. */
export async function checkTrialBalance(db: Db, input: ReconcileInput): Promise<Difference[]> {
  const rows = await query<{ id: string; amount: string }>(
    db,
    `select e.id, sum(case l.side when 'debit' then l.amount else -l.amount end) as amount
     from entry e join entry_line l on l.entry_id = e.id where e.installation = ?
     group by e.id having sum(case l.side when 'debit' then l.amount else -l.amount end) <> 0 order by e.id`,
    [input.id],
  );
  return rows.map(({ id, amount }) => ({
    document: `entry ${id}`,
    amount: new Money(amount),
    message: `its debits and credits differ by ${figure(new Money(amount), input.decimals)}`,
  }));
}

/** What is left of prepayments at the end of each month of the books; months with nothing left are left out. */
export async function unusedPrepayments(db: Db, input: ReconcileInput): Promise<Listed['unused_prepayments']> {
  const rows = await query<{ month_end: CalendarDate; balance: string }>(
    db,
    `with span as (select min(entry_date) as first, max(entry_date) as last from entry where installation = ?),
       moved as (
         select date_trunc('month', e.entry_date)::date as month,
           sum(case l.side when 'credit' then l.amount else -l.amount end) as amount
         from entry e join entry_line l on l.entry_id = e.id
         where e.installation = ? and l.role = 'prepayment_liability' group by 1),
       months as (select generate_series(date_trunc('month', first), last, interval '1 month')::date as month from span)
     select month_end, balance from (
       select (m.month + interval '1 month - 1 day')::date as month_end,
         coalesce(sum(v.amount) over (order by m.month), 0) as balance
       from months m left join moved v on v.month = m.month) b
     where balance <> 0 order by month_end`,
    [input.id, input.id],
  );
  return rows.map((row) => ({ ...row, balance: figure(new Money(row.balance), input.decimals) }));
}
