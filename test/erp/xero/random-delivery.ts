// Random invoices, delivered into the fake in batches. Our VAT is summed from the books, and Xero's from the lines that
// it was sent.

import { Decimal } from 'decimal.js';
import { Rng } from '../../../sandbox/src/rng.ts';
import type { ErpEntry } from '../../../src/erp/erp-entry.ts';
import { xeroCapabilities } from '../../../src/erp/targets/xero/capabilities.ts';
import { openXero } from '../../../src/erp/targets/xero/index.ts';
import { translate } from '../../../src/erp/translate.ts';
import { mappingOf } from '../../posting/support.ts';
import { SimulatedTime } from '../fake/time.ts';
import { randomInvoice, rates } from '../random-invoices.ts';
import { FakeXero, taxTypeOf, vatAccount } from './fake.ts';

const codes = rates.flat().map((rate) => [rate, taxTypeOf(rate)]);
const mapping = mappingOf({
  erp: { vat_codes: Object.fromEntries(codes), journals: { '*': 'MANJOURNAL' } },
});
const batchSize = xeroCapabilities.write.max_entries;

/** VAT by tax type as texts, and the number of entries that were held and posted. */
export async function deliverRandomInvoices(invoices: number, seed: number) {
  const time = new SimulatedTime(Date.parse('2026-03-06T06:00:00Z'));
  const fake = new FakeXero(time.clock());
  fake.dayLimit = invoices;
  const log = { debug: () => {}, info: () => {}, warn: () => {} } as never;
  const target = openXero(fake.config, { clock: time.clock(), log, transport: fake });
  const rng = new Rng(seed, 'xero');
  const ours = new Map<string, Decimal>();
  const add = (code: string, amount: Decimal) => ours.set(code, (ours.get(code) ?? new Decimal(0)).plus(amount));
  let held = 0;
  let posted = 0;
  let batch: ErpEntry[] = [];
  const send = async () => {
    const request = { signal: new AbortController().signal, priority: 0, attemptId: `after ${posted}` };
    posted += (await target.create(batch, request)).size;
    batch = [];
  };
  for (let id = 1; id <= invoices; id++) {
    const posting = randomInvoice(rng, id, () => vatAccount);
    if (posting === null) continue;
    const unit = { kind: 'entry', posting: { ...posting, id: `1/invoice/${id}/1` } } as const;
    const found = translate(unit, { databaseId: 'db', mapping, capabilities: xeroCapabilities });
    if ('problems' in found) {
      const unexpected = found.problems.filter(({ code }) => code !== 'erp_vat_not_tellable');
      if (unexpected.length > 0) throw new Error(JSON.stringify(unexpected));
      held += 1;
      continue;
    }
    for (const { vat, side, amount } of found.entry.lines) {
      if (vat?.part === 'tax') add(vat.code, new Decimal(side === 'debit' ? amount.toFixed() : `-${amount.toFixed()}`));
    }
    batch.push(found.entry);
    if (batch.length === batchSize) await send();
  }
  if (batch.length > 0) await send();
  const written = (amounts: Map<string, Decimal>) =>
    [...amounts].flatMap(([code, amount]) => (amount.isZero() ? [] : [`${code}: ${amount.toFixed(2)}`])).toSorted();
  return { ours: written(ours), theirs: written(fake.vatReport()), held, posted };
}
