import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transactionsOf } from '../../src/db/lease.ts';
import { usedFilters } from '../../src/sync/capabilities/filter-uses.ts';
import { ignoredFilters, noteFindings, storedVerdicts } from '../../src/sync/capabilities/filters.ts';
import { mayUse } from '../../src/sync/capabilities/recheck.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { vetledger } from './support.ts';

interface Check {
  check: string;
  status: string;
  message: string;
}

let clinic: TestClinic;

beforeAll(async () => {
  clinic = await startTestClinic({ seed: 47, invoices: 80 });
});
afterAll(() => clinic.stop());

async function filterChecks(): Promise<Check[]> {
  const ran = await vetledger(['doctor', '--json', '--config', clinic.config], clinic.env);
  return ran.json().checks.filter(({ check }: Check) => check.startsWith('filter '));
}

const stored = async () =>
  new Map(
    (await storedVerdicts(clinic.app.db, 4711)).map(({ list, filter, verdict }) => [`${list}.${filter}`, verdict]),
  );

const all = Object.entries(usedFilters).flatMap(([list, filters]) =>
  Object.keys(filters).map((name) => `${list}.${name}`),
);

test('every filter is asked for, shown and stored, at weight 1 each', async () => {
  const before = clinic.sandbox.stats().weight;
  const checks = await filterChecks();
  expect(checks).toHaveLength(all.length);
  expect(checks.filter(({ status, message }) => status !== 'ok' || message !== 'honoured')).toEqual([]);
  expect(Object.fromEntries(await stored())).toEqual(Object.fromEntries(all.map((name) => [name, 'honoured'])));
  // The weight of the lists, their filters, the settings of three departments, and the account numbers.
  expect(clinic.sandbox.stats().weight - before).toBeLessThanOrEqual(4 + all.length + 3 + 1);
});

test.each(['id_desc', 'random'] as const)('lists in order %s tell as well', async (order) => {
  clinic.sandbox.setQuirks({ order, timestamps: 'naive', ignoredFilters: ['id__lt', 'id__lte'] });
  try {
    const checks = await filterChecks();
    const warned = checks.filter(({ status }) => status === 'warn').map(({ check }) => check);
    const lists = ['invoices', 'invoice rows', 'payments', 'prepayments'];
    // Each finding also proposes a replacement.
    const expected = lists.flatMap((list) => [`filter id__lt on ${list}`, `filter id__lte on ${list}`]);
    expect(warned.sort()).toEqual(expected.sort());
  } finally {
    clinic.sandbox.setQuirks({ order: 'id', timestamps: 'offset', ignoredFilters: [] });
  }
});

test('what is ignored or refused is a warning that says what is done without, and windows do so until it is honoured', async () => {
  clinic.sandbox.setQuirks({ ignoredFilters: ['modified__gte'], refusedFilters: ['invoice__in'] });
  const warned = (await filterChecks()).filter(({ status }) => status === 'warn');
  expect(warned).toMatchObject([
    { check: 'filter modified__gte on invoices', message: expect.stringMatching(/each window reads the whole list/) },
    { check: 'filter modified__gte on invoice rows' },
    {
      check: 'filter invoice__in on invoice rows',
      message: expect.stringMatching(/refuses it.*invoice by invoice/),
    },
    { check: 'filter modified__gte on prepayments' },
  ]);
  const noted = await ignoredFilters(clinic.app.db, 4711, 'row');
  expect(['invoice__in', 'modified__gte'].every((filter) => noted.has(filter))).toBe(true);
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
  clinic.sandbox.live(20);
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
  expect(await clinic.wrongBooks()).toEqual([]);
  expect((await clinic.reconcile()).ok).toBe(true);
  clinic.sandbox.setQuirks({ ignoredFilters: [], refusedFilters: [] });
  await filterChecks();
  const left = await ignoredFilters(clinic.app.db, 4711, 'row');
  expect(Object.keys(usedFilters.row).filter((filter) => left.has(filter))).toEqual([]);
});

describe('a filter that is stored as ignored', () => {
  const finding = { list: 'row', verdict: 'ignored', reason: 'x' } as const;
  const age = (hours: number) =>
    clinic.rows(`update source_filter set noted_at = clock_timestamp() - make_interval(hours => ?)`, [hours]);
  const context = () => ({
    db: clinic.app.db,
    transact: transactionsOf(clinic.app.db),
    installation: 4711,
    client: clinic.app.practice(4711),
    dialect: clinic.app.config.installations[0]!.dialect,
    timezone: 'Europe/Helsinki',
    priority: 1,
  });

  test.each([
    ['a day', 'invoice__in', 25, false, 1, 'honoured'],
    ['a day, still', 'invoice__in', 25, true, 1, 'ignored'],
    ['a day', 'modified__gte', 25, false, 1, 'honoured'],
    ['a day, still', 'modified__gte', 25, true, 1, 'ignored'],
    ['less', 'invoice__in', 23, false, 0, 'ignored'],
  ])('for %s (%s, %i h) is not used, and asked about for the next time', async (...row) => {
    const [, filter, hours, isIgnored, weight, verdict] = row;
    clinic.sandbox.setQuirks({ ignoredFilters: isIgnored ? [filter] : [] });
    await noteFindings(clinic.app.db, 4711, [{ ...finding, filter }]);
    await age(hours);
    const before = clinic.sandbox.stats().weight;
    expect(await mayUse(context(), 'row', filter)).toBe(false);
    expect(clinic.sandbox.stats().weight - before).toBe(weight);
    expect((await stored()).get(`row.${filter}`)).toBe(verdict);
    expect(await mayUse(context(), 'row', filter)).toBe(verdict === 'honoured');
    expect(clinic.sandbox.stats().weight - before).toBe(weight);
    clinic.sandbox.setQuirks({ ignoredFilters: [] });
  });

  test('is asked about by being used where nothing is known of it', async () => {
    await clinic.rows('delete from source_filter where list = ? and filter = ?', ['row', 'invoice__in']);
    expect(await mayUse(context(), 'row', 'invoice__in')).toBe(true);
  });
});

test('what cannot be determined leaves the stored values as they were, and says so', async () => {
  const finding = { list: 'row', filter: 'invoice__in', reason: 'the list has one record' } as const;
  await noteFindings(clinic.app.db, 4711, [{ ...finding, verdict: 'ignored' }]);
  await noteFindings(clinic.app.db, 4711, [{ ...finding, verdict: 'unknown' }]);
  expect((await stored()).get('row.invoice__in')).toBe('ignored');
  await noteFindings(clinic.app.db, 4713, [{ ...finding, verdict: 'unknown' }]);
  expect((await storedVerdicts(clinic.app.db, 4713)).map(({ verdict }) => verdict)).toEqual(['unknown']);
});
