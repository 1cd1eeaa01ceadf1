import { beforeEach, describe, expect, it } from 'vitest';
import { bool, integer } from '../../src/db/columns.ts';
import { LeaseLost, releaseLease, renewLease, underLease } from '../../src/db/lease.ts';
import { execute, row } from '../../src/db/rows.ts';
import { keepLease } from '../../src/db/with-lease.ts';
import {
  type CompanyLease,
  noteDoubtsResolved,
  noteFailure,
  type TakenCompany,
  takeCompany,
} from '../../src/erp/company-lease.ts';
import { companyKey } from '../../src/erp/entry-key.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { useDatabase } from '../support/database.ts';

const { db } = useDatabase();
let n = 0;
let ref = { kind: 'tryton', url: 'http://erp', id: '' };
beforeEach(() => {
  n += 1;
  ref = { ...ref, id: String(n) };
});

const mayWorkMs = 60_000;
/** Adds a unit that is being sent to the company. */
const sending = () =>
  execute(
    db,
    `insert into erp_unit (installation, unit_id, kind, seq, unit_date, erp_key, company, state)
     values (?, 'unit', 'entry', 1, '2026-01-01', ?, ?, 'sending')`,
    [n, `key ${n}`, companyKey(ref)],
  );
const take = (holder: string) => takeCompany(db, ref, holder, { mayWorkMs });
const held = (taken: TakenCompany) => {
  if (taken.lease === null) throw new Error('somebody else has the lease');
  return taken;
};
const expire = () =>
  execute(db, 'update lease set expires_at = clock_timestamp() where company = ?', [companyKey(ref)]);
const write = (lease: CompanyLease) => underLease(db, lease, async () => 'written');

describe('the lease of a company', () => {
  it('has one holder', async () => {
    const first = held(await take('one'));
    expect(first).toMatchObject({ lookUpInMs: null, waitMs: 0, error: null, failures: 0 });
    expect((await take('two')).lease).toBeNull();
    await releaseLease(db, first.lease, { isInOrder: true });
    expect(held(await take('two'))).toMatchObject({ lookUpInMs: null });
  });

  it('has one holder among concurrent callers', async () => {
    const taken = await Promise.all(['one', 'two', 'three', 'four'].map(take));
    expect(taken.filter(({ lease }) => lease !== null)).toHaveLength(1);
  });

  it('belongs to one company', async () => {
    await take('one');
    ref = { ...ref, id: `${ref.id} beside` };
    expect(held(await take('two')).lookUpInMs).toBeNull();
  });

  it('is taken over from a killed holder, which can no longer write', async () => {
    const first = held(await take('one'));
    await sending();
    await expire();
    const second = held(await take('two'));
    expect(second.lookUpInMs).toBeGreaterThan(50_000);
    await expect(write(first.lease)).rejects.toThrow(LeaseLost);
    expect(await renewLease(db, first.lease)).toBe(false);
    await releaseLease(db, first.lease, { isInOrder: true });
    expect(await write(second.lease)).toBe('written');
  });

  it('is taken over at once by the next attempt of the same work', async () => {
    const first = held(await take('one'));
    await sending();
    const second = held(await take('one'));
    expect(second.lookUpInMs).toBeGreaterThan(50_000);
    await expect(write(first.lease)).rejects.toThrow(LeaseLost);
  });

  it('has no waiting time if nothing was being sent', async () => {
    await take('one');
    expect(held(await take('one')).lookUpInMs).toBeNull();
  });

  it('has one waiting time, even with several take-overs before the look-up', async () => {
    await take('one');
    await sending();
    await take('one');
    await execute(db, `update erp_company set look_up_from = look_up_from - interval '59 s' where company = ?`, [
      companyKey(ref),
    ]);
    const third = held(await take('one'));
    expect(third.lookUpInMs).toBeLessThan(2_000);
    // The lease was released cleanly, but the unit must still be looked up.
    await releaseLease(db, third.lease, { isInOrder: true });
    const fourth = held(await take('two'));
    expect(fourth.lookUpInMs).not.toBeNull();
    await noteDoubtsResolved(db, fourth.lease);
    await releaseLease(db, fourth.lease, { isInOrder: true });
    expect(held(await take('three')).lookUpInMs).toBeNull();
  });

  it('stores why nothing may be sent, and for how long', async () => {
    const { lease } = held(await take('one'));
    await noteFailure(db, lease, { code: 'erp_locked', message: 'locked', waitMs: 30_000 });
    await releaseLease(db, lease, { isInOrder: true });
    const next = held(await take('one'));
    expect(next).toMatchObject({ failures: 1, error: { code: 'erp_locked', message: 'locked' } });
    expect(next.waitMs).toBeGreaterThan(20_000);
  });
});

describe('work under the lease', () => {
  const never = new AbortController().signal;
  const state = () =>
    row(db, { is_in_order: bool, token: integer }, 'select is_in_order, token from lease where company = ?', [
      companyKey(ref),
    ]);
  const ports = { db, clock: systemClock, signal: never };

  it('releases the lease at its end', async () => {
    const { lease } = held(await take('one'));
    expect(await keepLease(ports, lease, async () => 'result')).toBe('result');
    expect(await state()).toMatchObject({ is_in_order: true });
    expect(held(await take('two')).lookUpInMs).toBeNull();
  });

  it('that fails releases the lease, and its units are looked up', async () => {
    const { lease } = held(await take('one'));
    await sending();
    const failing = keepLease(ports, lease, async () => {
      throw new Error('killed');
    });
    await expect(failing).rejects.toThrow('killed');
    expect(held(await take('two')).lookUpInMs).toBeGreaterThan(50_000);
  });

  it('fails to renew a lost lease', async () => {
    const { lease } = held(await take('one'));
    // A clock that does not wait.
    const clock = { ...systemClock, sleep: async (_: number, signal?: AbortSignal) => systemClock.sleep(20, signal) };
    const lost = keepLease({ ...ports, clock }, lease, async ({ signal }) => {
      await execute(db, 'update lease set token = token + 1 where company = ?', [companyKey(ref)]);
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    });
    await expect(lost).rejects.toThrow(LeaseLost);
  });
});
