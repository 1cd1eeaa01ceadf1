import { isDelivered } from '../config/erp.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { date, instant, integer, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { type Binding, type Connection, maybeRow, rows } from '../db/rows.ts';
import { hasOpenProblem } from '../documents/document.ts';
import { dayAfter, daysBetween, instantOf } from '../domain/dates.ts';
import { formatMoney, Money } from '../domain/money.ts';
import { lateProblems } from '../domain/problems.ts';
import { undeliveredThrough } from '../erp/outbox/undelivered.ts';
import { closedThrough } from '../ledger/close.ts';
import type { OwedAsRevenue } from '../mapping/owed.ts';
import type { InstallationReport, ReportedDifference } from '../reconcile/reconcile-report.ts';
import { returnState } from '../reports/vat-return-state.ts';
import { type CalendarDate, documentKinds, type InstallationId, type LineRole, lineRoles } from '../terms.ts';
import { type AccountPorts, findOwedAsRevenue } from './owed-as-revenue.ts';
import { whoAndWhere } from './problem-documents.ts';
import { type RemarkCount, remarksByCode } from './remarks.ts';
import { sourceUsage } from './source-usage.ts';

/**
 * The checklist that an accountant checks before closing a month. The close stores the checklist that the command
 * showed.
 */
export interface ClosingChecklist {
  through: CalendarDate;
  /** The last closed day so far; null if no day is closed. */
  closed_through: CalendarDate | null;
  made_at: Date;
  /** Whether no item below requires attention. */
  ok: boolean;
  /** Whether the last closed window read the source after the end of the last day. */
  last_window: { ok: boolean; to: Date | null };
  /** Held documents that are dated up to the day, or have no date. */
  held: ListedDocuments;
  /**
   * Documents that a closed period keeps out of the books, and posted documents whose change it keeps out (ACCOUNTING
   * "Late documents").
   */
  late: ListedDocuments;
  /** Documents dated up to the day that are not final: drafts and sent invoices. */
  drafts: ListedDocuments;
  /**
   * Entries and daily summaries dated up to the day that are not in the ERP, by state; null if nothing is delivered.
   */
  undelivered: { ok: boolean; count: number; states: Record<string, number> } | null;
  /** Remarks about documents dated up to the day, by code. `ok` is false if money is in the wrong place. */
  remarks: { ok: boolean; count: number; by_code: Omit<RemarkCount, 'installation'>[] };
  /** Equations of `reconcile` that do not hold. */
  differences: { ok: boolean; equations: FailingEquation[] };
  /**
   * Balances at the end of the day; a debit is positive. Roles that documents clear among themselves must have a zero
   * balance.
   */
  clearing: { ok: boolean; accounts: AccountBalance[] };
  /**
   * Balances of the prepayments unused at the end of the day, and the list of `reconcile` for the end of that month.
   */
  unused_prepayments: { accounts: AccountBalance[]; listed: { month_end: CalendarDate; balance: string } | null };
  /**
   * Rows that are posted as revenue although the name of their account or VAT group indicates gift cards, vouchers or
   * prepayments.
   */
  owed_as_revenue: { ok: boolean; names_known: boolean; found: (Omit<OwedAsRevenue, 'net'> & { net: string })[] };
  /** Accounts of gift cards, vouchers and prepayments with a debit balance: more was redeemed than sold. */
  liabilities_in_debit: { ok: boolean; accounts: AccountBalance[] };
  /**
   * Filed VAT returns that lost entries since, and late entries that no return has taken. `missed`: those that the
   * latest return could have taken.
   */
  vat_returns: {
    ok: boolean;
    filed_through: CalendarDate | null;
    changed: { period: string; entries: number; tax: string }[];
    late: { entries: number; missed: number; tax: string };
  };
}

export interface FailingEquation {
  equation: string;
  difference: string;
  documents: number;
  /** For E8, each difference: its VAT may be declared twice. */
  each?: ReportedDifference[];
}

export interface ListedDocuments {
  ok: boolean;
  count: number;
  by_code: Record<string, number>;
  /** The oldest documents, at most `documentLimit`. */
  documents: ListedDocument[];
}

export interface ListedDocument {
  document: string;
  code: string;
  date: CalendarDate | null;
  in_force: string | null;
  /** The total of a draft; for others, what their problem keeps out of the books. */
  amount: string | null;
  /** The id alone: the checklist is a link of the chain, from which a name could not be erased. */
  client_id: number | null;
  /** Days from the document's date to the last day of the period. */
  age_days: number | null;
}

export interface AccountBalance {
  account: string;
  role: LineRole;
  balance: string;
}

const documentLimit = 50;
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
const selfClearing: readonly LineRole[] = ['consolidation_clearing', 'credit_settlement'];
const liabilityRoles: readonly LineRole[] = ['prepayment_liability', 'gift_card_liability', 'voucher_liability'];

/**
 * The checklist for a close through a day. `report` is the current result of `reconcile`. `now` is the time of the
 * database or of the process.
 */
export async function closingChecklist(
  ports: AccountPorts,
  installation: InstallationConfig,
  through: CalendarDate,
  report: InstallationReport,
  now: Date,
): Promise<ClosingChecklist> {
  const { db } = ports;
  const { id, timezone, decimals, erp, mapping } = installation;
  const closed = await closedThrough(db, id);
  const balances = await balancesAt(db, id, through, decimals);
  const having = (roles: readonly LineRole[]) => balances.filter(({ role }) => roles.includes(role));
  const clearing = having(clearingRoles);
  const inDebit = having(liabilityRoles).filter(({ balance }) => !balance.startsWith('-'));
  const states = isDelivered(erp) ? await undeliveredThrough(db, id, through, erp.from) : null;
  const owed = await findOwedAsRevenue(ports, installation, await sourceUsage(db, installation), mapping);
  const failing = Object.entries(report.equations).filter(([, { ok }]) => !ok);
  const items = {
    last_window: await lastWindow(db, id, instantOf(dayAfter(through), timezone)),
    held: await documentsWith(db, installation, through, 'held'),
    late: await documentsWith(db, installation, through, 'late'),
    drafts: await drafts(db, installation, through),
    remarks: remarksItem(await remarksByCode(db, [installation], through)),
    undelivered: states && undelivered(states),
    differences: {
      ok: failing.length === 0,
      equations: failing.map(([equation, { difference, documents, documents_omitted: omitted = 0 }]) => ({
        equation,
        difference: String(difference),
        documents: documents.length + omitted,
        ...(equation === 'E8' ? { each: documents } : {}),
      })),
    },
    clearing: { ok: !clearing.some(({ role }) => selfClearing.includes(role)), accounts: clearing },
    owed_as_revenue: {
      ok: owed.found.length === 0,
      ...owed,
      found: owed.found.map((each) => ({ ...each, net: each.net.toFixed() })),
    },
    liabilities_in_debit: { ok: inDebit.length === 0, accounts: inDebit },
    vat_returns: await vatReturns(db, id, decimals),
  };
  return {
    ...{ through, closed_through: closed, made_at: now },
    ok: Object.values(items).every((item) => item === null || item.ok),
    ...items,
    unused_prepayments: {
      accounts: having(['prepayment_liability']),
      listed: report.listed.unused_prepayments.find(({ month_end }) => month_end === through) ?? null,
    },
  };
}

function undelivered(states: Record<string, number>) {
  const count = Object.values(states).reduce((all, n) => all + n, 0);
  return { ok: count === 0, count, states };
}

async function vatReturns(db: Connection, installation: InstallationId, decimals: number) {
  const { filedThrough, changed, late } = await returnState(db, installation);
  const money = (amount: string) => formatMoney(new Money(amount), decimals);
  return {
    ok: changed.length === 0 && late.missed === 0,
    filed_through: filedThrough,
    changed: changed.map((each) => ({ ...each, tax: money(each.tax) })),
    late: { ...late, tax: money(late.tax) },
  };
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
const moneyRemarks: readonly string[] = ['overpaid', 'paid_on_voided', 'opening_changed'];

function remarksItem(found: readonly RemarkCount[]): ClosingChecklist['remarks'] {
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
    count === 0
      ? []
      : await rows(
          db,
          listedShape,
          `select kind, id, coalesce(problem_code, state) as code, document_date as date, entry_id as in_force,
             outside_amount as amount
           from document where ${where} order by document_date nulls first, kind, id limit ${documentLimit}`,
          [installation, ...bindings],
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
        amount: shown && formatMoney(shown, Math.max(decimals, shown.decimalPlaces())),
        age_days: each.date === null ? null : daysBetween(each.date, through),
      };
    }),
  };
}

function documentsWith(
  db: Connection,
  installation: Listing,
  through: CalendarDate,
  which: 'held' | 'late',
): Promise<ListedDocuments> {
  const condition = `${hasOpenProblem} and (problem_code = any(?)) = ?
     and (document_date is null or document_date <= ?::date)`;
  return listed(db, installation, through, condition, [lateProblems, which === 'late', through]);
}

/** All of them up to the day: also those of months that are closed already, and of a month that was opened again. */
function drafts(db: Connection, installation: Listing, through: CalendarDate): Promise<ListedDocuments> {
  return listed(db, installation, through, `state = 'not_final' and document_date <= ?::date`, [through]);
}

/** Non-zero balances of the accounts that a close checks. */
async function balancesAt(
  db: Connection,
  installation: InstallationId,
  through: CalendarDate,
  decimals: number,
): Promise<AccountBalance[]> {
  const found = await rows(
    db,
    { account: text, role: oneOf(lineRoles), balance: numeric },
    `select l.account, l.role, sum(case l.side when 'debit' then l.amount else -l.amount end) as balance
     from entry e join entry_line l on l.entry_id = e.id
     where e.installation = ? and e.entry_date <= ?::date and l.role = any(?)
     group by l.account, l.role having sum(case l.side when 'debit' then l.amount else -l.amount end) <> 0
     order by l.account, l.role`,
    [installation, through, [...clearingRoles, ...liabilityRoles]],
  );
  return found.map(({ account, role, balance }) => ({
    account,
    role,
    balance: formatMoney(new Money(balance), decimals),
  }));
}
