// The VAT that Procountor computes is ours, to the cent.

import { Decimal } from 'decimal.js';
import { expect, test } from 'vitest';
import { Rng } from '../../../sandbox/src/rng.ts';
import { procountorCapabilities } from '../../../src/erp/targets/procountor/capabilities.ts';
import { openProcountor } from '../../../src/erp/targets/procountor/index.ts';
import { translate } from '../../../src/erp/translate.ts';
import { mappingOf } from '../../posting/support.ts';
import { SimulatedTime } from '../fake/time.ts';
import { randomInvoice, rates } from '../random-invoices.ts';
import { FakeProcountor } from './fake.ts';

const invoices = 200;
const codes = rates.flat().map((rate) => [rate, rate === '0' ? 'vat_12 0' : `vat_1 ${rate}`]);
const mapping = mappingOf({ erp: { vat_codes: Object.fromEntries(codes), journals: { '*': 'JOURNAL' } } });

test(`${invoices} random invoices are approved, with our VAT by rate`, async () => {
  const time = new SimulatedTime(Date.parse('2026-03-06T06:00:00Z'));
  const fake = new FakeProcountor(time.clock());
  const log = { debug: () => {}, info: () => {}, warn: () => {} } as never;
  const target = openProcountor(fake.config, { clock: time.clock(), log, transport: fake });
  const request = { signal: new AbortController().signal, priority: 0, attemptId: 'attempt' };
  const rng = new Rng(7, 'procountor');
  const ours = new Map<string, Decimal>();
  const theirs = new Map<string, Decimal>();
  const add = (to: Map<string, Decimal>, rate: string, amount: Decimal.Value) =>
    to.set(rate, (to.get(rate) ?? new Decimal(0)).plus(amount));
  let held = 0;
  for (let id = 1; id <= invoices; id++) {
    const posting = randomInvoice(rng, id);
    if (posting === null) continue;
    const found = translate(
      { kind: 'entry', posting: { ...posting, id: `1/invoice/${id}/1` } },
      {
        ...{ databaseId: 'db', mapping, capabilities: procountorCapabilities },
      },
    );
    if ('problems' in found) {
      expect(found.problems.map(({ code }) => code)).toEqual(['erp_vat_not_tellable']);
      held += 1;
      continue;
    }
    const { entry } = found;
    const [erpId = ''] = (await target.create([entry], request)).values();
    await target.post([erpId], request);
    for (const { vat, side, amount } of entry.lines) {
      if (vat?.part === 'tax')
        add(ours, vat.rate?.toFixed() ?? '', side === 'debit' ? amount.toFixed() : `-${amount.toFixed()}`);
    }
    for (const { accountingValue, vatPercent } of fake.rows(erpId)) {
      const tax = new Decimal(String(accountingValue)).times(String(vatPercent)).div(100);
      if (vatPercent !== 0) add(theirs, String(vatPercent), tax.toDecimalPlaces(2, Decimal.ROUND_HALF_UP));
    }
  }
  const written = (amounts: Map<string, Decimal>) =>
    [...amounts].flatMap(([rate, amount]) => (amount.isZero() ? [] : [`${rate}: ${amount.toFixed(2)}`])).toSorted();
  expect(written(theirs)).toEqual(written(ours));
  expect(held).toBeLessThanOrEqual(invoices * 0.01);
  expect(fake.held().every(({ status }) => status === 'APPROVED')).toBe(true);
});
