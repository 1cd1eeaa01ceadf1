import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { type Connection, execute } from '../../src/db/rows.ts';
import { enqueueUnits } from '../../src/erp/outbox/enqueue.ts';
import { deliveredSince, deliveryCounts, outboxStates } from '../../src/erp/outbox/outbox-queries.ts';
import { type UnitState, unitStates } from '../../src/erp/outbox/unit.ts';
import { appendEntries } from '../../src/ledger/journal/append-entries.ts';
import { verifyChain } from '../../src/ledger/verify.ts';
import { unitTotals } from '../../src/queries/delivered-units.ts';
import { useDatabase } from '../support/database.ts';
import { runs } from '../support/runs.ts';
import { query } from '../support/sql.ts';
import { payment } from './drafts.ts';

const { db, owner, truncate } = useDatabase();
let installation = 0;
beforeEach(() => {
  // Some tests use two installations.
  installation += 2;
});

let seq = 0;
async function insert(on: Connection, units: number, state: UnitState, of = installation): Promise<void> {
  await execute(
    on,
    `insert into erp_unit (installation, unit_id, kind, seq, unit_date, erp_key, company, state)
     select ?, 'unit ' || n, 'entry', n, date '2026-02-01' + n % 3, 'KEY ' || n, 'company', ? from generate_series(?::int, ?::int) n`,
    [of, state, seq + 1, seq + units],
  );
  seq += units;
}

const inErp = `count(*) filter (where state in ('delivered', 'handed_over', 'acknowledged'))::int`;
async function counted(on: Connection, of = installation): Promise<number> {
  const [found] = await query<{ n: number }>(on, `select ${inErp} as n from erp_unit where installation = ?`, [of]);
  return found!.n;
}

function totalsByHand(of: number, through: string) {
  return query(
    db,
    `select state, count(*)::int as units, min(unit_date)::text as "from", max(unit_date)::text as through
     from erp_unit where installation = ? and unit_date <= ? group by state order by state`,
    [of, through],
  );
}

test('each unit is counted once, by its state', async () => {
  for (const [at, state] of unitStates.entries()) await insert(db, at + 1, state);
  expect(await deliveryCounts(db, installation)).toEqual({
    delivered: 5 + 7 + 8,
    left: 1 + 2 + 3,
    uncertain: 3,
    drafted: 4,
    unapproved: 0,
    refused: 6,
  });
  expect((await outboxStates(db, [installation, installation + 1])).map(({ counts }) => counts.delivered)).toEqual([
    20, 0,
  ]);
});

test('what was delivered is counted through every life of units', async () => {
  const states = fc.constantFrom(...unitStates);
  const which = fc.record({ remainder: fc.nat(3), state: states });
  const step = fc.oneof(
    fc.record({ does: fc.constant('insert' as const), units: fc.integer({ min: 1, max: 6 }), state: states }),
    fc.record({ does: fc.constant('update' as const), which, to: states }),
    fc.record({ does: fc.constant('delete' as const), which }),
    fc.record({ does: fc.constant('undo' as const), which, to: states }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), async (steps) => {
      installation += 2;
      const both = [installation, installation + 1];
      for (const [at, each] of steps.entries()) {
        if (each.does === 'insert') {
          await insert(db, each.units, each.state, both[at % 2]);
          continue;
        }
        // One statement for the units of both installations.
        const where = 'where installation = any(?) and seq % 4 = ? and state = ?';
        const bindings = [both, each.which.remainder, each.which.state];
        if (each.does === 'delete') await execute(owner, `delete from erp_unit ${where}`, bindings);
        else {
          const change = () =>
            owner.transaction(async (trx) => {
              await execute(trx, `update erp_unit set state = ? ${where}`, [each.to, ...bindings]);
              if (each.does === 'undo') throw new Error('rolled back');
            });
          await change().catch((error: Error) => expect(error.message).toBe('rolled back'));
        }
      }
      for (const of of both) {
        expect((await deliveryCounts(db, of)).delivered).toBe(await counted(db, of));
        const totals = await unitTotals(db, of, { through: '2026-02-02' });
        expect(totals.map(({ amount: _, ...total }) => total)).toEqual(await totalsByHand(of, '2026-02-02'));
      }
    }),
    { numRuns: runs(25) },
  );
});

test('a wrong number of settled units is found', async () => {
  await db.transaction(async (trx) => {
    const options = { decimals: 2, windowId: null, postingMode: 'document' as const };
    await appendEntries(trx, installation, [payment(1)], options);
    await enqueueUnits(trx, { installation, databaseId: 'abc', company: 'company', from: null, auto: true });
    await execute(trx, `update erp_unit set state = 'acknowledged' where installation = ?`, [installation]);
  });
  expect(await verifyChain(db, installation)).toBeNull();
  await execute(owner, 'update erp_settled_day set n = n + 1 where installation = ?', [installation]);
  const found = await verifyChain(db, installation);
  expect(found?.message).toBe('it is not the number of these entries in the outbox');
  expect(found?.entryId).toMatch(/^the number of entries in the state acknowledged on 20/);
});

test('a window puts units into the outbox while a delivery has moved the count and not committed yet', async () => {
  await insert(db, 1, 'sending');
  await db.transaction((trx) =>
    appendEntries(trx, installation, [payment(1)], { decimals: 2, windowId: null, postingMode: 'document' }),
  );
  await db.transaction(async (delivering) => {
    await execute(delivering, `update erp_unit set state = 'delivered' where installation = ?`, [installation]);
    const added = await db.transaction(async (window) => {
      await execute(window, `set local lock_timeout = '2s'`);
      const to = { installation, databaseId: 'abc', company: 'company', from: null, auto: true };
      return enqueueUnits(window, to);
    });
    expect(added).toBe(1);
  });
  expect(await deliveryCounts(db, installation)).toMatchObject({ delivered: 1, left: 1 });
});

test('counting reads no more rows after years than after a day', async () => {
  await truncate();
  const rowsRead = async () => {
    await execute(owner, 'analyze erp_unit');
    return db.transaction(async (trx) => {
      // Without this setting, the planner would scan a small table sequentially.
      await execute(trx, 'set local enable_seqscan = off');
      await deliveryCounts(trx, installation);
      const [found] = await query<{ n: number }>(
        trx,
        `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as n from pg_stat_xact_user_tables
         where schemaname = 'vetledger'`,
      );
      return found!.n;
    });
  };
  for (const state of ['pending', 'sending', 'uncertain', 'drafted', 'refused'] as const) await insert(db, 3, state);
  await insert(db, 50, 'delivered');
  const before = await rowsRead();
  expect(before).toBeGreaterThanOrEqual(15);
  for (const state of ['delivered', 'handed_over', 'acknowledged', 'excluded', 'cancelled_out'] as const) {
    await insert(db, 2_000, state);
  }
  // The number of rows depends slightly on the index that the planner chooses.
  expect(await rowsRead()).toBeLessThan(before + 100);
  expect((await deliveryCounts(db, installation)).delivered).toBe(6_050);
});

test.each([
  ['with statistics', true],
  ['without any', false],
])(
  'what was delivered lately is counted by reading that alone, however much was before, %s',
  async (_, hasStatistics) => {
    await truncate();
    // Autovacuum is off, because it would collect statistics at a random moment.
    await execute(owner, 'alter table erp_unit set (autovacuum_enabled = off)');
    const settled = async (units: number, at: string) => {
      for (const state of unitStates) await insert(db, units, state);
      await execute(db, `update erp_unit set settled_at = ? where settled_at is null`, [at]);
    };
    const since = new Date('2026-02-01T00:00:00Z');
    const counting = async () => {
      if (hasStatistics) await execute(owner, 'analyze erp_unit');
      return db.transaction(async (trx) => {
        const read = async () =>
          (
            await query<{ n: number }>(
              trx,
              `select coalesce(seq_tup_read, 0)::int + coalesce(idx_tup_fetch, 0)::int as n from pg_stat_xact_user_tables
             where schemaname = 'vetledger' and relname = 'erp_unit'`,
            )
          )[0]!.n;
        const before = await read();
        const delivered = await deliveredSince(trx, installation, since);
        return { delivered, read: (await read()) - before };
      });
    };
    await settled(3_000, '2025-06-01T00:00:00Z');
    await settled(2, '2026-02-02T00:00:00Z');
    const before = await counting();
    await settled(2_000, '2025-12-01T00:00:00Z');
    const after = await counting();
    expect([before.delivered, after.delivered]).toEqual([6, 6]);
    // The number depends on the index that the planner chooses. 27,000 rows or more would be all older units.
    expect(Math.max(before.read, after.read)).toBeLessThan(200);
  },
);
