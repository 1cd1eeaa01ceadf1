import { beforeEach, describe, expect, it } from 'vitest';
import { execute } from '../../src/db/rows.ts';
import type { DraftEntry } from '../../src/domain/entry.ts';
import { deliveryWaits } from '../../src/erp/outbox/delivery-waits.ts';
import { enqueueUnits } from '../../src/erp/outbox/enqueue.ts';
import { dueWork, pauseOf, unitsById, waitingForApproval } from '../../src/erp/outbox/outbox-queries.ts';
import { approveUnits, pauseDelivery, resumeDelivery, retryUnits } from '../../src/erp/outbox/state.ts';
import { appendEntries } from '../../src/ledger/journal/append-entries.ts';
import { summariseBatch } from '../../src/ledger/summaries/summarise.ts';
import type { PostingMode } from '../../src/terms.ts';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';
import { payment, reversal } from './drafts.ts';

const { db, owner } = useDatabase();
let installation = 0;
beforeEach(() => {
  installation += 1;
});

const by = { actedBy: 'tester', reason: 'a test' };
const company = 'company';

interface Posting {
  windowId?: number | null;
  mode?: PostingMode;
}

const post = (drafts: DraftEntry[], { windowId = null, mode = 'document' }: Posting = {}) =>
  db.transaction((trx) => appendEntries(trx, installation, drafts, { decimals: 2, windowId, postingMode: mode }));

const enqueue = (settings: { from?: string; auto?: boolean } = {}) =>
  db.transaction((trx) =>
    enqueueUnits(trx, { installation, databaseId: 'abc', company, from: null, auto: false, ...settings }),
  );

async function window(kind: 'window' | 'backfill', from: string | null): Promise<number> {
  const [made] = await query<{ id: number }>(
    db,
    `insert into sync_window (installation, kind, trigger, from_time, workflow_id, run_id)
     values (?, ?, 'sync', ?, 'w', gen_random_uuid()::text) returning id`,
    [installation, kind, from],
  );
  return made!.id;
}

const states = async (ids: string[]) =>
  Object.fromEntries((await unitsById(db, installation, ids)).map((unit) => [unit.unit_id, unit.state]));

const setState = (id: string, state: string) =>
  execute(db, 'update erp_unit set state = ? where installation = ? and unit_id = ?', [state, installation, id]);

describe('a unit in the outbox', () => {
  it('is added once for each unit of the chains, with a unique key', async () => {
    const ids = await post([payment(1), payment(2)]);
    expect(await enqueue()).toBe(2);
    expect(await enqueue()).toBe(0);
    await post([payment(3)]);
    expect(await enqueue()).toBe(1);
    const units = await unitsById(db, installation, ids);
    expect(units.map(({ unit_id, state, kind }) => [unit_id, state, kind])).toEqual(
      ids.map((id) => [id, 'pending', 'entry']),
    );
    expect(new Set(units.map(({ erp_key }) => erp_key)).size).toBe(2);
    expect(units[0]!.erp_key).toMatch(/^[A-Z2-7]{20}$/);
  });

  it('is added once by concurrent callers', async () => {
    await post([payment(1), payment(2)]);
    const added = await Promise.all([enqueue(), enqueue(), enqueue()]);
    expect(added.toSorted()).toEqual([0, 0, 2]);
  });

  it('names the unit that it corrects, and its predecessor', async () => {
    const first = payment(1);
    const [id] = await post([first]);
    const [reversed, anew] = await post([reversal(id!, first), payment(1, '2026-02-01', '12.00')]);
    await enqueue();
    const units = await unitsById(db, installation, [id!, reversed!, anew!]);
    expect(units.map(({ follows, reverses }) => ({ follows, reverses }))).toEqual([
      { follows: null, reverses: null },
      { follows: id, reverses: id },
      { follows: reversed, reverses: null },
    ]);
  });

  it('is a daily summary instead of the entries in it', async () => {
    await post([payment(1), payment(2)], { mode: 'daily_summary' });
    await post([payment(3)]);
    await db.transaction((trx) => summariseBatch(trx, installation, { before: '2026-03-01', windowId: null }));
    expect(await enqueue()).toBe(2);
    const units = await query<{ unit_id: string; kind: string }>(
      db,
      'select unit_id, kind from erp_unit where installation = ? order by kind',
      [installation],
    );
    expect(units).toEqual([
      { unit_id: `${installation}/summary/2026-02-01-none/1`, kind: 'daily_summary' },
      { unit_id: `${installation}/payment/3/1`, kind: 'entry' },
    ]);
  });

  it('waits for approval after a first load or a backfill, and not after a window', async () => {
    const first = await window('window', null);
    const later = await window('window', '2026-02-01T00:00:00Z');
    const backfill = await window('backfill', null);
    await post([payment(1, '2026-01-05'), payment(2, '2026-01-20')], { windowId: first });
    await post([payment(3)], { windowId: later });
    await post([payment(4, '2026-01-02')], { windowId: backfill });
    await enqueue();
    expect(await waitingForApproval(db, installation)).toEqual({ n: 3, from: '2026-01-02', through: '2026-01-20' });
    expect(await dueWork(db, installation)).toEqual({ left: 1, nextDueMs: 0 });
    expect(await db.transaction((trx) => approveUnits(trx, installation, '2026-01-05', by))).toBe(2);
    expect(await dueWork(db, installation)).toEqual({ left: 3, nextDueMs: 0 });
    expect(await waitingForApproval(db, installation)).toEqual({ n: 1, from: '2026-01-20', through: '2026-01-20' });
  });

  it('needs no approval with erp.auto', async () => {
    await post([payment(1)], { windowId: await window('window', null) });
    await enqueue({ auto: true });
    expect(await waitingForApproval(db, installation)).toEqual({ n: 0, from: null, through: null });
  });

  it('is excluded if it is dated before erp.from', async () => {
    const ids = await post([payment(1, '2026-01-31'), payment(2, '2026-02-01')]);
    await enqueue({ from: '2026-02-01' });
    expect(await states(ids)).toEqual({ [ids[0]!]: 'excluded', [ids[1]!]: 'pending' });
  });
});

describe('the units that are left', () => {
  async function corrected() {
    const first = payment(1);
    const [id] = await post([first]);
    const [reversed, anew] = await post([reversal(id!, first), payment(1, '2026-02-01', '12.00')]);
    await enqueue();
    return { id: id!, reversed: reversed!, anew: anew! };
  }

  it('exclude those behind a refused unit until it is tried again', async () => {
    const { id } = await corrected();
    expect(await dueWork(db, installation)).toEqual({ left: 3, nextDueMs: 0 });
    await setState(id, 'refused');
    expect(await dueWork(db, installation)).toEqual({ left: 0, nextDueMs: null });
    expect(await db.transaction((trx) => retryUnits(trx, installation, [id, 'no such'], by))).toEqual([id]);
    expect(await dueWork(db, installation)).toEqual({ left: 3, nextDueMs: 0 });
  });

  it('are due when their predecessor is', async () => {
    const { id } = await corrected();
    await execute(
      db,
      `update erp_unit set state = 'uncertain', not_before = clock_timestamp() + interval '60 s'
       where installation = ? and unit_id = ?`,
      [installation, id],
    );
    const { left, nextDueMs } = await dueWork(db, installation);
    expect(left).toBe(3);
    expect(nextDueMs).toBeGreaterThan(50_000);
    expect(nextDueMs).toBeLessThanOrEqual(60_000);
  });

  it('include those behind a unit that the ERP has', async () => {
    const { id, reversed } = await corrected();
    await setState(id, 'delivered');
    await setState(reversed, 'drafted');
    expect(await dueWork(db, installation)).toEqual({ left: 1, nextDueMs: 0 });
  });
});

describe('the action of a person', () => {
  it('is recorded, and cannot be changed', async () => {
    const [id] = await post([payment(1)]);
    await enqueue();
    await setState(id!, 'refused');
    await db.transaction(async (trx) => {
      await retryUnits(trx, installation, null, by);
      expect(await pauseDelivery(trx, installation, by)).toBe(true);
      expect(await pauseDelivery(trx, installation, by)).toBe(false);
      expect(await pauseOf(trx, installation)).toMatchObject({ acted_by: 'tester', reason: 'a test' });
      expect(await resumeDelivery(trx, installation, by)).toBe(true);
      expect(await resumeDelivery(trx, installation, by)).toBe(false);
    });
    const actions = await query<{ kind: string; input: string; result: string }>(
      db,
      'select kind, input, result from action_done where installation = ? order by id',
      [installation],
    );
    expect(actions).toEqual([
      { kind: 'retry_delivery', input: '{"units":"all"}', result: '{"retried":1}' },
      { kind: 'pause_delivery', input: '{}', result: '{}' },
      { kind: 'resume_delivery', input: '{}', result: '{}' },
    ]);
    await expect(execute(owner, 'delete from action')).rejects.toThrow();
  });
});

describe('a unit whose process was killed', () => {
  const waits = async () => (await deliveryWaits(db, [{ id: installation, company: `killed ${installation}` }]))[0];
  const companyIs = (changes: string) =>
    execute(db, `update erp_company set ${changes} where company = ?`, [`killed ${installation}`]);

  it('is in doubt once its lease holder is gone, and looked up when the ERP can have finished', async () => {
    await post([payment(1), payment(2)]);
    await enqueue({ auto: true });
    await execute(db, `insert into erp_company (company, kind, name) values (?, 'tryton', 'x')`, [
      `killed ${installation}`,
    ]);
    expect(await waits()).toMatchObject({
      isUnderWay: false,
      inDoubt: 0,
      looksUpAt: null,
      waitingSince: expect.any(Date),
    });
    await execute(
      db,
      `update erp_unit set state = 'sending' where installation = ? and seq = (select min(seq) from erp_unit where installation = ?)`,
      [installation, installation],
    );
    await execute(
      db,
      `insert into lease (installation, lane, company, token, holder, expires_at)
       values (0, 'delivery', ?, 1, 'killed', clock_timestamp() + interval '20 seconds')`,
      [`killed ${installation}`],
    );
    expect(await waits()).toMatchObject({ isUnderWay: true, inDoubt: 0 });
    await execute(db, `update lease set expires_at = clock_timestamp() - interval '1 second' where holder = 'killed'`);
    expect(await waits()).toMatchObject({ isUnderWay: false, inDoubt: 1, looksUpAt: null });
    await companyIs(`look_up_from = clock_timestamp() + interval '180 seconds'`);
    const found = await waits();
    expect(found).toMatchObject({ inDoubt: 1, looksUpAt: expect.any(Date) });
    expect(found!.looksUpInMs).toBeGreaterThan(170_000);
  });
});
