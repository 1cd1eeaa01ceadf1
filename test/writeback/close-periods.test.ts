import { beforeEach, describe, expect, it } from 'vitest';
import { transactionsOf } from '../../src/db/lease.ts';
import { PracticeError } from '../../src/domain/practice-error.ts';
import { storePeriods } from '../../src/erp/periods.ts';
import { appendEntries } from '../../src/ledger/journal/append-entries.ts';
import { closeSourcePeriods } from '../../src/writeback/close-periods.ts';
import { draft } from '../ledger/drafts.ts';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';

const { db } = useDatabase();
let installation = 0;
let source: Map<number, { lockDate: string | null; isAutomatic: boolean }>;
let refuses: Set<number>;
let writes: [number, string][];

const companyOf = () => `company ${installation}`;

beforeEach(async () => {
  installation += 1;
  [source, refuses, writes] = [new Map(), new Set(), []];
  await db.raw(`insert into erp_company (company, kind, name) values (?, 'tryton', 'Clinic')`, [companyOf()]);
  const vat = { departmentId: 1 };
  const of = (id: number, departmentId: number) =>
    draft({
      ...{ kind: 'payment', id, date: '2026-02-01' },
      lines: [
        ['1910', 'bank_clearing', '10.00', { ...vat, departmentId }],
        ['1700', 'receivable', '-10.00', { ...vat, departmentId }],
      ],
    });
  await db.transaction((trx) =>
    appendEntries(trx, installation, [of(1, 11), of(2, 12), of(3, 13)], {
      ...{ decimals: 2, windowId: null, postingMode: 'document' },
    }),
  );
  for (const department of [11, 12, 13]) source.set(department, { lockDate: null, isAutomatic: false });
});

describe('a period that is closed in the ERP', () => {
  it('is closed in the practice software, department by department, once', async () => {
    await run();
    expect(writes).toEqual([]);
    await closedThrough('2026-01-31');
    await run();
    await run();
    expect(writes).toEqual([11, 12, 13].map((department) => [department, '2026-02-01']));
    await closedThrough('2026-02-28');
    await run();
    expect(writes.slice(3)).toEqual([11, 12, 13].map((department) => [department, '2026-03-01']));
  });

  it('is not set for a department that locks automatically, and never moves back', async () => {
    source.set(11, { lockDate: '2026-01-01', isAutomatic: true });
    source.set(12, { lockDate: '2026-04-01', isAutomatic: false });
    await closedThrough('2026-01-31');
    await run();
    expect(writes).toEqual([[13, '2026-02-01']]);
    await closedThrough('2025-12-31');
    await run();
    expect(source.get(13)).toMatchObject({ lockDate: '2026-02-01' });
    expect(await states()).toEqual(['left', 'done', 'done']);
  });

  it('is tried again later if the practice software refuses it', async () => {
    refuses.add(12);
    await closedThrough('2026-01-31');
    await run();
    expect(await states()).toEqual(['done', 'failed', 'done']);
    await run();
    expect(writes).toHaveLength(2);
    refuses.clear();
    await db.raw('update source_period set not_before = null where installation = ?', [installation]);
    await run();
    expect(await states()).toEqual(['done', 'done', 'done']);
  });
});

function closedThrough(date: string): Promise<void> {
  return storePeriods(db, companyOf(), { periods: null, lockedThrough: [{ kind: 'general', date }] });
}

function run(): Promise<void> {
  return closeSourcePeriods(installation, companyOf(), {
    ...{ db, transact: transactionsOf(db), signal: new AbortController().signal },
    client: {
      periodLock: async (department) => ({ ...source.get(department)! }),
      setLockDate: async (department, earliestOpen) => {
        if (refuses.has(department)) throw new PracticeError('refused', 'the answer was 400', { status: 400 });
        writes.push([department, earliestOpen]);
        source.get(department)!.lockDate = earliestOpen;
      },
    },
    onClosed: () => undefined,
    onRefused: () => undefined,
  });
}

async function states(): Promise<string[]> {
  const found = await query<{ state: string }>(
    db,
    'select state from source_period where installation = ? order by department',
    [installation],
  );
  return found.map(({ state }) => state);
}
