import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { DraftEntry } from '../../src/domain/entry.ts';
import { parseMapping } from '../../src/mapping/parse.ts';
import { judge, post, remap } from '../../src/posting/index.ts';
import type { PrepaymentShare } from '../../src/posting/types.ts';
import { accountsByRole } from '../support/accounts.ts';
import {
  balances,
  booksAfter,
  contextOf,
  invoice1001,
  mappingOf,
  money,
  nothingBefore,
  paymentFacts,
  paymentOf,
  prepaymentFacts,
  render,
  signedAmount,
} from './support.ts';

// ACCOUNTING R5 with `at_receipt`: VAT on prepayments and its shares. The expected texts are written by hand.

const mapping = mappingOf({
  policies: {
    prepayment_vat: {
      at_receipt: '2026-01-01',
      group: { name: 'VAT25', rate: '25.50' },
      payment_types: { 2: { name: 'VAT14', rate: 14 } },
      departments: { 12: { name: 'VAT24', rate: 24 } },
    },
  },
});
const context = contextOf({ mapping });
const vatOf200: NonNullable<PrepaymentShare['vat']> = {
  account: 'vat',
  suspendedAccount: '2401',
  group: 'VAT25',
  rate: money('25.5'),
  amount: money('40.64'),
  paid: money('200'),
};
const share = (amount: string, usedBefore: string, vat: PrepaymentShare['vat'] = vatOf200): PrepaymentShare => ({
  prepaymentId: 90,
  amount: money(amount),
  usedBefore: money(usedBefore),
  vat,
});
const used = (paid: string, ...shares: PrepaymentShare[]) =>
  paymentFacts(paymentOf(8, paid), invoice1001().invoice, { shares });

describe('example 13', () => {
  test('a prepayment of 200.00 at 25.5 %', () => {
    expect(render([judge(prepaymentFacts(7, '200.00'), context).entry!])).toBe(`2026-01-10 Prepayment 90
    1921  [type 7]  200.00
    2400  [type 7]  -200.00
    2401  [VAT25 25.5%]  40.64
    vat  [VAT25 25.5%, base 159.36]  -40.64`);
  });

  test('119.00 of it used, and the last 81.00', () => {
    const entries = [used('119.00', share('119.00', '0')), used('81.00', share('81.00', '119.00'))].map(
      (facts) => judge(facts, context).entry!,
    );
    expect(render(entries)).toBe(`2026-01-20 Payment 50 on invoice A-1001
    1700  [type 8]  -119.00
    2400  [type 8]  119.00
    2401  [VAT25 25.5%]  -24.18
    vat  [VAT25 25.5%, base 94.82]  24.18
2026-01-20 Payment 50 on invoice A-1001
    1700  [type 8]  -81.00
    2400  [type 8]  81.00
    2401  [VAT25 25.5%]  -16.46
    vat  [VAT25 25.5%, base 64.54]  16.46`);
    expect(entries.map(({ shares }) => shares)).toEqual([
      [{ prepaymentId: 90, usedBefore: money('0'), amount: money('119.00'), vat: money('24.18'), hasVat: true }],
      [{ prepaymentId: 90, usedBefore: money('119.00'), amount: money('81.00'), vat: money('16.46'), hasVat: true }],
    ]);
  });

  test('its rest paid back', () => {
    const refund = prepaymentFacts(7, '-81.00', { id: 91, refundsId: 90, created: '2026-02-01' });
    const { entry } = judge({ ...refund, shares: [share('81.00', '119.00')] }, context);
    expect(render([entry!])).toBe(`2026-02-01 Refund 91 of prepayment 90
    1921  [type 7]  -81.00
    2400  [type 7]  81.00
    2401  [VAT25 25.5%]  -16.46
    vat  [VAT25 25.5%, base 64.54]  16.46`);
  });

  test('a cancelled use gives back what the use took', () => {
    expect(render([judge(used('-119.00', share('-119.00', '119.00')), context).entry!])).toBe(
      `2026-01-20 Cancelled or refunded payment 50 on invoice A-1001
    1700  [type 8]  119.00
    2400  [type 8]  -119.00
    2401  [VAT25 25.5%]  24.18
    vat  [VAT25 25.5%, base 94.82]  -24.18`,
    );
  });
});

test.each([
  ['the day before', { created: '2025-12-31T12:00:00+02:00' }, 7, []],
  ['the first day', { created: '2026-01-01T12:00:00+02:00' }, 7, ['2401 25.5 40.64']],
  ['by the payment type', {}, 2, ['2401 14 24.56']],
  ['by the department, before the payment type', { departmentId: 12 }, 2, ['2401 24 38.71']],
])('VAT at receipt: %s', (_, changes, type, expected) => {
  const { entry } = judge(prepaymentFacts(type, '200.00', changes), context);
  const suspended = entry!.lines.filter(({ role }) => role === 'prepayment_vat');
  expect(
    suspended.map(({ account, vat, amount }) => `${account} ${vat!.rate!.toFixed()} ${amount.toFixed(2)}`),
  ).toEqual(expected);
});

test('half a cent goes to the even one', () => {
  // 0.25 × 25 / 125 is 0.05; 1.125 × … is refused; 0.31 × 24 / 124 is 0.06; 6.15 × 10 / 110 is 0.559…
  const at25 = mappingOf({ policies: { prepayment_vat: { at_receipt: '2026-01-01', group: { rate: 300 } } } });
  const vat = (paid: string) =>
    judge(prepaymentFacts(7, paid), contextOf({ mapping: at25 })).entry!.lines.find(({ role }) => role === 'vat')!
      .amount;
  // The VAT is three quarters of the amount, rounded half to even: 0.045 → 0.04; 0.075 → 0.08; 0.105 → 0.10.
  expect([vat('0.06'), vat('0.10'), vat('0.14')].map((amount) => amount.toFixed(2))).toEqual(['0.04', '0.08', '0.10']);
});

test('a use that is seen before the one it replaces is known to be gone gives back its own part', () => {
  // Staff used 200.00 of the prepayment, delete that payment in the practice software and enter it again. The new payment is
  // posted first, when nothing is left; then the old payment is reversed. The remaining VAT is zero: 40.64 - 40.64 - 40.64 +
  // 40.64.
  const [first, again] = [used('200.00', share('200.00', '0')), used('200.00', share('200.00', '200.00'))];
  const vatOf = (facts: typeof first) =>
    balances([judge({ ...facts, payment: { ...facts.payment, id: 51 } }, context).entry!])['2401'];
  expect([vatOf(first), vatOf(again)]).toEqual(['-40.64', '-40.64']);
});

test('an original without VAT gives nothing back, and that is kept', () => {
  const { entry } = judge(used('50.00', share('50.00', '0', null)), context);
  expect(balances([entry!])).toEqual({ '1700': '-50.00', '2400': '50.00' });
  expect(entry!.shares).toEqual([
    { prepaymentId: 90, usedBefore: money('0'), amount: money('50.00'), vat: money('0'), hasVat: false },
  ]);
});

test('example 14: the liability and the VAT stay with A, whose prepayment it was; the receivable is of B', () => {
  const facts = paymentFacts(paymentOf(8, '119.00'), invoice1001({ clientId: 2 }).invoice, {
    shares: [share('119.00', '0')],
    prepayment: { clientId: 1, prepaymentIds: [90] },
  });
  const { entry } = judge(facts, context);
  const lines = entry!.lines.map((line) => `${line.account} [${line.party!.code}] ${signedAmount(line).toFixed(2)}`);
  expect(lines).toEqual([
    '2400 [client:1] 119.00',
    '1700 [client:2] -119.00',
    '2401 [client:1] -24.18',
    'vat [client:1] 24.18',
  ]);
});

test('example 14: the payer becomes C later, and the liability and its VAT stay with A', () => {
  const usedOn = (payer: number) =>
    paymentFacts(paymentOf(8, '119.00'), invoice1001({ clientId: payer }).invoice, {
      shares: [share('119.00', '0')],
      prepayment: { clientId: 1, prepaymentIds: [90] },
    });
  const before = booksAfter(post(usedOn(2), nothingBefore, context));
  const { entries } = post(usedOn(3), before, context);
  const lines = entries.flatMap((entry) =>
    entry.lines.map((line) => `${line.account} [${line.party!.code}] ${signedAmount(line).toFixed(2)}`),
  );
  expect(lines).toEqual([
    '2400 [client:1] -119.00',
    '1700 [client:2] 119.00',
    '2401 [client:1] 24.18',
    'vat [client:1] -24.18',
    '2400 [client:1] 119.00',
    '1700 [client:3] -119.00',
    '2401 [client:1] -24.18',
    'vat [client:1] 24.18',
  ]);
});

test('without the policy nothing is posted and no hash changes', () => {
  const plain = judge(prepaymentFacts(7, '200.00'), contextOf()).entry!;
  const withVat = judge(prepaymentFacts(7, '200.00'), context).entry!;
  expect(balances([plain])).toEqual({ '1921': '200.00', '2400': '-200.00' });
  expect(withVat.inputHash).toBe(plain.inputHash);
  expect(judge(used('50.00', share('50.00', '0', null)), context).entry!.inputHash).toBe(
    judge(used('50.00'), contextOf()).entry!.inputHash,
  );
});

describe('a share is no fact of the source', () => {
  const before = booksAfter(post(used('50.00', share('50.00', '0')), nothingBefore, context));
  const anew = (...shares: PrepaymentShare[]) => post(used('50.00', ...shares), before, context).entries;
  const texts = ({ lines }: DraftEntry) =>
    lines.flatMap((line) =>
      line.role === 'prepayment_vat' ? [`${line.account} ${line.vat!.group} ${signedAmount(line).toFixed(2)}`] : [],
    );

  test('its VAT is not hashed, and the same share posts nothing', () => {
    expect(before.inForce!.inputHash).toBe(judge(used('50.00'), context).entry!.inputHash);
    expect(anew(share('50.00', '0'))).toEqual([]);
    // 40.64 × 83 / 200 = 16.8656 and × 33 / 200 = 6.7056; 16.87 - 6.71 is 10.16 too.
    expect(anew(share('50.00', '33.00'))).toEqual([]);
  });

  test.each([
    ['the VAT of the prepayment', share('50.00', '0', { ...vatOf200, amount: money('24.56') }), ['2401 VAT25 -6.14']],
    ['its account', share('50.00', '0', { ...vatOf200, suspendedAccount: '2402' }), ['2402 VAT25 -10.16']],
    ['its group', share('50.00', '0', { ...vatOf200, group: 'VAT14' }), ['2401 VAT14 -10.16']],
    ['none any more', share('50.00', '0', null), []],
  ])('other lines, by %s, post it anew', (_, now, expected) => {
    const entries = anew(now);
    expect(entries.map(({ reason }) => reason)).toEqual(['source_changed', 'source_changed']);
    expect(texts(entries.at(-1)!)).toEqual(expected);
  });

  test('what is used before it moves its cents, and it is posted anew', () => {
    const books = booksAfter(post(used('119.00', share('119.00', '0')), nothingBefore, context));
    const { entries } = post(used('119.00', share('119.00', '0.07')), books, context);
    // 40.64 × 119.07 / 200 = 24.195024, × 0.07 / 200 = 0.014224.
    expect([...texts(books.inForce!), ...texts(entries.at(-1)!)]).toEqual(['2401 VAT25 -24.18', '2401 VAT25 -24.19']);
  });

  test('a remap of an entry without shares brings them', () => {
    const plain = booksAfter(post(used('50.00'), nothingBefore, contextOf()));
    const { outcome, decision } = remap(used('50.00', share('50.00', '0')), plain, context);
    expect([outcome, texts(decision.entries.at(-1)!)]).toEqual(['corrected', ['2401 VAT25 -10.16']]);
  });
});

test('lines of shares have no payment type, and the client of the prepayment', () => {
  const { entry } = judge(used('119.00', share('119.00', '0')), context);
  const lines = entry!.lines.filter(({ role }) => role === 'vat' || role === 'prepayment_vat');
  expect(lines.map(({ paymentType, party, rule }) => [paymentType, party!.code, rule])).toEqual([
    [null, 'client:7', 'R7'],
    [null, 'client:7', 'R7'],
  ]);
});

test.each([
  ['no account for the role', { roles: { ...accountsByRole, prepayment_vat: '' } }, 'role_unmapped'],
  ['no VAT account', { vat: {} }, 'vat_group_unmapped'],
])('held with %s', (_, changes, code) => {
  const lacking = mappingOf({
    ...changes,
    policies: { prepayment_vat: { at_receipt: '2026-01-01', group: { name: 'VAT25', rate: 25.5 } } },
  });
  expect(post(prepaymentFacts(7, '200.00'), nothingBefore, contextOf({ mapping: lacking }))).toMatchObject({
    state: 'held',
    problem: { code },
  });
});

test('the shares of any prepayment, used in any parts, give back all of its VAT and no more', () => {
  const parts = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(parts, fc.constantFrom('25.5', '24', '14', '10'), (cents, rate) => {
      const total = cents.reduce((sum, each) => sum + each, 0);
      const paid = money(`${total}e-2`);
      const vat = paid.times(rate).dividedBy(money('100').plus(rate)).toDecimalPlaces(2, 6);
      const of = { ...vatOf200, amount: vat, paid };
      let before = money('0');
      let left = vat;
      for (const each of cents) {
        const amount = money(`${each}e-2`);
        const { entry } = judge(used(amount.toFixed(), share(amount.toFixed(), before.toFixed(), of)), context);
        for (const line of entry!.lines) if (line.role === 'prepayment_vat') left = left.plus(signedAmount(line));
        expect(left.greaterThanOrEqualTo(0)).toBe(true);
        before = before.plus(amount);
      }
      expect(left.toFixed()).toBe('0');
    }),
  );
});

test.each([
  ['{at_receipt: 2026-01-01, group: {name: A, rate: 24}}', null],
  ['listed', null],
  ['at_receipt', /^policies.prepayment_vat: must be `listed`, or a table with `at_receipt`/],
  ['{group: {name: A, rate: 24}}', /^policies.prepayment_vat/],
  ['{at_receipt: soon}', /^policies.prepayment_vat/],
  [
    '{at_receipt: 2026-01-01, group: {name: A, rate: high}}',
    'policies.prepayment_vat.group.rate: must be a rate in per cent',
  ],
])('policies.prepayment_vat: %s', (text, error) => {
  const found = parseMapping(parse(`policies: {prepayment_vat: ${text}}`));
  if (error === null) expect(found).toHaveProperty('mapping');
  else expect(found).toEqual({ errors: [typeof error === 'string' ? error : expect.stringMatching(error)] });
});
