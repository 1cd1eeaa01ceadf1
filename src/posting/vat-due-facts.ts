import { businessDate } from '../domain/dates.ts';
import { type Line, signed } from '../domain/entry.ts';
import { sum } from '../domain/money.ts';
import { finalStatus } from '../records/source-codes.ts';
import type { CalendarDate } from '../terms.ts';
import { receivables } from './entry-amounts.ts';
import { documentNumber } from './findings.ts';
import { judgeInvoice } from './invoice.ts';
import type { CreditChain } from './originals.ts';
import type { InvoiceFacts, PostingContext } from './types.ts';
import { type DueGroup, type DueInvoice, keyOfGroup } from './vat-due.ts';
import { isDueWithPayment, latestDay } from './vat-due-policy.ts';

/** An invoice on which the VAT of payments may depend, with its facts in the mirror and its state in the books. */
export interface DueDocument {
  facts: InvoiceFacts;
  chain: CreditChain;
  /** The entry in force; null if there is none. */
  inForce: { lines: readonly DueLine[]; documentDate: CalendarDate } | null;
  /** Whether the invoice is part of the opening balances. */
  isOpening: boolean;
  collector: number | null;
  /** The place of the first entry for its latest day; null if there is none. */
  latestPlace: number | null;
}

type DueLine = Pick<Line, 'account' | 'role' | 'side' | 'amount' | 'vat' | 'party' | 'departmentId'>;

/** The invoice's facts for R13. Null if the invoice is neither in the books nor in the opening balances. */
export function dueInvoice(document: DueDocument, context: PostingContext): DueInvoice | null {
  const { facts, chain, inForce, isOpening, collector, latestPlace } = document;
  const { invoice } = facts;
  const { mapping, timezone, startDate } = context;
  const policy = mapping.policies.vat_due;
  const dated = invoice.creditNote ? (chain.first?.invoiceDate ?? invoice.invoiceDate) : invoice.invoiceDate;
  const day = dated === null ? null : businessDate(dated, timezone);
  const own = inForce?.documentDate ?? (invoice.invoiceDate && businessDate(invoice.invoiceDate, timezone));
  if (policy === null || !own || day === null) return null;
  const latest = latestDay(policy, own);
  const common = {
    id: invoice.id,
    documentNumber: documentNumber(invoice),
    departmentId: invoice.departmentId,
    ...{ day, latest, latestPlace, collector },
    chain: chain.first === null ? null : { first: chain.first.id, depth: chain.depth },
    isUnknown: false,
  };
  if (inForce !== null) return { ...common, role: 'vat_not_due', ...amountsOf(inForce.lines) };
  if (!isOpening || facts.gone || invoice.status !== finalStatus) return null;
  const { entry } = judgeInvoice(facts, { ...context, startDate: null });
  const role = 'opening_vat_not_due';
  if (entry === null) {
    const isUnknown = isDueWithPayment(policy, day);
    return { ...common, role, total: invoice.totalWithVat ?? sum([]), groups: [], party: null, isUnknown };
  }
  const amounts = amountsOf(entry.lines);
  // VAT that was due before the start date was declared from the old books, so no VAT is left to move.
  const isSettled = latest !== null && startDate !== null && latest < startDate;
  return { ...common, role, ...amounts, ...(isSettled ? { groups: [] } : {}) };
}

function amountsOf(lines: readonly DueLine[]): Pick<DueInvoice, 'total' | 'groups' | 'party'> {
  const total = sum(lines.flatMap((line) => (receivables.includes(line.role) ? signed(line) : [])));
  const groups = new Map<string, DueGroup>();
  for (const line of lines) {
    if (line.role !== 'vat_not_due') continue;
    const { group = null, rate = null } = line.vat ?? {};
    const key = keyOfGroup({ group, rate });
    const known = groups.get(key);
    const vat = signed(line).negated();
    groups.set(key, {
      ...{ group, rate, account: line.account },
      vat: known === undefined ? vat : known.vat.plus(vat),
      net: netOf(lines, key),
    });
  }
  const head = lines.find(({ role }) => receivables.includes(role)) ?? lines[0];
  return { total, groups: [...groups.values()], party: head?.party ?? null };
}

function netOf(lines: readonly DueLine[], key: string) {
  return sum(
    lines.flatMap((line) => {
      if (line.role !== 'revenue' || line.vat === null || keyOfGroup(line.vat) !== key) return [];
      return signed(line).negated();
    }),
  );
}
