// Mutants of posting, each with a mistake that the oracle must find.

import { addDays } from '../../sandbox/src/zone.ts';
import type { DraftEntry } from '../../src/domain/entry.ts';
import { lineOf, signed } from '../../src/domain/entry.ts';
import { Money } from '../../src/domain/money.ts';
import type { Mapping } from '../../src/mapping/schema.ts';
import { judge, post } from '../../src/posting/index.ts';
import { versionOf } from '../../src/posting/late.ts';
import type { Decision, DocumentFacts, PostedBefore, PrepaymentShare } from '../../src/posting/types.ts';
import { weigh } from '../../src/posting/weigh-outside.ts';
import type { Post } from './installation.ts';

/**
 * Changes the entries of a third of the documents, always of the same documents. The entry that a reversal reverses is
 * changed in the same way.
 */
const spoiling =
  (spoil: (entry: DraftEntry, decimals: number) => DraftEntry): Post =>
  (facts, before, context) => {
    const decision = post(facts, before, context);
    const entries = decision.entries.map((entry) =>
      entry.reverses === null && entry.document.id % 3 === 0 ? spoil(entry, context.decimals) : entry,
    );
    return { ...decision, entries };
  };

const unitOf = (decimals: number) => new Money(10).pow(-decimals);

/** Adds one unit to the first `count` lines, alternating debit and credit, so that an even count stays balanced. */
function centsOff(entry: DraftEntry, decimals: number, count: number): DraftEntry {
  const lines = entry.lines.map((line, at) => {
    if (at >= count) return line;
    const unit = unitOf(decimals).times(at % 2 === 0 ? 1 : -1);
    return lineOf(signed(line).plus(unit), line) ?? line;
  });
  return { ...entry, lines };
}

/** Posting with wrong information about the existing entries. */
const remembering =
  (change: (before: PostedBefore) => Partial<PostedBefore>): Post =>
  (facts, before, context) =>
    post(facts, { ...before, ...change(before) }, context);

/** Posting with wrong information about shares of prepayments. */
const withShare =
  (change: (share: PrepaymentShare) => PrepaymentShare): Post =>
  (facts, before, context) =>
    facts.kind === 'invoice' || facts.kind === 'vat_due' || facts.shares === undefined
      ? post(facts, before, context)
      : post({ ...facts, shares: facts.shares.map(change) }, before, context);

const withMapping =
  (change: (mapping: Mapping) => Partial<Mapping>): Post =>
  (facts, before, context) =>
    post(facts, before, { ...context, mapping: { ...context.mapping, ...change(context.mapping) } });

const remarks = [
  'overpaid',
  'due_sum_disagrees',
  'vat_rate_disagrees',
  'eu_without_vat_number',
  'vat_rate_expired',
  'collector_disagrees',
  'negative_without_original',
  'payer_name_changed',
  'prepayment_unmatched',
];

/** One mutant per remark, which never reports it. */
const withoutRemarks = Object.fromEntries(
  remarks.map((code): [string, Post] => [
    `the remark ${code} never made`,
    (facts, before, context) => {
      const decision = post(facts, before, context);
      return { ...decision, reports: decision.reports.filter((report) => report.code !== code) };
    },
  ]),
);

function withEntries(decision: Decision, entries: DraftEntry[]): Decision {
  return { ...decision, entries };
}

/** Mutants that a few short lives find. */
export const mutants: Record<string, Post> = {
  'sides swapped': spoiling((entry) => ({
    ...entry,
    lines: entry.lines.map((line) => ({ ...line, side: line.side === 'debit' ? 'credit' : 'debit' })),
  })),
  'a line dropped': spoiling((entry) => ({ ...entry, lines: entry.lines.slice(0, -1) })),
  'one cent off': spoiling((entry, decimals) => centsOff(entry, decimals, 1)),
  'one cent off on both sides': spoiling((entry, decimals) => centsOff(entry, decimals, 2)),
  'a day late': spoiling((entry) => ({ ...entry, date: addDays(entry.date, 1) })),
  'the department of another': spoiling((entry) => ({
    ...entry,
    lines: entry.lines.map((line) => ({ ...line, departmentId: 11 + ((line.departmentId ?? 11) % 3) })),
  })),
  'posted twice': (facts, before, context) => {
    const decision = post(facts, before, context);
    if (before.inForce === null || decision.entries.length > 0 || decision.state !== 'posted') return decision;
    const again = judge(facts, context, before.documentDate).entry;
    return again ? withEntries(decision, [again]) : decision;
  },
  'corrected without a reversal': (facts, before, context) => {
    const decision = post(facts, before, context);
    return withEntries(
      decision,
      decision.entries.filter((entry) => entry.reverses === null),
    );
  },
  'what is not shown any more is reversed': (facts, before, context) =>
    post(facts.absence ? { ...facts, gone: true } : facts, before, context),
  'what is not shown any more is not named': (facts, before, context) =>
    post({ ...facts, absence: null }, before, context),
  'changes not noticed': (facts, before, context) => {
    const decision = post(facts, before, context);
    return before.inForce === null ? decision : withEntries({ ...decision, state: 'posted' }, []);
  },
  'doubtful documents posted nowhere': (facts, before, context) => {
    const decision = post(facts, before, context);
    if (decision.state !== 'posted' || facts.kind !== 'payment' || facts.invoice?.status === 3) return decision;
    return { ...withEntries(decision, []), state: 'held' };
  },
  'the prepayment follows the payer': (facts, before, context) => {
    if (facts.kind !== 'payment' || facts.prepayment === undefined) return post(facts, before, context);
    const { prepayment: _, ...withoutMatch } = facts;
    return post(withoutMatch, before, context);
  },
  'gift cards sold as revenue': (facts, before, context) => {
    const mapping = { ...context.mapping, revenue_rules: [] };
    return post(facts, before, { ...context, mapping });
  },
  'a rounding of any size posted': (facts, before, context) => {
    const policies = { ...context.mapping.policies, rounding_limit: new Money('1e9') };
    return post(facts, before, { ...context, mapping: { ...context.mapping, policies } });
  },
  'decisions not heeded': remembering(() => ({ decisions: [] })),
  'a redated document loses its own date': (facts, before, context) => {
    const decision = post(facts, before, context);
    return withEntries(
      decision,
      decision.entries.map((entry) => (entry.reverses === null ? { ...entry, documentDate: entry.date } : entry)),
    );
  },
  'dates of the future': (facts, before, context) => post(facts, before, { ...context, today: null }),
  'made since the cut-over, and taken for older': (facts, before, context) =>
    facts.kind === 'invoice'
      ? post({ ...facts, firstSeenAt: null, invoice: { ...facts.invoice, created: null } }, before, context)
      : post(facts, before, context),
  'what pays an invoice that was decided in settles the opening balance': (facts, before, context) =>
    post(facts.kind === 'payment' ? { ...facts, invoiceDecidedIn: false } : facts, before, context),
  ...withoutRemarks,
  'a held change kept out whole': (facts, before, context) => {
    const decision = post(facts, before, context);
    const judgement = judge(facts, context, before.documentDate);
    return decision.outside ? weigh(facts, judgement, { ...before, inForce: null }, decision, context) : decision;
  },
  'VAT of a prepayment never given back': withShare((share) => ({ ...share, vat: null })),
  'a share that changed not noticed': (facts, before, context) => {
    const decision = post(facts, before, context);
    const without = ({ lines }: DraftEntry) =>
      lines.filter(({ rule, role }) => !['R6', 'R7'].includes(rule) || !['vat', 'prepayment_vat'].includes(role));
    const last = decision.entries.at(-1);
    const texts = [before.inForce, last].map((entry) => entry && JSON.stringify(without(entry)));
    return before.inForce !== null && last?.reverses === null && texts[0] === texts[1]
      ? withEntries(decision, [])
      : decision;
  },
  'a repost that posts nothing': (facts, before, context) => {
    const decision = post(facts, before, context);
    return before.remapHeld ? withEntries({ ...decision, remapHeld: false }, []) : decision;
  },
  'VAT on top of a prepayment': (facts, before, context) => {
    const { prepayment_vat } = context.mapping.policies;
    if (prepayment_vat === 'listed') return post(facts, before, context);
    // The wrong formula V = amount × rate / 100 equals the right formula at the rate 100 × rate / (100 - rate).
    const group = { name: 'VAT 25.5 %', rate: new Money(2550).dividedBy('74.5').toFixed() };
    const policies = { ...context.mapping.policies, prepayment_vat: { ...prepayment_vat, group } };
    return post(facts, before, { ...context, mapping: { ...context.mapping, policies } });
  },
  'rules by date hold on every day': withMapping((mapping) => ({
    revenue_rules: mapping.revenue_rules.map(({ when: { from: _from, to: _to, ...when }, ...rule }) => ({
      ...rule,
      when,
    })),
  })),
  'VAT groups valid on every day': withMapping((mapping) => ({
    vat_groups: mapping.vat_groups.map(({ from: _from, to: _to, ...line }) => line),
  })),
  'what is outside VAT in the return': withMapping((mapping) => ({
    vat_groups: mapping.vat_groups.map((line) => (line.kind === 'outside' ? { ...line, kind: 'exempt' } : line)),
  })),
  'a register number that is no posted fact': (facts, before, context) => {
    if (facts.kind === 'prepayment' || facts.kind === 'vat_due' || facts.invoice === null)
      return post(facts, before, context);
    const payer = { ...facts.invoice.payer, registerNumber: null };
    return post({ ...facts, invoice: { ...facts.invoice, payer } } as DocumentFacts, before, context);
  },
};

/** Mutants that matter only in rare combinations. */
export const rareMutants: Record<string, Post> = {
  'references to another tenant overlooked': (facts, before, context) => {
    const believed = <R extends { defects: { code: string }[] }>(record: R): R => ({
      ...record,
      defects: record.defects.filter(({ code }) => code !== 'foreign_reference'),
    });
    if (facts.kind === 'vat_due') return post(facts, before, context);
    if (facts.kind === 'invoice') return post({ ...facts, invoice: believed(facts.invoice) }, before, context);
    return facts.kind === 'prepayment'
      ? post({ ...facts, prepayment: believed(facts.prepayment) }, before, context)
      : post({ ...facts, invoice: facts.invoice && believed(facts.invoice) }, before, context);
  },
  'prepayments of any size': (facts, before, context) => {
    const { paid } = facts.kind === 'prepayment' ? facts.prepayment : { paid: null };
    if (facts.kind !== 'prepayment' || !paid?.abs().greaterThan(10_000_000)) return post(facts, before, context);
    return post({ ...facts, prepayment: { ...facts.prepayment, paid: new Money(9_999_999) } }, before, context);
  },
  'late documents posted by a reopening': remembering(() => ({ late: null })),
  'a decision to wait not heeded': remembering(({ decisions = [] }) => ({
    decisions: decisions.filter(({ decision }) => decision !== 'wait'),
  })),
  'a decision about another version': (facts, before, context) => {
    const version = versionOf(judge(facts, context, before.documentDate), before);
    const decisions = (before.decisions ?? []).map(({ decision }) => ({ decision, version }));
    return post(facts, { ...before, decisions }, context);
  },
  'dates of years ago': (facts, before, context) => {
    const policies = { ...context.mapping.policies, oldest_months: 10_000 };
    return post(facts, before, { ...context, mapping: { ...context.mapping, policies } });
  },
  'VAT of a prepayment given back as if nothing had been used before': withShare((share) => ({
    ...share,
    usedBefore: new Money(0),
  })),
  'VAT of a prepayment given back from where the mapping has it now': (facts, before, context) =>
    withShare((share) => ({
      ...share,
      vat: share.vat && { ...share.vat, suspendedAccount: context.mapping.roles.prepayment_vat ?? '' },
    }))(facts, before, context),
  'VAT on prepayments from before its day': (facts, before, context) => {
    const { prepayment_vat } = context.mapping.policies;
    if (prepayment_vat === 'listed') return post(facts, before, context);
    const policies = { ...context.mapping.policies, prepayment_vat: { ...prepayment_vat, from: '0001-01-01' } };
    return post(facts, before, { ...context, mapping: { ...context.mapping, policies } });
  },
  'rules by date follow a credit note’s own date': (facts, before, context) =>
    facts.kind === 'invoice' && facts.invoice.creditNote
      ? post({ ...facts, originalDate: facts.invoice.invoiceDate }, before, context)
      : post(facts, before, context),
};
