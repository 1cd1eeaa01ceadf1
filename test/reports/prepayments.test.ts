import { expect, test } from 'vitest';
import type { InstallationConfig } from '../../src/config/load-config.ts';
import { type Connection, execute } from '../../src/db/rows.ts';
import { formatMoney, sum, zero } from '../../src/domain/money.ts';
import { eraseNames } from '../../src/ledger/journal/erase-names.ts';
import { makeReport } from '../../src/queries/report.ts';
import { prepayments, unusedWithoutVat } from '../../src/reports/prepayments.ts';
import { receivables } from '../../src/reports/receivables.ts';
import type { Section } from '../../src/reports/report-sections.ts';
import { settledPrepayments } from '../../src/reports/settled-prepayments.ts';
import { mappingOf } from '../posting/support.ts';
import {
  ClinicBooks,
  invoiceRecord,
  paid,
  paymentRecord,
  prepaid,
  prepaymentRecord,
} from '../reconcile/clinic-books.ts';
import { useDatabase } from '../support/database.ts';

const { db } = useDatabase();
let nextInstallation = 1;

const created = (day: string) => ({ created: `${day}T12:00:00+02:00` });
const added = (day: string) => ({ date_added: `${day}T12:00:00+02:00` });

async function use(
  books: ClinicBooks,
  [payment, invoice, amount]: [number, number, string],
  client: number,
  { state = 'open', match = [] }: { state?: string; match?: [prepayment: number, amount: string][] } = {},
): Promise<void> {
  const { id } = books.input;
  await execute(
    db,
    `insert into prepayment_use (installation, payment_id, invoice_id, amount, version, first_client_id, state)
     values (?, ?, ?, ?, 1, ?, ?)`,
    [id, payment, invoice, amount, client, state],
  );
  for (const [prepayment, part] of match) {
    await execute(
      db,
      'insert into prepayment_match (installation, payment_id, prepayment_id, amount) values (?, ?, ?, ?)',
      [id, payment, prepayment, part],
    );
  }
}

/** What a function reads once the records are followed. Then settled prepayments are known, and the report skips them. */
async function whenFollowed<Result>(books: ClinicBooks, read: (trx: Connection) => Promise<Result>): Promise<Result> {
  const { id } = books.input;
  const trx = await db.transaction();
  try {
    await execute(
      trx,
      `insert into prepayment_balance (installation, prepayment_id, client_id, paid, unused, created_at, version)
       select installation, id, (raw->>'client')::bigint, (raw->>'paid')::numeric, (raw->>'unused_amount')::numeric,
         (raw->>'created')::timestamptz, version
       from mirror_record where installation = ? and kind = 'prepayment' and (raw->>'paid')::numeric > 0 and gone_at is null
         and raw->>'status' is distinct from 'Aborted'`,
      [id],
    );
    await execute(
      trx,
      `insert into prepayment_refund (installation, refund_id, original_id, amount)
       select installation, id, (raw->>'refunds')::bigint, -(raw->>'paid')::numeric
       from mirror_record where installation = ? and kind = 'prepayment' and (raw->>'paid')::numeric < 0 and raw->>'note' is null`,
      [id],
    );
    return await read(trx);
  } finally {
    await trx.rollback();
  }
}

/** The lines of the report with amounts as texts, and the totals. */
async function reportOf(books: ClinicBooks, through: string, mapping = mappingOf()) {
  const input = { ...books.input, mapping };
  const made = await prepayments(db, input, { from: null, through });
  expect(await whenFollowed(books, (trx) => prepayments(trx, input, { from: null, through }))).toEqual(made);
  const open = made[0]!.figures.filter(
    ({ amounts: { unused, vat_left } }) => !unused!.isZero() && (vat_left ?? zero).isZero(),
  );
  const amount = sum(open.map(({ amounts: { unused } }) => unused!));
  expect(await unusedWithoutVat(db, { ...books.input, mapping }, through)).toEqual({
    prepayments: open.length,
    amount,
  });
  const texts = (amounts: Readonly<Record<string, Parameters<typeof formatMoney>[0]>>) =>
    Object.values(amounts)
      .map((amount) => formatMoney(amount, 2))
      .join(' ');
  const [lines, clients] = made.map(({ figures, total }) => ({
    figures: figures.map(({ keys: { customer, prepayment, unmatched, age_days }, amounts }) =>
      [customer, prepayment ?? unmatched, age_days, texts(amounts)].filter((part) => part !== undefined).join(' | '),
    ),
    total: texts(total),
  }));
  return { lines: lines!, clients: clients! };
}

/**
 * Client 5: 200.00 on 15 January, of which 119.00 is used on an invoice of client 9 and 31.00 refunded; and 80.00 from
 * before the cut-over, of which 20.00 was used since. Client 6: 50.00, and a use of 30.00 without a known prepayment.
 * Client 7: 40.00 that is held, 10.00 that never was money, and 25.00 that is used up.
 */
async function written(): Promise<ClinicBooks> {
  const books = new ClinicBooks(db, nextInstallation++);
  const mobile = (amount: string, client = 5) => prepaid(7, 'mobile_clearing', amount, client);
  const type8 = (amount: string, client: number) => paid(8, 'prepayment_liability', amount, 1, { client });
  await books.document('prepayment', {
    record: prepaymentRecord(1, 7, '80.00', '60.00', created('2025-12-20')),
    ...{ state: 'before_start', date: '2025-12-20' },
  });
  await books.document('prepayment', { record: prepaymentRecord(2, 7, '200.00', '50.00'), lines: mobile('200.00') });
  const refund = { ...created('2026-02-10'), refunds: 2 };
  await books.document('prepayment', {
    record: prepaymentRecord(3, 7, '-31.00', '0.00', refund),
    ...{ lines: mobile('-31.00'), date: '2026-02-10' },
  });
  const six = (id: number) => prepaymentRecord(id, 7, '50.00', '20.00', { client: 6 });
  await books.document('prepayment', { record: six(4), lines: mobile('50.00', 6) });
  const seven = (id: number, amount: string, more: object = {}) =>
    prepaymentRecord(id, 7, amount, amount, { client: 7, ...more });
  await books.document('prepayment', { record: seven(5, '40.00') });
  await books.document('prepayment', { record: seven(6, '10.00', { status: 'Aborted' }), state: 'not_money' });
  await books.document('prepayment', { record: seven(7, '25.00'), lines: mobile('25.00', 7) });

  const payment = (id: number, invoice: number, amount: string, day: string, client: number) =>
    books.document('payment', {
      record: paymentRecord(id, invoice, 8, amount, added(day)),
      ...{ lines: type8(amount, client), date: day },
    });
  await payment(11, 101, '119.00', '2026-02-01', 5);
  await use(books, [11, 101, '119.00'], 9, { state: 'matched', match: [[2, '119.00']] });
  await payment(12, 102, '45.00', '2026-02-20', 5);
  await use(books, [12, 102, '45.00'], 5, {
    state: 'matched',
    match: [
      [1, '20.00'],
      [7, '25.00'],
    ],
  });
  await payment(13, 103, '30.00', '2026-02-21', 6);
  await use(books, [13, 103, '30.00'], 6);
  await payment(14, 104, '5.00', '2026-02-22', 6);
  await payment(15, 104, '-5.00', '2026-02-25', 6);
  await use(books, [14, 104, '5.00'], 6, { state: 'cancelled' });
  await use(books, [15, 104, '-5.00'], 6, { state: 'cancelled' });
  return books;
}

test('each prepayment with what was used and refunded of it, as of a day', async () => {
  const books = await written();
  // Columns: received, used, refunded, unused, in the books
  const asked = {
    lines: {
      figures: [
        'client:5 | 1 | 70 | 80.00 20.00 0.00 60.00 -20.00',
        'client:5 | 2 | 44 | 200.00 119.00 31.00 50.00 50.00',
        'client:6 | 4 | 44 | 50.00 0.00 0.00 50.00 50.00',
        'client:6 | payment 13 | 7 | 0.00 30.00 0.00 -30.00 -30.00',
        'client:7 | 5 | 44 | 40.00 0.00 0.00 40.00 0.00',
      ],
      total: '370.00 169.00 31.00 170.00 50.00',
    },
    clients: {
      figures: [
        'client:5 | 280.00 139.00 31.00 110.00 30.00',
        'client:6 | 50.00 30.00 0.00 20.00 20.00',
        'client:7 | 40.00 0.00 0.00 40.00 0.00',
      ],
      total: '370.00 169.00 31.00 170.00 50.00',
    },
  };
  expect(await reportOf(books, '2026-02-28')).toEqual(asked);
});

test('a client that no entry names has the name of an invoice in the mirror', async () => {
  const books = new ClinicBooks(db, nextInstallation++);
  const invoice = (id: number, client: number, payer_name: string | null) =>
    books.mirror('invoice', invoiceRecord(id, '10.00', '0.00', null, { client, payer_name }));
  await invoice(1, 5, 'Old Name');
  await invoice(2, 5, 'New Name');
  await invoice(3, 5, null);
  await invoice(4, 50, 'Of another');
  await invoice(5, 6, null);
  for (const client of [5, 6]) {
    await books.document('prepayment', {
      record: prepaymentRecord(client, 7, '10.00', '10.00', { client }),
      lines: prepaid(7, 'mobile_clearing', '10.00', client),
    });
  }
  // A payment on a voided invoice, which has no entry.
  await books.document('payment', {
    record: paymentRecord(11, 4, 1, '4.00'),
    lines: paid(1, 'cash', '4.00', 4, { client: 50 }),
  });
  for (const client of [5, 6, 50]) await eraseNames(db, books.input.id, `client:${client}`);
  const input = { ...books.input, mapping: mappingOf() };
  const names = async (made: Promise<Section[]>) =>
    (await made)[0]!.figures.map(({ keys: { customer, name } }) => `${customer} ${name}`);
  const through = { from: null, through: '2026-12-31' };
  expect(await names(prepayments(db, input, through))).toEqual(['client:5 New Name', 'client:6 null']);
  expect(await db.transaction((trx) => names(receivables(trx, input, through)))).toEqual(['client:50 Of another']);
});

test('a note says which prepayments have VAT', async () => {
  const books = new ClinicBooks(db, nextInstallation++);
  const notesWith = async (policies: object) => {
    const installation = {
      ...books.input,
      mapping: mappingOf({ policies }),
      mappingPath: '',
    } as unknown as InstallationConfig;
    const choice = { days: { asOf: '2026-01-31' }, split: null, recordedBy: null, documents: false, account: null };
    return (await makeReport(db, 'prepayments', installation, { ...choice, now: new Date(0) })).notes;
  };
  const group = { name: 'VAT24', rate: 24 };
  expect(await notesWith({ prepayment_vat: { at_receipt: '2026-01-01', group } })).toEqual([
    expect.stringContaining('for prepayments received from 2026-01-01 on; earlier ones have none.'),
  ]);
  expect(await notesWith({})).toEqual([]);
});

test('on an earlier day only what had happened by then', async () => {
  const books = await written();
  expect((await reportOf(books, '2026-01-31')).lines.figures).toEqual([
    'client:5 | 1 | 42 | 80.00 0.00 0.00 80.00 0.00',
    'client:5 | 2 | 16 | 200.00 0.00 0.00 200.00 200.00',
    'client:6 | 4 | 16 | 50.00 0.00 0.00 50.00 50.00',
    'client:7 | 5 | 16 | 40.00 0.00 0.00 40.00 0.00',
    'client:7 | 7 | 16 | 25.00 0.00 0.00 25.00 25.00',
  ]);
  // The day is between an unmatched payment and its cancellation.
  expect((await reportOf(books, '2026-02-23')).lines.figures).toContain(
    'client:6 | cancelled payments of invoice 104 | 1 | 0.00 5.00 0.00 -5.00 -5.00',
  );
});

test('what the books have of a record that is gone stands there, unused nowhere', async () => {
  const books = new ClinicBooks(db, nextInstallation++);
  const lines = prepaid(7, 'mobile_clearing', '60.00');
  await books.document('prepayment', { record: prepaymentRecord(1, 7, '60.00', '60.00'), lines, gone: true });
  await books.post('payment', 99, '2026-01-20', paid(8, 'prepayment_liability', '10.00', 1, { client: 8 }));
  expect((await reportOf(books, '2026-01-31')).lines.figures).toEqual([
    'client:5 | 1 | 16 | 0.00 0.00 0.00 0.00 60.00',
    'client:8 | payment 99 |  | 0.00 0.00 0.00 0.00 -10.00',
  ]);
});

test('example 13: the VAT that is left of what is unused', async () => {
  const books = new ClinicBooks(db, nextInstallation++);
  const vatAt = (amount: string, minus: string) =>
    [
      ['2935', 'prepayment_vat', amount, {}],
      ['2939', 'vat', minus, {}],
    ] as [string, 'prepayment_vat' | 'vat', string, object][];
  await books.document('prepayment', {
    record: prepaymentRecord(1, 7, '200.00', '81.00'),
    lines: [...prepaid(7, 'mobile_clearing', '200.00'), ...vatAt('40.64', '-40.64')],
  });
  await books.document('payment', {
    record: paymentRecord(2, 1, 8, '119.00', added('2026-02-01')),
    ...{ date: '2026-02-01' },
    lines: [...paid(8, 'prepayment_liability', '119.00', 1), ...vatAt('-24.18', '24.18')],
  });
  await use(books, [2, 1, '119.00'], 5, { state: 'matched', match: [[1, '119.00']] });
  await execute(
    db,
    `insert into entry_share (entry_id, installation, prepayment_id, used_before, amount, vat, has_vat) values (?, ?, 1, 0, 119, 24.18, true)`,
    [`${books.input.id}/payment/2/1`, books.input.id],
  );
  // The last column is the remaining VAT.
  expect((await reportOf(books, '2026-01-31')).lines.figures).toEqual([
    'client:5 | 1 | 16 | 200.00 0.00 0.00 200.00 200.00 40.64',
  ]);
  expect((await reportOf(books, '2026-02-28')).lines.figures).toEqual([
    'client:5 | 1 | 44 | 200.00 119.00 0.00 81.00 81.00 16.46',
  ]);
});

test('a prepayment that seems to be settled is listed if a document of it is not', async () => {
  const books = new ClinicBooks(db, nextInstallation++);
  const received = (id: number, amount: string) =>
    books.document('prepayment', {
      record: prepaymentRecord(id, 7, amount, '0.00'),
      lines: prepaid(7, 'mobile_clearing', amount),
    });
  const used = async (id: number, amount: string, match: [number, string][], booked = amount) => {
    const lines = booked === '' ? {} : { lines: paid(8, 'prepayment_liability', booked, 1, { client: 5 }) };
    await books.document('payment', {
      record: paymentRecord(id, id, 8, amount, added('2026-01-20')),
      ...lines,
      date: '2026-01-20',
    });
    await use(books, [id, id, amount], 5, { state: 'matched', match });
  };
  const refund = (id: number, more: object) =>
    books.document('prepayment', {
      record: prepaymentRecord(id, 7, '-10.00', '0.00', { ...created('2026-01-21'), ...more }),
      lines: prepaid(7, 'mobile_clearing', '-10.00'),
      date: '2026-01-21',
    });
  // Settled by one payment, by two, and by a payment and a refund
  await received(1, '40.00');
  await used(101, '40.00', [[1, '40.00']]);
  await received(2, '40.00');
  await used(102, '15.00', [[2, '15.00']]);
  await used(103, '25.00', [[2, '25.00']]);
  await received(3, '40.00');
  await used(104, '30.00', [[3, '30.00']]);
  await refund(4, { refunds: 3 });
  // Its payment is held, or posted with another amount.
  await received(5, '40.00');
  await used(105, '40.00', [[5, '40.00']], '');
  await received(6, '40.00');
  await used(106, '40.00', [[6, '40.00']], '39.00');
  // A payment used a settled one, too, or has a part without a match.
  await received(7, '40.00');
  await received(8, '40.00');
  await used(107, '60.00', [
    [7, '40.00'],
    [8, '20.00'],
  ]);
  await received(9, '40.00');
  await used(108, '50.00', [[9, '40.00']]);
  // A refund that was not followed yet
  await received(10, '40.00');
  await used(109, '40.00', [[10, '40.00']]);
  await refund(11, { refunds: 10, note: 'new' });
  expect((await reportOf(books, '2026-01-31')).lines.figures).toEqual([
    'client:5 | 5 | 16 | 40.00 40.00 0.00 0.00 40.00',
    'client:5 | 6 | 16 | 40.00 40.00 0.00 0.00 1.00',
    'client:5 | 8 | 16 | 40.00 20.00 0.00 20.00 20.00',
    'client:5 | 10 | 16 | 40.00 40.00 10.00 -10.00 -10.00',
    'client:5 | payment 108 | 11 | 0.00 10.00 0.00 -10.00 -10.00',
  ]);
  const input = { ...books.input, mapping: mappingOf() };
  const settled = await whenFollowed(books, (trx) => settledPrepayments(trx, input, '2026-01-31', new Set()));
  expect(settled).toEqual({ prepayments: new Set([1, 2, 3, 4, 7]), payments: new Set([101, 102, 103, 104]) });
});
