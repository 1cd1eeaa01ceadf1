import { expect, test } from 'vitest';
import { runExample, useSandbox } from './harness.ts';

const api = useSandbox({ invoices: 0 });

test('examples/wholesaler-day.ts: a wholesaler works with the clinic for a day', async () => {
  expect(await runExample('wholesaler-day', api())).toEqual([
    'token of the scope wholesaler',
    'registered as available wholesaler 51, Esimerkin Tukku',
    'wholesaler.created: credential set 902, customer number 40118',
    'catalog.processed: partially_accepted, 2 rows accepted, 1 rejected',
    '  line 4: invalid_value: wholesale_price must be a number with a decimal point, from 0 to 999999999999.',
    'the clinic imports the catalog: 2 new items',
    'order.placed: order 6101, 4 x Amoxin 50 mg 20 tablets, 4 x Elastic bandage 5 cm',
    'reference number ET-6101 set',
    'marked delivered: order_status 2, all_delivered true',
    'receipts: 2 accepted, 1 rejected',
    '  ET-6101-1: accepted, order 6101, matched by product_code',
    '  ET-6101-2: accepted, order 6101, matched by barcode',
    '  ET-6101-3: rejected, invalid_quantity',
  ]);
});
