import { describe, expect, it, test } from 'vitest';
import { closedInErp } from '../../src/bookkeeping/erp-locks.ts';
import type { TrytonConfig } from '../../src/config/erp.ts';
import { firstOpenDay } from '../../src/domain/dates.ts';
import { companyKeyOf } from '../../src/erp/company.ts';
import { closedDays, closedFromTheBeginning, obstacleOf, storedPeriods, storePeriods } from '../../src/erp/periods.ts';
import type { ErpPeriods } from '../../src/erp/port.ts';
import { useDatabase } from '../support/database.ts';

const month = (from: string, through: string, isOpen: boolean, kind: 'general' | 'vat' | 'year' = 'general') => ({
  ...{ from, through, isOpen, kind },
});
const january = (isOpen: boolean) => month('2026-01-01', '2026-01-31', isOpen);
const february = (isOpen: boolean) => month('2026-02-01', '2026-02-28', isOpen);
const march = (isOpen: boolean) => month('2026-03-01', '2026-03-31', isOpen);

describe('closed days', () => {
  const cases: [string, ErpPeriods, { days: unknown[]; beginning: string | null; on: Record<string, unknown> }][] = [
    [
      'nothing, in an ERP without periods',
      { periods: null, lockedThrough: [] },
      { days: [], beginning: null, on: { '2026-01-15': null } },
    ],
    [
      'the days of a lock date',
      { periods: null, lockedThrough: [{ kind: 'general', date: '2026-01-31' }] },
      {
        days: [{ from: null, through: '2026-01-31' }],
        beginning: '2026-01-31',
        on: { '2026-01-31': 'general', '2026-02-01': null },
      },
    ],
    [
      'closed months, also between open ones',
      { periods: [january(true), february(false), march(true)], lockedThrough: [] },
      {
        days: [{ from: '2026-02-01', through: '2026-02-28' }],
        beginning: null,
        on: { '2026-01-31': null, '2026-02-01': 'general', '2026-03-01': null },
      },
    ],
    [
      'neighbours as one',
      { periods: [february(false), january(false), march(true)], lockedThrough: [] },
      {
        days: [{ from: '2026-01-01', through: '2026-02-28' }],
        beginning: '2026-02-28',
        on: { '2026-02-28': 'general' },
      },
    ],
    [
      'a VAT period in an open month',
      { periods: [january(true), february(true)], lockedThrough: [{ kind: 'vat', date: '2026-01-31' }] },
      {
        days: [{ from: null, through: '2026-01-31' }],
        beginning: null,
        on: { '2026-01-31': 'vat', '2026-02-01': null },
      },
    ],
    [
      'not for a closed purchase ledger',
      { periods: [january(true)], lockedThrough: [{ kind: 'purchase', date: '2026-01-31' }] },
      { days: [], beginning: null, on: { '2026-01-31': null } },
    ],
    [
      'not where another period of the same kind is open on that day',
      { periods: [january(false), month('2026-01-31', '2026-01-31', true)], lockedThrough: [] },
      {
        days: [{ from: '2026-01-01', through: '2026-01-30' }],
        beginning: '2026-01-30',
        on: { '2026-01-30': 'general', '2026-01-31': null },
      },
    ],
    [
      'a day without a period is missing, not closed',
      { periods: [january(false), march(true)], lockedThrough: [] },
      {
        days: [{ from: '2026-01-01', through: '2026-01-31' }],
        beginning: '2026-01-31',
        on: { '2026-02-10': 'missing', '2025-12-31': 'missing' },
      },
    ],
    [
      'a closed year',
      { periods: [january(true), month('2026-01-01', '2026-12-31', false, 'year')], lockedThrough: [] },
      { days: [{ from: '2026-01-01', through: '2026-12-31' }], beginning: '2026-12-31', on: { '2026-01-15': 'year' } },
    ],
  ];
  it.each(cases)('%s', (_name, periods, { days, beginning, on }) => {
    expect(closedDays(periods)).toEqual(days);
    expect(closedFromTheBeginning(periods)).toBe(beginning);
    for (const [date, expected] of Object.entries(on)) expect(obstacleOf(periods, date), date).toBe(expected);
  });
});

test('the first open day skips the ERP’s closed days, and our own', () => {
  const days = [
    { from: null, through: '2026-01-31' },
    { from: '2026-02-10', through: '2026-02-20' },
  ];
  const lock = { closedThrough: null, earliestOpen: null, closedDays: days };
  expect(firstOpenDay('2026-01-05', lock)).toBe('2026-02-01');
  expect(firstOpenDay('2026-02-10', lock)).toBe('2026-02-21');
  expect(firstOpenDay('2026-02-09', lock)).toBe('2026-02-09');
  expect(firstOpenDay('2026-01-05', { ...lock, closedThrough: '2026-02-12' })).toBe('2026-02-21');
});

describe('stored periods', () => {
  const { db } = useDatabase();
  const erp: TrytonConfig = {
    ...{ kind: 'tryton', url: 'http://127.0.0.1:9', database: 'books', company: null, user: 'api', password: 'x' },
    ...{ post: 'posted', ownedAccounts: [], closeSourcePeriods: false, timeoutSeconds: 60, from: null, auto: true },
  };

  test('are read by posting, from the first delivered day', async () => {
    const company = companyKeyOf(erp) ?? '';
    expect(await closedInErp(db, { erp })).toEqual([]);
    await db.raw(`insert into erp_company (company, kind, name) values (?, 'tryton', 'Clinic')`, [company]);
    expect(await storedPeriods(db, company)).toBeNull();

    const periods = { periods: [january(false), february(false), march(true)], lockedThrough: [] };
    await storePeriods(db, company, periods);
    expect((await storedPeriods(db, company))?.periods).toEqual(periods);
    expect(await closedInErp(db, { erp })).toEqual([{ from: '2026-01-01', through: '2026-02-28' }]);
    expect(await closedInErp(db, { erp: { ...erp, from: '2026-02-10' } })).toEqual([
      { from: '2026-02-10', through: '2026-02-28' },
    ]);
    expect(await closedInErp(db, { erp: { ...erp, from: '2026-03-01' } })).toEqual([]);
    expect(await closedInErp(db, { erp: { kind: 'ledger' } })).toEqual([]);
    // Periods of another company have no effect here.
    expect(await closedInErp(db, { erp: { ...erp, database: 'other' } })).toEqual([]);
  });
});
