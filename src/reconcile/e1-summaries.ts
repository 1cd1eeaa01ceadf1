import { date, numeric, oneOf, text } from '../db/columns.ts';
import type { Connection } from '../db/rows.ts';
import { formatExact, Money } from '../domain/money.ts';
import { lineRoles, sides } from '../terms.ts';
import { e1Texts } from '../texts/findings/reconcile.ts';
import { differencesOf, limitedRows } from './limited.ts';
import type { FoundDifferences, ReconcileInput } from './reconcile-report.ts';

/**
 * Part of equation E1, for posting mode `daily_summary`. Each summary is the sum of its entries per account, role,
 * side, rule, payment type, department and VAT group, in amounts and in VAT bases. It contains only entries of the same day and posting
 * mode. No entry is left out of the summaries after a window that could have summarised it has closed.
 */
export async function checkSummaries(db: Connection, input: ReconcileInput): Promise<FoundDifferences[]> {
  return [await unequalSummaries(db, input), await misplacedMembers(db, input), await overdueEntries(db, input)];
}

async function unequalSummaries(db: Connection, input: ReconcileInput): Promise<FoundDifferences> {
  const unequal = await limitedRows(
    db,
    { id: text, account: text, role: oneOf(lineRoles), side: oneOf(sides), amount: numeric, base: numeric },
    `select id, account, role, side, sum(amount) as amount, sum(base) as base from (
       select s.id, s.department_id, l.account, l.role, l.side, l.rule, l.payment_type, l.vat_group, l.vat_rate, l.amount,
         coalesce(l.vat_base, 0) as base
       from summary_entry s join summary_line l on l.summary_id = s.id where s.installation = ?
       union all
       select s.id, l.department_id, l.account, l.role, l.side, l.rule, l.payment_type, l.vat_group, l.vat_rate,
         -l.amount, -coalesce(l.vat_base, 0)
       from summary_entry s join summary_member m on m.summary_id = s.id join entry_line l on l.entry_id = m.entry_id
       where s.installation = ?) both_ways
     group by id, department_id, account, role, side, rule, payment_type, vat_group, vat_rate
     having sum(amount) <> 0 or sum(base) <> 0 order by id, account, side`,
    [input.id, input.id],
    'case when amount = 0 then base else amount end',
  );
  return differencesOf(unequal, ({ id, account, role, side, amount, base }) => {
    const isBase = new Money(amount).isZero();
    const difference = new Money(isBase ? base : amount);
    return {
      document: `summary ${id}`,
      amount: difference,
      message: e1Texts.summaryDiffers({
        ...{ what: isBase ? e1Texts.vatBase : side, account, role },
        difference: formatExact(difference, input.decimals),
      }),
    };
  });
}

/**
 * Entries in a summary of another installation, day, VAT period or lateness, or in the posting mode that delivers each
 * entry.
 */
async function misplacedMembers(db: Connection, input: ReconcileInput): Promise<FoundDifferences> {
  const misplaced = await limitedRows(
    db,
    { id: text, summary_id: text, amount: numeric },
    `select e.id, m.summary_id,
       (select coalesce(sum(l.amount), 0) from entry_line l where l.entry_id = e.id and l.side = 'debit') as amount
     from summary_entry s join summary_member m on m.summary_id = s.id join entry e on e.id = m.entry_id
     where s.installation = ? and (e.installation <> s.installation or e.entry_date <> s.summary_date
       or e.posting_mode <> 'daily_summary'
       or (e.vat_period, e.is_late) is distinct from (s.vat_period, s.is_late)) order by e.installation, e.seq`,
    [input.id],
    'amount',
  );
  return differencesOf(misplaced, ({ id, summary_id, amount }) => ({
    document: `entry ${id}`,
    amount: new Money(amount),
    message: e1Texts.misplaced({ summary: summary_id }),
  }));
}

/** Entries in no summary, although a window has closed that opened after their posting and after their day was over. */
async function overdueEntries(db: Connection, input: ReconcileInput): Promise<FoundDifferences> {
  const overdue = await limitedRows(
    db,
    { id: text, entry_date: date, amount: numeric },
    `select e.id, e.entry_date,
       (select coalesce(sum(l.amount), 0) from entry_line l where l.entry_id = e.id and l.side = 'debit') as amount
     from entry e where e.installation = ? and e.posting_mode = 'daily_summary'
       and not exists (select from summary_member m where m.entry_id = e.id)
       and greatest(e.created_at, (e.entry_date + 1)::timestamp at time zone ?) < (
         select max(w.opened_at) from sync_window w where w.installation = e.installation and w.outcome = 'closed')
     order by e.seq`,
    [input.id, input.timezone],
    'amount',
  );
  return differencesOf(overdue, ({ id, entry_date, amount }) => ({
    document: `entry ${id}`,
    amount: new Money(amount),
    message: e1Texts.overdue({ date: entry_date }),
  }));
}
