import { date, integer, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { Money, zero } from '../domain/money.ts';
import { debitLessCredit } from '../ledger/journal/signed.ts';
import { documentKinds, type LineRole, lineRoles } from '../terms.ts';
import { reportTexts, sectionTitles } from '../texts/reports/reports.ts';
import {
  columnsOf,
  type Item,
  type Period,
  type ReportInput,
  type Section,
  type SectionShape,
  section,
} from './report-sections.ts';

const shape: SectionShape = {
  name: 'clearing',
  title: sectionTitles.payments,
  keys: columnsOf('account', 'role', 'payment_type', 'department', 'date'),
  facts: [],
  amounts: columnsOf('received', 'paid_back', 'open'),
};

const perAccount: SectionShape = {
  name: 'accounts',
  title: sectionTitles.accounts,
  keys: shape.keys.slice(0, 2),
  facts: [],
  amounts: [...columnsOf('before'), ...shape.amounts.slice(0, 2), ...columnsOf('other'), ...columnsOf('balance')],
};

/**
 * Movements of payments and prepayments (R4-R7, R10) on their accounts, by entry date: received, paid back (cancelled
 * and refunded), and open. The open amount must match a payout, a bank statement or a cash count. Entries that
 * accountants made in the ERP are not in our books. The sum of an account is its movement; the first section has its
 * balances before and after.
 */
export async function clearing(db: Connection, input: ReportInput, { from, through }: Period): Promise<Section[]> {
  const found = await rows(
    db,
    {
      ...{ account: text, role: oneOf(lineRoles), payment_type: nullable(integer), department_id: nullable(integer) },
      ...{ entry_date: date, kind: oneOf(documentKinds), document_id: integer, amount: numeric },
    },
    `select l.account, l.role, l.payment_type, l.department_id, e.entry_date, e.kind, e.document_id,
       ${debitLessCredit()} as amount
     from entry e join entry_line l on l.entry_id = e.id
     where e.installation = ? and e.entry_date between coalesce(?::date, '-infinity') and ?::date
       and (l.role = 'consolidation_clearing' or l.payment_type is not null
         and l.role not in ('receivable', 'opening_receivable')
         and not (e.kind = 'prepayment' and l.role = 'prepayment_liability'))
     group by l.account, l.role, l.payment_type, l.department_id, e.entry_date, e.kind, e.document_id
     having ${debitLessCredit()} <> 0
     order by l.account, l.role, l.payment_type, l.department_id, e.entry_date, e.kind, e.document_id`,
    [input.id, from, through],
  );
  const items = found.map(({ account, role, payment_type, department_id, entry_date, kind, document_id, ...each }) => {
    const amount = new Money(each.amount);
    const isReceived = amount.greaterThan(0);
    return {
      keys: { account, role, payment_type, department: department_id, date: entry_date },
      document: `${kind} ${document_id}`,
      facts: {},
      amounts: { received: isReceived ? amount : zero, paid_back: isReceived ? zero : amount.negated(), open: amount },
    } satisfies Item;
  });
  return [await balances(db, input, { from, through }, items), section(shape, items)];
}

/**
 * Roles of money whose balance a bank statement, a payout or a cash count must show, or whose balance must become zero.
 */
const cleared: readonly LineRole[] = [
  'insurance_receivable',
  'financing_receivable',
  'cash',
  'bank_clearing',
  'card_clearing',
  'mobile_clearing',
  'cheque_clearing',
  'other_clearing',
  'consolidation_clearing',
  'credit_settlement',
];

/**
 * The accounts of these items, and accounts of `cleared` roles with a balance. A figure has only one item here, since
 * the other section lists the documents of the month.
 */
async function balances(
  db: Connection,
  { id }: ReportInput,
  { from, through }: Period,
  items: readonly Item[],
): Promise<Section> {
  const moved = new Map(
    section({ ...shape, keys: perAccount.keys }, items).figures.map(({ keys, amounts }) => [keyOf(keys), amounts]),
  );
  const found = await rows(
    db,
    { account: text, role: oneOf(lineRoles), before: numeric, balance: numeric },
    `select account, role, sum(debit - credit) as balance,
       coalesce(sum(debit - credit) filter (where entry_date < ?::date), 0) as before
     from account_day
     where installation = ? and entry_date <= ?::date and (account = any(?::text[]) or role = any(?::text[]))
     group by account, role order by account, role`,
    [from, id, through, [...new Set(items.map(({ keys }) => String(keys.account)))], cleared],
  );
  const figures = found.flatMap(({ account, role, ...row }): Item[] => {
    const keys = { account, role };
    const own = moved.get(keyOf(keys));
    const [before, balance] = [new Money(row.before), new Money(row.balance)];
    if (own === undefined && (balance.isZero() || !cleared.includes(role))) return [];
    const { received = zero, paid_back = zero } = own ?? {};
    const other = balance.minus(before).minus(received).plus(paid_back);
    return [
      { keys, document: reportTexts.everyEntry, facts: {}, amounts: { before, received, paid_back, other, balance } },
    ];
  });
  return section(perAccount, figures);
}

function keyOf({ account, role }: Item['keys']): string {
  return `${account} ${role}`;
}
