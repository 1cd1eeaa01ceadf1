// Broken variants of posting, each a mistake that books must not survive; the oracle is to find every one.

import { addDays } from '../../sandbox/zone.ts';
import type { DraftEntry } from '../../src/domain/entry.ts';
import { lineOf, signed } from '../../src/domain/entry.ts';
import { Money } from '../../src/domain/money.ts';
import { judge, post } from '../../src/posting/index.ts';
import { versionOf } from '../../src/posting/late.ts';
import type { Decision, PostedBefore } from '../../src/posting/types.ts';
import type { Post } from './installation.ts';

/** Changes the entries of a third of the documents, always the same ones; reversals stay true to what they reverse. */
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

/** One unit more on the first `count` lines, alternately debit and credit, so that an even count stays in balance. */
function centsOff(entry: DraftEntry, decimals: number, count: number): DraftEntry {
  const lines = entry.lines.map((line, at) => {
    if (at >= count) return line;
    const unit = unitOf(decimals).times(at % 2 === 0 ? 1 : -1);
    return lineOf(signed(line).plus(unit), line) ?? line;
  });
  return { ...entry, lines };
}

/** Posting that is told something else of what the books hold. */
const remembering =
  (change: (before: PostedBefore) => Partial<PostedBefore>): Post =>
  (facts, before, context) =>
    post(facts, { ...before, ...change(before) }, context);

function withEntries(decision: Decision, entries: DraftEntry[]): Decision {
  return { ...decision, entries };
}

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
  'late documents posted by a reopening': remembering(() => ({ late: null })),
  'decisions not heeded': remembering(() => ({ decisions: [] })),
  'a decision to wait not heeded': remembering(({ decisions = [] }) => ({
    decisions: decisions.filter(({ decision }) => decision !== 'wait'),
  })),
  'a decision about another version': (facts, before, context) => {
    const version = versionOf(judge(facts, context, before.documentDate), before);
    const decisions = (before.decisions ?? []).map(({ decision }) => ({ decision, version }));
    return post(facts, { ...before, decisions }, context);
  },
  'a redated document loses its own date': (facts, before, context) => {
    const decision = post(facts, before, context);
    return withEntries(
      decision,
      decision.entries.map((entry) => (entry.reverses === null ? { ...entry, documentDate: entry.date } : entry)),
    );
  },
  'dates of the future': (facts, before, context) => post(facts, before, { ...context, today: null }),
  'dates of years ago': (facts, before, context) => {
    const policies = { ...context.mapping.policies, oldest_months: 10_000 };
    return post(facts, before, { ...context, mapping: { ...context.mapping, policies } });
  },
  'made since the cut-over, and taken for older': (facts, before, context) =>
    facts.kind === 'invoice'
      ? post({ ...facts, firstSeenAt: null, invoice: { ...facts.invoice, created: null } }, before, context)
      : post(facts, before, context),
  'what pays an invoice that was decided in settles the opening balance': (facts, before, context) =>
    post(facts.kind === 'payment' ? { ...facts, invoiceDecidedIn: false } : facts, before, context),
};
