import { beforeAll, describe, expect, it } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { transactionsOf } from '../../src/db/lease.ts';
import { PracticeError } from '../../src/domain/practice-error.ts';
import { writeExternalId } from '../../src/practice/external-info.ts';
import { isJsonObject } from '../../src/records/json.ts';
import { recordId } from '../../src/records/schema.ts';
import { writeBackEntryIds } from '../../src/writeback/entry-ids.ts';
import { isEchoOf, isEntryOfOurs, standingOf } from '../../src/writeback/plan.ts';
import { type WriteBackPorts, writeAfterReadMs } from '../../src/writeback/write-back.ts';
import { useDatabase } from '../support/database.ts';

const dialect = loadDialect();
const entryId = '4711/prepayment/7/1';

describe('how a record stands to the entry id it is to carry', () => {
  const isOurs = (value: string) => isEntryOfOurs(value, 4711);
  const standing = (current: string | null, before: readonly (string | null)[] | null, value = entryId) =>
    standingOf({ current, value, valueIs: 'entry_id', isOurs, before });
  it.each([
    ['the source has no value', null, 'missing'],
    ['the source has an id of another program', 'SAP-1', 'missing'],
    ['the source has our id', entryId, 'shown'],
    ['an id of another entry is in force', '4711/prepayment/7/3', 'missing'],
    ['the source has the entry id of another prepayment', '4711/prepayment/77/1', 'missing'],
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

  /** Writes back what is due. Returns what was sent, in order. `answer` is called with each. */
  async function writeBack(
    answer: (id: number) => void = () => undefined,
    { names = dialect, ...changes }: Partial<WriteBackPorts> & { names?: typeof dialect } = {},
  ) {
    const sent: { id: number; externalId: string | null }[] = [];
    const never = () => Promise.reject(new Error('not asked'));
    await writeBackEntryIds(
      { id: installation, dialect: names },
      {
        ...{ db, transact: transactionsOf(db), record: transactionsOf(db), signal: new AbortController().signal },
        ...{ pause: never, read: never, onProgress: () => undefined, onRefused: () => undefined },
        ...{ roomInMs: async () => 0, elapsed: () => performance.now() },
        // Nothing is read back here: the source has the same data as the mirror.
        refresh: async (_kind, ids) => new Map(ids.map((id) => [id, sent.length === 0])),
        send: async ({ record, externalId }) => {
          const id = recordId('prepayment', record, 'id');
          sent.push({ id, externalId });
          expect(isJsonObject(record) && record.external_info).toMatchObject({ other: 'kept' });
          answer(id);
        },
        ...changes,
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

  it('keeps a foreign value that was seen through the sub-resource; one that came after the look stays there', async () => {
    const names = loadDialect({ external_info: { mode: 'subresource' } });
    const stands = new Map<number, string | null>([
      [7, 'SAP-7'],
      [8, null],
    ]);
    for (const id of stands.keys()) {
      await prepayment(id, 'posted', null);
      await db.raw(`update mirror_record set raw = ? where id = ?`, [JSON.stringify({ id }), id]);
    }
    const info = {
      read: async (id: number) => (stands.get(id) == null ? [] : [{ id: 70 + id, external_id: stands.get(id)! }]),
      create: async (id: number, body: object) => void stands.set(id, JSON.parse(JSON.stringify(body)).external_id),
      update: async (id: number, _info: number, body: object) => info.create(id, body),
      patch: () => Promise.reject(new Error('the record carries none')),
    };
    const changes: Partial<WriteBackPorts> = {
      refresh: async (_kind, ids) => new Map(ids.map((id) => [id, true])),
      read: async ({ id }) => stands.get(id) ?? null,
      send: (document) => {
        // Staff write between the reading and the request.
        if (recordId('prepayment', document.record, 'id') === 8) stands.set(8, 'SAP-8');
        return writeExternalId(names, info, document);
      },
    };
    await writeBack(undefined, { names, ...changes });
    expect([...stands]).toEqual([
      [7, '4711/prepayment/7/1'],
      [8, 'SAP-8'],
    ]);
    const { rows } = await db.raw(
      'select document_id, state, previous_value, read_back from write_back where document_id in (7, 8) order by document_id',
    );
    expect(rows).toEqual([
      { document_id: 7, state: 'done', previous_value: 'SAP-7', read_back: 'shown' },
      { document_id: 8, state: 'done', previous_value: null, read_back: 'foreign' },
    ]);
  });

  it.each([
    ['after a request whose answer was lost, the value may be newer than ours, and stays', 11, 'timeout', []],
    ['alone, nothing of ours was there, and the value gives way', 12, null, ['4711/prepayment/12/1']],
  ] as const)('does not forget a doubt when the source refuses: %s', async (_name, id, first, sent) => {
    await prepayment(id, 'posted', null);
    let requests = 0;
    const refuse = () => {
      requests += 1;
      if (requests === 1 && first !== null) throw new PracticeError(first, 'no answer');
      throw new PracticeError('refused', 'refused', { status: 400 });
    };
    const allFound: WriteBackPorts['refresh'] = async (_kind, ids) => new Map(ids.map((each) => [each, true]));
    const again = { pause: async () => undefined, refresh: allFound };
    await writeBack(refuse, again);
    expect(requests).toBe(first === null ? 1 : 2);
    const raw = JSON.stringify({ id, external_info: { external_id: `SAP-${id}`, other: 'kept' } });
    await db.raw('update mirror_record set raw = ? where id = ?', [raw, id]);
    expect((await writeBack()).map(({ externalId }) => externalId)).toEqual(sent);
  });

  it('is read shortly before the budget has room, and again where it had none in time', async () => {
    await prepayment(21, 'posted', null);
    await prepayment(22, 'posted', null);
    let nowMs = 0;
    let refusals = 1;
    const steps: string[] = [];
    const sent = await writeBack(
      (id) => {
        const { length } = steps;
        steps.push(`write ${id}`);
        if (id !== 22 || refusals-- === 0) return;
        steps[length] = 'no room';
        nowMs += writeAfterReadMs;
        throw new PracticeError('throttled', 'the rate budget had no room');
      },
      {
        elapsed: () => nowMs,
        roomInMs: async () => Math.max(0, 30_000 - nowMs),
        pause: async (ms) => {
          nowMs += ms;
        },
        refresh: async (_kind, ids) => {
          // Documents in doubt from other tests are left out.
          steps.push(`read ${ids.filter((id) => id > 20).join(' ')} at ${nowMs / 1000} s`);
          return new Map(ids.map((id) => [id, id > 20]));
        },
      },
    );
    expect(steps).toEqual([
      'read 21 22 at 28 s',
      'write 21',
      'no room',
      'read 22 at 38 s',
      'write 22',
      'read 21 22 at 38 s',
    ]);
    expect(sent.map(({ id }) => id)).toEqual([21, 22, 22]);
    const { rows } = await db.raw('select state, attempts from write_back where document_id in (21, 22)');
    expect(rows).toEqual([21, 22].map(() => ({ state: 'failed', attempts: 1 })));
  });

  it('is written where reading alone takes longer than a written record may be old', async () => {
    await prepayment(31, 'posted', null);
    let nowMs = 0;
    const slow: WriteBackPorts['refresh'] = async (_kind, ids) => {
      nowMs += 2 * writeAfterReadMs;
      return new Map(ids.map((id) => [id, true]));
    };
    const sent = await writeBack(undefined, { elapsed: () => nowMs, refresh: slow });
    expect(sent.map(({ id }) => id)).toContain(31);
  });

  it('is left to another time where there is never room after a page was read', async () => {
    await prepayment(41, 'posted', null);
    let nowMs = 0;
    let reads = 0;
    const refused = writeBack(
      () => {
        nowMs += writeAfterReadMs;
        throw new PracticeError('throttled', 'the rate budget had no room');
      },
      {
        elapsed: () => nowMs,
        refresh: async (_kind, ids) => {
          reads += 1;
          return new Map(ids.map((id) => [id, true]));
        },
      },
    );
    await expect(refused).rejects.toMatchObject({ code: 'throttled' });
    expect(reads).toBeLessThan(20);
  });
});
