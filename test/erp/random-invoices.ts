// Random invoices as the practice software calculates them, posted by our rules.

import type { Rng } from '../../sandbox/src/rng.ts';
import type { LedgerEntry } from '../../src/domain/entry.ts';
import { Money } from '../../src/domain/money.ts';
import { judge } from '../../src/posting/index.ts';
import { contextOf, invoiceFacts, invoiceOf, mappingOf, rowOf, vatGroup } from '../posting/support.ts';
import { accountOf, ledgerEntry } from './computing-erp.ts';

/** The rates of a country's mapping, and how the practice software calculates the amounts of rows. */
export const rates = [
  ['25.5', '13.5', '14', '10', '0'],
  ['24', '14', '10'],
  ['19', '7'],
  ['25', '12', '6'],
  ['20', '5', '0'],
  ['16'],
];
const rowKinds = [
  'gross, VAT in cents',
  'net, VAT in cents',
  'net, VAT in four decimals',
  'gross, VAT in four decimals',
] as const;

/** A random invoice of 1 to 10 rows, or its credit note; null if it has no lines. */
export function randomInvoice(rng: Rng, id: number, vatAccountOf = accountOf): LedgerEntry | null {
  const [own, kind] = [rng.pick(rates), rng.pick(rowKinds)];
  const places = kind.endsWith('cents') ? 2 : 4;
  const sign = rng.chance(0.15) ? -1 : 1;
  const rows = Array.from({ length: rng.int(1, 10) }, () => {
    const rate = rng.pick(own);
    const price = new Money(rng.pick([rng.int(50, 2_000), rng.int(1_000, 40_000)])).div(100);
    const amount = price
      .times(rng.pick([1, 1, 1, 2, 3, '0.5', '0.35']))
      .times(sign)
      .toDecimalPlaces(4);
    const whole = kind.startsWith('net') ? 100 : new Money(rate).plus(100);
    const vat = amount.times(rate).div(whole).toDecimalPlaces(places);
    const net = kind.startsWith('net') ? amount : amount.minus(vat);
    const account = rng.pick(['3000', '3000', '3000', '3010', '3020']);
    return rowOf(account, net.toFixed(), vat.toFixed(), net.plus(vat).toFixed(), { vatGroup: vatGroup(rate, rate) });
  });
  const total = (field: 'sum' | 'sumVat' | 'sumTotal') =>
    rows
      .reduce((all, row) => all.plus(row[field] ?? 0), new Money(0))
      .toDecimalPlaces(2)
      .toFixed();
  const invoice = invoiceOf([total('sum'), total('sumVat'), total('sumTotal')], { id, creditNote: sign < 0 });
  const vat = Object.fromEntries(rates.flat().map((rate) => [rate, vatAccountOf(rate)]));
  const { entry } = judge(invoiceFacts(invoice, rows), contextOf({ mapping: mappingOf({ vat }) }));
  return entry === null ? null : ledgerEntry(entry);
}
