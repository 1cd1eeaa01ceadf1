// Actions of people, with name, reason and content, are links of a chain that shows later changes.
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { eraseReasons } from '../../src/actions/erase-reasons.ts';
import { recordAction } from '../../src/actions/record.ts';
import { brokenAction } from '../../src/actions/verify.ts';
import { walkChains } from '../../src/ledger/verify.ts';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';

const { db, owner } = useDatabase();

let id = 0;
beforeEach(() => {
  id += 1;
});

const act = async (reason: string, installation: number | null = id, result = {}) => {
  const { id: action } = await db.transaction((trx) =>
    recordAction(trx, {
      ...{ installation, kind: 'decide_late', by: { actedBy: 'M. Virtanen', reason } },
      ...{ input: { documents: ['invoice/1'] }, result },
    }),
  );
  return action;
};

test('an action is recorded with its outcome: two links of the chain of its installation', async () => {
  const first = await act('came after the close');
  const second = await act('so it was agreed');
  expect(
    await query(
      db,
      'select id, kind, acted_by, reason, input, result from action_done where installation = ? order by id',
      [id],
    ),
  ).toEqual([
    {
      ...{ id: first, kind: 'decide_late', acted_by: 'M. Virtanen', reason: 'came after the close' },
      ...{ input: '{"documents":["invoice/1"]}', result: '{}' },
    },
    expect.objectContaining({ id: second, reason: 'so it was agreed' }),
  ]);
  const links = await query<{ seq: number; previous_hash: string; hash: string }>(
    db,
    `select seq, previous_hash, hash from action where installation = ?
     union all select seq, previous_hash, hash from action_outcome where installation = ? order by seq`,
    [id, id],
  );
  expect(links.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  expect(links.map((each) => each.previous_hash)).toEqual([
    '0'.repeat(64),
    ...links.slice(0, 3).map(({ hash }) => hash),
  ]);
  expect(await walkChains(db, id)).toMatchObject({ broken: null });
});

test('the hash of a link covers its content; the test computes it without our code', async () => {
  const action = await act('agreed');
  const [found] = await query<Record<string, string> & { asked_at: Date }>(db, 'select * from action where id = ?', [
    action,
  ]);
  const [why] = await query<{ salt: string }>(db, 'select salt from action_reason where action_id = ?', [action]);
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const reasonHash = sha256(`${why!.salt}\nagreed`);
  const content = [
    ...[id, 1, action, 'action', 'decide_late', 'M. Virtanen', '{"documents":["invoice/1"]}', null, reasonHash],
    found!.asked_at.toISOString(),
  ];
  expect(found!.hash).toBe(sha256(`${'0'.repeat(64)}\n${JSON.stringify(content)}`));
});

test('those of installations, and of the whole database, are chains of their own; twenty at once make one chain', async () => {
  await Promise.all(Array.from({ length: 20 }, (_, n) => act(`the ${n}th`)));
  await act('of another', id + 1000);
  const seqs = await query<{ seq: number }>(db, 'select seq from action where installation = ? order by seq', [id]);
  expect(seqs.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, n) => 2 * n + 1));
  expect(await brokenAction(db, id)).toBeNull();
  expect(await brokenAction(db, id + 1000)).toBeNull();
});

test.each(['action', 'action_outcome'])('the database refuses a change of %s', async (table) => {
  await act('agreed');
  for (const sql of [`update ${table} set hash = ''`, `delete from ${table}`, `truncate ${table} cascade`]) {
    await expect(db.raw(sql)).rejects.toThrow(/permission denied/);
    await expect(owner.raw(sql)).rejects.toThrow(/never changed or deleted/);
  }
});

describe('what is changed behind the chain is found', () => {
  const second = '(select id from action where installation = :id order by id offset 1 limit 1)';
  const last = '(select max(id) from action where installation = :id)';
  const removed = (of: string) =>
    ['action_outcome where action_id', 'action_reason where action_id', 'action where id'].map(
      (where) => `delete from ${where} = ${of}`,
    );
  test.each<[string, string[]]>([
    ['who', [`update action set subject = 'somebody' where id = ${second}`]],
    ['what kind', [`update action set kind = 'erase' where id = ${second}`]],
    ['what', [`update action set input = '{}' where id = ${second}`]],
    ['what was shown', [`update action set shown_hash = 'x' where id = ${second}`]],
    ['when', [`update action set asked_at = asked_at + interval '1 hour' where id = ${second}`]],
    ['why', [`update action_reason set reason = 'another' where action_id = ${second}`]],
    ['why, taken away', [`delete from action_reason where action_id = ${second}`]],
    ['what came of it', [`update action_outcome set result = '{"done":1}' where action_id = ${second}`]],
    [
      'when it ended',
      [`update action_outcome set ended_at = ended_at - interval '1 hour' where action_id = ${second}`],
    ],
    ['an action deleted', removed(second)],
    ['an outcome deleted', [`delete from action_outcome where action_id = ${second}`]],
    ['the last action deleted', removed(last)],
    ['all of them deleted', ['_outcome', '_reason', ''].map((table) => `delete from action${table}`)],
    [
      'two actions that change their ids',
      [
        `update action set id = -id where id >= ${second} and installation = :id`,
        'update action set id = (select -sum(id) from action where id < 0) + id where id < 0',
      ],
    ],
    [
      'an action inserted',
      [
        `insert into action select nextval('action_id'), installation, 7, kind, subject, input, shown_hash, reason_hash, asked_at,
           previous_hash, hash from action where id = ${second}`,
      ],
    ],
    [
      'an action inserted in the place of another',
      [
        `update action set seq = seq + 2 where id = ${last}`,
        `update action_outcome set seq = seq + 2 where action_id = ${last}`,
        `insert into action select nextval('action_id'), installation, 5, kind, subject, input, shown_hash, reason_hash, asked_at,
           previous_hash, hash from action where id = ${second}`,
      ],
    ],
  ])('%s', async (_, statements) => {
    for (const reason of ['one', 'two', 'three']) await act(reason);
    expect(await walkChains(db, id)).toMatchObject({ broken: null });
    const undone = new Error('undone');
    const changing = owner.transaction(async (trx) => {
      await trx.raw('set local session_replication_role = replica');
      for (const sql of statements) await trx.raw(sql, { id });
      expect((await walkChains(trx, id)).broken).toMatchObject({ entryId: expect.stringContaining('action') });
      throw undone;
    });
    await expect(changing).rejects.toBe(undone);
  });

  test('and so is what concerns the whole database, in the books of each installation', async () => {
    await act('the disk failed', null);
    const undone = new Error('undone');
    const changing = owner.transaction(async (trx) => {
      await trx.raw('set local session_replication_role = replica');
      await trx.raw(`update action set subject = 'somebody' where installation is null`);
      expect((await walkChains(trx, id)).broken).not.toBeNull();
      throw undone;
    });
    await expect(changing).rejects.toBe(undone);
  });
});

describe('a name in a reason', () => {
  const reasons = () =>
    query<{ reason: string }>(db, 'select reason from action_done where installation = ? order by id', [id]);

  test('is erased with the reason, and the chain stays whole once the erasure is recorded', async () => {
    const naming = await act('Mrs. VIRTANEN (Aino) asked on the phone');
    await act('Aino asked, Mr. Laine agreed');
    await act('Virtanen, Aino', id + 1000);
    const erased = await db.transaction(async (trx) => {
      const found = await eraseReasons(trx, id, ['Aino Virtanen', ' ', 'Musti']);
      expect(await brokenAction(trx, id)).toMatchObject({ entryId: `action ${naming}` });
      await recordAction(trx, {
        ...{ installation: id, kind: 'decide_late', by: { actedBy: 'M', reason: 'asked for' } },
        ...{ input: { client: 7 }, result: { reasons: found } },
      });
      return found;
    });
    expect(erased).toEqual([naming]);
    expect((await reasons()).map(({ reason }) => reason)).toEqual([
      '(erased)',
      'Aino asked, Mr. Laine agreed',
      'asked for',
    ]);
    const left = await query(db, 'select from action_reason where action_id = ?', [naming]);
    expect(left).toEqual([]);
    expect(await brokenAction(db, id)).toBeNull();
    expect(await brokenAction(db, id + 1000)).toBeNull();
  });
});
