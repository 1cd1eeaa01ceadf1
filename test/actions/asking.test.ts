// Actions that the console asks for and the daemon performs: one request, one outcome, one chain.
import { beforeEach, expect, test } from 'vitest';
import { actionState, askAction, expireAction, pendingActions, refuseAction } from '../../src/actions/asking.ts';
import { ActionOver, recordAction } from '../../src/actions/record.ts';
import { brokenAction } from '../../src/actions/verify.ts';
import { showInstallations } from '../../src/db/console-role.ts';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';

const { db, consoleDb, owner } = useDatabase();

let id = 0;
beforeEach(() => {
  id += 1;
});

const by = { actedBy: 'anna', reason: 'agreed' };
const ask = (form = 'a', installation = id) =>
  consoleDb.transaction(async (trx) => {
    await showInstallations(trx, [installation]);
    const asking = { kind: 'decide_late', by, input: { documents: ['invoice/1'] }, shownHash: 'f'.repeat(64) } as const;
    return askAction(trx, { installation, ...asking, form });
  });
const act = (asked?: { id: number }, kind: 'decide_late' | 'redate' = 'decide_late', installation = id) =>
  db.transaction((trx) =>
    recordAction(trx, {
      ...{ installation, kind, input: {}, result: { documents: 1 } },
      by: { ...by, ...(asked ? { asked } : {}) },
    }),
  );
const done = () => query(db, 'select id, acted_by, reason from action_done where installation = ?', [id]);
const age = (action: number, minutes: number) =>
  owner.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica');
    await trx.raw(`update action set asked_at = asked_at - make_interval(mins => ?) where id = ?`, [minutes, action]);
  });

test('the console asks with its role, and nothing is done before the outcome', async () => {
  const action = await ask();
  expect(await done()).toEqual([]);
  expect(await pendingActions(db, [id], { recent: true })).toEqual([
    {
      ...{ id: action, installation: id, kind: 'decide_late', subject: 'anna', reason: 'agreed' },
      ...{ input: { documents: ['invoice/1'], form: 'a' }, shownHash: 'f'.repeat(64), isOver: false },
      ...{ askedAt: expect.any(Date), needsSecond: false, second: null },
    },
  ]);
  expect((await actionState(db, id, action))?.outcome).toEqual({ state: 'pending' });
  expect(await brokenAction(db, id)).toBeNull();
});

test('the code that performs an action records the outcome of the asked one, and no other action', async () => {
  const action = await ask();
  await act();
  expect((await act({ id: action })).id).toBe(action);
  expect(await done()).toHaveLength(2);
  expect(await pendingActions(db, [id], { recent: true })).toEqual([]);
  expect((await actionState(db, id, action))?.outcome).toEqual({ state: 'done' });
  const links = await query<{ seq: number; name: string }>(
    db,
    `select seq, 'action' as name from action where installation = ? union all
     select seq, 'outcome' from action_outcome where installation = ? order by seq`,
    [id, id],
  );
  expect(links.map(({ seq, name }) => `${seq} ${name}`)).toEqual(['1 action', '2 action', '3 outcome', '4 outcome']);
  expect(await brokenAction(db, id)).toBeNull();
});

test('an asked action is performed as what was asked, in its installation', async () => {
  const action = await ask();
  await expect(act({ id: action }, 'redate')).rejects.toThrow(/decide_late/);
  await expect(act({ id: action }, 'decide_late', id + 1000)).rejects.toThrow(/decide_late/);
  expect(await pendingActions(db, [id], { recent: true })).toHaveLength(1);
});

test('an action has one outcome, also if two processes perform it at once', async () => {
  const action = await ask();
  const both = await Promise.allSettled([act({ id: action }), act({ id: action })]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const refused = db.transaction((trx) => refuseAction(trx, action, { code: 'late', message: 'm', todo: 't' }));
  await expect(refused).rejects.toBeInstanceOf(ActionOver);
  expect(await brokenAction(db, id)).toBeNull();
});

test('a refused and an expired action count as not done', async () => {
  const [first, second] = [await ask('a'), await ask('b')];
  const error = { code: 'changed', message: 'it changed', todo: 'look again' };
  await db.transaction((trx) => refuseAction(trx, first, error));
  await db.transaction((trx) => expireAction(trx, second));
  expect(await done()).toEqual([]);
  expect((await actionState(db, id, first))?.outcome).toEqual({ state: 'refused', error });
  expect((await actionState(db, id, second))?.outcome).toEqual({ state: 'expired' });
  expect(await brokenAction(db, id)).toBeNull();
});

test('a request is over after 15 minutes, and after two days it is found only without `recent`', async () => {
  const action = await ask();
  await age(action, 14);
  expect(await pendingActions(db, [id], { recent: true })).toMatchObject([{ isOver: false }]);
  await age(action, 2);
  expect(await pendingActions(db, [id], { recent: true })).toMatchObject([{ isOver: true }]);
  expect((await actionState(db, id, action))?.outcome).toEqual({ state: 'expired' });
  await age(action, 2880);
  expect(await pendingActions(db, [id], { recent: true })).toEqual([]);
  expect(await pendingActions(db, [id], { recent: false })).toHaveLength(1);
});

test('a form that is sent twice, also at once, asks once', async () => {
  const sent = await Promise.all([ask('one'), ask('one'), ask('one')]);
  expect(new Set(sent).size).toBe(1);
  expect(await ask('two')).not.toBe(sent[0]);
  expect(await pendingActions(db, [id], { recent: true })).toHaveLength(2);
});

test('the console asks only in the installations of its request, and ends no action', async () => {
  const action = await ask();
  const inOther = (work: (trx: Parameters<typeof askAction>[0]) => Promise<unknown>) =>
    consoleDb.transaction(async (trx) => {
      await showInstallations(trx, [id + 1000]);
      await work(trx);
    });
  const asking = { kind: 'decide_late', by, input: {}, shownHash: null, form: 'x' } as const;
  await expect(inOther((trx) => askAction(trx, { installation: id, ...asking }))).rejects.toThrow(/row-level security/);
  await expect(inOther((trx) => expireAction(trx, action))).rejects.toThrow();
  await expect(
    consoleDb.transaction(async (trx) => {
      await showInstallations(trx, [id]);
      await expireAction(trx, action);
    }),
  ).rejects.toThrow(/row-level security/);
});
