import { beforeEach, describe, expect, it, test } from 'vitest';
import type { InstallationConfig } from '../../src/config/load-config.ts';
import type { Db } from '../../src/db/pool.ts';
import { execute } from '../../src/db/rows.ts';
import { adoptForeign, recordSearch } from '../../src/erp/claims/claim-store.ts';
import { foreignEntries } from '../../src/erp/claims/foreign.ts';
import { companyKey, entryKey } from '../../src/erp/entry-key.ts';
import { enqueueUnits } from '../../src/erp/outbox/enqueue.ts';
import { retryUnits } from '../../src/erp/outbox/state.ts';
import { appendEntries } from '../../src/ledger/journal/append-entries.ts';
import { checkErpBooks } from '../../src/reconcile/e7-erp.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { expectedKey } from '../simulator/delivery/plan.ts';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';
import { type Changes, capabilitiesWith } from './capabilities.ts';
import { payment, reversal } from './drafts.ts';
import { ScriptedTarget } from './scripted-target.ts';
import { runSlice, type SliceSettings, translated } from './slices.ts';

const [first, second] = [useDatabase(), useDatabase()];
beforeEach(() => Promise.all([first.truncate(), second.truncate()]));

const instantly: Changes = { doubt: { server_may_work_seconds: 0 } };

/** A vetledger database and a client of an ERP company that several databases share. */
class Party {
  readonly db: Db;
  readonly databaseId: string;
  readonly target: ScriptedTarget;
  readonly installation: number;
  translate: NonNullable<SliceSettings['translate']> = translated;
  mappingHash = 'm';

  constructor(db: Db, databaseId: string, { books, installation = 1, changes = {} }: PartyOptions = {}) {
    this.db = db;
    this.databaseId = databaseId;
    this.installation = installation;
    this.target = new ScriptedTarget(capabilitiesWith({ ...instantly, ...changes }));
    if (books !== undefined) {
      let last = books.held.length;
      Object.assign(this.target, { held: books.held });
      // The server assigns the ids.
      this.target.onCreate = (made) => void Object.assign(made, { id: `${databaseId}${++last}` });
    }
  }

  get of() {
    return { company: companyKey(this.target.company), installation: this.installation };
  }

  /** Posts payments of the practice. Returns their units. */
  async posts(count: number, from = 1): Promise<string[]> {
    const drafts = Array.from({ length: count }, (_, n) => payment(from + n));
    return this.#append(drafts);
  }

  async corrects(id: number, unitId: string): Promise<string[]> {
    return this.#append([reversal(unitId, payment(id))]);
  }

  async #append(drafts: Parameters<typeof appendEntries>[2]): Promise<string[]> {
    const { db, databaseId, installation } = this;
    return db.transaction(async (trx) => {
      const ids = await appendEntries(trx, installation, drafts, { decimals: 2, windowId: null });
      await enqueueUnits(trx, { ...this.of, databaseId, from: null, auto: true });
      return ids;
    });
  }

  slice() {
    const { db, target, databaseId, installation, translate, mappingHash } = this;
    const settings = { databaseId, installation, translate, mappingHash };
    return runSlice(db, target, { ...settings, isClaimed: false, holder: databaseId });
  }

  /** What `vetledger adopt` finds. */
  searches() {
    const { db, databaseId, target, installation: id } = this;
    const ports = { db, databaseId, clock: systemClock, signal: new AbortController().signal, target: () => target };
    const erp = { kind: 'tryton', url: 'http://erp.test', database: 'd' };
    return foreignEntries(ports, { id, erp } as unknown as InstallationConfig);
  }

  /** Delivers until nothing is due, or until delivery waits for something. */
  async delivers() {
    for (let n = 0; n < 30; n++) {
      const report = await this.slice();
      if (report.nextDueMs === null) return report;
      for (const [table, columns] of Object.entries(times)) await execute(this.db, shifted(table, columns));
    }
    throw new Error('the slices do not end');
  }

  states() {
    return query<{ unit: string; state: string; problem: string | null; key: string }>(
      this.db,
      'select unit_id as unit, state, problem_code as problem, erp_key as key from erp_unit order by seq, unit_id',
    );
  }

  writes() {
    return this.target.sent.filter(({ kind }) => kind !== 'read' && kind !== 'periods' && kind !== 'find').length;
  }
}

interface PartyOptions {
  books?: ScriptedTarget;
  installation?: number;
  changes?: Changes;
}

const times = {
  erp_unit: ['not_before', 'sent_at'],
  erp_company: ['not_before', 'look_up_from'],
  lease: ['expires_at'],
};
const shifted = (table: string, columns: string[]) =>
  `update ${table} set ${columns.map((name) => `${name} = ${name} - interval '10 minutes'`).join(', ')}`;

const held = ({ target }: Party) => target.held.map(({ description, state }) => `${description} ${state}`).toSorted();
const posted = (ids: string[]) => ids.map((id) => `${id} posted`).toSorted();

describe('keys', () => {
  test.each([
    ['abcd', '1/invoice/1/1'],
    ['another database', '4711/summary/2026-03-01-none/12'],
  ])('of %s, %s begin with its database’s letters', (databaseId, unitId) => {
    expect(entryKey(databaseId, unitId)).toBe(expectedKey(databaseId, unitId));
    expect(entryKey(databaseId, unitId)).toMatch(/^[A-Z2-7]{20}$/);
    expect(entryKey(databaseId, 'x').slice(0, 6)).toBe(entryKey(databaseId, unitId).slice(0, 6));
    expect(entryKey('y', unitId).slice(0, 6)).not.toBe(entryKey(databaseId, unitId).slice(0, 6));
  });
});

describe('a second database', () => {
  it('stops with the name of the other database before it sends anything', async () => {
    const one = new Party(first.db, 'one');
    const ids = await one.posts(4);
    await one.delivers();
    const other = new Party(second.db, 'other', { books: one.target });
    await other.posts(4);
    const report = await other.delivers();
    expect(report).toMatchObject({ delivered: 0, nextDueMs: null, waitingFor: { code: 'erp_company_foreign' } });
    expect(report.waitingFor?.message).toContain('4 entries of installation 1');
    expect(report.waitingFor?.message).toContain(entryKey('one', '').slice(0, 6));
    expect(report.waitingFor?.todo).toContain('vetledger adopt --installation 1');
    expect(other.writes()).toBe(0);
    expect(held(one)).toEqual(posted(ids));
    // The first database continues to deliver.
    await one.posts(1, 5);
    expect(await one.delivers()).toMatchObject({ delivered: 1, waitingFor: null });
  });

  it('continues if the entries belong to another installation', async () => {
    const one = new Party(first.db, 'one');
    await one.posts(3);
    await one.delivers();
    const other = new Party(second.db, 'other', { books: one.target, installation: 2 });
    await other.posts(3);
    expect(await other.delivers()).toMatchObject({ delivered: 3, waitingFor: null });
    await one.posts(1, 10);
    expect(await one.delivers()).toMatchObject({ delivered: 1, waitingFor: null });
  });

  it('continues once the entries of the other are deleted in the ERP', async () => {
    const one = new Party(first.db, 'one');
    await one.posts(2);
    await one.delivers();
    const other = new Party(second.db, 'other', { books: one.target });
    const ids = await other.posts(2);
    await other.delivers();
    one.target.held.splice(0);
    expect(await other.delivers()).toMatchObject({ delivered: 2, waitingFor: null });
    expect(held(other)).toEqual(posted(ids));
  });

  it('sends nothing while the list of entries is not complete', async () => {
    const other = new Party(second.db, 'other');
    await other.posts(2);
    other.target.isComplete = false;
    expect(await other.slice()).toMatchObject({ delivered: 0, waitingFor: { code: 'erp_list_incomplete' } });
    expect(other.writes()).toBe(0);
    expect(await other.searches()).toEqual({ error: null, isComplete: false });
    other.target.isComplete = true;
    expect(await other.searches()).toEqual({ error: null, isComplete: true });
    expect(await other.delivers()).toMatchObject({ delivered: 2, waitingFor: null });
  });
});

describe('two databases that begin at once on an empty company', () => {
  it('send at most the first entry twice, and both stop', async () => {
    const one = new Party(first.db, 'one');
    const other = new Party(second.db, 'other', { books: one.target });
    await one.posts(5);
    await other.posts(5);
    // Both databases look up before either creates.
    const both = Promise.withResolvers<void>();
    let waiting = 0;
    for (const { target } of [one, other]) {
      target.before = async ({ kind }) => {
        if (kind !== 'create') return;
        waiting += 1;
        if (waiting === 2) both.resolve();
        await both.promise;
      };
    }
    const reports = await Promise.all([one.delivers(), other.delivers()]);
    expect(reports.map(({ waitingFor }) => waitingFor?.code)).toEqual(['erp_company_foreign', 'erp_company_foreign']);
    expect(held(one)).toEqual(['1/payment/1/1 posted', '1/payment/1/1 posted']);
  });

  it('also notice each other if one finishes its first entry before the other sends', async () => {
    const one = new Party(first.db, 'one');
    const other = new Party(second.db, 'other', { books: one.target });
    await one.posts(3);
    await other.posts(3);
    let hasBegun = false;
    one.target.before = async ({ kind }) => {
      if (kind !== 'create' || hasBegun) return;
      hasBegun = true;
      expect(await other.delivers()).toMatchObject({ delivered: 3 });
    };
    expect((await one.delivers()).waitingFor?.code).toBe('erp_company_foreign');
    expect(held(one).filter((each) => each.startsWith('1/payment/1/'))).toHaveLength(2);
    expect(held(one)).toHaveLength(4);
    // The other database finds the foreign entry before it sends anything.
    await other.posts(1, 9);
    expect((await other.delivers()).waitingFor?.code).toBe('erp_company_foreign');
    expect(held(one)).toHaveLength(4);
  });

  it('do not send a second entry before the first one’s answer is known', async () => {
    const one = new Party(first.db, 'one', { changes: { doubt: { server_may_work_seconds: 60 } } });
    await one.posts(3);
    let isCut = false;
    one.target.after = ({ kind }) => {
      if (kind !== 'create' || isCut) return;
      isCut = true;
      throw new Error('the process ends');
    };
    await expect(one.slice()).rejects.toThrow('the process ends');
    expect(one.target.held).toHaveLength(1);
    expect(await one.slice()).toMatchObject({ delivered: 0, waitingFor: {} });
    expect(one.target.held).toHaveLength(1);
    expect(await one.delivers()).toMatchObject({ waitingFor: null });
    expect(one.target.sizes('create').slice(0, 1)).toEqual([1]);
    expect(one.target.posted).toHaveLength(3);
  });
});

describe('a database that was restored from a backup', () => {
  it('looks up entries that it does not know', async () => {
    const one = new Party(first.db, 'one');
    const ids = await one.posts(2);
    await one.delivers();
    // The backup has the current state.
    const restored = new Party(second.db, 'one', { books: one.target });
    await restored.posts(2);
    await restored.delivers();
    ids.push(...(await one.posts(3, 3)));
    await one.delivers();
    const before = restored.target.sizes('create').length;
    await restored.posts(4, 3);
    expect(await restored.delivers()).toMatchObject({ waitingFor: null });
    expect(restored.target.sizes('create').slice(before)).toEqual([1]);
    expect(held(one)).toEqual(posted([...ids, '1/payment/6/1']));
    expect((await restored.states()).map(({ state }) => state)).toEqual(Array(6).fill('delivered'));
  });
});

describe('adopted entries', () => {
  const adopted = async (party: Party) => {
    await party.delivers();
    return party.db.transaction((trx) => adoptForeign(trx, party.of));
  };

  it('replace the units that they name: these are compared, and not sent', async () => {
    const one = new Party(first.db, 'one');
    const ids = await one.posts(3);
    await one.delivers();
    const other = new Party(second.db, 'other', { books: one.target });
    const own = await other.posts(5);
    expect(await adopted(other)).toBe(3);
    expect(await other.delivers()).toMatchObject({ waitingFor: null, left: 0 });
    expect(held(one)).toEqual(posted(own));
    const states = await other.states();
    expect(states.map(({ state }) => state)).toEqual(Array(5).fill('delivered'));
    expect(states.slice(0, 3).map(({ key }) => key)).toEqual(ids.map((id) => expectedKey('one', id)));
    // Our correction reverses an entry of the other database.
    await other.corrects(1, ids[0] ?? '');
    expect(await other.delivers()).toMatchObject({ delivered: 1, waitingFor: null });
  });

  it('that differ from ours are reported, and ours is not sent', async () => {
    const one = new Party(first.db, 'one');
    await one.posts(2);
    await one.delivers();
    const line = one.target.held[0]?.lines[0];
    if (line) line.account = '9999';
    const other = new Party(second.db, 'other', { books: one.target });
    await other.posts(2);
    await adopted(other);
    await other.delivers();
    expect((await other.states()).map(({ state, problem }) => problem ?? state)).toEqual(['erp_differs', 'delivered']);
    expect(held(one)).toHaveLength(2);
  });

  const retries = ({ db }: Party) =>
    db.transaction((trx) => retryUnits(trx, 1, null, { actedBy: 'somebody', reason: 'corrected' }));
  const remaps = async (party: Party) => {
    Object.assign(party, { translate: translated, mappingHash: 'another' });
  };
  const unmapped = () => ({ problems: [{ code: 'vat_code_unmapped', message: 'no VAT code' }] });

  test.each([
    [
      'after a retry',
      'erp_differs',
      { account: '9999', translate: translated, again: retries, problemAfter: 'erp_differs' },
    ],
    [
      'after a new mapping',
      'vat_code_unmapped',
      { account: null, translate: unmapped, again: remaps, problemAfter: null },
    ],
  ])(
    'are looked up %s of a unit that was refused: %s',
    async (_, problem, { account, translate, again, problemAfter }) => {
      const one = new Party(first.db, 'one');
      await one.posts(1);
      await one.delivers();
      const line = one.target.held[0]?.lines[0];
      if (line && account !== null) line.account = account;
      const other = new Party(second.db, 'other', { books: one.target });
      await other.posts(1);
      await adopted(other);
      other.translate = translate;
      await other.delivers();
      expect(await other.states()).toMatchObject([{ state: 'refused', problem }]);
      await again(other);
      await other.delivers();
      expect(await other.states()).toMatchObject([{ problem: problemAfter }]);
      expect(other.target.sizes('create')).toEqual([]);
    },
  );

  it('of a document that the other database has corrected: our units are refused', async () => {
    const one = new Party(first.db, 'one');
    const [id = ''] = await one.posts(1);
    await one.corrects(1, id);
    await one.delivers();
    const other = new Party(second.db, 'other', { books: one.target });
    await other.posts(2);
    await adopted(other);
    await other.delivers();
    expect((await other.states()).map(({ state, problem }) => problem ?? state)).toEqual([
      'erp_posted_elsewhere',
      'delivered',
    ]);
    expect(held(one)).toEqual(posted([id, '1/payment/1/2', '1/payment/2/1']));
  });

  it('that come after the adoption stop delivery again', async () => {
    const one = new Party(first.db, 'one');
    await one.posts(1);
    await one.delivers();
    const other = new Party(second.db, 'other', { books: one.target });
    await other.posts(1);
    await adopted(other);
    await other.delivers();
    await one.posts(1, 7);
    await recordSearch(first.db, one.of, { beganAt: new Date(), claims: true });
    await one.delivers();
    await other.posts(1, 7);
    expect((await other.delivers()).waitingFor?.code).toBe('erp_company_foreign');
    expect(held(one)).toHaveLength(2);
  });
});

describe('E7 reports', () => {
  const e7 = async ({ db, of }: Party) =>
    (await checkErpBooks(db, { id: of.installation, decimals: 2, ...of, ownedAccounts: [], balances: new Map() }))
      .equation;
  /** The findings of E7 about entries that this database did not send; nothing was read back here. */
  const told = async (party: Party) =>
    (await e7(party)).documents
      .map(({ message }) => message ?? '')
      .filter((message) => !message.includes('was delivered'));

  it('entries of another database, and adopted entries that occur twice', async () => {
    const one = new Party(first.db, 'one');
    const other = new Party(second.db, 'other', { books: one.target });
    await one.posts(2);
    await other.posts(2);
    const both = Promise.withResolvers<void>();
    let waiting = 0;
    for (const { target } of [one, other]) {
      target.before = async ({ kind }) => {
        if (kind !== 'create') return;
        waiting += 1;
        if (waiting === 2) both.resolve();
        await both.promise;
      };
    }
    await Promise.all([one.delivers(), other.delivers()]);
    expect(await told(one)).toEqual([
      expect.stringContaining(
        `1/payment/1/1 was posted by another database of vetledger (its key: ${expectedKey('other', '1/payment/1/1')})`,
      ),
    ]);
    await one.db.transaction((trx) => adoptForeign(trx, one.of));
    await one.delivers();
    expect(await told(one)).toEqual([expect.stringContaining('and ours is also there: reverse one of them')]);
    expect((await e7(one)).ok).toBe(false);
  });

  it('entries of ours that this database does not know', async () => {
    const one = new Party(first.db, 'one');
    await one.posts(1);
    await one.delivers();
    const restored = new Party(second.db, 'one', { books: one.target });
    await restored.posts(1, 5);
    await restored.delivers();
    expect(await told(restored)).toEqual([
      expect.stringContaining('1/payment/1/1 was posted by this database, which does not know it'),
    ]);
  });
});
