import { type DraftEntry, type Line, lineOf } from '../domain/entry.ts';
import { postgresText } from '../domain/text.ts';
import { roleAccount, vatAccount } from '../mapping/look-ups.ts';
import { entryDescriptions } from '../texts/entries.ts';
import { capitalised, Findings } from './findings.ts';
import { hashOfPosted } from './hash.ts';
import type { Judgement, PostingContext, VatDueFacts } from './types.ts';
import { type DueStep, dueSteps, movesOf } from './vat-due.ts';

/** The lines of the VAT that becomes due with a document, and the remark if some VAT is unknown (ACCOUNTING R13). */
export function vatDueLines(
  steps: readonly DueStep[],
  { mapping, decimals }: PostingContext,
  findings: Findings,
): Line[] {
  return steps.flatMap((step) => {
    const { invoice } = step;
    const { party, departmentId, documentNumber, id: invoiceId, day: date } = invoice;
    const common = { rule: vatDueRule, party, departmentId, documentNumber, invoiceId };
    return movesOf(step, decimals).flatMap(({ group, rate, account, vat, base }): Line[] => {
      const opening = invoice.role === 'opening_vat_not_due' ? roleAccount(mapping, invoice.role) : null;
      const suspended = findings.account(opening ?? { account, mappedBy: `invoice ${invoiceId}` });
      const owed = findings.account(vatAccount(mapping, { name: group, rate, accounts: [], date }, departmentId));
      if (!suspended || !owed) return [];
      const tags = { group, rate, base: vat.isNegative() ? base.negated() : base };
      const lines = [
        lineOf(vat, { ...common, ...suspended, role: invoice.role, vat: { group, rate, base: null } }),
        lineOf(vat.negated(), { ...common, ...owed, role: 'vat', vat: tags }),
      ];
      return lines.filter((line) => line !== null);
    });
  });
}

export const vatDueRule = 'R13';

/** Judges the entry that makes the rest of an invoice's VAT due on its latest day. */
export function judgeVatDue({ id, books }: VatDueFacts, context: PostingContext): Judgement {
  const invoice = books.invoices.get(id);
  const name = `invoice ${invoice?.documentNumber ?? id}`;
  const findings = new Findings({ kind: 'vat_due', id }, `${capitalised(name)} (id ${id})`);
  const date = invoice?.latest ?? null;
  findings.documentDate = date;
  const { today = null, startDate } = context;
  if (invoice === undefined || date === null || (today !== null && today <= date))
    return findings.state('nothing_to_post');
  if (startDate !== null && date < startDate) return findings.state('nothing_to_post');
  const steps = dueSteps(books, id, context.decimals).filter(({ by }) => by.kind === 'vat_due');
  const lines = vatDueLines(steps, context, findings);
  if (findings.holding.length > 0) return findings.held();
  const postedFacts = { before: ['vat_due', id, date], payer: null, after: [] };
  const entry: DraftEntry = {
    document: { kind: 'vat_due', id },
    date,
    documentDate: date,
    description: entryDescriptions.vatDue({ invoice: name }),
    reason: 'posted',
    reverses: null,
    original: { kind: 'invoice', id },
    inputHash: hashOfPosted(postedFacts),
    lines,
  };
  return findings.posted(entry, postedFacts);
}

/**
 * Whether two entries of a document move the same VAT. A change of the mapping's accounts alone does not count, because such a
 * change posts nothing.
 */
export function movesTheSame(one: Pick<DraftEntry, 'lines'>, other: Pick<DraftEntry, 'lines'>): boolean {
  return movedText(one) === movedText(other);
}

function movedText({ lines }: Pick<DraftEntry, 'lines'>): string {
  return lines
    .filter(({ rule }) => rule === vatDueRule)
    .map(({ account, role, side, amount, vat, invoiceId }) => {
      const { group = null, rate = null, base = null } = vat ?? {};
      const own = role === 'vat_not_due' ? account : null;
      return JSON.stringify([own, role, side, amount, invoiceId, postgresText(group ?? ''), rate, base]);
    })
    .sort()
    .join('\n');
}
