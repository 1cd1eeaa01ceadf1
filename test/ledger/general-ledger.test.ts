import { beforeAll, expect, it } from 'vitest';
import { transactionsOf } from '../../src/db/lease.ts';
import type { DraftEntry } from '../../src/domain/entry.ts';
import {
  type GeneralLedgerUnit,
  generalLedger,
  loadUnits,
  subLedger,
  usedAccounts,
} from '../../src/ledger/general-ledger.ts';
import { appendEntries } from '../../src/ledger/journal/append-entries.ts';
import { summariseDays } from '../../src/ledger/summaries/summarise.ts';
import type { PostingMode } from '../../src/terms.ts';
import { useDatabase } from '../support/database.ts';
import { type DraftLine, draft } from './drafts.ts';

const { db } = useDatabase();
const installation = 4711;
const anyDay = { from: null, to: null };

function sale(id: number, date: string, account = '3000'): DraftEntry {
  const lines: DraftLine[] = [
    ['1700', 'receivable', '10.00', { departmentId: 11 }],
    [account, 'revenue', '-10.00', { departmentId: 11 }],
  ];
  return draft({ kind: 'invoice', id, date, lines });
}

function append(drafts: DraftEntry[], postingMode: PostingMode) {
  return db.transaction((trx) =>
    appendEntries(trx, installation, drafts, { decimals: 2, windowId: null, postingMode }),
  );
}

beforeAll(async () => {
  // The posting mode was changed twice, and the last day has no summary yet.
  await append([sale(1, '2026-01-15'), sale(2, '2026-01-16')], 'document');
  await append([sale(3, '2026-01-15'), sale(4, '2026-01-15'), sale(5, '2026-01-18', '3009')], 'daily_summary');
  await append([sale(6, '2026-01-15'), sale(7, '2026-01-17')], 'document');
  await summariseDays(transactionsOf(db), installation, { before: '2026-01-18', windowId: null });
});

async function ids(units: AsyncIterable<GeneralLedgerUnit>): Promise<string[]> {
  const found: string[] = [];
  for await (const { kind, posting } of units) found.push(`${kind} ${posting.id.replace(`${installation}/`, '')}`);
  return found;
}

it('has each entry once, alone or in a summary, in the order of dates', async () => {
  expect(await ids(generalLedger(db, installation, anyDay))).toEqual([
    'entry invoice/1/1',
    'entry invoice/6/1',
    'daily_summary summary/2026-01-15-11/1',
    'entry invoice/2/1',
    'entry invoice/7/1',
  ]);
  expect(await ids(generalLedger(db, installation, { from: '2026-01-16', to: '2026-01-16' }))).toEqual([
    'entry invoice/2/1',
  ]);
});

it('has every document’s entry as sub-ledger, whatever its posting mode', async () => {
  expect(await ids(subLedger(db, installation, { from: null, to: '2026-01-15' }))).toEqual([
    'entry invoice/1/1',
    'entry invoice/3/1',
    'entry invoice/4/1',
    'entry invoice/6/1',
  ]);
});

it('knows its accounts, those of entries that wait for a summary in the sub-ledger only', async () => {
  const accounts = async (options: { subLedger: boolean }) =>
    (await usedAccounts(db, [installation], anyDay, options)).map(
      ({ account, firstDate }) => `${account} ${firstDate}`,
    );
  expect(await accounts({ subLedger: false })).toEqual(['1700 2026-01-15', '3000 2026-01-15']);
  expect(await accounts({ subLedger: true })).toEqual(['1700 2026-01-15', '3000 2026-01-15', '3009 2026-01-18']);
});

it('gives units by id in the order asked for, lines and all', async () => {
  const summary = { kind: 'daily_summary', id: `${installation}/summary/2026-01-15-11/1` } as const;
  const entry = { kind: 'entry', id: `${installation}/invoice/7/1` } as const;
  const inGeneral: GeneralLedgerUnit[] = [];
  for await (const unit of generalLedger(db, installation, anyDay)) inGeneral.push(unit);
  expect(await loadUnits(db, [entry, summary])).toEqual([inGeneral[4], inGeneral[2]]);
  expect(await loadUnits(db, [])).toEqual([]);
  const gone = { kind: 'daily_summary', id: `${installation}/summary/2020-01-01-1/1` } as const;
  await expect(loadUnits(db, [entry, gone])).rejects.toMatchObject({ code: 'entry_missing' });
});
