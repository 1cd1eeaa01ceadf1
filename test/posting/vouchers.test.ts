import { describe, expect, test } from 'vitest';
import { judge, post } from '../../src/posting/index.ts';
import type { RowRecord } from '../../src/records/types.ts';
import {
  booksAfter,
  contextOf,
  invoiceFacts,
  invoiceOf,
  mappingOf,
  nothingBefore,
  paymentFacts,
  paymentOf,
  render,
  rowOf,
  vatGroup,
} from './support.ts';

// ACCOUNTING R1: net groups that a mapping rule maps to a liability. The expected texts are written by hand.

const mapping = mappingOf({
  revenue_rules: [
    { when: { vat_rate: 0 }, account: '3003' },
    { when: { account: '2411' }, role: 'gift_card_liability' },
    { when: { account: '2410' }, role: 'voucher_liability' },
  ],
});
const context = contextOf({ mapping });
const card = (sum: string, changes: Partial<RowRecord> = {}) =>
  rowOf('2411', sum, '0.00', sum, { vatGroup: vatGroup('0'), ...changes });

describe('a net group sent to a liability', () => {
  test('is settled first at its exact amount; the others share the cents', () => {
    // The exact sums are 10.005 + 10.005 + 20.00 net and 2.4012 + 2.4012 VAT. The totals are 40.01, 4.80 and 44.81 (44.8124 rounded).
    const facts = invoiceFacts(invoiceOf(['40.01', '4.80', '44.81']), [
      rowOf('3000', '10.005', '2.4012', '12.4062', { id: 11 }),
      rowOf('3010', '10.005', '2.4012', '12.4062', { id: 12 }),
      card('20.00', { id: 10 }),
    ]);
    expect(render([judge(facts, context).entry!])).toBe(`2026-01-15 Invoice A-1001
    1700  44.81
    2411  [VAT0 0%]  -20.00
    3000  [VAT24 24%]  -10.01
    3010  [VAT24 24%]  -10.00
    vat24  [VAT24 24%, base 20.01]  -4.80`);
  });

  test('keeps its amount where the totals are rounded apart', () => {
    // 25.25 + 3.535 = 28.785: the amounts of example 8, and a gift card whose row comes first.
    const facts = invoiceFacts(invoiceOf(['35.25', '3.54', '38.78']), [
      card('10.00', { id: 20 }),
      rowOf('3000', '25.25', '3.535', '28.785', { id: 21, vatGroup: vatGroup('14') }),
    ]);
    expect(render([judge(facts, context).entry!])).toBe(`2026-01-15 Invoice A-1001
    1700  38.78
    2411  [VAT0 0%]  -10.00
    3000  [VAT14 14%]  -25.24
    vat14  [VAT14 14%, base 25.24]  -3.54`);
  });

  test('is settled with the others where it is no whole number of cents', () => {
    const facts = invoiceFacts(invoiceOf(['20.01', '0.00', '20.01']), [
      card('10.003', { id: 31 }),
      rowOf('3000', '10.007', '0', '10.007', { id: 32, vatGroup: vatGroup('0') }),
    ]);
    expect(render([judge(facts, context).entry!])).toBe(`2026-01-15 Invoice A-1001
    1700  20.01
    2411  [VAT0 0%]  -10.00
    3003  [VAT0 0%, base 10.01]  -10.01`);
  });

  test('beside revenue of the same VAT group is not part of the base', () => {
    const facts = invoiceFacts(invoiceOf(['130.00', '0.00', '130.00']), [
      card('100.00'),
      rowOf('3300', '30.00', '0.00', '30.00', { vatGroup: vatGroup('0') }),
    ]);
    expect(render([judge(facts, context).entry!])).toBe(`2026-01-15 Invoice A-1001
    1700  130.00
    2411  [VAT0 0%]  -100.00
    3003  [VAT0 0%, base 30]  -30.00`);
  });

  test('taken back by a credit note stands on the debit side', () => {
    const facts = invoiceFacts(invoiceOf(['-100.00', '0.00', '-100.00'], { creditNote: true }), [card('-100.00')]);
    const { entry } = judge(facts, context);
    expect(render([entry!])).toBe(`2026-01-15 Credit note A-1001
    1700  -100.00
    2411  [VAT0 0%]  100.00`);
    expect(entry!.lines.map(({ role, rule }) => [role, rule])).toEqual([
      ['receivable', 'R2'],
      ['gift_card_liability', 'R2'],
    ]);
  });

  test.each([
    ['VAT', { vatGroup: vatGroup('24') }, '24.00', 'has 24.00 VAT (VAT group VAT24 at 24 %)'],
    ['a rate without VAT', { vatGroup: vatGroup('24') }, '0.00', 'has 0 VAT (VAT group VAT24 at 24 %)'],
    ['VAT at no rate', { vatGroup: null }, '24.00', 'has 24 VAT (VAT group without a name without a rate)'],
  ])('with %s holds the document', (_, changes, vat, message) => {
    const withVat = vat === '0.00' ? '100.00' : '124.00';
    const facts = invoiceFacts(invoiceOf(['100.00', vat, withVat]), [rowOf('2411', '100.00', vat, withVat, changes)]);
    const found = judge(facts, context);
    expect(found).toMatchObject({ state: 'held', entry: null, problem: { code: 'voucher_with_vat' } });
    expect(found.problem!.message).toContain(
      `on account 2411 goes to gift_card_liability, but ${message.replace('24.00', '24')}`,
    );
  });

  test('with a rate and nothing else takes no part: it holds nothing', () => {
    const facts = invoiceFacts(invoiceOf(['30.00', '0.00', '30.00']), [
      card('30.00'),
      rowOf('2411', '0.00', '0.00', '0.00', { vatGroup: vatGroup('24') }),
    ]);
    expect(render([judge(facts, context).entry!])).toBe(`2026-01-15 Invoice A-1001
    1700  30.00
    2411  [VAT0 0%]  -30.00`);
    const nothing = invoiceFacts(invoiceOf(['0.00', '0.00', '0.00']), [
      rowOf('2411', '0.00', '0.00', '0.00', { vatGroup: vatGroup('24') }),
    ]);
    expect(judge(nothing, context)).toMatchObject({ state: 'nothing_to_post', problem: null });
  });

  test('changes no posted fact: a rule that only moves a cent reposts nothing', () => {
    const facts = invoiceFacts(invoiceOf(['20.01', '0.00', '20.01']), [
      card('10.00', { id: 41 }),
      rowOf('3000', '5.003', '0', '5.003', { id: 42, vatGroup: vatGroup('0') }),
      rowOf('3010', '5.004', '0', '5.004', { id: 43, vatGroup: vatGroup('0') }),
    ]);
    const before = booksAfter(post(facts, nothingBefore, contextOf()));
    expect(post(facts, before, context)).toMatchObject({ state: 'posted', entries: [] });
  });
});

describe('rounding (R4, type 3)', () => {
  test.each([
    ['1.00', {}, 'posted'],
    ['-1.00', {}, 'posted'],
    ['1.01', {}, 'held'],
    ['-1.01', {}, 'held'],
    ['2.50', { policies: { rounding_limit: '2.50' } }, 'posted'],
    ['2.51', { policies: { rounding_limit: 2.5 } }, 'held'],
  ])('of %s with %j is %s', (paid, changes, state) => {
    const found = judge(paymentFacts(paymentOf(3, paid)), contextOf({ mapping: mappingOf(changes) }));
    expect(found).toMatchObject({ state, problem: state === 'held' ? { code: 'rounding_too_large' } : null });
  });

  test('no other type has a limit', () => {
    expect(judge(paymentFacts(paymentOf(11, '99.00')), contextOf()).state).toBe('posted');
  });
});
