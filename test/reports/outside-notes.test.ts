// What a report says about documents that its figures lack, or have as they were before a change.
import { expect, test } from 'vitest';
import type { OutsideGroup } from '../../src/documents/outside-books.ts';
import { outsideByKind } from '../../src/documents/outside-books.ts';
import { outsideNotes } from '../../src/reports/installation-report.ts';

const group = (reason: OutsideGroup['reason'], count: number, amount: string | null): OutsideGroup => ({
  ...{ installation: 4711, kind: 'invoice', reason, count, unknown: amount === null ? count : 0 },
  ...{ amount, vat: amount && '0', oldest: '2026-01-04' },
});
const missing = (documents: string) =>
  `Missing in these figures, because not in the books of 4711: ${documents}, dated up to 2026-01-31 or without a date yet`;
const changed = (documents: string) =>
  `Posted, but changed or missing in the practice software: ${documents}, dated up to 2026-01-31, in 4711. The figures have them as posted; the amounts are the differences`;

test.each([
  ['nothing outside', [], []],
  [
    'documents that the next window posts',
    [group('pending', 2, null)],
    [{ text: missing('2 invoices (unknown amount, oldest 2026-01-04)'), isNext: true }],
  ],
  [
    'a change without an amount, which is held',
    [group('change_held', 197, '0')],
    [{ text: changed('197 invoices (0.00, VAT 0.00, oldest 2026-01-04)'), isNext: false }],
  ],
  [
    'held documents and held changes apart',
    [group('held', 1, '104'), group('late', 2, '10.5'), group('change_held', 1, '-4'), group('left_as_posted', 3, '7')],
    [
      { text: missing('3 invoices (114.50, VAT 0.00, oldest 2026-01-04)'), isNext: false },
      { text: changed('1 invoice (-4.00, VAT 0.00, oldest 2026-01-04)'), isNext: false },
    ],
  ],
])('%s', (_, groups, notes) => {
  const installation = { id: 4711, name: null, currency: 'EUR', decimals: 2, timezone: 'UTC', startDate: null };
  const report = {
    report: 'receivables',
    installation,
    period: { from: null, through: '2026-01-31' },
    of: 'day' as const,
  };
  const outside = outsideByKind(groups as OutsideGroup[], 2);
  expect(outsideNotes({ ...report, recordedBy: null, sections: [], outside })).toEqual(notes);
});
