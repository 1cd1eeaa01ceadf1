import { expect, test } from 'vitest';
import { Tally } from '../../src/binder/tally.ts';
import { Money } from '../../src/domain/money.ts';
import { columnsOf, type Item, type SectionShape } from '../../src/reports/report-sections.ts';

const amounts = columnsOf('open');
const byCustomer: SectionShape = { name: 'x', title: 'X', keys: columnsOf('customer'), facts: [], amounts };
const ofDocuments: SectionShape = { name: 'x', title: 'X', keys: [], facts: columnsOf('date'), amounts };

const item = (customer: number, open: string): Item => ({
  ...{ keys: { customer }, document: `invoice ${customer}`, facts: { date: '2026-01-01' } },
  amounts: { open: new Money(open) },
});
const many = (count: number, open: string) => Array.from({ length: count }, (_, index) => item(index, open));

/** The rows that the PDF shows as texts, null if there are too many, and the total. */
async function tallied(shape: SectionShape, items: Item[], hasTotal = true) {
  const tally = new Tally({ shape, items, hasTotal });
  const read: Item[] = [];
  for await (const each of tally.items()) read.push(each);
  expect(read).toEqual(items);
  const { rows, total } = tally.sums();
  const shown = rows?.map(({ cells, amounts: of }) => `${cells.customer ?? cells.document} ${of.open?.toFixed(2)}`);
  return [shown ?? null, total.open?.toFixed(2)];
}

test.each<[string, Parameters<typeof tallied>, unknown]>([
  ['no items', [byCustomer, []], [[], '0.00']],
  ['two figures', [byCustomer, [item(1, '2'), item(1, '3'), item(2, '4')]], [['1 5.00', '2 4.00'], '9.00']],
  ['a figure that is zero', [byCustomer, [item(1, '2'), item(1, '-2'), item(2, '4')]], [['2 4.00'], '4.00']],
  [
    'items without keys, also of zero',
    [ofDocuments, [item(1, '0'), item(2, '4')], false],
    [['invoice 1 0.00', 'invoice 2 4.00'], undefined],
  ],
  ['151 figures', [byCustomer, many(151, '0.10')], [null, '15.10']],
  ['one figure beside many that are zero', [byCustomer, [...many(900, '0'), ...many(1, '5')]], [['0 5.00'], '5.00']],
  ['5,000 figures', [byCustomer, many(5_000, '0.01')], [null, '50.00']],
  ['151 items', [ofDocuments, many(151, '1')], [null, '151.00']],
])('the PDF shows %s', async (_, listing, expected) => {
  expect(await tallied(...listing)).toEqual(expected);
});
