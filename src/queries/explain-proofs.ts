import { entryDefect } from '../domain/entry.ts';
import { formatExact, type Money, roundHalfEven, sum, zero } from '../domain/money.ts';
import type { DocumentFacts, InvoiceFacts, Judgement } from '../posting/types.ts';
import { proofTexts } from '../texts/findings/proofs.ts';

/** One proof of a document (ACCOUNTING "Proofs before posting"). */
export interface Proof {
  proof: string;
  /** Null if the judgement ended before this proof, or the source gives no figures to compare. */
  holds: boolean | null;
  /** The figures compared. */
  says: string;
}

const unmappedCodes: readonly string[] = [
  'account_unmapped',
  'vat_group_unmapped',
  'payment_type_unmapped',
  'role_unmapped',
];

/** The proofs of a document's facts. Documents that the rules do not post need none. */
export function proofsOf(facts: DocumentFacts, judgement: Judgement, decimals: number): Proof[] {
  if (!['posted', 'held', 'nothing_to_post'].includes(judgement.state)) return [];
  const ofInvoice = facts.kind === 'invoice' ? invoiceProofs(facts, judgement, decimals) : [];
  return [...ofInvoice, mapped(judgement), balanced(judgement, decimals), plausible(judgement)];
}

function invoiceProofs(facts: InvoiceFacts, judgement: Judgement, decimals: number): Proof[] {
  return [
    facts.invoice.consolidatedInvoiceIds.length > 0
      ? collectorTotal(facts, judgement, decimals)
      : totals(facts, judgement, decimals),
    fresh(facts),
    due(facts, judgement, decimals),
  ];
}

function totals({ invoice, rows }: InvoiceFacts, judgement: Judgement, decimals: number): Proof {
  const parts: [string, (Money | null)[], Money | null][] = [
    [proofTexts.net, rows.map((row) => row.sum), invoice.total],
    [proofTexts.vat, rows.map((row) => row.sumVat), invoice.totalVat],
    [proofTexts.withVat, rows.map((row) => row.sumTotal), invoice.totalWithVat],
  ];
  const rowsAndTotals = parts.map(([of, amounts, total]) =>
    proofTexts.rowsAndTotal({ rows: text(exact(amounts), decimals), of, total: text(total, decimals) }),
  );
  const says = [...rowsAndTotals, ...header(invoice, decimals)].join('; ');
  const agree = parts.map(([, amounts, total]) => {
    const added = exact(amounts);
    return added && total ? roundHalfEven(added, decimals).equals(total) : null;
  });
  const holds = agree.includes(null) ? null : agree.every(Boolean) && judgement.problem?.code !== 'totals_disagree';
  return { proof: proofTexts.totals, holds, says };
}

/** Names totals with another sum than the total with VAT, even if they differ by one minor unit. */
function header(
  { total: net, totalVat: vat, totalWithVat: total }: InvoiceFacts['invoice'],
  decimals: number,
): string[] {
  if (net === null || vat === null || total === null || net.plus(vat).equals(total)) return [];
  const amounts = { net, vat, sum: net.plus(vat), total };
  const shown = (name: keyof typeof amounts) => text(amounts[name], decimals);
  return [proofTexts.header({ net: shown('net'), vat: shown('vat'), sum: shown('sum'), total: shown('total') })];
}

function collectorTotal({ invoice, memberPayments }: InvoiceFacts, { reports }: Judgement, decimals: number): Proof {
  const collected = exact(memberPayments.map(({ paid }) => paid));
  return {
    proof: proofTexts.collector,
    holds: !reports.some(({ code }) => code === 'collector_disagrees'),
    says: proofTexts.paidAndTotal({
      paid: text(collected, decimals),
      total: text(invoice.totalWithVat, decimals),
    }),
  };
}

function fresh({ invoice, rowsFresh }: InvoiceFacts): Proof {
  return {
    proof: proofTexts.fresh,
    holds: rowsFresh,
    says: proofTexts.changed({ at: invoice.modified ?? proofTexts.unknownTime }),
  };
}

function due({ invoice, payments }: InvoiceFacts, { reports }: Judgement, decimals: number): Proof {
  return {
    proof: proofTexts.due,
    holds: invoice.dueSum === null ? null : !reports.some(({ code }) => code === 'due_sum_disagrees'),
    says: proofTexts.dueTotalPaid({
      due: text(invoice.dueSum, decimals),
      total: text(invoice.totalWithVat, decimals),
      paid: text(exact(payments.map(({ paid }) => paid)), decimals),
    }),
  };
}

function mapped({ entry, problem }: Judgement): Proof {
  const proof = proofTexts.mapped;
  if (problem && unmappedCodes.includes(problem.code)) return { proof, holds: false, says: problem.message };
  if (!entry) return { proof, holds: null, says: '' };
  return { proof, holds: true, says: [...new Set(entry.lines.map(({ account }) => account))].join(', ') };
}

function balanced({ entry, problem }: Judgement, decimals: number): Proof {
  const defect = entry && entryDefect(entry, decimals);
  return {
    proof: proofTexts.balanced,
    holds: problem?.code === 'entry_unbalanced' ? false : entry ? defect === null : null,
    says: defect ?? '',
  };
}

const implausibleCodes: readonly string[] = [
  'amount_implausible',
  'credit_cycle',
  'foreign_reference',
  'contradiction',
];

function plausible({ problem }: Judgement): Proof {
  const fails = problem !== null && implausibleCodes.includes(problem.code);
  return {
    proof: proofTexts.plausible,
    holds: problem !== null && !fails ? null : !fails,
    says: fails ? problem.message : '',
  };
}

function exact(amounts: (Money | null)[]): Money | null {
  const known = amounts.filter((amount) => amount !== null);
  return known.length < amounts.length ? null : known.length === 0 ? zero : sum(known);
}

function text(amount: Money | null, decimals: number): string {
  return amount === null ? proofTexts.notGiven : formatExact(amount, decimals);
}
