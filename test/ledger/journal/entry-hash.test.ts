import { expect, it } from 'vitest';
import type { LedgerEntry } from '../../../src/domain/entry.ts';
import { Money } from '../../../src/domain/money.ts';
import { canonicalAmount, chainStart, entryHash } from '../../../src/ledger/journal/entry-hash.ts';
import { summarise } from '../../../src/ledger/summaries/summary.ts';
import { summaryHash } from '../../../src/ledger/summaries/summary-hash.ts';
import { draft, party } from '../drafts.ts';

// These hashes are in ledgers that exist: if one changes here, `ledger verify` calls those ledgers broken.

const entry: LedgerEntry = {
  ...draft({
    kind: 'invoice',
    id: 1001,
    date: '2026-02-01',
    documentDate: '2026-01-31',
    original: 999,
    inputHash: 'facts',
    lines: [
      ['1700', 'receivable', '124.00', { party: party(5), departmentId: 11, invoiceId: 1001, dueDate: '2026-02-15' }],
      ['3000', 'revenue', '-100.00', { dimensions: ['SURG', null, null], departmentId: 11, rowIds: [1, 2] }],
      [
        '2930',
        'vat',
        '-24.00',
        { departmentId: 11, vat: { group: 'General', rate: new Money('24.0'), base: new Money('100.00') } },
      ],
    ],
  }),
  id: '4711/invoice/1001/1',
  installation: 4711,
  n: 1,
  seq: 1,
  postingMode: 'document',
  format: 1,
  ...{ vatPeriod: null, isLate: null, mappingHash: null },
  idempotencyKey: '4711/invoice/1001/1:facts',
  previousHash: chainStart,
  hash: '',
};

it('an entry is hashed as ever', () => {
  expect(entryHash(chainStart, entry)).toBe('bc0e53f1184dae1da0ad5b5f1ff1acfb1b0216f6fb88e1f79881832e823d4693');
  expect(entryHash(chainStart, { ...entry, postingMode: 'daily_summary' })).toBe(
    '06f5ac3b41632d399c6e75ad1ea3d5d04d1ce10aa2e301ca2274dcf6f71cc725',
  );
});

it('since format 2, the names of parties are not hashed, and all else is', () => {
  const lines = (change: object) =>
    entry.lines.map((line) => ({ ...line, party: line.party && { ...line.party, ...change } }));
  const second = { ...entry, format: 2 };
  const hash = entryHash(chainStart, second);
  expect(hash).not.toBe(entryHash(chainStart, entry));
  expect(entryHash(chainStart, { ...second, lines: lines({ name: null }) })).toBe(hash);
  for (const change of [{ code: 'client:6' }, { vatNumber: 'FI1' }, { countryCode: 'SE' }])
    expect(entryHash(chainStart, { ...second, lines: lines(change) })).not.toBe(hash);
});

it('since format 3, VAT period, lateness and mapping are hashed, too', () => {
  const third = { ...entry, format: 3, vatPeriod: '2026-01', isLate: false, mappingHash: 'm' };
  const hash = entryHash(chainStart, third);
  expect(hash).not.toBe(entryHash(chainStart, { ...entry, format: 2 }));
  for (const change of [{ vatPeriod: '2026-02' }, { isLate: true }, { mappingHash: 'n' }])
    expect(entryHash(chainStart, { ...third, ...change })).not.toBe(hash);
});

it('a daily summary is hashed as ever', () => {
  const [summary] = summarise([{ ...entry, hash: 'a'.repeat(64) }]);
  if (summary === undefined) throw new Error('there is no summary');
  const numbered = { ...summary, id: '4711/summary/2026-02-01-11/1', installation: 4711, n: 1, seq: 1 };
  expect(summaryHash(chainStart, numbered)).toBe('0bbbb96f76e4d33979c722871c32914376d5c297d4efc1dd9c3b82720bed6642');
});

it('trailing zeros make no difference', () => {
  expect(canonicalAmount(new Money('1.50'))).toBe('1.5');
  expect(canonicalAmount(new Money('100.00'))).toBe('100');
  expect(canonicalAmount(null)).toBeNull();
});
