import { describe, expect, test } from 'vitest';
import type { DraftEntry } from '../../src/domain/entry.ts';
import { vatDueFaults, vatDueWarnings } from '../../src/mapping/vat-due-check.ts';
import { latestDay } from '../../src/posting/vat-due-policy.ts';
import type { InvoiceRecord } from '../../src/records/types.ts';
import { DueScene } from './due-support.ts';
import {
  balances,
  contextOf,
  invoice1001,
  invoiceFacts,
  invoiceOf,
  mappingOf,
  paymentOf,
  render,
  rowOf,
  vatGroup,
} from './support.ts';

// ACCOUNTING R13: VAT on payment. The expected texts are written by hand.

const policy = (changes: Record<string, unknown> = {}) =>
  mappingOf({ policies: { vat_due: { payment: '2026-01-01', ...changes } } });
const sceneOf = (changes: Record<string, unknown> = {}, startDate: string | null = null) =>
  new DueScene(contextOf({ mapping: policy(changes), startDate }));

/** The VAT lines of an entry as `account amount` with group and base. Lines of money are left out. */
function vatOf(entries: DraftEntry[]): string[] {
  const own = entries.map((entry) => ({
    ...entry,
    lines: entry.lines.filter(({ role }) => ['vat', 'vat_not_due', 'opening_vat_not_due'].includes(role)),
  }));
  return render(own)
    .split('\n')
    .filter((line) => line.startsWith(' '))
    .map((line) => line.trim().replaceAll(/ +/g, ' '));
}

const card = (paid: string, id = 50, invoiceId = 1, changes = {}) => paymentOf(0, paid, { id, invoiceId, ...changes });
const credit = (paid: string, id: number, invoiceId: number) => paymentOf(12, paid, { id, invoiceId });

/** Example 6: a credit note for the second row of 1001. */
const creditOfRow2 = (changes: Partial<InvoiceRecord> = {}) =>
  invoiceFacts(
    invoiceOf(['-50.00', '-7.00', '-57.00'], {
      ...{ id: 2, number: '1002', creditNote: true, originalInvoiceId: 1, invoiceDate: '2026-01-18' },
      ...changes,
    }),
    [
      rowOf('3010', '-50.00', '-7.00', '-57.00', {
        id: 201,
        invoiceId: 2,
        vatGroup: vatGroup('14'),
        creditedRowId: 102,
      }),
    ],
    { originalDate: '2026-01-15' },
  );

describe('worked examples', () => {
  test('15: invoice 1001, card 100.00, and the last 81.00', () => {
    const scene = sceneOf();
    expect(
      render([...scene.invoice(invoice1001()), ...scene.pay(card('100.00')), ...scene.pay(card('81.00', 51))]),
    ).toBe(
      `2026-01-15 Invoice A-1001
    1700  181.00
    2946  [VAT14 14%]  -7.00
    2946  [VAT24 24%]  -24.00
    3000  [SURG, VAT24 24%]  -100.00
    3010  [VAT14 14%]  -50.00
2026-01-20 Payment 50 on invoice A-1001
    1700  [type 0]  -100.00
    1920  [type 0]  100.00
    2946  [VAT14 14%]  3.87
    2946  [VAT24 24%]  13.26
    vat14  [VAT14 14%, base 27.62]  -3.87
    vat24  [VAT24 24%, base 55.25]  -13.26
2026-01-20 Payment 51 on invoice A-1001
    1700  [type 0]  -81.00
    1920  [type 0]  81.00
    2946  [VAT14 14%]  3.13
    2946  [VAT24 24%]  10.74
    vat14  [VAT14 14%, base 22.38]  -3.13
    vat24  [VAT24 24%, base 44.75]  -10.74`,
    );
  });

  test('17: a credit note settled with type 12 after a part was paid', () => {
    const scene = sceneOf();
    const entries = [...scene.invoice(invoice1001()), ...scene.pay(card('100.00')), ...scene.invoice(creditOfRow2())];
    const [onInvoice, onNote] = [credit('57.00', 60, 1), credit('-57.00', 61, 2)];
    scene.seePayment(onNote);
    const settled = scene.pay(onInvoice);
    expect(vatOf(settled)).toEqual(
      [
        '2946 [VAT14 14%] -3.87',
        '2946 [VAT24 24%] 6.09',
        'vat14 [VAT14 14%, base 27.62] 3.87',
        'vat24 [VAT24 24%, base 25.40] -6.09',
      ].map((line) => line.replace('25.40', '25.4')),
    );
    const note = scene.pay(onNote);
    expect(vatOf(note)).toEqual([]);
    const last = scene.pay(card('24.00', 62));
    expect(vatOf(last)).toEqual(['2946 [VAT24 24%] 4.65', 'vat24 [VAT24 24%, base 19.35] -4.65']);
    expect(balances([...entries, ...settled, ...note, ...last])['2946']).toBeUndefined();
  });

  test('17 with the payments of type 12 seen one after the other', () => {
    const scene = sceneOf();
    const entries = [...scene.invoice(invoice1001()), ...scene.pay(card('100.00')), ...scene.invoice(creditOfRow2())];
    // While the other payment of the pair is unknown, this one counts as money.
    const alone = scene.pay(credit('57.00', 60, 1));
    expect(vatOf(alone)).toEqual([
      '2946 [VAT14 14%] 2.20',
      '2946 [VAT24 24%] 7.56',
      'vat14 [VAT14 14%, base 15.75] -2.20',
      'vat24 [VAT24 24%, base 31.49] -7.56',
    ]);
    const note = scene.pay(credit('-57.00', 61, 2));
    const anew = scene.again(60);
    expect(anew.map(({ reason }) => reason)).toEqual(['vat_due_changed', 'vat_due_changed']);
    const last = scene.pay(card('24.00', 62));
    expect(balances([...entries, ...alone, ...note, ...anew, ...last])['2946']).toBeUndefined();
  });

  test('18: paid twice, then one payment returned', () => {
    const scene = sceneOf();
    const entries = scene.invoice(invoice1001());
    const paid = [card('181.00'), card('181.00', 51), card('-181.00', 52)].map((payment) => scene.pay(payment));
    expect(paid.map((its) => vatOf(its).length)).toEqual([4, 0, 0]);
    expect(balances([...entries, ...paid.flat()])).toMatchObject({ vat14: '-7.00', vat24: '-24.00' });
  });

  test('19: voided after the card of 100.00, the payment is posted anew on its date without a move', () => {
    const scene = sceneOf();
    const entries = [...scene.invoice(invoice1001()), ...scene.pay(card('100.00'))];
    const reversed = scene.invoice(invoice1001({ status: 99 }));
    const anew = scene.again(50);
    expect(anew.map(({ date, reason }) => [date, reason])).toEqual([
      ['2026-01-20', 'vat_due_changed'],
      ['2026-01-20', 'vat_due_changed'],
    ]);
    expect(balances([...entries, ...reversed, ...anew])).toEqual({ '1700': '-100.00', '1920': '100.00' });
  });

  test('20: an invoice before the start date, 100.00 paid before and 81.00 after', () => {
    const scene = sceneOf({}, '2026-02-01');
    scene.invoice(invoice1001());
    scene.pay(card('100.00'));
    const after = scene.pay(card('81.00', 51, 1, { dateAdded: '2026-02-03T12:00:00+02:00' }));
    expect(vatOf(after)).toEqual([
      '2947 [VAT14 14%] 3.13',
      '2947 [VAT24 24%] 10.74',
      'vat14 [VAT14 14%, base 22.38] -3.13',
      'vat24 [VAT24 24%, base 44.75] -10.74',
    ]);
  });
});

/** The remaining balance of `vat_not_due` after some steps, and the amounts of the last step on VAT 24 and VAT 14. */
const cases: {
  what: string;
  policy?: Record<string, unknown>;
  steps: (scene: DueScene) => DraftEntry[][];
  vat: string[];
}[] = [
  {
    what: 'a payment of more than the total moves no more than the VAT',
    steps: (scene) => [scene.invoice(invoice1001()), scene.pay(card('500.00'))],
    vat: ['2946 7.00', '2946 24.00', 'vat14 -7.00', 'vat24 -24.00'],
  },
  {
    what: 'a refund moves back',
    steps: (scene) => [scene.invoice(invoice1001()), scene.pay(card('181.00')), scene.pay(card('-81.00', 51))],
    vat: ['2946 -3.13', '2946 -10.74', 'vat14 3.13', 'vat24 10.74'],
  },
  {
    what: 'a rounding counts like money',
    steps: (scene) => [
      scene.invoice(invoice1001()),
      scene.pay(card('180.98')),
      scene.pay(paymentOf(3, '0.02', { id: 51 })),
    ],
    vat: [],
  },
  {
    what: 'a payment before its invoice moves nothing, and is posted anew after it',
    steps: (scene) => {
      scene.see(invoice1001());
      const early = scene.pay(card('181.00'));
      return [early, scene.invoice(invoice1001()), scene.again(50)];
    },
    vat: ['2946 7.00', '2946 24.00', 'vat14 -7.00', 'vat24 -24.00'],
  },
  {
    what: 'a refund of a credit note by card moves its negative VAT',
    steps: (scene) => [scene.invoice(invoice1001()), scene.invoice(creditOfRow2()), scene.pay(card('-57.00', 51, 2))],
    vat: ['2946 -7.00', 'vat14 7.00'],
  },
  {
    what: 'a payment of type 12 of a part sets off a part',
    steps: (scene) => {
      const first = [scene.invoice(invoice1001()), scene.invoice(creditOfRow2())];
      scene.seePayment(credit('-28.50', 61, 2));
      return [...first, scene.pay(credit('28.50', 60, 1)), scene.pay(card('152.50', 62))];
    },
    // The credit note has moved 3.50 of its 7.00. For the invoice, 24.00 and 3.50 of 152.50 are due.
    vat: ['2946 3.50', '2946 24.00', 'vat14 -3.50', 'vat24 -24.00'],
  },
  {
    what: 'a full credit note settled with type 12 before any payment moves nothing',
    steps: (scene) => {
      const first = [scene.invoice(invoice1001()), scene.invoice(wholeCredit())];
      scene.seePayment(credit('-181.00', 61, 2));
      return [...first, scene.pay(credit('181.00', 60, 1)), scene.pay(credit('-181.00', 61, 2))];
    },
    vat: [],
  },
  {
    what: 'type 6 moves nothing by itself, and the collector’s half of the total moves half',
    steps: (scene) => [
      scene.invoice(invoice1001()),
      scene.invoice(collector()),
      scene.pay(paymentOf(6, '181.00', { id: 60 })),
      scene.pay(card('90.50', 61, 3)),
    ],
    vat: ['2946 3.50', '2946 12.00', 'vat14 -3.50', 'vat24 -12.00'],
  },
  {
    what: 'type 6 without a known collector counts like money',
    steps: (scene) => [scene.invoice(invoice1001()), scene.pay(paymentOf(6, '181.00', { id: 60 }))],
    vat: ['2946 7.00', '2946 24.00', 'vat14 -7.00', 'vat24 -24.00'],
  },
  {
    what: 'the latest day makes the rest due, and a later payment moves nothing',
    policy: { latest: { months: 12 } },
    steps: (scene) => [
      scene.invoice(invoice1001()),
      scene.pay(card('100.00')),
      scene.latest(1),
      scene.pay(card('81.00', 51)),
    ],
    vat: [],
  },
  {
    what: 'the latest day moves what no payment moved',
    policy: { latest: { year_end: '12-31' } },
    steps: (scene) => [scene.invoice(invoice1001()), scene.pay(card('100.00')), scene.latest(1)],
    vat: ['2946 3.13', '2946 10.74', 'vat14 -3.13', 'vat24 -10.74'],
  },
  {
    what: 'an invoice after the end is due with its date',
    policy: { until: '2026-01-14' },
    steps: (scene) => [scene.invoice(invoice1001())],
    vat: ['vat14 -7.00', 'vat24 -24.00'],
  },
  {
    what: 'a credit note after the end follows its original',
    policy: { until: '2026-01-16' },
    steps: (scene) => [scene.invoice(invoice1001()), scene.invoice(creditOfRow2())],
    vat: ['2946 7.00'],
  },
  {
    what: 'the rest at the end is due on it',
    policy: { until: '2026-06-30', rest_at_end: true },
    steps: (scene) => [scene.invoice(invoice1001()), scene.latest(1)],
    vat: ['2946 7.00', '2946 24.00', 'vat14 -7.00', 'vat24 -24.00'],
  },
];

const wholeCredit = () =>
  invoiceFacts(
    invoiceOf(['-150.00', '-31.00', '-181.00'], {
      ...{ id: 2, number: '1002', creditNote: true, originalInvoiceId: 1, invoiceDate: '2026-01-18' },
    }),
    [
      rowOf('3000', '-100.00', '-24.00', '-124.00', { id: 201, invoiceId: 2, creditedRowId: 101 }),
      rowOf('3010', '-50.00', '-7.00', '-57.00', {
        id: 202,
        invoiceId: 2,
        vatGroup: vatGroup('14'),
        creditedRowId: 102,
      }),
    ],
    { originalDate: '2026-01-15' },
  );

const collector = () =>
  invoiceFacts(invoiceOf(['181.00', '0.00', '181.00'], { id: 3, number: '1003', consolidatedInvoiceIds: [1] }), []);

test.each(cases)('R13: $what', ({ policy: changes, steps, vat }) => {
  const last = steps(sceneOf(changes)).at(-1)!;
  expect(vatOf(last).map((line) => line.replaceAll(/ \[.*\]/g, ''))).toEqual(vat);
});

test.each([
  ['2026-01-01', { months: 12 }, '2027-01-31'],
  ['2026-02-28', { months: 12 }, '2027-02-28'],
  ['2027-02-28', { months: 12 }, '2028-02-29'],
  ['2026-12-31', { months: 1 }, '2027-01-31'],
  ['2026-12-31', { year_end: '12-31' }, '2026-12-31'],
  ['2026-07-01', { year_end: '06-30' }, '2027-06-30'],
  ['2026-06-30', { year_end: '06-30' }, '2026-06-30'],
  ['2026-01-01', { year_end: '02-28' }, '2026-02-28'],
  ['2028-01-01', { year_end: '02-28' }, '2028-02-29'],
] as const)('the latest day of %s is %s', (date, latest, day) => {
  const { vat_due } = policy({ latest }).policies;
  expect(latestDay(vat_due!, date)).toBe(day);
});

test('mapping check: what VAT on payment needs, and receipts in advance', () => {
  const bare = mappingOf({ roles: {}, vat: 'same', policies: { vat_due: { payment: '2026-01-01' } } });
  expect(vatDueFaults(bare)).toEqual([
    'policies.vat_due requires an account for roles.vat_not_due',
    'policies.vat_due requires an account for roles.opening_vat_not_due',
    expect.stringContaining('`same` is not enough'),
  ]);
  expect([vatDueFaults(policy()), vatDueFaults(mappingOf())]).toEqual([[], []]);
  expect(vatDueWarnings(policy())).toEqual([expect.stringContaining('policies.prepayment_vat')]);
});
