import { describe, expect, test } from 'vitest';
import { hasShrunk } from '../../src/domain/absence.ts';
import { post, remap } from '../../src/posting/index.ts';
import type { DocumentFacts } from '../../src/posting/types.ts';
import {
  booksAfter,
  contextOf,
  invoice1001,
  mappingOf,
  nothingBefore,
  paymentFacts,
  paymentOf,
  prepaymentFacts,
} from './support.ts';

const since = new Date('2026-02-03T04:05:06Z');
const missing = { since, answer: 'no_record', isOfMany: false } as const;
const documents: [string, DocumentFacts][] = [
  ['an invoice', invoice1001()],
  ['a payment', paymentFacts(paymentOf(0, '100.00'))],
  ['a prepayment', prepaymentFacts(0, '100.00')],
];

describe('a posted document that the source does not show any more', () => {
  test.each(documents)('%s stays posted and is named, with what its id answered', (_, facts) => {
    const before = booksAfter(post(facts, nothingBefore, contextOf()));
    const decision = post({ ...facts, absence: missing }, before, contextOf());
    expect(decision).toMatchObject({ state: 'posted', entries: [], problem: { code: 'missing_in_source' } });
    expect(decision.problem?.message).toContain('2026-02-03T04:05:06.000Z; a request for its id returned no record');
    // After a confirmation, all entries would be reversed.
    const debits = before.inForce!.lines.filter(({ side }) => side === 'debit');
    expect(decision.outside?.effect).toHaveLength(before.inForce!.lines.length);
    expect(decision.outside?.amount?.abs().toFixed(2)).toBe(debits[0]?.amount.toFixed(2));
  });

  test.each(documents)('%s that was never posted is judged as if it were shown', (_, facts) => {
    expect(post({ ...facts, absence: missing }, nothingBefore, contextOf())).toMatchObject({ state: 'posted' });
  });

  test.each(documents)(
    '%s that is confirmed to be gone is reversed, and posted anew when it comes back',
    (_, facts) => {
      const before = booksAfter(post(facts, nothingBefore, contextOf()));
      const gone = post({ ...facts, gone: true }, before, contextOf());
      expect(gone).toMatchObject({ state: 'reversed', problem: null, entries: [{ reason: 'gone' }] });
      const reversed = { ...booksAfter(gone), everPosted: true, reversedFor: 'gone' as const };
      const back = post(facts, reversed, contextOf());
      expect(back).toMatchObject({
        state: 'posted',
        problem: null,
        entries: [{ reason: 'came_back', reverses: null }],
      });
      // A document that was reversed for another reason is posted like any other.
      const voided = { ...reversed, reversedFor: 'voided' as const };
      expect(post(facts, voided, contextOf())).toMatchObject({ entries: [{ reason: 'posted' }] });
    },
  );

  test('so many of a list are one problem', () => {
    const [, facts] = documents[0]!;
    const before = booksAfter(post(facts, nothingBefore, contextOf()));
    const decision = post({ ...facts, absence: { ...missing, isOfMany: true } }, before, contextOf());
    expect(decision).toMatchObject({ state: 'posted', problem: { code: 'source_shrank' } });
  });

  test('rows that are not shown stay in its entry, and are named', () => {
    const facts = invoice1001();
    const before = booksAfter(post(facts, nothingBefore, contextOf()));
    const decision = post({ ...facts, missingRows: [facts.rows[0]!.id] }, before, contextOf());
    expect(decision).toMatchObject({ state: 'posted', entries: [], problem: { code: 'missing_in_source' } });
    expect(decision.problem?.message).toContain(`its row ${facts.rows[0]!.id},`);
  });

  test('a correction that a lock holds is reported beside it', () => {
    const facts = invoice1001();
    const before = booksAfter(post(facts, nothingBefore, contextOf()));
    const changed = { ...invoice1001({}, '3005'), absence: missing };
    const decision = post(changed, before, contextOf({ closedThrough: '2026-12-31' }));
    expect(decision).toMatchObject({ state: 'posted', entries: [], problem: { code: 'missing_in_source' } });
    expect(decision.problem?.message).toContain('besides: ');
  });

  test('another mapping posts it anew, and it stays named', () => {
    const facts = { ...invoice1001(), absence: missing };
    const before = booksAfter(post(invoice1001(), nothingBefore, contextOf()));
    const found = remap(facts, before, contextOf({ mapping: mappingOf({ revenue: { '3000': '3999', '*': 'same' } }) }));
    expect(found.outcome).toBe('corrected');
    expect(found.decision).toMatchObject({ state: 'posted', problem: { code: 'missing_in_source' } });
  });
});

test.each([
  [5, 5, false],
  [6, 6, true],
  [6, 299, true],
  [6, 300, false],
  [7, 300, true],
  [2_000, 100_000, false],
  [2_001, 100_000, true],
])('%i of %i posted: one problem: %s', (missingNow, posted, isOne) => {
  expect(hasShrunk(missingNow, posted)).toBe(isOne);
});
