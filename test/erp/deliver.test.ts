import { beforeEach, describe, expect, it, test } from 'vitest';
import { execute } from '../../src/db/rows.ts';
import { companyKey, entryKey } from '../../src/erp/entry-key.ts';
import { enqueueUnits } from '../../src/erp/outbox/enqueue.ts';
import { pauseDelivery, resumeDelivery, retryUnits } from '../../src/erp/outbox/state.ts';
import { ErpError } from '../../src/erp/port.ts';
import { appendEntries } from '../../src/ledger/journal/append-entries.ts';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';
import { type Changes, capabilitiesWith } from './capabilities.ts';
import { payment, reversal } from './drafts.ts';
import { ScriptedTarget } from './scripted-target.ts';
import { databaseId, runSlice, type SliceSettings } from './slices.ts';

const { db, truncate } = useDatabase();
const by = { actedBy: 'tester', reason: 'a test' };
let installation = 1;
beforeEach(async () => {
  installation = 1;
  await truncate();
});

const instantly: Changes = { doubt: { server_may_work_seconds: 0 } };
const open = (changes: Changes = instantly) => new ScriptedTarget(capabilitiesWith({ ...instantly, ...changes }));

const slice = (target: ScriptedTarget, settings: SliceSettings = {}) =>
  runSlice(db, target, { installation, ...settings });

/** Delivers until nothing is due at once. */
async function slices(target: ScriptedTarget, settings: SliceSettings = {}) {
  for (let n = 0; n < 30; n++) {
    const report = await slice(target, settings);
    if (report.nextDueMs === null) return report;
    await passTime(600);
  }
  throw new Error('the slices do not end');
}

/** Shifts all times in the database into the past by this many seconds. */
async function passTime(seconds: number): Promise<void> {
  const shifted = (table: string, columns: string[]) =>
    execute(
      db,
      `update ${table} set ${columns.map((name) => `${name} = ${name} - make_interval(secs => ${seconds})`).join(', ')}`,
    );
  await shifted('erp_unit', ['not_before', 'sent_at']);
  await shifted('erp_company', ['not_before', 'look_up_from']);
  await shifted('lease', ['expires_at']);
  await shifted('erp_request', ['sent_at']);
}

/** Puts payments into the outbox. Returns their keys. */
async function enqueued(count: number, from = 1): Promise<string[]> {
  const drafts = Array.from({ length: count }, (_, n) => payment(from + n));
  const ids = await db.transaction((trx) => appendEntries(trx, installation, drafts, { decimals: 2, windowId: null }));
  await enqueue();
  return ids.map((id) => entryKey(databaseId, id));
}

const company = companyKey(open().company);
const enqueue = () =>
  db.transaction((trx) => enqueueUnits(trx, { installation, databaseId, company, from: null, auto: true }));

interface UnitState {
  state: string;
  problem: string | null;
  attempts: number;
}

async function units(): Promise<UnitState[]> {
  return query(
    db,
    'select state, problem_code as problem, attempts from erp_unit where installation = ? order by seq',
    [installation],
  );
}

const stateCounts = async () => {
  const counted = new Map<string, number>();
  for (const { state, problem } of await units()) {
    const name = problem === null ? state : `${state} ${problem}`;
    counted.set(name, (counted.get(name) ?? 0) + 1);
  }
  return Object.fromEntries(counted);
};

/** True if the last answer of the ERP was an error. */
const isFailing = async () => {
  const [found] = await query<{ failing: boolean }>(
    db,
    'select last_error_at > last_answer_at as failing from erp_company',
  );
  return found?.failing;
};

const refused = (problem: string, keys: string[] = []) => new ErpError('refused', `no: ${problem}`, { problem, keys });
const unknown = () => new ErpError('doubt', 'Object reference not set', { problem: 'erp_refused_unknown' });
const timeOut = () => new ErpError('doubt', 'no answer in time');

describe('a batch', () => {
  it('is created, compared, posted, compared, and delivered with its numbers', async () => {
    const keys = await enqueued(3);
    const target = open();
    expect(await slice(target)).toMatchObject({
      delivered: 3,
      refused: 0,
      uncertain: 0,
      left: 0,
      nextDueMs: null,
      waitingFor: null,
    });
    expect(target.posted).toEqual(keys);
    expect(target.sent.map(({ kind }) => kind)).toEqual(['periods', 'create', 'read', 'post', 'read']);
    const found = await query(
      db,
      'select erp_id, erp_number, erp_date, state, settled_at is not null as settled from erp_unit order by seq',
    );
    expect(found[0]).toEqual({
      erp_id: '1',
      erp_number: '1',
      erp_date: '2026-02-01',
      state: 'delivered',
      settled: true,
    });
  });

  it('continues if a draft that differs could not be deleted', async () => {
    const [wrong, right] = await enqueued(2);
    const target = open();
    target.onCreate = (made) => {
      if (made.key === wrong) made.description = 'another text';
      const [line] = made.lines;
      if (made.key === wrong && line) line.account = 'changed';
    };
    let deletions = 0;
    target.before = ({ kind }) => {
      if (kind !== 'withdrawDrafts') return;
      deletions += 1;
      if (deletions === 1) throw new ErpError('unsent', 'connection refused');
    };
    await slices(target);
    expect(await stateCounts()).toEqual({ delivered: 1, 'refused erp_differs': 1 });
    expect(target.posted).toEqual([right]);
  });

  it('has as many entries as the ERP accepts', async () => {
    await enqueued(5);
    const target = open({ write: { max_entries: 2 } });
    await slice(target);
    expect(target.sizes('create')).toEqual([2, 2, 1]);
    expect(target.posted).toHaveLength(5);
  });

  it('has as many bytes as the ERP accepts', async () => {
    await enqueued(4);
    const target = open({ write: { max_bytes: 1_200 } });
    await slice(target);
    expect(target.posted).toHaveLength(4);
    expect(Math.max(...target.sizes('create'))).toBeLessThan(4);
  });

  it('is created and read back in an ERP with one step', async () => {
    const keys = await enqueued(2);
    const target = open({ write: { steps: 'one' } });
    await slice(target);
    expect(target.sent.map(({ kind }) => kind)).toEqual(['periods', 'create', 'read']);
    expect(target.posted).toEqual(keys);
    expect(await stateCounts()).toEqual({ delivered: 2 });
  });

  it('sends live work before backlog', async () => {
    const [backlog] = await enqueued(1, 1);
    await execute(db, 'update erp_unit set is_backlog = true');
    const [live] = await enqueued(1, 2);
    const target = open({ write: { max_entries: 1 } });
    await slice(target);
    expect(target.posted).toEqual([live, backlog]);
  });

  it('never sends a correction before the corrected unit', async () => {
    const first = payment(1);
    const append = (drafts: ReturnType<typeof payment>[]) =>
      db.transaction((trx) => appendEntries(trx, installation, drafts, { decimals: 2, windowId: null }));
    const [id] = await append([first]);
    const [reversed, anew] = await append([reversal(id!, first), payment(1, '2026-02-01', '12.00')]);
    await enqueue();
    const target = open();
    await slice(target);
    expect(target.posted).toEqual([id!, reversed!, anew!].map((unitId) => entryKey(databaseId, unitId)));
    expect(target.sizes('create')).toEqual([1, 1, 1]);
    const [original, correction, successor] = target.held;
    expect(correction).toMatchObject({ originId: original!.id });
    for (const one of [original, successor]) expect(one).not.toHaveProperty('originId');
  });

  it('sends no origin while the corrected entry is a draft, which may be deleted', async () => {
    const first = payment(1);
    const append = (drafts: ReturnType<typeof payment>[]) =>
      db.transaction((trx) => appendEntries(trx, installation, drafts, { decimals: 2, windowId: null }));
    const [id] = await append([first]);
    await append([reversal(id!, first)]);
    await enqueue();
    const target = open();
    await slice(target, { post: 'draft' });
    expect(target.drafts).toHaveLength(2);
    for (const one of target.held) expect(one).not.toHaveProperty('originId');
  });

  it('holds a correction while the corrected unit is refused', async () => {
    const first = payment(1);
    const append = (drafts: ReturnType<typeof payment>[]) =>
      db.transaction((trx) => appendEntries(trx, installation, drafts, { decimals: 2, windowId: null }));
    const [id] = await append([first]);
    await append([reversal(id!, first)]);
    await enqueue();
    const target = open();
    target.before = ({ kind }) => {
      if (kind === 'create') throw refused('erp_account_unknown');
    };
    expect(await slices(target)).toMatchObject({ left: 0, nextDueMs: null });
    expect(await units()).toMatchObject([{ state: 'refused' }, { state: 'pending', attempts: 0 }]);
  });
});

describe('an ERP that refuses the id of a repeated request', () => {
  const record: Changes = {
    request_id: {
      ...{ header: 'X-Id', max: 36, on_repeat: 'refused', remembered_seconds: 'unknown', survives: 'all' },
    },
    doubt: { server_may_work_seconds: 60 },
  };
  const noAnswer = () => new ErpError('doubt', 'socket hang up');
  const ids = ({ sent }: ScriptedTarget) => sent.flatMap(({ kind, attemptId }) => (kind === 'create' ? attemptId : []));
  /** A target whose first creation gets no answer. Later ones with the same id are refused if `hasArrived`. */
  const openSilent = (hasArrived: boolean, when: 'before' | 'after') => {
    const target = open(record);
    target[when] = ({ kind }) => {
      if (kind === 'create' && ids(target).length === 1) throw noAnswer();
    };
    if (!hasArrived) return target;
    const then = target.before;
    target.before = async (request) => {
      const { kind, attemptId } = request;
      const seen = ids(target).slice(0, -1);
      if (kind === 'create' && seen.includes(attemptId)) throw new ErpError('repeated', 'REQUEST_NOT_UNIQUE');
      await then(request);
    };
    return target;
  };

  it('gets it again at once, and accepts it if the first did not arrive', async () => {
    const [key] = await enqueued(1);
    const target = openSilent(false, 'before');
    expect(await slice(target)).toMatchObject({ delivered: 1, uncertain: 0 });
    const [first, second, ...more] = ids(target);
    expect([second, more]).toEqual([first, []]);
    expect(target.sizes('find')).toEqual([]);
    expect(target.posted).toEqual([key]);
  });

  it('refuses it if the first arrived, whose entry is looked up at once', async () => {
    const [key] = await enqueued(1);
    const target = openSilent(true, 'after');
    expect(await slice(target)).toMatchObject({ delivered: 1, uncertain: 0 });
    expect(target.sizes('find')).toEqual([1]);
    expect(target.posted).toEqual([key]);
  });

  it('gets another id if the first arrived and made nothing in the longest known time', async () => {
    const [key] = await enqueued(1);
    const target = openSilent(true, 'before');
    expect(await slice(target)).toMatchObject({ delivered: 0, uncertain: 1 });
    await passTime(55);
    expect(await slice(target)).toMatchObject({ delivered: 0, uncertain: 1 });
    await passTime(10);
    expect(await slices(target)).toMatchObject({ uncertain: 0 });
    const [first, second, third, ...more] = ids(target);
    expect([second === first, third === first, more]).toEqual([true, false, []]);
    expect(target.posted).toEqual([key]);
  });

  it('is not believed when it refuses the entry, before the first request is certainly over', async () => {
    await enqueued(1);
    const target = openSilent(false, 'before');
    const then = target.before;
    target.before = async (request) => {
      if (request.kind === 'create' && ids(target).length === 2) throw refused('erp_account_unknown');
      await then(request);
    };
    expect(await slice(target)).toMatchObject({ delivered: 0, uncertain: 1 });
    await passTime(61);
    await slices(target);
    expect(await units()).toMatchObject([{ state: 'refused', problem: 'erp_account_unknown' }]);
  });

  it('is asked once more only, and otherwise looked up when the server can have finished', async () => {
    const [key] = await enqueued(1);
    const target = open(record);
    target.before = ({ kind }) => {
      if (kind === 'create' && ids(target).length <= 2) throw noAnswer();
    };
    expect(await slice(target)).toMatchObject({ delivered: 0, uncertain: 1 });
    expect(ids(target)).toHaveLength(2);
    await passTime(61);
    await slices(target);
    expect(new Set(ids(target)).size).toBe(1);
    expect(target.posted).toEqual([key]);
  });
});

describe('a process that is killed', () => {
  const steps = ['periods', 'create', 'read', 'post', 'last read'] as const;
  const moments = steps.flatMap((step) => [['before', step] as const, ['after', step] as const]);
  test.each(moments)(
    '%s %s leaves everything for the next one, which ends with exactly one posted',
    async (when, step) => {
      const keys = await enqueued(3);
      const target = open();
      let reads = 0;
      target[when] = ({ kind }) => {
        if (kind === 'read') reads += 1;
        const isIt = step === 'last read' ? kind === 'read' && reads === 2 : kind === step;
        if (isIt) throw new Error('killed');
      };
      await expect(slice(target)).rejects.toThrow('killed');
      target.before = () => undefined;
      target.after = () => undefined;
      // The lease is neither released nor expired, so the next attempt of the same work takes it over.
      await slices(target);
      expect(target.posted.toSorted()).toEqual(keys.toSorted());
      expect(target.drafts).toEqual([]);
      expect(await stateCounts()).toEqual({ delivered: 3 });
    },
  );

  it('delays the next one until its lease has expired and the server can have finished', async () => {
    await enqueued(2);
    const target = open({ doubt: { server_may_work_seconds: 60 } });
    target.after = ({ kind }) => {
      if (kind === 'create') throw new Error('killed');
    };
    await expect(slice(target)).rejects.toThrow('killed');
    // The state after a process ended without releasing its lease.
    await execute(db, `update lease set holder = 'one/1', expires_at = clock_timestamp() + interval '25 s'`);
    target.after = () => undefined;
    const busy = await slice(target, { holder: 'two', longestMs: 500 });
    expect(busy).toMatchObject({ delivered: 0, uncertain: 2 });
    await passTime(26);
    const settling = await slice(target, { holder: 'two' });
    expect(settling).toMatchObject({ delivered: 0, waitingFor: { code: 'erp_taken_over' } });
    expect(settling.nextDueMs).toBeGreaterThan(30_000);
    expect(target.sizes('find')).toEqual([]);
    await passTime(61);
    expect(await slice(target, { holder: 'two' })).toMatchObject({ delivered: 2, uncertain: 0 });
    expect(target.sizes('create')).toEqual([2]);
    expect(target.posted).toHaveLength(2);
  });

  it('has its units looked up, for every installation of the company, before anything is sent', async () => {
    const [theirs] = await enqueued(1);
    const target = open();
    target.before = ({ kind }) => {
      if (kind === 'create') throw new Error('killed');
    };
    await expect(slice(target)).rejects.toThrow('killed');
    target.before = () => undefined;
    installation = 2;
    const [ours] = await enqueued(1);
    await passTime(60);
    expect(await slices(target, { holder: 'other' })).toMatchObject({ delivered: 1 });
    expect(target.posted).toEqual([ours]);
    const kinds = target.sent.map(({ kind, keys }) => `${kind} ${keys.includes(theirs!) ? 'theirs' : 'ours'}`);
    expect(kinds.indexOf('find theirs')).toBeLessThan(kinds.indexOf('create ours'));
    installation = 1;
    expect(await units()).toMatchObject([{ state: 'pending' }]);
    await slices(target);
    expect(target.posted.toSorted()).toEqual([ours, theirs].toSorted());
  });

  it('sends nothing more if it resumes after its lease was taken over', async () => {
    await enqueued(2);
    const target = open();
    const takeAway = () => execute(db, `update lease set token = token + 1, holder = 'two', is_in_order = false`);
    target.after = async ({ kind }) => {
      if (kind === 'create') await takeAway();
    };
    expect(await slice(target)).toMatchObject({ delivered: 0, waitingFor: { code: 'erp_company_busy' } });
    expect(target.sizes('post')).toEqual([]);
    target.after = () => undefined;
    await passTime(60);
    await slices(target, { holder: 'three' });
    expect(target.posted).toHaveLength(2);
    expect(target.drafts).toEqual([]);
    expect(target.sizes('create')).toEqual([2]);
  });
});

describe('a request without an answer', () => {
  it('is looked up once the server can have finished, and never halved or refused', async () => {
    const keys = await enqueued(4);
    const target = open({ doubt: { server_may_work_seconds: 60 } });
    let isDown = true;
    target.after = ({ kind }) => {
      if (kind === 'create' && isDown) throw timeOut();
    };
    const first = await slice(target);
    expect(first).toMatchObject({ delivered: 0, uncertain: 4, left: 4, waitingFor: { code: 'erp_no_answer' } });
    expect(first.nextDueMs).toBeGreaterThan(50_000);
    expect(await slice(target)).toMatchObject({ uncertain: 4 });
    expect(target.sizes('find')).toEqual([]);
    isDown = false;
    await passTime(61);
    expect(await slice(target)).toMatchObject({ delivered: 4, uncertain: 0 });
    expect(target.sizes('create')).toEqual([4]);
    expect(target.posted).toEqual(keys);
  });

  it('that had no effect is sent again with the same attempt id', async () => {
    await enqueued(3);
    const target = open();
    let left = 5;
    target.before = ({ kind }) => {
      if (kind === 'create' && left-- > 0) throw timeOut();
    };
    await slices(target);
    expect(target.sizes('create')).toEqual([3, 3, 3, 3, 3, 3]);
    expect(new Set(target.sent.flatMap(({ kind, attemptId }) => (kind === 'create' ? attemptId : []))).size).toBe(1);
    expect(await stateCounts()).toEqual({ delivered: 3 });
  });

  it('is not judged by an incomplete look-up', async () => {
    await enqueued(2);
    const target = open();
    target.after = ({ kind }) => {
      if (kind === 'create') throw timeOut();
    };
    await slice(target);
    target.after = () => undefined;
    target.isComplete = false;
    target.held.splice(0);
    await passTime(600);
    await slice(target);
    await passTime(600);
    await slice(target);
    expect(target.sizes('create')).toEqual([2]);
    expect(await units()).toMatchObject([{ state: 'uncertain' }, { state: 'uncertain' }]);
    target.isComplete = true;
    await slices(target);
    expect(await stateCounts()).toEqual({ delivered: 2 });
  });

  it('is looked up with all others by one scan since the first attempt; their drafts are posted one by one', async () => {
    const keys = await enqueued(3);
    const target = open();
    let isLost = true;
    target.after = ({ kind }) => {
      if (kind !== 'create' || !isLost) return;
      throw timeOut();
    };
    const from = new Date();
    await slice(target);
    isLost = false;
    await passTime(600);
    const scanned = open({ key: { lookup: 'scan_since' }, write: { max_entries: 1 } });
    scanned.held.push(...target.held);
    await slices(scanned);
    // The look-up, and two searches for surplus drafts.
    expect(scanned.searched.map((searched) => searched.map(({ key }) => key))).toEqual([keys, keys, keys]);
    for (const { since } of scanned.searched.flat()) {
      expect(since?.getTime()).toBeGreaterThanOrEqual(from.getTime());
      expect(since?.getTime()).toBeLessThanOrEqual(Date.now());
    }
    expect(scanned.sizes('post')).toEqual([1, 1, 1]);
    expect(scanned.posted).toEqual(keys);
  });

  it('leaves no surplus draft, and one posted entry', async () => {
    const [key] = await enqueued(1);
    const target = open();
    target.after = ({ kind }) => {
      if (kind === 'create') throw timeOut();
    };
    await slice(target);
    target.after = () => undefined;
    target.copy(key!, 'draft');
    target.copy(key!, 'draft');
    await slices(target);
    expect(target.posted).toEqual([key]);
    expect(target.drafts).toEqual([]);
  });

  it('is looked up too if it was to post', async () => {
    const keys = await enqueued(2);
    const target = open();
    let isLost = true;
    target.after = ({ kind }) => {
      if (kind !== 'post' || !isLost) return;
      isLost = false;
      throw timeOut();
    };
    await slices(target);
    expect(target.sizes('post')).toEqual([2]);
    expect(target.posted).toEqual(keys);
    expect(await stateCounts()).toEqual({ delivered: 2 });
  });
});

describe('a refusal', () => {
  it('with a known reason refuses its entry alone, and is not repeated', async () => {
    const keys = await enqueued(8);
    const target = open();
    target.before = ({ kind, keys: sent }) => {
      if (kind === 'create' && sent.includes(keys[2]!)) throw refused('erp_account_unknown');
    };
    expect(await slices(target)).toMatchObject({ left: 0, nextDueMs: null });
    expect(await stateCounts()).toEqual({ delivered: 7, 'refused erp_account_unknown': 1 });
    expect((await units())[2]).toMatchObject({ state: 'refused' });
    const requests = target.sent.length;
    await slices(target);
    expect(target.sent).toHaveLength(requests);
    // Eight, four, two, one: bisection finds the unit.
    expect(target.sizes('create').filter((_, n) => n < 4)).toEqual([8, 4, 2, 2]);
  });

  it('that names its entry does not split the others', async () => {
    const keys = await enqueued(8);
    const target = open();
    target.before = ({ kind, keys: sent }) => {
      if (kind === 'create' && sent.includes(keys[2]!)) throw refused('erp_account_unknown', [keys[2]!]);
    };
    await slices(target);
    expect(target.sizes('create')).toEqual([8, 7]);
    expect(await stateCounts()).toEqual({ delivered: 7, 'refused erp_account_unknown': 1 });
  });

  it('of an ERP that keeps the valid entries does not send these again', async () => {
    const keys = await enqueued(4);
    const target = open({ write: { steps: 'one' } });
    let isFirst = true;
    target.after = ({ kind }) => {
      if (kind !== 'create' || !isFirst) return;
      isFirst = false;
      const at = target.held.findIndex(({ key }) => key === keys[1]);
      target.held.splice(at, 1);
      throw refused('erp_tax_unknown', [keys[1]!]);
    };
    await slices(target);
    expect(await stateCounts()).toEqual({ delivered: 3, 'refused erp_tax_unknown': 1 });
    expect(target.sizes('create')).toEqual([4]);
  });

  it('of posting deletes the draft', async () => {
    const keys = await enqueued(4);
    const target = open();
    target.before = ({ kind, keys: sent }) => {
      if (kind === 'post' && sent.includes(keys[3]!)) throw refused('erp_party_refused');
    };
    await slices(target);
    expect(await stateCounts()).toEqual({ delivered: 3, 'refused erp_party_refused': 1 });
    expect(target.drafts).toEqual([]);
  });

  it('with an unknown message halves the batch, and refuses the entry after three attempts', async () => {
    const keys = await enqueued(8);
    const target = open();
    const tried = () =>
      target.sent.filter(({ kind, keys: sent }) => kind === 'create' && sent.length === 1 && sent[0] === keys[5]);
    target.before = ({ kind, keys: sent }) => {
      if (kind === 'create' && sent.includes(keys[5]!)) throw unknown();
    };
    await slices(target);
    expect(await stateCounts()).toEqual({ delivered: 7, 'refused erp_refused_unknown': 1 });
    expect(tried()).toHaveLength(3);
    // Each attempt has a new id, because an ERP may replay the answer of a known id.
    expect(new Set(tried().map(({ attemptId }) => attemptId)).size).toBe(3);
  });

  it('is sent again after `deliver retry`, as a new attempt and looked up first', async () => {
    const [key] = await enqueued(1);
    const target = open();
    target.before = ({ kind }) => {
      if (kind === 'create') throw refused('erp_account_unknown');
    };
    await slices(target);
    target.before = () => undefined;
    await db.transaction((trx) => retryUnits(trx, installation, null, by));
    const before = target.sent.length;
    await slices(target);
    expect(target.sent.slice(before).map(({ kind }) => kind)).toEqual(['find', 'create', 'read', 'post', 'read']);
    const attempts = target.sent.flatMap(({ kind, attemptId }) => (kind === 'create' ? attemptId : []));
    expect(new Set(attempts).size).toBe(attempts.length);
    expect(target.posted).toEqual([key]);
  });

  it('by the mapping is tried again only with another mapping', async () => {
    await enqueued(1);
    const target = open();
    const unmapped = () => ({ problems: [{ code: 'vat_code_unmapped', message: 'no code' }] });
    expect(await slices(target, { translate: unmapped })).toMatchObject({ nextDueMs: null });
    expect(await stateCounts()).toEqual({ 'refused vat_code_unmapped': 1 });
    await slices(target);
    expect(await stateCounts()).toEqual({ 'refused vat_code_unmapped': 1 });
    await slices(target, { mappingHash: 'another' });
    expect(await stateCounts()).toEqual({ delivered: 1 });
  });
});

describe('a mapping that can no longer translate a unit', () => {
  const unmapped = () => ({ problems: [{ code: 'vat_code_unmapped', message: 'no code' }] });

  it('does not hide what the ERP has', async () => {
    const keys = await enqueued(2);
    const target = open();
    target.after = ({ kind }) => {
      if (kind === 'post') throw timeOut();
    };
    await slice(target);
    target.after = () => undefined;
    await slices(target, { translate: unmapped, mappingHash: 'another' });
    expect(await stateCounts()).toEqual({ 'refused vat_code_unmapped': 2 });
    expect(await query(db, 'select erp_number from erp_unit order by seq')).toEqual([
      { erp_number: '1' },
      { erp_number: '2' },
    ]);
    await slices(target);
    expect(await stateCounts()).toEqual({ delivered: 2 });
    expect(target.posted).toEqual(keys);
  });

  it('leaves no draft of a request without an answer', async () => {
    await enqueued(2);
    const target = open();
    target.after = ({ kind }) => {
      if (kind === 'create') throw timeOut();
    };
    await slice(target);
    target.after = () => undefined;
    await slices(target, { translate: unmapped, mappingHash: 'another' });
    expect(await stateCounts()).toEqual({ 'refused vat_code_unmapped': 2 });
    expect(target.drafts).toEqual([]);
  });
});

describe('an entry that is read back', () => {
  it('differs as a draft: it is deleted and refused', async () => {
    await enqueued(2);
    const target = open();
    let n = 0;
    target.onCreate = (entry) => {
      n += 1;
      if (n === 1) entry.lines = entry.lines.map((line, at) => (at === 0 ? { ...line, account: '9999' } : line));
    };
    await slices(target);
    expect(await stateCounts()).toEqual({ delivered: 1, 'refused erp_differs': 1 });
    expect(target.drafts).toEqual([]);
    const [refused] = await query<{ message: string }>(
      db,
      `select problem_message as message from erp_unit where problem_code = 'erp_differs'`,
    );
    expect(refused?.message).toMatch(/It was a draft, and is deleted in the ERP; `vetledger deliver retry` sends/);
    // The message of the problem promises this.
    await db.transaction((trx) => retryUnits(trx, installation, null, by));
    await slices(target);
    expect(await stateCounts()).toEqual({ delivered: 2 });
  });

  it('appears late, and differs', async () => {
    await enqueued(1);
    const target = open({ read_back: { by: 'key' }, key: { lookup_lag_seconds: 5 } });
    target.onCreate = (entry) => {
      entry.lines = entry.lines.map((line, at) => (at === 0 ? { ...line, account: '9999' } : line));
    };
    const late = target.find.bind(target);
    let asked = 0;
    target.find = async (...args) => {
      asked += 1;
      return asked % 2 === 1 ? { found: [], isComplete: true } : late(...args);
    };
    await slices(target);
    expect(await stateCounts()).toEqual({ 'refused erp_differs': 1 });
    expect(target.sizes('create')).toEqual([1]);
    expect(target.drafts).toEqual([]);
  });

  it('differs as a posted entry: it is never sent again', async () => {
    const [key] = await enqueued(1);
    const target = open();
    target.after = ({ kind }) => {
      if (kind === 'post') for (const entry of target.held) entry.date = '2026-03-31';
    };
    await slices(target);
    expect(await stateCounts()).toEqual({ 'refused erp_differs': 1 });
    const [{ message }] = (await query<{ message: string }>(db, 'select problem_message as message from erp_unit')) as [
      { message: string },
    ];
    expect(message).toBe('the entry was sent with the date 2026-02-01; the ERP has 2026-03-31');
    target.after = () => undefined;
    await db.transaction((trx) => retryUnits(trx, installation, null, by));
    await slices(target);
    expect(await stateCounts()).toEqual({ 'refused erp_differs': 1 });
    // After a correction in the ERP, the unit is delivered.
    for (const entry of target.held) entry.date = '2026-02-01';
    await db.transaction((trx) => retryUnits(trx, installation, null, by));
    await slices(target);
    expect(await stateCounts()).toEqual({ delivered: 1 });
    expect(target.sizes('create')).toEqual([1]);
    expect(target.posted).toEqual([key]);
  });

  it('occurs twice as a posted entry', async () => {
    const [key] = await enqueued(1);
    const target = open();
    target.after = ({ kind }) => {
      if (kind === 'create') throw timeOut();
    };
    await slice(target);
    target.after = () => undefined;
    target.copy(key!, 'posted');
    target.copy(key!, 'posted');
    await slices(target);
    expect(await stateCounts()).toEqual({ 'refused erp_doubled': 1 });
  });

  it('is missing several times', async () => {
    await enqueued(1);
    const target = open();
    target.after = ({ kind }) => {
      if (kind === 'create') target.held.splice(0);
    };
    await slices(target);
    expect(await stateCounts()).toEqual({ 'refused erp_refused_unknown': 1 });
    expect(target.sizes('create')).toEqual([1, 1, 1]);
  });
});

describe('closed periods', () => {
  const periodsAsked = (target: ScriptedTarget) => target.sent.filter(({ kind }) => kind === 'periods').length;
  const closed = { periods: null, lockedThrough: [{ kind: 'general', date: '2026-02-28' }] } as const;
  const readLongAgo = () =>
    execute(db, `update erp_company set periods_read_at = periods_read_at - interval '16 minutes'`);

  it.each<[onLocked: 'refused' | 'redated' | 'warned', asked: number]>([
    ['refused', 2],
    ['redated', 3],
    ['warned', 3],
  ])(
    'of an ERP by which what is dated in them is %s are asked for at most every 15 minutes only where that is safe',
    async (onLocked, asked) => {
      const target = open({ periods: { on_locked: onLocked } });
      for (const n of [1, 2]) {
        await enqueued(1, n);
        await slices(target);
      }
      await readLongAgo();
      await enqueued(1, 3);
      await slices(target);
      expect(await stateCounts()).toEqual({ delivered: 3 });
      expect(periodsAsked(target)).toBe(asked);
    },
  );

  it('that were read recently refuse nothing without a new query', async () => {
    await enqueued(1);
    const target = open();
    target.openPeriods = { ...closed, lockedThrough: [...closed.lockedThrough] };
    await slices(target);
    target.openPeriods = { periods: null, lockedThrough: [] };
    await db.transaction((trx) => retryUnits(trx, installation, null, by));
    await slices(target);
    expect(await stateCounts()).toEqual({ delivered: 1 });
    expect(periodsAsked(target)).toBe(2);
  });

  it('are used as stored if the ERP does not answer in time', async () => {
    await enqueued(1);
    const target = open();
    await slices(target);
    await readLongAgo();
    await enqueued(1, 2);
    target.before = ({ kind }) => {
      if (kind === 'periods') throw timeOut();
    };
    await slices(target);
    expect(await stateCounts()).toEqual({ delivered: 2 });
  });

  it('automatically make waiting units late; units that wait for approval keep their state', async () => {
    await enqueued(6);
    const target = open();
    await execute(db, `update erp_unit set needs_approval = true where seq = (select min(seq) from erp_unit)`);
    const set = (nth: number, changes: string) =>
      execute(
        db,
        `update erp_unit set ${changes} where unit_id = (select unit_id from erp_unit order by seq offset ? limit 1)`,
        [nth],
      );
    await set(1, `state = 'refused', problem_code = 'erp_account_unknown'`);
    await set(2, `state = 'refused', problem_code = 'erp_differs', erp_id = '7'`);
    await set(3, `state = 'delivered'`);
    await set(4, `not_before = clock_timestamp() + interval '1 day'`);
    target.openPeriods = { ...closed, lockedThrough: [...closed.lockedThrough] };
    await slice(target);
    const found = await query<{ seen: string }>(
      db,
      `select state || ' ' || coalesce(problem_code, '') || ' ' || (late_since is not null) as seen from erp_unit order by seq`,
    );
    expect(found.map(({ seen }) => seen)).toEqual([
      'pending  true',
      'refused period_closed_in_erp true',
      'refused erp_differs false',
      'delivered  false',
      'refused period_closed_in_erp true',
      'refused period_closed_in_erp true',
    ]);
  });

  it('that were closed since the last reading are read again once the ERP refuses an entry', async () => {
    await enqueued(1);
    const target = open();
    await slices(target);
    await enqueued(2, 2);
    target.openPeriods = { ...closed, lockedThrough: [...closed.lockedThrough] };
    target.before = ({ kind }) => {
      if (kind === 'post' || kind === 'create')
        throw new ErpError('refused', 'closed', { problem: 'period_closed_in_erp' });
    };
    await slices(target);
    expect(await stateCounts()).toEqual({ delivered: 1, 'refused period_closed_in_erp': 2 });
    expect(await query(db, 'select periods::text from erp_company')).toEqual([
      { periods: expect.stringContaining('2026-02-28') },
    ]);
  });

  it('are read before a batch, and no entry is sent into them', async () => {
    await enqueued(2);
    const target = open();
    target.openPeriods = { periods: null, lockedThrough: [{ kind: 'general', date: '2026-02-28' }] };
    expect(await slices(target)).toMatchObject({ refused: 2, delivered: 0 });
    expect(target.sizes('create')).toEqual([]);
    expect(await stateCounts()).toEqual({ 'refused period_closed_in_erp': 2 });
    const [{ periods }] = (await query<{ periods: string }>(db, 'select periods from erp_company')) as [
      { periods: string },
    ];
    expect(periods).toContain('2026-02-28');
    target.openPeriods = { periods: null, lockedThrough: [] };
    await db.transaction((trx) => retryUnits(trx, installation, null, by));
    await slices(target);
    expect(await stateCounts()).toEqual({ delivered: 2 });
  });

  it('that are unreadable stop deliveries to an ERP that moves dates', async () => {
    await enqueued(1);
    const target = open({ periods: { readable: false, on_locked: 'redated' } });
    expect(await slice(target)).toMatchObject({ nextDueMs: null, waitingFor: { code: 'erp_locks_unreadable' } });
    expect(target.sent).toEqual([]);
  });
});

describe('drafts for review', () => {
  const review = { post: 'draft' } as const;

  it('are left for the accountant, and delivered when they are posted', async () => {
    const keys = await enqueued(2);
    const target = open();
    expect(await slice(target, review)).toMatchObject({ delivered: 0, left: 0, nextDueMs: null });
    expect(target.drafts).toEqual(keys);
    expect(await stateCounts()).toEqual({ drafted: 2 });
    // A delivery within the next minutes does not request the drafts again.
    const asked = target.sent.length;
    await slice(target, review);
    expect(target.sent).toHaveLength(asked);
    await passTime(200);
    await slice(target, review);
    expect(await stateCounts()).toEqual({ drafted: 2 });
    Object.assign(target.held[0]!, { state: 'posted', number: '17' });
    await passTime(200);
    expect(await slice(target, review)).toMatchObject({ delivered: 1 });
    expect(await stateCounts()).toEqual({ delivered: 1, drafted: 1 });
  });

  it('are deleted and late once their period is closed', async () => {
    await enqueued(2);
    const target = open();
    await slice(target, review);
    target.openPeriods = { periods: null, lockedThrough: [{ kind: 'general', date: '2026-02-28' }] };
    await passTime(200);
    await execute(db, `update erp_company set periods_read_at = periods_read_at - interval '16 minutes'`);
    await slice(target, review);
    expect(await stateCounts()).toEqual({ 'refused period_closed_in_erp': 2 });
    expect(target.drafts).toEqual([]);
  });

  it('make an ERP available again after it was unreachable', async () => {
    await enqueued(1);
    const target = open();
    await slice(target, review);
    target.before = ({ kind }) => {
      if (kind === 'find') throw timeOut();
    };
    await passTime(200);
    await slice(target, review);
    expect(await isFailing()).toBe(true);
    target.before = () => undefined;
    await passTime(600);
    await slice(target, review);
    expect(await isFailing()).toBe(false);
  });

  it('that the accountant changed are reported when they are posted', async () => {
    await enqueued(1);
    const target = open();
    await slice(target, review);
    Object.assign(target.held[0]!, { date: '2026-02-02' });
    await passTime(200);
    await slice(target, review);
    expect(await stateCounts()).toEqual({ drafted: 1 });
    Object.assign(target.held[0]!, { state: 'posted', number: '17' });
    await passTime(200);
    await slice(target, review);
    expect(await stateCounts()).toEqual({ 'refused erp_differs': 1 });
  });

  it('that were deleted are refused, and created again on request', async () => {
    await enqueued(1);
    const target = open();
    await slice(target, review);
    target.held.splice(0);
    await passTime(200);
    await slice(target, review);
    expect(await stateCounts()).toEqual({ 'refused erp_draft_deleted': 1 });
    await db.transaction((trx) => retryUnits(trx, installation, null, by));
    await slice(target, review);
    expect(await stateCounts()).toEqual({ drafted: 1 });
  });

  it('of a request without an answer stay unchanged', async () => {
    const keys = await enqueued(2);
    const target = open();
    target.after = ({ kind }) => {
      if (kind === 'create') throw timeOut();
    };
    await slice(target, review);
    target.after = () => undefined;
    await slices(target, review);
    expect(await stateCounts()).toEqual({ drafted: 2 });
    expect(target.drafts.toSorted()).toEqual(keys.toSorted());
    expect(target.sizes('create')).toEqual([2]);
  });
});

describe('an ERP that is down', () => {
  const down: [string, () => ErpError, string][] = [
    ['cannot be reached', () => new ErpError('unsent', 'connect ECONNREFUSED'), 'erp_unreachable'],
    ['refuses the credentials', () => new ErpError('auth', 'wrong password'), 'erp_login_refused'],
    ['throttles', () => new ErpError('throttled', 'slow down', { retryAfterMs: 20_000 }), 'erp_throttled'],
    ['is locked', () => new ErpError('locked', 'locked by another'), 'erp_locked'],
  ];
  test.each(down)('%s: nothing is lost, refused or asked all the time', async (_, error, code) => {
    await enqueued(3);
    const target = open();
    target.before = () => {
      throw error();
    };
    const report = await slice(target);
    expect(report).toMatchObject({ delivered: 0, refused: 0, left: 3, waitingFor: { code } });
    expect(report.nextDueMs).toBeGreaterThan(0);
    const asked = target.sent.length;
    expect((await slice(target)).waitingFor).toMatchObject({ code });
    expect(target.sent).toHaveLength(asked);
    target.before = () => undefined;
    await slices(target);
    expect(await stateCounts()).toEqual({ delivered: 3 });
  });

  it('is queried less and less often', async () => {
    await enqueued(1);
    const target = open();
    target.before = () => {
      throw new ErpError('unsent', 'connect ECONNREFUSED');
    };
    const waits: number[] = [];
    for (let n = 0; n < 4; n++) {
      waits.push((await slice(target)).nextDueMs ?? 0);
      await passTime(400);
    }
    expect(waits.toSorted((a, b) => a - b)).toEqual(waits);
    expect(waits[3]! > 3 * waits[0]!).toBe(true);
  });

  it('that answers every create with the same unknown error is not queried for each entry', async () => {
    await enqueued(50);
    const target = open({ write: { max_entries: 10 } });
    target.before = ({ kind }) => {
      if (kind === 'create') throw unknown();
    };
    for (let n = 0; n < 5; n++) await slice(target);
    expect(target.sizes('create').length).toBeLessThanOrEqual(5);
  });
});

describe('a delivery', () => {
  it('that is paused sends nothing', async () => {
    await enqueued(1);
    const target = open();
    await db.transaction((trx) => pauseDelivery(trx, installation, by));
    expect(await slice(target)).toMatchObject({ nextDueMs: null, waitingFor: { code: 'delivery_paused' } });
    expect(target.sent).toEqual([]);
    await db.transaction((trx) => resumeDelivery(trx, installation, by));
    expect(await slice(target)).toMatchObject({ delivered: 1 });
  });

  it('that is cancelled in a request leaves it in doubt', async () => {
    const keys = await enqueued(1);
    const target = open();
    const cancel = new AbortController();
    target.after = ({ kind }) => {
      if (kind !== 'create') return;
      cancel.abort(new Error('cancelled'));
      throw new ErpError('doubt', 'aborted');
    };
    await expect(slice(target, { signal: cancel.signal })).rejects.toThrow('cancelled');
    expect(await units()).toMatchObject([{ state: 'sending' }]);
    target.after = () => undefined;
    await slices(target);
    expect(target.posted).toEqual(keys);
    expect(target.sizes('create')).toEqual([1]);
  });

  it('takes turns with another installation of the company', async () => {
    await enqueued(6);
    installation = 2;
    await enqueued(6);
    const target = open({ write: { max_entries: 1 } });
    let inFlight = 0;
    let most = 0;
    target.before = async () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await new Promise((resolve) => setImmediate(resolve));
    };
    target.after = () => {
      inFlight -= 1;
    };
    const two = slice(target);
    installation = 1;
    await Promise.all([slice(target), two]);
    expect(most).toBe(1);
    expect(target.posted).toHaveLength(12);
    expect(new Set(target.posted).size).toBe(12);
  });

  it('of units that a former company may have waits for a person’s decision', async () => {
    await enqueued(2);
    const target = open();
    target.before = ({ kind }) => {
      if (kind === 'create') throw timeOut();
    };
    await slice(target);
    await enqueued(1, 10);
    const other = Object.assign(open(), { company: { kind: 'scripted', url: 'memory:', id: '2' } });
    await slices(other);
    expect(await stateCounts()).toEqual({ 'refused erp_company_changed': 2, delivered: 1 });
    await db.transaction((trx) => retryUnits(trx, installation, null, by));
    await slices(other);
    expect(await stateCounts()).toEqual({ delivered: 3 });
  });

  it('to an ERP without look-up leaves a unit in doubt to a person', async () => {
    await enqueued(2);
    const target = open({ key: { lookup: 'none' }, write: { steps: 'one' } });
    target.before = ({ kind }) => {
      if (kind === 'create') throw timeOut();
    };
    await slices(target);
    expect(await stateCounts()).toEqual({ 'refused erp_unverified': 2 });
    expect(target.sizes('create')).toEqual([1, 1]);
  });
});
