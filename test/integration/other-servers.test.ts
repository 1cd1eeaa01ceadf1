import { describe, expect, test } from 'vitest';
import { startTestClinic } from '../support/clinic.ts';
import { sourceCounts } from '../support/source-figures.ts';

describe('servers that differ where the specification is silent', () => {
  const rows: [string, Parameters<typeof startTestClinic>[0]][] = [
    ['descending ids', { quirks: { order: 'id_desc', maxPageSize: 60 } }],
    ['no order at all', { quirks: { order: 'random', maxPageSize: 60 } }],
    ['id__gt ignored', { quirks: { ignoredFilters: ['id__gt'], maxPageSize: 60 } }],
    ['modified__gte ignored', { quirks: { ignoredFilters: ['modified__gte'] } }],
    ['invoice__in ignored', { quirks: { ignoredFilters: ['invoice__in'] } }],
    ['id__lt and id__in ignored, by modified', { quirks: { order: 'modified', ignoredFilters: ['id__lt', 'id__in'] } }],
    [
      'decimals as strings, extra fields, count as text',
      { quirks: { decimals: 'string', extraFields: true, countAsString: true } },
    ],
    ['decimals as numbers, dates as timestamps', { quirks: { decimals: 'number', invoiceDateAsDatetime: true } }],
    ['timestamps without offset', { quirks: { timestamps: 'naive' } }],
    ['timestamps in UTC, no Date header', { quirks: { timestamps: 'zulu', dateHeader: false } }],
    ['another default page size', { quirks: { defaultPageSize: 20, maxPageSize: 200 } }],
    ['payments that do not touch their invoice', { quirks: { paymentTouchesInvoice: false } }],
    ['refunds that leave unused_amount', { quirks: { refundLowersUnused: false } }],
    ['late commits', { quirks: { lateCommitShare: 0.5, lateCommitMs: 700 } }],
    [
      'references through a proxy, lock dates forbidden',
      { quirks: { urlReferences: 'otherHost', departmentSettings: '403' } },
    ],
  ];
  test.each(rows)('%s', async (_name, options) => {
    let aheadMs = 0;
    const now = () => new Date(Date.now() + aheadMs);
    const clinic = await startTestClinic({ seed: 11, invoices: 120, now, ...options });
    try {
      const first = await clinic.sync();
      expect(first.error).toBeUndefined();
      clinic.sandbox.live(25);
      const second = await clinic.sync();
      expect(second.error).toBeUndefined();
      // A late commit hid the record from the second window, and the third finds it within the overlap.
      aheadMs += 1_500;
      const third = await clinic.sync();
      expect(third.error).toBeUndefined();
      expect(await clinic.wrongBooks()).toEqual([]);
      const report = await clinic.reconcile();
      expect(report.ok, JSON.stringify(report.installations[0]!.equations, null, 1)).toBe(true);
      const source = sourceCounts(clinic);
      const states = report.installations[0]!.states;
      const counted = (kind: 'invoices' | 'payments' | 'prepayments') =>
        Object.values(states[kind] as Record<string, number>).reduce((sum, n) => sum + n, 0);
      expect({
        invoices: counted('invoices'),
        payments: counted('payments'),
        prepayments: counted('prepayments'),
      }).toEqual(source);
    } finally {
      await clinic.stop();
    }
  });
});
