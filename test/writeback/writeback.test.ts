import { beforeAll, describe, expect, it } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { writtenEntries } from '../../src/writeback/echoes.ts';
import { isEchoOf, planWriteBack, type RecordedWriteBack, readBackOf } from '../../src/writeback/plan.ts';
import { pendingWriteBacks, recordWriteBacks } from '../../src/writeback/store.ts';
import { useDatabase } from '../support/database.ts';

const dialect = loadDialect();
const entryId = '4711/prepayment/7/1';

describe('what to tell the source', () => {
  const recorded = (state: RecordedWriteBack['state'], id = entryId, previousValue: string | null = null) => ({
    entryId: id,
    state,
    previousValue,
  });
  it.each([
    ['nothing stands there', null, null, 'write', null],
    ["somebody else's id stands there, and is kept", 'SAP-1', null, 'write', 'SAP-1'],
    ['our id stands there, unrecorded', entryId, null, 'note', null],
    [
      'our id stands there, recorded before it was sent',
      entryId,
      recorded('pending', entryId, 'SAP-1'),
      'note',
      'SAP-1',
    ],
    ['it was written', null, recorded('done'), 'none', null],
    ['it was written, and somebody else overwrote it', 'SAP-2', recorded('done'), 'none', null],
    ['it failed before', null, recorded('failed'), 'write', null],
    ['a newer entry is in force', entryId, recorded('done'), 'write', null, '4711/prepayment/7/3'],
    [
      'a newer entry is in force, a foreign value was kept',
      entryId,
      recorded('done', entryId, 'SAP-1'),
      'write',
      'SAP-1',
      '4711/prepayment/7/3',
    ],
    ["another prepayment's entry id stands there: no value to keep", '4711/prepayment/77/1', null, 'write', null],
    ["another installation's entry id is foreign", '4712/prepayment/7/1', null, 'write', '4712/prepayment/7/1'],
    [
      'it was accepted and not shown, and another entry id of ours stands there',
      '4711/prepayment/77/1',
      { ...recorded('failed'), doubt: { valueBefore: null } },
      'write',
      null,
    ],
    [
      'it was accepted and not shown, and somebody else has written since',
      'SAP-2',
      { ...recorded('failed'), doubt: { valueBefore: null } },
      'note',
      null,
    ],
    ['a newer foreign value replaces the kept one', 'SAP-2', recorded('failed', entryId, 'SAP-1'), 'write', 'SAP-2'],
  ] as const)('%s', (_name, externalId, known, action, previousValue, inForce: string = entryId) => {
    expect(planWriteBack({ externalId, entryId: inForce, recorded: known })).toEqual({ action, previousValue });
  });
});

describe('what a read after the write shows', () => {
  it.each([
    ['our id', entryId, 'shown'],
    ['nothing', null, 'unseen'],
    ['what stood there before', 'SAP-1', 'unseen'],
    ['what stood there before our first write', 'SAP-0', 'unseen'],
    ['an earlier entry id of ours', '4711/prepayment/7/0', 'unseen'],
    ['the entry id of another prepayment', '4711/prepayment/77/1', 'unseen'],
    ["somebody else's value", 'SAP-2', 'foreign'],
    ["another installation's entry id", '4712/prepayment/7/1', 'foreign'],
  ] as const)('%s: %s is %s', (_name, externalId, expected) => {
    expect(readBackOf({ externalId, entryId, before: ['SAP-0', 'SAP-1', null] })).toBe(expected);
  });
});

describe('our own echo', () => {
  const isEcho = (previousRaw: string, newRaw: string, names = dialect) =>
    isEchoOf({ kind: 'prepayment', previousRaw, newRaw }, (value) => value === entryId, names);
  const before =
    '{"id":7,"paid":"200.00","n":1.0,"modified":"2026-01-01T10:00:00Z","external_info":{"external_id":null,"k":"v"}}';
  const changed = (change: (record: Record<string, unknown>) => void) => {
    const record = JSON.parse(before) as Record<string, unknown>;
    Object.assign(record, { modified: '2026-01-01T10:05:00Z', external_info: { external_id: entryId, k: 'v' } });
    change(record);
    return JSON.stringify(record);
  };
  it.each([
    ['only modified and our id', true, changed(() => {})],
    [
      'our id, and modified as it was',
      true,
      changed((record) => Object.assign(record, { modified: '2026-01-01T10:00:00Z' })),
    ],
    ['an amount changed too', false, changed((record) => Object.assign(record, { paid: '201.00' }))],
    ['a field more', false, changed((record) => Object.assign(record, { note: 'x' }))],
    [
      'another key of external_info changed',
      false,
      changed((record) => Object.assign(record.external_info as object, { k: 'w' })),
    ],
    [
      "somebody else's id",
      false,
      changed((record) => Object.assign(record.external_info as object, { external_id: 'SAP' })),
    ],
    ['no external_info', false, changed((record) => delete record.external_info)],
    ['not JSON', false, 'oops'],
  ])('%s: %s', (_name, expected, next) => {
    expect(isEcho(before, next)).toBe(expected);
  });

  it('knows the names of another dialect', () => {
    const other = loadDialect({ fields: { prepayment: { modified: 'changed_at', external_id: 'ext.id' } } });
    expect(isEcho('{"changed_at":1,"ext":{"a":1}}', `{"changed_at":2,"ext":{"a":1,"id":"${entryId}"}}`, other)).toBe(
      true,
    );
  });
});

describe('the record of it', () => {
  const installation = 4711;
  const { db } = useDatabase();
  beforeAll(async () => {
    await prepayment(1, 'posted', null);
    await prepayment(2, 'posted', 'SAP-2');
    await prepayment(3, 'held', null);
    await prepayment(4, 'posted', `${installation}/prepayment/4/1`);
    await prepayment(5, 'posted', null);
    await prepayment(6, 'reversed', null);
  });
  async function prepayment(id: number, state: string, externalId: string | null): Promise<void> {
    const raw = JSON.stringify({ id, paid: '10.00', external_info: { external_id: externalId, other: 'kept' } });
    await db.raw(
      `insert into mirror_record (installation, kind, id, version, source_time, first_seen_at, content_hash, raw)
       values (?, 'prepayment', ?, 1, now(), now(), 'h', ?)`,
      [installation, id, raw],
    );
    await db.raw(`insert into document (installation, kind, id, state, entry_id) values (?, 'prepayment', ?, ?, ?)`, [
      installation,
      id,
      state,
      state === 'posted' ? `${installation}/prepayment/${id}/1` : null,
    ] as string[]);
  }

  const pending = (after = 0, limit = 10) =>
    pendingWriteBacks(db, installation, { after, limit, dialect, claimant: { lane: 'live', token: 1 } });

  it('names posted prepayments that lack it, in pages, and writes each once', async () => {
    expect((await pending(0, 2)).map((one) => one.prepaymentId)).toEqual([1, 2]);
    // 4 has it already and takes no place on the page.
    expect((await pending(2, 2)).map((one) => one.prepaymentId)).toEqual([5]);
    const [first, second, third] = await pending();
    expect(second).toMatchObject({ prepaymentId: 2, entryId: '4711/prepayment/2/1', previousValue: 'SAP-2' });
    expect([...(await writtenEntries(db, installation, [1, 2, 3, 4, 5, 6])).keys()].sort()).toEqual([1, 2, 4, 5]);

    await recordWriteBacks(db, installation, [{ ...first!, error: null, isInDoubt: false }]);
    await recordWriteBacks(db, installation, [{ ...second!, error: null, isInDoubt: false }]);
    await recordWriteBacks(db, installation, [{ ...third!, error: 'refused', isInDoubt: false }]);
    expect((await pending()).map((one) => one.prepaymentId)).toEqual([5]);
    await recordWriteBacks(db, installation, [{ ...third!, error: null, isInDoubt: false }]);
    expect(await pending()).toEqual([]);

    const { rows } = await db.raw(
      'select prepayment_id, state, attempts, error, previous_value from write_back order by prepayment_id',
    );
    expect(rows).toEqual([
      { prepayment_id: 1, state: 'done', attempts: 1, error: null, previous_value: null },
      { prepayment_id: 2, state: 'done', attempts: 1, error: null, previous_value: 'SAP-2' },
      { prepayment_id: 4, state: 'done', attempts: 0, error: null, previous_value: null },
      { prepayment_id: 5, state: 'done', attempts: 2, error: null, previous_value: null },
    ]);
  });

  it('writes again when another entry is in force, and keeps the foreign value', async () => {
    await db.raw(`update document set entry_id = '4711/prepayment/2/3' where id = 2`);
    await db.raw(
      `update mirror_record set raw = '{"id": 2, "external_info": {"external_id": "4711/prepayment/2/1"}}' where id = 2`,
    );
    expect(await pending()).toMatchObject([
      { prepaymentId: 2, entryId: '4711/prepayment/2/3', previousValue: 'SAP-2' },
    ]);
  });
});
