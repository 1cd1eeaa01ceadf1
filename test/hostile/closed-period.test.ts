import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { postBatch } from '../../src/bookkeeping/post.ts';
import { postingContexts } from '../../src/bookkeeping/posting-context.ts';
import { date, integer, text } from '../../src/db/columns.ts';
import { type Connection, execute, row, rows } from '../../src/db/rows.ts';
import { closedThrough, holdPeriod } from '../../src/ledger/close.ts';
import { appendEntries } from '../../src/ledger/journal/append-entries.ts';
import { walkChains } from '../../src/ledger/verify.ts';
import { draft } from '../ledger/drafts.ts';
import { closePeriods } from '../support/closing.ts';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';

const { db, url } = useDatabase();
let installation = 900;
beforeEach(() => {
  installation += 1;
});

const sale = (id: number, day: string) =>
  draft({
    kind: 'invoice',
    id,
    date: day,
    lines: [
      ['1700', 'receivable', '124.00'],
      ['3000', 'revenue', '-100.00'],
      ['2930', 'vat', '-24.00'],
    ],
  });
const append = (trx: Connection, ...drafts: ReturnType<typeof sale>[]) =>
  appendEntries(trx, installation, drafts, { decimals: 2, windowId: null });
const close = (through: string, id = installation) => closePeriods(db, [{ id, today: '2026-12-31' }], through);

/** Waits until another session of this database waits for a lock. */
async function untilSomebodyWaits(): Promise<void> {
  for (;;) {
    const { n } = await row(
      db,
      { n: integer },
      `select count(*) as n from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())`,
    );
    if (n > 0) return;
  }
}

describe('a period that is closed while a window posts', () => {
  let clinic: MirroredClinic;
  beforeAll(async () => {
    clinic = new MirroredClinic(db, url, { id: 899, seed: 3, invoices: 40 });
    await clinic.configure(readFileSync(demoMapping, 'utf8'));
    await clinic.pull();
  });
  afterAll(() => clinic.remove());

  it('gets no entry any more: the documents that are judged after the close are held', async () => {
    // As in an activity, the context is made once, before the close.
    const contextFor = postingContexts(clinic.installation, async () => null);
    const options = { finalRound: true, judgedBefore: new Date(Date.now() + 3_600_000) };
    await close('2026-03-09', clinic.id);
    await db.transaction((trx) => postBatch(trx, clinic.installation, contextFor, null, options));
    const early = await rows(
      db,
      { id: text },
      `select id from entry where installation = ? and entry_date <= '2026-03-09'`,
      [clinic.id],
    );
    expect(early).toEqual([]);
    const held = await row(
      db,
      { n: integer },
      `select count(*) as n from document where installation = ? and problem_code = 'period_locked'`,
      [clinic.id],
    );
    expect(held.n).toBeGreaterThan(0);
  });

  it('a close waits for the batch that is being posted, and the batch after it sees the close', async () => {
    const order: string[] = [];
    let closing: Promise<void> | undefined;
    await db.transaction(async (trx) => {
      await holdPeriod(trx, installation);
      await append(trx, sale(1, '2026-01-15'));
      closing = close('2026-01-31').then(() => void order.push('closed'));
      await untilSomebodyWaits();
      order.push('posted');
    });
    await closing;
    expect(order).toEqual(['posted', 'closed']);
    expect(await closedThrough(db, installation)).toBe('2026-01-31');
  });

  it('a poster that holds no period is refused by the database, which names the entry and the period', async () => {
    await close('2026-01-31');
    await expect(db.transaction((trx) => append(trx, sale(1, '2026-01-31')))).rejects.toThrow(
      `entry ${installation}/invoice/1/1 is dated 2026-01-31, and the books of installation ${installation} are closed through 2026-01-31`,
    );
    await db.transaction((trx) => append(trx, sale(1, '2026-02-01')));
  });

  it('an entry that waits for its day’s summary is summed up before the close, not after it', async () => {
    const daily = { decimals: 2, windowId: null, postingMode: 'daily_summary' } as const;
    await db.transaction((trx) => appendEntries(trx, installation, [sale(1, '2026-01-15')], daily));
    await close('2026-01-31');
    const made = await rows(db, { day: date }, 'select summary_date as day from summary_entry where installation = ?', [
      installation,
    ]);
    expect(made).toEqual([{ day: '2026-01-15' }]);
  });
});

describe('two closes at the same moment', () => {
  it('never move the closed period back', async () => {
    await Promise.allSettled(['2026-02-28', '2026-01-31', '2026-03-31', '2026-01-15'].map((through) => close(through)));
    expect(await closedThrough(db, installation)).toBe('2026-03-31');
    await expect(
      execute(db, `insert into ledger_close (installation, through) values (?, '2026-01-31')`, [installation]),
    ).rejects.toThrow('closed through 2026-03-31 already');
  });

  it('of several installations in another order do not wait for each other for ever', async () => {
    const pair = [installation, installation + 1000].map((id) => ({ id, today: '2026-12-31' }));
    await Promise.all(
      Array.from({ length: 8 }, (_, n) => closePeriods(db, n % 2 === 0 ? pair : pair.toReversed(), '2026-01-31')),
    );
    expect(await closedThrough(db, installation + 1000)).toBe('2026-01-31');
  });
});

describe('a close is an event of the hash chain', () => {
  it('that entries after it follow, and that cannot be changed or taken away', async () => {
    await db.transaction((trx) => append(trx, sale(1, '2026-01-15'), sale(2, '2026-01-20')));
    await close('2026-01-31');
    await db.transaction((trx) => append(trx, sale(3, '2026-02-15')));
    expect(await walkChains(db, installation)).toMatchObject({ broken: null, entries: 3, head: { seq: 4 } });
    for (const sql of ['update ledger_close set entries = 0', 'delete from ledger_close', 'truncate ledger_close']) {
      await expect(execute(db, sql)).rejects.toThrow(/never changed or deleted|permission denied/);
    }
  });
});
