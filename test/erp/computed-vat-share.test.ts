// The share of invoices whose VAT an ERP cannot be made to compute, over 20,000 random invoices.

import { expect, test } from 'vitest';
import { Rng } from '../../sandbox/src/rng.ts';
import type { ErpEntry } from '../../src/erp/erp-entry.ts';
import { summarise } from '../../src/ledger/summaries/summary.ts';
import { recordedSummary } from '../ledger/drafts.ts';
import { type Mode, modes, sums, told } from './computing-erp.ts';
import { randomInvoice } from './random-invoices.ts';

test('at most 0.5 % of invoices with up to ten rows are held, and no day of 100 invoices', () => {
  const rng = new Rng(30, 'invoices');
  const invoices = Array.from({ length: 20_000 }, (_, id) => randomInvoice(rng, id + 1)).filter((one) => one !== null);
  expect(invoices.length).toBeGreaterThan(19_000);
  const days = Array.from({ length: Math.floor(invoices.length / 100) }, (_, day) =>
    summarise(invoices.slice(100 * day, 100 * day + 100)),
  ).flat();
  const rounding = 'half_up';
  for (const mode of modes) {
    let held = 0;
    for (const posting of invoices) {
      const result = told({ kind: 'entry', posting }, mode, rounding);
      if ('problems' in result) held += 1;
      else expectSame(result.entry, mode);
    }
    expect(held / invoices.length).toBeLessThanOrEqual(0.005);
    for (const summary of days) {
      const posting = recordedSummary(summary, 1, 'summary');
      const result = told({ kind: 'daily_summary', posting }, mode, rounding);
      if ('problems' in result) throw new Error(JSON.stringify(result.problems));
      expectSame(result.entry, mode);
    }
  }
});

function expectSame({ lines, sentLines = [] }: ErpEntry, mode: Mode): void {
  const computed = JSON.stringify(sums(sentLines, { mode, rounding: 'half_up' }));
  if (computed !== JSON.stringify(sums(lines))) throw new Error(computed);
}
