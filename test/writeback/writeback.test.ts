import { beforeAll, describe, expect, it } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { transactionsOf } from '../../src/db/lease.ts';
import { PracticeError } from '../../src/domain/practice-error.ts';
import { isJsonObject } from '../../src/records/json.ts';
import { recordId } from '../../src/records/schema.ts';
import { writeBackEntryIds } from '../../src/writeback/entry-ids.ts';
import { isEchoOf, isEntryOfOurs, standingOf } from '../../src/writeback/plan.ts';
import { useDatabase } from '../support/database.ts';

const dialect = loadDialect();
const entryId = '4711/prepayment/7/1';

describe('how a record stands to the entry id it is to carry', () => {
  const isOurs = (value: string) => isEntryOfOurs(value, 4711);
  const standing = (current: string | null, before: readonly (string | null)[] | null, value = entryId) =>
    standingOf({ current, value, valueIs: 'entry_id', isOurs, before });
  it.each([
    ['nothing stands there', null, 'missing'],
    ["somebody else's id stands there", 'SAP-1', 'missing'],
    ['our id stands there', entryId, 'shown'],
    ['an id of another entry is in force', '4711/prepayment/7/3', 'missing'],
    ["another prepayment's entry id stands there", '4711/prepayment/77/1', 'missing'],
    ["another installation's entry id is foreign", '4712/prepayment/7/1', 'missing'],
  ] as const)('before a request: %s', (_name, current, expected) => {
    expect(standing(current, null)).toBe(expected);
  });
  it.each([
    ['our id', entryId, 'shown'],
    ['nothing', null, 'missing'],
    ['what stood there before', 'SAP-1', 'missing'],
    ['what stood there before our first write', 'SAP-0', 'missing'],
    ['an earlier entry id of ours', '4711/prepayment/7/0', 'missing'],
    ['the entry id of another prepayment', '4711/prepayment/77/1', 'missing'],
    ["somebody else's value", 'SAP-2', 'foreign'],
    ["another installation's entry id", '4712/prepayment/7/1', 'foreign'],
  ] as const)('after a request: %s: %s is %s', (_name, current, expected) => {
    expect(standing(current, ['SAP-0', 'SAP-1', null])).toBe(expected);
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

  /** Writes back what is due; returns what was sent, in order. `answer` is called with each. */
  async function writeBack(answer: (id: number) => void = () => undefined) {
    const sent: { id: number; externalId: string | null }[] = [];
    const never = () => Promise.reject(new Error('not asked'));
    await writeBackEntryIds(
      { id: installation, dialect },
      {
        ...{ db, transact: transactionsOf(db), record: transactionsOf(db), signal: new AbortController().signal },
        ...{ pause: never, read: never, onProgress: () => undefined, onRefused: () => undefined },
        // Nothing is read back: what the source holds is the mirror's as it was made.
        refresh: async (_kind, ids) => new Set(sent.length > 0 ? [] : ids),
        send: async ({ record, externalId }) => {
          const id = recordId('prepayment', record, 'id');
          sent.push({ id, externalId });
          expect(isJsonObject(record) && record.external_info).toMatchObject({ other: 'kept' });
          answer(id);
        },
      },
      { lane: 'live', token: 1 },
    );
    return sent;
  }

  it('has posted prepayments that lack it, and each is written once', async () => {
    const refuse5 = (id: number) => {
      if (id === 5) throw new PracticeError('refused', 'refused', { status: 400 });
    };
    expect((await writeBack(refuse5)).map(({ id }) => id).sort()).toEqual([1, 2, 5]);
    expect(await writeBack()).toEqual([{ id: 5, externalId: '4711/prepayment/5/1' }]);
    expect(await writeBack()).toEqual([]);

    const { rows } = await db.raw(
      'select document_id, state, attempts, error, previous_value from write_back order by document_id',
    );
    expect(rows).toEqual([
      { document_id: 1, state: 'done', attempts: 1, error: null, previous_value: null },
      { document_id: 2, state: 'done', attempts: 1, error: null, previous_value: 'SAP-2' },
      { document_id: 4, state: 'done', attempts: 0, error: null, previous_value: null },
      { document_id: 5, state: 'done', attempts: 2, error: null, previous_value: null },
    ]);
  });

  it('has another entry that is in force, and keeps the foreign value', async () => {
    await db.raw(`update document set entry_id = '4711/prepayment/2/3' where id = 2`);
    await db.raw(
      `update mirror_record set raw = '{"id": 2, "external_info": {"external_id": "4711/prepayment/2/1", "other": "kept"}}' where id = 2`,
    );
    expect(await writeBack()).toEqual([{ id: 2, externalId: '4711/prepayment/2/3' }]);
    const { rows } = await db.raw('select previous_value, own_values from write_back where document_id = 2');
    expect(rows).toEqual([{ previous_value: 'SAP-2', own_values: ['4711/prepayment/2/1', '4711/prepayment/2/3'] }]);
  });
});
