import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { LedgerEntry } from '../../../src/domain/entry.ts';
import { Money } from '../../../src/domain/money.ts';
import { canonicalAmount, chainStart, entryHash } from '../../../src/ledger/journal/entry-hash.ts';
import { summarise } from '../../../src/ledger/summaries/summary.ts';
import { summaryHash } from '../../../src/ledger/summaries/summary-hash.ts';
import { draft, party } from '../drafts.ts';

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
  ...{ vatPeriod: '2026-01', isLate: false, mappingHash: 'm' },
  idempotencyKey: '4711/invoice/1001/1:facts',
  previousHash: chainStart,
  hash: '',
};

/** The fields of the entry that the chain covers, written by hand. */
const covered = [
  ...['4711/invoice/1001/1', 1, '2026-02-01', '2026-01-31', 'posted', 'invoice 1001', null, ['invoice', 999]],
  ...['4711/invoice/1001/1:facts', 'facts'],
  [
    [
      ...['1700', 'receivable', 'debit', '124', 'R1', 'roles.receivable', ['client:5', null, 'FI'], 11],
      ...[[null, null, null], [null, null, null], 1001, null, null, '2026-02-15', null, null, []],
    ],
    [
      ...['3000', 'revenue', 'credit', '100', 'R1', 'roles.revenue', null, 11],
      ...[['SURG', null, null], [null, null, null], null, null, null, null, null, null, [1, 2]],
    ],
    [
      ...['2930', 'vat', 'credit', '24', 'R1', 'roles.vat', null, 11],
      ...[[null, null, null], [null, null, null], null, null, null, null, null, ['General', '24', '100'], []],
    ],
  ],
  ...['document', '2026-01', false, 'm'],
];

it('an entry is hashed over the hash before and all of its facts', () => {
  const text = `${chainStart}\n${JSON.stringify(covered)}`;
  expect(entryHash(chainStart, entry)).toBe(createHash('sha256').update(text).digest('hex'));
});

it('the names of parties are not hashed, and all else is', () => {
  const lines = (change: object) =>
    entry.lines.map((line) => ({ ...line, party: line.party && { ...line.party, ...change } }));
  const hash = entryHash(chainStart, entry);
  expect(entryHash(chainStart, { ...entry, lines: lines({ name: null }) })).toBe(hash);
  for (const change of [{ code: 'client:6' }, { vatNumber: 'FI1' }, { countryCode: 'SE' }])
    expect(entryHash(chainStart, { ...entry, lines: lines(change) })).not.toBe(hash);
  const others = [{ postingMode: 'daily_summary' as const }, { vatPeriod: '2026-02' }, { isLate: true }];
  for (const change of [...others, { mappingHash: null }])
    expect(entryHash(chainStart, { ...entry, ...change })).not.toBe(hash);
});

it('a daily summary is hashed as ever', () => {
  const [summary] = summarise([{ ...entry, hash: 'a'.repeat(64) }]);
  if (summary === undefined) throw new Error('there is no summary');
  const numbered = {
    ...summary,
    id: '4711/summary/2026-02-01-11/1',
    installation: 4711,
    n: 1,
    seq: 1,
    ...{ fiscalYear: 2026, voucherNumber: 7 },
  };
  expect(summaryHash(chainStart, numbered)).toBe('6499a107c96c4489f1b6b10ea20aa9573e19e515a813b486509442fe821e4eb2');
});

it('trailing zeros make no difference', () => {
  expect(canonicalAmount(new Money('1.50'))).toBe('1.5');
  expect(canonicalAmount(new Money('100.00'))).toBe('100');
  expect(canonicalAmount(null)).toBeNull();
});
