// A turn is one installation's reconciliation of a day. These tests show which process takes a turn, and when another
// process may take it again.

import { beforeEach, describe, expect, test } from 'vitest';
import { beginTurn, dueTurns, endTurn, giveTurnBack } from '../../src/reconcile/turns.ts';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';

const { db, truncate } = useDatabase();
beforeEach(truncate);

const day = '2026-02-10';
const error = { code: 'practice_unreachable', message: 'the source is down', todo: 'wait' };
const isDue = async (installation: number, on = day) =>
  (await dueTurns(db, [{ installation, day: on }])).has(installation);
/** Moves the last attempt this many minutes into the past. */
const later = (minutes: number) =>
  query(db, 'update reconcile_turn set not_before = not_before - make_interval(mins => ?)', [minutes]);

test('of two daemons at once one takes the turn', async () => {
  for (let installation = 1; installation <= 20; installation++) {
    expect(await isDue(installation)).toBe(true);
    const took = await Promise.all([1, 2].map(() => beginTurn(db, installation, day)));
    expect(took.toSorted()).toEqual([1, null]);
    expect(await isDue(installation)).toBe(false);
  }
});

describe('a turn', () => {
  test('that is done is taken again on the next day, and not on one before', async () => {
    await beginTurn(db, 1, day);
    await endTurn(db, 1, null);
    await later(600);
    expect([await isDue(1), await beginTurn(db, 1, day)]).toEqual([false, null]);
    expect([await isDue(1, '2026-02-09'), await beginTurn(db, 1, '2026-02-09')]).toEqual([false, null]);
    expect([await isDue(1, '2026-02-11'), await beginTurn(db, 1, '2026-02-11')]).toEqual([true, 1]);
  });

  test.each([
    ['fails', () => endTurn(db, 1, error)],
    ['is left by a process that was killed', async () => undefined],
  ])('that %s is tried again after an hour, three times a day', async (_, end) => {
    for (const attempt of [1, 2, 3]) {
      expect(await beginTurn(db, 1, day)).toBe(attempt);
      await end();
      await later(59);
      expect([await isDue(1), await beginTurn(db, 1, day)]).toEqual([false, null]);
      await later(1);
    }
    expect([await isDue(1), await beginTurn(db, 1, day)]).toEqual([false, null]);
    expect(await beginTurn(db, 1, '2026-02-11')).toBe(1);
  });

  test('that is broken off, as its daemon ends, costs no attempt', async () => {
    for (let n = 0; n < 5; n++) {
      expect(await beginTurn(db, 1, day)).toBe(1);
      await giveTurnBack(db, 1);
    }
  });
});
