import { describe, expect, it } from 'vitest';
import { reconcile } from '../../src/reconcile/index.ts';
import { useDatabase } from '../support/database.ts';
import {
  ClinicBooks,
  invoiceRecord,
  paid,
  paymentRecord,
  prepaid,
  prepaymentRecord,
  receivable,
  revenue,
} from './clinic-books.ts';

const { db } = useDatabase();
let nextInstallation = 1;

/** The lists of `reconcile` besides the equations. */
async function listedOf(books: ClinicBooks) {
  return (await reconcile(db, [books.input])).installations[0]!.listed;
}

describe('held changes say what differs', () => {
  const sold = [receivable(10, '65.70'), revenue('3000', '-65.70', [10])];
  const invoice =
    (record: object, more: object = {}) =>
    (books: ClinicBooks) =>
      books.document('invoice', {
        record: { ...invoiceRecord(10, '65.70', '0.00', '65.70'), ...record },
        lines: sold,
        problem: 'change_held',
        ...more,
      });
  const payment =
    (record: object, more: object = {}) =>
    async (books: ClinicBooks) => {
      await books.document('invoice', { record: invoiceRecord(10, '40.00', '0', '0.00'), state: 'held' });
      const lines = paid(0, 'card_clearing', '40.00', 10);
      await books.document('payment', {
        record: { ...paymentRecord(10, 10, 0, '40.00'), ...record },
        lines,
        problem: 'change_held',
        ...more,
      });
    };
  const prepayment = (record: object) => (books: ClinicBooks) =>
    books.document('prepayment', {
      record: { ...prepaymentRecord(10, 1, '9.00', '9.00'), ...record },
      lines: prepaid(1, 'cash', '9.00'),
      problem: 'change_held',
    });
  const cases: [name: string, change: (books: ClinicBooks) => Promise<unknown>, expected: string][] = [
    [
      'void',
      invoice({ status: 99 }),
      'invoice 10: posted with 65.70; the source now says that it is void (change_held)',
    ],
    [
      'a draft again',
      invoice({ status: 1 }),
      'invoice 10: posted with 65.70; the source now says that it is not final any more (status 1) (change_held)',
    ],
    ['gone', invoice({}, { gone: true }), 'invoice 10: posted with 65.70; it is gone from the source (change_held)'],
    [
      'another total',
      invoice({ total_with_vat: '60.00' }),
      'invoice 10: posted with 65.70; the source now says 60.00 (change_held)',
    ],
    [
      'another account: the amount is the same',
      invoice({}),
      'invoice 10: posted with 65.70, as in the source; other facts differ (change_held)',
    ],
    [
      'another account, as it was told when judged',
      invoice({}, { changes: [{ field: 'net on 3000', old: '65.70', new: null }] }),
      'invoice 10: posted with 65.70, as in the source; net on 3000 65.70 → none (change_held)',
    ],
    [
      'a total that cannot be read',
      invoice({ total_with_vat: 'x' }, { problem: 'amount_invalid' }),
      'invoice 10: posted with 65.70; its amount in the source is no longer readable (amount_invalid)',
    ],
    [
      'a payment of another type',
      payment({ payment_type: 1 }),
      'payment 10: posted with 40.00; the source now says type 1 instead of 0 (change_held)',
    ],
    [
      'a payment of another amount',
      payment({ paid: '39.00' }),
      'payment 10: posted with 40.00; the source now says 39.00 (change_held)',
    ],
    [
      'a payment that is gone',
      payment({}, { gone: true }),
      'payment 10: posted with 40.00; it is gone from the source (change_held)',
    ],
    [
      'a prepayment that failed after all',
      prepayment({ status: 'Failed' }),
      'prepayment 10: posted with 9.00; the source now says that it is failed, which is not money (change_held)',
    ],
  ];
  it.each(cases)('%s', async (_name, change, expected) => {
    const books = new ClinicBooks(db, nextInstallation++);
    await change(books);
    const { held_changes } = await listedOf(books);
    expect(held_changes.map(({ document, message }) => `${document}: ${message}`)).toEqual([expected]);
  });
});

describe("unused prepayments at each month's end", () => {
  interface Movement {
    kind?: 'use';
    amount: string;
    date: string;
    /** The state of the record in the books; the default is posted. */
    state?: 'before_start' | 'held' | 'not_money' | 'gone';
    status?: string;
  }
  const cases: [name: string, today: string, movements: Movement[], expected: [monthEnd: string, balance: string][]][] =
    [
      [
        'a month that is over, those without movement between, and not the present one',
        '2026-04-10',
        [
          { amount: '20.00', date: '2026-01-31' },
          { amount: '5.00', date: '2026-03-01' },
          { amount: '7.00', date: '2026-04-01' },
        ],
        [
          ['2026-01-31', '20.00'],
          ['2026-02-28', '20.00'],
          ['2026-03-31', '25.00'],
        ],
      ],
      [
        'from before start_date, with refund and use; months before the start, too',
        '2026-02-01',
        [
          { amount: '100.00', date: '2025-11-30', state: 'before_start' },
          { amount: '-30.00', date: '2025-12-15', state: 'before_start' },
          { kind: 'use', amount: '45.00', date: '2026-01-20' },
        ],
        [
          ['2025-11-30', '100.00'],
          ['2025-12-31', '70.00'],
          ['2026-01-31', '25.00'],
        ],
      ],
      [
        'held ones are money received; pending and vanished ones are not',
        '2026-02-01',
        [
          { amount: '10.00', date: '2026-01-02', state: 'held' },
          { amount: '3.00', date: '2026-01-02', state: 'not_money', status: 'Pending' },
          { amount: '4.00', date: '2026-01-02', state: 'gone' },
          { kind: 'use', amount: '1.00', date: '2026-01-03', state: 'held' },
          { kind: 'use', amount: '2.00', date: '2026-01-03', state: 'gone' },
        ],
        [['2026-01-31', '9.00']],
      ],
      [
        'used up: no month; a month is that of the installation’s zone',
        '2026-03-01',
        [
          { amount: '10.00', date: '2026-01-31T23:30:00Z' },
          { kind: 'use', amount: '10.00', date: '2026-02-28T21:59:00Z' },
        ],
        [],
      ],
      [
        'the last ten years, with what was unused before',
        '2026-02-28',
        [
          { amount: '1.00', date: '0001-01-31', state: 'before_start' },
          { amount: '2.00', date: '9999-12-31', state: 'held' },
        ],
        Array.from({ length: 120 }, (_, month): [string, string] => [
          new Date(Date.UTC(2016, 2 + month, 0)).toISOString().slice(0, 10),
          '1.00',
        ]),
      ],
    ];
  it.each(cases)('%s', async (_name, today, movements, expected) => {
    const books = new ClinicBooks(db, nextInstallation++, { today });
    await books.document('invoice', { record: invoiceRecord(1, '0.00', '0.00', null), state: 'nothing_to_post' });
    for (const [index, { kind, amount, date, state, status }] of movements.entries()) {
      const id = 1 + index;
      const day = date.slice(0, 10);
      const how = state === undefined ? { date: day } : { state, gone: state === 'gone', date: day };
      if (kind === 'use') {
        const record = paymentRecord(id, 1, 8, amount, { date_added: date });
        const lines = state === undefined ? { lines: paid(8, 'prepayment_liability', amount, 1) } : {};
        await books.document('payment', { record, ...how, ...lines });
      } else {
        const record = prepaymentRecord(id, 1, amount, amount, { created: date, ...(status ? { status } : {}) });
        const lines = state === undefined ? { lines: prepaid(1, 'cash', amount) } : {};
        await books.document('prepayment', { record, ...how, ...lines });
      }
    }
    const { unused_prepayments } = await listedOf(books);
    expect(unused_prepayments.map(({ month_end, balance }) => [month_end, balance])).toEqual(expected);
  });
});
