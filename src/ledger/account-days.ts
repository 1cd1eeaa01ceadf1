import { integer, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { type Connection, maybeRow, rows } from '../db/rows.ts';
import { Money } from '../domain/money.ts';
import { type CalendarDate, type InstallationId, type LineRole, lineRoles } from '../terms.ts';

/** The values by which figures of an account can be split. */
export const splits = ['department', 'dimension_1', 'dimension_2', 'dimension_3'] as const;
export type Split = (typeof splits)[number];

/** The days and entries that figures of accounts include. */
export interface AccountDays {
  from: CalendarDate;
  through: CalendarDate;
  /** The first day of the fiscal year that `from` is in. */
  yearStart: CalendarDate;
  split: Split | null;
  /** The result has only this account. Null for all accounts. */
  account: string | null;
  /** The result counts only entries up to this place in the chain. Null for all entries. */
  upToSeq: number | null;
}

/** Sums of an account; balances are debits less credits. */
export interface AccountFigures {
  account: string;
  role: LineRole;
  /** The department or dimension; null if the figures are not split, or the lines have none. */
  part: string | null;
  /** The balance before `from`. */
  before: Money;
  /** The part of `before` from earlier fiscal years. */
  earlier: Money;
  /** From `from` to `through`. */
  debit: Money;
  credit: Money;
}

/** SQL for the part of a line by which figures are split, as text. */
export function partColumn(split: Split | null): string {
  return split === null ? 'null::text' : split === 'department' ? 'department_id::text' : split;
}

/** The figures of every account with entries, by account, role and part. */
export async function accountFigures(
  db: Connection,
  installation: InstallationId,
  { from, through, yearStart, split, account, upToSeq }: AccountDays,
): Promise<AccountFigures[]> {
  const part = partColumn(split);
  // There are usually few later entries. So the sums of days are reduced by these entries, whose lines are read by key.
  const later =
    upToSeq === null
      ? ''
      : `union all
       select l.account, l.role, ${part}, e.entry_date,
         case l.side when 'debit' then -l.amount else 0 end, case l.side when 'credit' then -l.amount else 0 end
       from entry e cross join lateral (select * from entry_line own where own.entry_id = e.id offset 0) l
       where e.installation = ? and e.entry_date <= ?::date and e.seq > ?::bigint and l.account = coalesce(?::text, l.account)`;
  const found = await rows(
    db,
    {
      ...{ account: text, role: oneOf(lineRoles), part: nullable(text) },
      ...{ before: numeric, earlier: numeric, debit: numeric, credit: numeric },
    },
    `select account, role, part,
       coalesce(sum(debit - credit) filter (where day < ?::date), 0) as before,
       coalesce(sum(debit - credit) filter (where day < ?::date), 0) as earlier,
       coalesce(sum(debit) filter (where day >= ?::date), 0) as debit,
       coalesce(sum(credit) filter (where day >= ?::date), 0) as credit
     from (
       select account, role, ${part} as part, entry_date as day, debit, credit from account_day
       where installation = ? and entry_date <= ?::date and account = coalesce(?::text, account)
       ${later}
     ) d
     group by account, role, part order by account collate "C", role, part collate "C" nulls first`,
    [
      ...[from, yearStart, from, from, installation, through, account],
      ...(upToSeq === null ? [] : [installation, through, upToSeq, account]),
    ],
  );
  return found.map(({ before, earlier, debit, credit, ...of }) => ({
    ...of,
    ...{ before: new Money(before), earlier: new Money(earlier), debit: new Money(debit), credit: new Money(credit) },
  }));
}

/** The place in the chain of the last entry that was recorded by this time; 0 if there is none. */
export async function seqRecordedBy(db: Connection, installation: InstallationId, time: Date): Promise<number> {
  const found = await maybeRow(
    db,
    { seq: integer },
    'select seq from entry where installation = ? and created_at <= ? order by seq desc limit 1',
    [installation, time],
  );
  return found?.seq ?? 0;
}

/** A day whose stored figures are not the sums of its lines; null if there is none. */
export function wrongAccountDay(
  db: Connection,
  installation: InstallationId,
): Promise<{ day: CalendarDate; account: string } | null> {
  return maybeRow(
    db,
    { day: text, account: text },
    `select day, account from (
       select to_char(entry_date, 'YYYY-MM-DD') as day, account, role, department_id, dimension_1, dimension_2, dimension_3, debit, credit
       from account_day where installation = ?
       union all
       select to_char(e.entry_date, 'YYYY-MM-DD'), l.account, l.role, l.department_id, l.dimension_1, l.dimension_2, l.dimension_3,
         case l.side when 'debit' then -l.amount else 0 end, case l.side when 'credit' then -l.amount else 0 end
       from entry e join entry_line l on l.entry_id = e.id where e.installation = ?
     ) d
     group by day, account, role, department_id, dimension_1, dimension_2, dimension_3
     having sum(debit) <> 0 or sum(credit) <> 0 order by day, account limit 1`,
    [installation, installation],
  );
}
