import { isDelivered } from '../config/erp.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { date, instant, integer, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { type Binding, type Connection, maybeRow, rows } from '../db/rows.ts';
import { hasOpenProblem } from '../documents/document.ts';
import { dayAfter, daysBetween, instantOf } from '../domain/dates.ts';
import { formatExact, formatMoney, Money } from '../domain/money.ts';
import { lateProblems } from '../domain/problems.ts';
import { undeliveredThrough } from '../erp/outbox/undelivered.ts';
import { type CalendarDate, documentKinds, type InstallationId, type LineRole, lineRoles } from '../terms.ts';
import { type AccountPorts, findOwedAsRevenue } from './owed-as-revenue.ts';
import { whoAndWhere } from './problem-documents.ts';
import { type RemarkCount, remarksByCode } from './remarks.ts';
import { rowUses } from './source-usage.ts';
import { filedReturnsOf } from './vat-return-state.ts';

export interface ListedDocuments {
  ok: boolean;
  count: number;
  by_code: Record<string, number>;
  /** The documents, the oldest first. */
  documents: ListedDocument[];
}

export interface ListedDocument {
  document: string;
  code: string;
  date: CalendarDate | null;
  in_force: string | null;
  /** The total of a draft; for others, what their problem keeps out of the books. */
  amount: string | null;
  /** The client's id. The checklist has no name, because it is part of the chain, from which nothing can be erased. */
  client_id: number | null;
  /** Days from the document's date to the last day of the period. */
  age_days: number | null;
}

export interface AccountBalance {
  account: string;
  role: LineRole;
  balance: string;
}

const clearingRoles: readonly LineRole[] = [
  'card_clearing',
  'bank_clearing',
  'cheque_clearing',
  'mobile_clearing',
  'other_clearing',
  'consolidation_clearing',
  'credit_settlement',
];
/** Roles that documents alone clear. Other roles are cleared outside these books, for instance by a bank statement. */
export const selfClearing: readonly LineRole[] = ['consolidation_clearing', 'credit_settlement'];
const liabilityRoles: readonly LineRole[] = ['prepayment_liability', 'gift_card_liability', 'voucher_liability'];

/** The items of the checklist that need no reconciliation, with at most `most` documents in each list. */
export async function itemsOfBooks(
  ports: AccountPorts,
  installation: InstallationConfig,
  through: CalendarDate,
  most: number,
) {
  const { db } = ports;
  const rowsUsed = await rowUses(db, installation, null);
  const owed = await findOwedAsRevenue(ports, installation, { rows: rowsUsed }, installation.mapping);
  return {
    ...(await quickItems(db, installation, through, most)),
    owed_as_revenue: {
      ok: owed.found.length === 0,
      ...owed,
      found: owed.found.map((each) => ({ ...each, net: each.net.toFixed() })),
    },
  };
}

/** The items that need neither the source nor a look at every row, so that a page can show them. */
export async function quickItems(
  db: Connection,
  installation: InstallationConfig,
  through: CalendarDate,
  most: number,
) {
  const { id, timezone, decimals, erp } = installation;
  const balances = await balancesAt(db, id, through, decimals);
  const having = (roles: readonly LineRole[]) => balances.filter(({ role }) => roles.includes(role));
  const clearing = having(clearingRoles);
  const inDebit = having(liabilityRoles).filter(({ balance }) => !balance.startsWith('-'));
  const states = isDelivered(erp) ? await undeliveredThrough(db, id, through, erp.from) : null;
  return {
    last_window: await lastWindow(db, id, instantOf(dayAfter(through), timezone)),
    held: await documentsWith(db, installation, through, most, 'held'),
    late: await documentsWith(db, installation, through, most, 'late'),
    drafts: await drafts(db, installation, through, most),
    remarks: remarksItem(await remarksByCode(db, [installation], through)),
    undelivered: states && undelivered(states),
    clearing: { ok: !clearing.some(({ role }) => selfClearing.includes(role)), accounts: clearing },
    liabilities_in_debit: { ok: inDebit.length === 0, accounts: inDebit },
    vat_returns: await filedReturnsOf(db, { id, decimals }),
    unused: having(['prepayment_liability']),
  };
}

function undelivered(states: Record<string, number>) {
  const count = Object.values(states).reduce((all, n) => all + n, 0);
  return { ok: count === 0, count, states };
}

async function lastWindow(db: Connection, installation: InstallationId, end: Date | null) {
  const found = await maybeRow(
    db,
    { to_time: nullable(instant) },
    `select to_time from sync_window where installation = ? and kind = 'window' and outcome = 'closed'
     order by id desc limit 1`,
    [installation],
  );
  const to = found?.to_time ?? null;
  return { ok: to !== null && end !== null && to >= end, to };
}

/** Remarks after which money must be moved. */
export const moneyRemarks: readonly string[] = ['overpaid', 'paid_on_voided', 'opening_changed'];

function remarksItem(found: readonly RemarkCount[]) {
  return {
    ok: !found.some(({ code }) => moneyRemarks.includes(code)),
    count: found.reduce((all, { count }) => all + count, 0),
    by_code: found.map(({ installation: _, ...each }) => each),
  };
}

const listedShape = {
  ...{ kind: oneOf(documentKinds), id: integer, code: text, date: nullable(date), in_force: nullable(text) },
  amount: nullable(numeric),
};

type Listing = Pick<InstallationConfig, 'id' | 'decimals' | 'dialect'>;

async function listed(
  db: Connection,
  { id: installation, decimals, dialect }: Listing,
  through: CalendarDate,
  most: number,
  condition: string,
  bindings: Binding[],
): Promise<ListedDocuments> {
  const where = `installation = ? and ${condition}`;
  const counted = await rows(
    db,
    { code: text, n: integer },
    `select coalesce(problem_code, state) as code, count(*)::int as n from document where ${where}
     group by 1 order by 2 desc, 1`,
    [installation, ...bindings],
  );
  const count = counted.reduce((all, { n }) => all + n, 0);
  const found =
    count === 0 || most === 0
      ? []
      : await rows(
          db,
          listedShape,
          `select kind, id, coalesce(problem_code, state) as code, document_date as date, entry_id as in_force,
             outside_amount as amount
           from document where ${where} order by document_date nulls first, kind, id limit ?`,
          [installation, ...bindings, most],
        );
  const parties = await whoAndWhere(db, installation, dialect, found);
  return {
    ok: count === 0,
    count,
    by_code: Object.fromEntries(counted.map(({ code, n }) => [code, n])),
    documents: found.map(({ kind, id, amount, ...each }) => {
      const { clientId = null, invoiceTotal = null } = parties.get(`${kind}/${id}`) ?? {};
      const shown = amount === null ? (each.code === 'not_final' ? invoiceTotal : null) : new Money(amount);
      return {
        ...{ document: `${kind} ${id}`, ...each, client_id: clientId },
        amount: shown && formatExact(shown, decimals),
        age_days: each.date === null ? null : daysBetween(each.date, through),
      };
    }),
  };
}

function documentsWith(
  db: Connection,
  installation: Listing,
  through: CalendarDate,
  most: number,
  which: 'held' | 'late',
): Promise<ListedDocuments> {
  const condition = `${hasOpenProblem} and (problem_code = any(?)) = ?
     and (document_date is null or document_date <= ?::date)`;
  return listed(db, installation, through, most, condition, [lateProblems, which === 'late', through]);
}

/** All drafts from the start date to the day, including those of months that are closed already or were reopened. */
function drafts(
  db: Connection,
  installation: InstallationConfig,
  through: CalendarDate,
  most: number,
): Promise<ListedDocuments> {
  return listed(
    db,
    installation,
    through,
    most,
    `state = 'not_final' and document_date between coalesce(?::date, '-infinity') and ?::date`,
    [installation.startDate, through],
  );
}

/** Non-zero balances of the accounts that a close checks, from the sums of days. */
async function balancesAt(
  db: Connection,
  installation: InstallationId,
  through: CalendarDate,
  decimals: number,
): Promise<AccountBalance[]> {
  const found = await rows(
    db,
    { account: text, role: oneOf(lineRoles), balance: numeric },
    `select account, role, sum(debit - credit) as balance from account_day
     where installation = ? and entry_date <= ?::date and role = any(?)
     group by account, role having sum(debit - credit) <> 0
     order by account, role`,
    [installation, through, [...clearingRoles, ...liabilityRoles]],
  );
  return found.map(({ account, role, balance }) => ({
    account,
    role,
    balance: formatMoney(new Money(balance), decimals),
  }));
}
