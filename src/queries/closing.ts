import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { closedThrough } from '../ledger/close.ts';
import type { OwedAsRevenue } from '../mapping/owed.ts';
import type { InstallationReport, ReportedDifference } from '../reconcile/reconcile-report.ts';
import type { CalendarDate } from '../terms.ts';
import {
  type AccountBalance,
  itemsOfBooks,
  type ListedDocuments,
  moneyRemarks,
  selfClearing,
} from './closing-items.ts';
import type { AccountPorts } from './owed-as-revenue.ts';
import type { RemarkCount } from './remarks.ts';
import type { FiledReturns } from './vat-return-state.ts';
import { verdicts } from './verdict.ts';

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
  vat_returns: FiledReturns;
}

export interface FailingEquation {
  equation: string;
  /** Null if the last reconciliation found it, which stores only the names of equations. */
  difference: string | null;
  documents: number | null;
  /** Each difference of E8, because its VAT may be declared twice; absent for other equations. */
  each?: ReportedDifference[];
}

/** More documents of a list are only counted, because the close stores the checklist. A clinic has far fewer. */
const mostListed = 10_000;

/**
 * The checklist for a close through a day. `report` is the current result of `reconcile`; without it, the differences are those of
 * the last reconciliation. `now` is the time of the database or of the process.
 */
export async function closingChecklist(
  ports: AccountPorts,
  installation: InstallationConfig,
  through: CalendarDate,
  report: InstallationReport | null,
  now: Date,
): Promise<ClosingChecklist> {
  const equations = report === null ? await lastFailing(ports.db, installation) : failingOf(report);
  const { unused, ...found } = await itemsOfBooks(ports, installation, through, mostListed);
  const items = { ...found, differences: { ok: equations.length === 0, equations } };
  return {
    ...{ through, closed_through: await closedThrough(ports.db, installation.id), made_at: now },
    ok: Object.values(items).every((item) => item === null || item.ok),
    ...items,
    unused_prepayments: {
      accounts: unused,
      listed: report?.listed.unused_prepayments.find(({ month_end }) => month_end === through) ?? null,
    },
  };
}

function failingOf({ equations }: InstallationReport): FailingEquation[] {
  return Object.entries(equations).flatMap(
    ([equation, { ok, difference, documents, documents_omitted: omitted = 0 }]) =>
      ok
        ? []
        : {
            ...{ equation, difference: String(difference), documents: documents.length + omitted },
            ...(equation === 'E8' ? { each: documents } : {}),
          },
  );
}

async function lastFailing(db: Connection, installation: InstallationConfig): Promise<FailingEquation[]> {
  const { failing = [] } = (await verdicts(db, [installation])).get(installation.id)?.reconciled ?? {};
  return failing.map((equation) => ({ equation, difference: null, documents: null }));
}

/** An item that needs attention: how many, and how many of each code, state or equation. */
export interface ClosingItem {
  count: number;
  parts: Record<string, number>;
}

/** The items of the checklist that need attention. The differences are those of the last reconciliation. */
export async function openClosingItems(
  ports: AccountPorts,
  installation: InstallationConfig,
  through: CalendarDate,
): Promise<
  Partial<Record<Exclude<keyof ClosingChecklist, 'ok' | 'through' | 'closed_through' | 'made_at'>, ClosingItem>>
> {
  const found = await itemsOfBooks(ports, installation, through, 0);
  const failing = await lastFailing(ports.db, installation);
  const { remarks, clearing, owed_as_revenue: owed, vat_returns: returns } = found;
  const money = remarks.by_code.filter(({ code }) => moneyRemarks.includes(code));
  const notZero = clearing.accounts.filter(({ role }) => selfClearing.includes(role)).length;
  const listed = ({ count, by_code: parts }: ListedDocuments) => ({ count, parts });
  const items: Record<string, ClosingItem> = {
    last_window: { count: found.last_window.ok ? 0 : 1, parts: {} },
    ...{ held: listed(found.held), late: listed(found.late), drafts: { count: found.drafts.count, parts: {} } },
    undelivered: { count: found.undelivered?.count ?? 0, parts: found.undelivered?.states ?? {} },
    remarks: {
      count: money.reduce((all, { count }) => all + count, 0),
      parts: Object.fromEntries(money.map(({ code, count }) => [code, count])),
    },
    differences: { count: failing.length, parts: Object.fromEntries(failing.map(({ equation }) => [equation, 1])) },
    clearing: { count: notZero, parts: {} },
    owed_as_revenue: { count: owed.found.reduce((all, each) => all + each.rows, 0), parts: {} },
    liabilities_in_debit: { count: found.liabilities_in_debit.accounts.length, parts: {} },
    vat_returns: { count: returns.changed.length + returns.late.missed, parts: {} },
  };
  return Object.fromEntries(Object.entries(items).filter(([, { count }]) => count > 0));
}
