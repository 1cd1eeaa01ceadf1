import { describe, expect, test } from 'vitest';
import { Money } from '../../src/domain/money.ts';
import type { ShareInForce } from '../../src/ledger/journal/shares.ts';
import { OriginalsVat } from '../../src/reconcile/e8-originals.ts';
import type { LedgerSum, ReconciledPayment, ReconciledPrepayment } from '../../src/reconcile/reconciled-documents.ts';
import type { PaymentRecord, PrepaymentRecord } from '../../src/records/types.ts';
import type { LineRole } from '../../src/terms.ts';

const money = (text: string) => new Money(text);
const sumOf = (role: LineRole, amount: string) => ({ role, amount: money(amount) }) as LedgerSum;
const posted = { gone: false, state: 'posted', problem: null, dirty: false, sums: [] as LedgerSum[] };

/** Prepayment 7 of client 1: 200.00 with 40.64 of VAT, as in example 13. */
const original = (unused: string | null, more: object = {}, record: object = {}) =>
  ({
    ...posted,
    sums: [sumOf('prepayment_vat', '40.64'), sumOf('prepayment_liability', '-200'), sumOf('vat', '-40.64')],
    record: {
      ...{ id: 7, clientId: 1, paid: money('200'), refundsId: null, status: 'ready' },
      unusedAmount: unused === null ? null : money(unused),
      ...record,
    } as PrepaymentRecord,
    ...more,
  }) as ReconciledPrepayment;
const refund = (paid: string, more: object = {}, record: object = {}) =>
  ({
    ...posted,
    record: { id: 8, clientId: 1, paid: money(paid), refundsId: 7, status: 'ready', ...record } as PrepaymentRecord,
    ...more,
  }) as ReconciledPrepayment;
/** Payment 12 of type 8 on an invoice of client 1. */
const use = (paid: string, prepaymentIds: number[], more: object = {}, used: object = {}) =>
  ({
    ...posted,
    record: { id: 12, paid: money(paid) } as PaymentRecord,
    used: { clientId: 1, prepaymentIds, isCancelled: false, ...used },
    ...more,
  }) as ReconciledPayment;
const share = (kind: 'payment' | 'prepayment', id: number, amount: string, vat: string, hasVat = true) =>
  ({ prepaymentId: 7, document: { kind, id }, amount: money(amount), vat: money(vat), hasVat }) satisfies ShareInForce;

interface World {
  prepayments: ReconciledPrepayment[];
  uses?: ReconciledPayment[];
  shares?: ShareInForce[];
  /** The amounts that payments took from prepayment 7 by their current match. */
  matches?: Record<number, string>;
  refundsLower?: boolean;
}

function check({ prepayments, uses = [], shares = [], matches = {}, refundsLower = true }: World) {
  const originals = new OriginalsVat();
  for (const each of uses) originals.addUse(each, 1);
  for (const each of prepayments) originals.addPrepayment(each);
  const { matchesOf, sharesOf } = originals.asked;
  expect(sharesOf).toEqual(prepayments.map(({ record }) => record.id));
  const taken = new Map(matchesOf.map((id) => [id, new Map(matches[id] ? [[7, money(matches[id])]] : [])]));
  return originals.check(shares, taken, refundsLower, 2);
}

describe('E8 per original', () => {
  const outside = { state: 'held', problem: 'account_unmapped' };
  const change = { problem: 'change_held' };
  const of119 = share('payment', 12, '119', '24.18');
  test.each<[name: string, world: World, difference: string | null]>([
    ['nothing used', { prepayments: [original('200')] }, null],
    ['119.00 used, and given back', { prepayments: [original('81')], uses: [use('119', [7])], shares: [of119] }, null],
    ['within a minor unit', { prepayments: [original('81.04')], uses: [use('119', [7])], shares: [of119] }, null],
    ['a cent more than that', { prepayments: [original('81.10')], uses: [use('119', [7])], shares: [of119] }, '-0.02'],
    ['119.00 used, and nobody knows of what', { prepayments: [original('81')], uses: [use('119', [])] }, '24.18'],
    ['used according to the source alone', { prepayments: [original('81')] }, '24.18'],
    [
      'given back too much, by our own share',
      { prepayments: [original('200')], uses: [use('119', [7])], shares: [of119] },
      '-24.18',
    ],
    [
      'a matched use that is not posted',
      { prepayments: [original('81')], uses: [use('119', [7], outside)], matches: { 12: '119' } },
      null,
    ],
    [
      'the source does not say what is unused: as it was paid',
      { prepayments: [original(null)], uses: [use('119', [7])], shares: [of119] },
      '-24.18',
    ],
    [
      'a refund that lowered it',
      { prepayments: [original('81'), refund('-119')], shares: [share('prepayment', 8, '119', '24.18')] },
      null,
    ],
    ['a refund that is not posted', { prepayments: [original('81'), refund('-119', outside)] }, null],
    [
      'a refund that leaves it, as set',
      {
        prepayments: [original('200'), refund('-119')],
        shares: [share('prepayment', 8, '119', '24.18')],
        refundsLower: false,
      },
      null,
    ],
    [
      'a refund that leaves it and is not posted',
      { prepayments: [original('200'), refund('-119', outside)], refundsLower: false },
      null,
    ],
    [
      'a refund that is no money',
      { prepayments: [original('200'), refund('-119', { state: 'not_money' }, { status: 'pending' })] },
      null,
    ],
    [
      'the change of a use is held: as posted',
      {
        prepayments: [original('100')],
        uses: [use('100', [7], change)],
        matches: { 12: '100' },
        shares: [of119],
      },
      null,
    ],
    [
      'a use that was posted without a match, which a closed period keeps so',
      { prepayments: [original('81')], uses: [use('119', [7], change)], matches: { 12: '119' } },
      null,
    ],
    [
      'the change of the original is held: as posted',
      {
        prepayments: [original('181', change, { paid: money('300') })],
        uses: [use('119', [7])],
        shares: [of119],
      },
      null,
    ],
    [
      'an original that is no money any more, its reversal held',
      { prepayments: [original('0', change, { status: 'aborted' })] },
      null,
    ],
    [
      'a share that gave no VAT back',
      { prepayments: [original('81')], uses: [use('119', [7])], shares: [share('payment', 12, '119', '0', false)] },
      '24.18',
    ],
  ])('%s', (_, world, difference) => {
    const { differences, disputed } = check(world);
    expect(differences.map(({ document, amount }) => [document, amount.toFixed(2)])).toEqual(
      difference === null ? [] : [['prepayment 7', difference]],
    );
    expect(disputed).toEqual(difference === null ? [] : [{ kind: 'prepayment', id: 7 }]);
  });

  test('a difference names its client’s unmatched uses and the VAT at stake; those of others are a remark', () => {
    const stranger = { ...use('81', [], {}, { clientId: 2 }), record: { id: 13, paid: money('81') } as PaymentRecord };
    const cancelled = {
      ...use('5', [], {}, { isCancelled: true }),
      record: { id: 14, paid: money('5') } as PaymentRecord,
    };
    const { differences, listed } = check({
      prepayments: [original('81', { dirty: true })],
      uses: [use('119', []), stranger, cancelled],
    });
    expect(differences.map(({ message }) => message)).toEqual([
      '40.64 of its VAT is left, but 16.46 belongs to the unused amount of 81.00: the difference is 24.18 of VAT; client 1 has uses without a match: payment 12 (119.00); it waits to be judged again by the next sync',
    ]);
    expect(listed).toEqual([
      {
        document: 'payment 13',
        message:
          'vetledger could not determine which prepayment the 81.00 came from; no prepayment of client 2 has a VAT difference',
      },
    ]);
  });
});
