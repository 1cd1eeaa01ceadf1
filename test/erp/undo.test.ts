import { beforeEach, describe, expect, it } from 'vitest';
import { type DraftEntry, reversedLines } from '../../src/domain/entry.ts';
import { enqueueUnits } from '../../src/erp/outbox/enqueue.ts';
import {
  excludeReversalsOfUndone,
  planUndo,
  retryableUnits,
  retryOrRedo,
  undoUnits,
} from '../../src/erp/outbox/undo.ts';
import { loadUnits } from '../../src/ledger/general-ledger.ts';
import { appendEntries } from '../../src/ledger/journal/append-entries.ts';
import { draft } from '../ledger/drafts.ts';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';

const { db } = useDatabase();
let installation = 0;
beforeEach(() => {
  installation += 1;
});

const by = { actedBy: 'tester', reason: 'a test' };
const january = { from: '2026-01-01', to: '2026-01-31' };
const scope = () => ({ installation, databaseId: 'abc' });

function payment(id: number, date: string, amount: string): DraftEntry {
  return draft({
    ...{ kind: 'payment', id, date, inputHash: amount },
    lines: [
      ['1910', 'bank_clearing', amount],
      ['1700', 'receivable', `-${amount}`],
    ],
  });
}

const reversal = (entryId: string, of: DraftEntry): DraftEntry => ({
  ...{ ...of, reason: 'source_changed', reverses: entryId, inputHash: entryId },
  lines: reversedLines(of.lines),
});

async function post(...drafts: DraftEntry[]): Promise<string[]> {
  const ids = await db.transaction((trx) =>
    appendEntries(trx, installation, drafts, { decimals: 2, windowId: null, postingMode: 'document' }),
  );
  await enqueue();
  return ids;
}

const enqueue = () =>
  db.transaction(async (trx) => {
    await enqueueUnits(trx, { ...scope(), company: 'company', from: null, auto: true });
    await excludeReversalsOfUndone(trx, installation);
  });

/** The ERP accepts everything that is due. */
const deliver = () =>
  query(
    db,
    `update erp_unit set state = 'delivered', erp_id = unit_id, attempts = attempts + 1 where installation = ? and state = 'pending'`,
    [installation],
  );
const undo = (range = january) => db.transaction((trx) => undoUnits(trx, scope(), range, by));
/** Sends units again; the announced ones are those that are sent. */
const redo = async (...ids: string[]) => {
  const announced = await retryableUnits(db, installation, ids);
  const sent = await db.transaction((trx) => retryOrRedo(trx, scope(), ids, by));
  expect([...sent].sort()).toEqual(announced);
  return sent;
};

/**
 * The balance of the bank account in the ERP, computed from the deliveries. A unit with an odd number of undos is
 * subtracted.
 */
async function inErp(): Promise<string> {
  const [found] = await query<{ balance: string }>(
    db,
    `select coalesce(sum(case when l.side = 'debit' then l.amount else -l.amount end
         * case when u.undo_n % 2 = 1 then -1 else 1 end), 0)::numeric(12, 2)::text as balance
     from erp_unit u join entry_line l on l.entry_id = coalesce(u.undo_of, u.unit_id) and l.account = '1910'
     where u.installation = ? and u.state = 'delivered'`,
    [installation],
  );
  return found!.balance;
}

const states = async () =>
  Object.fromEntries(
    (
      await query<{ unit_id: string; state: string }>(
        db,
        'select unit_id, state from erp_unit where installation = ? order by unit_id',
        [installation],
      )
    ).map(({ unit_id, state }) => [unit_id.slice(unit_id.indexOf('/') + 1), state]),
  );

describe('undoing a delivery', () => {
  it('reverses each entry of the dates by a separate entry, and excludes units that were not sent', async () => {
    await post(payment(1, '2026-01-05', '10.00'), payment(2, '2026-02-05', '20.00'));
    await deliver();
    await post(payment(3, '2026-01-06', '40.00'));
    expect(await planUndo(db, installation, january)).toMatchObject({ reversed: 1, withheld: 1 });
    expect(await undo()).toEqual({ reversed: 1, withheld: 1 });
    expect(await states()).toEqual({
      'payment/1/1': 'delivered',
      'payment/1/1/undo/1': 'pending',
      'payment/2/1': 'delivered',
      'payment/3/1': 'excluded',
    });
    await deliver();
    expect(await inErp()).toBe('20.00');
    expect(await undo()).toEqual({ reversed: 0, withheld: 0 });
    const keys = await query(db, 'select distinct erp_key from erp_unit where installation = ?', [installation]);
    expect(keys).toHaveLength(4);
  });

  it('the reversing unit has the lines of its unit with the sides swapped, its date, and names it', async () => {
    const [id] = await post(payment(1, '2026-01-05', '10.00'));
    const [first, second] = await loadUnits(db, [
      { kind: 'entry', id: `${id}/undo/1` },
      { kind: 'entry', id: `${id}/undo/2` },
    ]);
    const told = ({ posting }: NonNullable<typeof first>) => ({
      id: posting.id,
      date: posting.date,
      reverses: 'reverses' in posting ? posting.reverses : null,
      lines: posting.lines.map(({ account, side, amount }) => [account, side, amount.toFixed(2)]),
    });
    expect(told(first!)).toEqual({
      ...{ id: `${id}/undo/1`, date: '2026-01-05', reverses: id },
      lines: [
        ['1910', 'credit', '10.00'],
        ['1700', 'debit', '10.00'],
      ],
    });
    expect(told(second!)).toEqual({
      ...{ id: `${id}/undo/2`, date: '2026-01-05', reverses: `${id}/undo/1` },
      lines: [
        ['1910', 'debit', '10.00'],
        ['1700', 'credit', '10.00'],
      ],
    });
  });

  it('does not change a unit that a correction has reversed in the ERP', async () => {
    const first = payment(1, '2026-01-05', '10.00');
    const [id] = await post(first);
    await post(reversal(id!, first), payment(1, '2026-01-05', '12.00'));
    await deliver();
    expect(await undo()).toEqual({ reversed: 1, withheld: 0 });
    await deliver();
    expect(await inErp()).toBe('0.00');
    expect((await states())['payment/1/3/undo/1']).toBe('delivered');
  });

  it('a correction of an undone unit does not reverse it again; its successor is delivered', async () => {
    const first = payment(1, '2026-01-05', '10.00');
    const [id] = await post(first);
    await deliver();
    await undo();
    await deliver();
    await post(reversal(id!, first), payment(1, '2026-02-05', '12.00'));
    await deliver();
    expect(await inErp()).toBe('12.00');
    expect((await states())['payment/1/2']).toBe('excluded');
    // The unit is not sent again, because our books have reversed it.
    expect(await redo(id!)).toEqual([]);
  });

  it('a correction that waits while its original is undone is not sent, wherever it is dated', async () => {
    const first = payment(1, '2026-01-05', '10.00');
    const [id] = await post(first);
    await deliver();
    await post({ ...reversal(id!, first), date: '2026-02-01' }, payment(1, '2026-02-01', '12.00'));
    expect(await undo()).toEqual({ reversed: 1, withheld: 0 });
    await deliver();
    expect(await inErp()).toBe('12.00');
  });

  it('retry sends an undone unit again, once its undo is there, and it can be undone again', async () => {
    const [id, withheld] = await post(payment(1, '2026-01-05', '10.00'), payment(2, '2026-01-06', '20.00'));
    await query(db, `update erp_unit set state = 'delivered' where unit_id = ? and installation = ?`, [
      id!,
      installation,
    ]);
    await undo();
    expect(await redo(id!)).toEqual([]);
    await deliver();
    expect(await inErp()).toBe('0.00');
    expect(await redo(id!, withheld!)).toEqual([id, withheld]);
    await deliver();
    expect(await inErp()).toBe('30.00');
    expect(await redo(id!)).toEqual([]);
    expect(await undo()).toEqual({ reversed: 2, withheld: 0 });
    await deliver();
    expect(await inErp()).toBe('0.00');
    expect((await states())['payment/1/1/undo/3']).toBe('delivered');
    const actions = await query(db, 'select kind from action_done where installation = ? order by id', [installation]);
    expect(actions).toEqual([{ kind: 'undo_delivery' }, { kind: 'retry_delivery' }, { kind: 'undo_delivery' }]);
  });

  it.each(['sending', 'uncertain', 'drafted', 'handed_over'])(
    'refuses while an entry of the dates is %s',
    async (state) => {
      await post(payment(1, '2026-01-05', '10.00'));
      await query(db, 'update erp_unit set state = ? where installation = ?', [state, installation]);
      await expect(planUndo(db, installation, january)).rejects.toMatchObject({ code: 'delivery_in_doubt' });
      expect(await planUndo(db, installation, { from: '2026-02-01', to: '2026-02-28' })).toMatchObject({
        reversed: 0,
        withheld: 0,
      });
    },
  );
});
