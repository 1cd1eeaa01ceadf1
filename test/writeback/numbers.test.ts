import fc from 'fast-check';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { transactionsOf } from '../../src/db/lease.ts';
import { execute } from '../../src/db/rows.ts';
import { type DraftEntry, reversedLines } from '../../src/domain/entry.ts';
import { PracticeError } from '../../src/domain/practice-error.ts';
import { appendEntries } from '../../src/ledger/journal/append-entries.ts';
import { summariseBatch } from '../../src/ledger/summaries/summarise.ts';
import { savePage } from '../../src/mirror/save-page.ts';
import { ExternalIdTaken } from '../../src/practice/external-info.ts';
import { checkWriteBacks } from '../../src/reconcile/e10-write-backs.ts';
import type { Dialect } from '../../src/records/dialect.ts';
import { isJsonObject, readJson } from '../../src/records/json.ts';
import type { DocumentKind, PostingMode } from '../../src/terms.ts';
import { ownEchoes } from '../../src/writeback/echoes.ts';
import { writeBackNumbers } from '../../src/writeback/numbers.ts';
import { standingOf } from '../../src/writeback/plan.ts';
import type { WriteBackPorts } from '../../src/writeback/write-back.ts';
import { draft } from '../ledger/drafts.ts';
import { useDatabase } from '../support/database.ts';
import { answerTimes } from '../support/practice-list.ts';
import { runs } from '../support/runs.ts';
import { query } from '../support/sql.ts';

const { db } = useDatabase();
let installation = 0;
let source: Source;
beforeEach(() => {
  installation += 1;
  source = new Source(loadDialect());
});

describe('the value to write to the source for a delivered document', () => {
  const ours = new Set(['M-1', '1/prepayment/7/1']);
  it.each([
    ['the source has no value', null, 'M-2', false, 'missing'],
    ['the source has the number', 'M-2', 'M-2', false, 'shown'],
    ['the source has an earlier number', 'M-1', 'M-2', false, 'missing'],
    ['the source has our entry id', '1/prepayment/7/1', 'M-2', false, 'missing'],
    ['the source has a value of another program', 'SAP-1', 'M-2', false, 'foreign'],
    ['it is reversed, and the source has our number', 'M-1', null, true, 'missing'],
    ['it is reversed, and the source has our number and had another value before', 'M-1', 'SAP-0', true, 'missing'],
    ['it is reversed, and the source has a value of another program', 'SAP-1', null, true, 'foreign'],
    ['it is reversed, and the source has no value', null, 'SAP-0', true, 'shown'],
  ] as const)('%s', (_name, current, value, restores, expected) => {
    const valueIs = restores ? 'former' : 'erp_number';
    expect(standingOf({ current, value, valueIs, isOurs: (one) => ours.has(one), before: null })).toBe(expected);
    expect(standingOf({ current, value, valueIs, isOurs: (one) => ours.has(one), before: [current] })).toBe(expected);
  });
});

describe('the ERP’s number', () => {
  it('is written once the ERP has the entry, and every other key is kept', async () => {
    source.put('prepayment', 7, { external_id: null, till: 'K1' });
    const [id] = await post([prepayment(7)]);
    expect(await tell()).toMatchObject({ written: 0, left: 0, nextDueMs: null });
    await delivered(id!, 'M-1');
    expect(await tell()).toMatchObject({ written: 1, left: 0, waitingFor: null });
    expect(source.info('prepayment', 7)).toEqual({ external_id: 'M-1', till: 'K1' });
    expect(await tell()).toMatchObject({ written: 0 });
    expect(source.sent).toBe(1);
  });

  it('is not written for a draft, nor for an entry that the ERP refused', async () => {
    source.put('prepayment', 7, { external_id: null });
    const [id] = await post([prepayment(7)]);
    for (const state of ['drafted', 'refused', 'uncertain', 'sending']) {
      await execute(db, 'update erp_unit set state = ?, erp_id = ? where unit_id = ?', [state, '11', id!]);
      expect(await tell()).toMatchObject({ written: 0, left: 0 });
    }
    await delivered(id!, 'M-1');
    expect(await tell()).toMatchObject({ written: 1 });
  });

  it('takes the place of the entry id that was written before the books were delivered, and of an earlier number', async () => {
    const [id] = await post([prepayment(7)]);
    source.put('prepayment', 7, { external_id: id! });
    await execute(
      db,
      `insert into write_back (installation, kind, document_id, unit_id, value_is, value, previous_value, state)
       values (?, 'prepayment', 7, ?, 'entry_id', ?, 'SAP-0', 'done')`,
      [installation, id!, id!],
    );
    await delivered(id!, 'M-1');
    await tell();
    expect(source.info('prepayment', 7)).toEqual({ external_id: 'M-1' });

    const [reversal, anew] = await post([reversed(id!, prepayment(7)), prepayment(7, '12.00')]);
    await delivered(reversal!, 'M-2');
    // The correction is not delivered yet, so the known number stays.
    expect(await tell()).toMatchObject({ written: 0, left: 0 });
    expect(source.info('prepayment', 7)).toEqual({ external_id: 'M-1' });
    await delivered(anew!, 'M-3');
    await tell();
    expect(source.info('prepayment', 7)).toEqual({ external_id: 'M-3' });

    const [gone] = await post([reversed(anew!, prepayment(7, '12.00'))]);
    await delivered(gone!, 'M-4');
    await tell();
    expect(source.info('prepayment', 7)).toEqual({ external_id: 'SAP-0' });
  });

  it('is taken away when a reversal has no successor, and nothing stood there before', async () => {
    source.put('prepayment', 7, { external_id: null, till: 'K1' });
    const [id] = await post([prepayment(7)]);
    await delivered(id!, 'M-1');
    await tell();
    const [gone] = await post([reversed(id!, prepayment(7))]);
    expect(await tell()).toMatchObject({ written: 0 });
    await delivered(gone!, 'M-2');
    await tell();
    expect(source.info('prepayment', 7)).toEqual({ external_id: null, till: 'K1' });
    // If no number was ever written, there is nothing to restore.
    source.put('prepayment', 8, { external_id: 'SAP-8' });
    const [other] = await post([prepayment(8)]);
    const [back] = await post([reversed(other!, prepayment(8))]);
    for (const unit of [other!, back!]) await cancelledOut(unit);
    expect(await tell()).toMatchObject({ written: 0, left: 0, taken: 0 });
    expect(source.info('prepayment', 8)).toEqual({ external_id: 'SAP-8' });
  });

  it('never replaces the value of another program, which is reported', async () => {
    source.put('prepayment', 7, { external_id: 'SAP-1' });
    source.put('prepayment', 8, { external_id: null });
    const ids = await post([prepayment(7), prepayment(8)]);
    for (const [n, id] of ids.entries()) await delivered(id, `M-${n + 1}`);
    const refused: unknown[] = [];
    expect(await tell({ onRefused: (document, { code }) => refused.push([document, code]) })).toMatchObject({
      ...{ written: 1, left: 0, taken: 1 },
    });
    expect(source.info('prepayment', 7)).toEqual({ external_id: 'SAP-1' });
    expect(refused).toEqual([[{ kind: 'prepayment', id: 7 }, 'external_id_taken']]);
    expect(await problems()).toEqual([{ document_id: 7, error_code: 'external_id_taken', state: 'taken' }]);

    source.put('prepayment', 7, { external_id: null });
    await overdue();
    expect(await tell()).toMatchObject({ written: 1, taken: 0 });
    expect(source.info('prepayment', 7)).toEqual({ external_id: 'M-1' });
    expect(await problems()).toEqual([]);
  });

  it('never takes the place of the number of another document of ours, which is named', async () => {
    source.put('prepayment', 7, { external_id: 'M-2' });
    source.put('prepayment', 8, { external_id: null });
    const ids = await post([prepayment(7), prepayment(8)]);
    for (const [n, id] of ids.entries()) await delivered(id, `M-${n + 1}`);
    expect(await tell()).toMatchObject({ written: 1, taken: 1 });
    expect(source.info('prepayment', 7)).toEqual({ external_id: 'M-2' });
    expect(await problems()).toEqual([{ document_id: 7, error_code: 'external_id_of_another', state: 'taken' }]);
    expect(await e10()).toMatchObject({ differences: ['prepayment 7'] });
  });

  it('of a daily summary is that of each of its documents', async () => {
    for (const id of [1, 2, 3]) source.put('prepayment', id, { external_id: null });
    await post([prepayment(1), prepayment(2)], 'daily_summary');
    const [alone] = await post([prepayment(3)]);
    await db.transaction((trx) => summariseBatch(trx, installation, { before: '2026-03-01', windowId: null }));
    const [summary] = await query<{ id: string }>(db, 'select id from summary_entry where installation = ?', [
      installation,
    ]);
    await unit(summary!.id, 'daily_summary');
    await delivered(summary!.id, 'S-1');
    await delivered(alone!, 'M-1');
    expect(await tell()).toMatchObject({ written: 3 });
    expect([1, 2, 3].map((id) => source.info('prepayment', id).external_id)).toEqual(['S-1', 'S-1', 'M-1']);
  });

  it('has those of invoices and payments if their records have external_info', async () => {
    source = new Source(loadDialect({ external_info: { kinds: ['invoice', 'payment', 'prepayment'] } }));
    source.put('invoice', 1, { external_id: null, k: 'v' });
    source.put('invoice', 2, null);
    source.put('payment', 3, { external_id: null });
    const ids = await post([other('invoice', 1), other('invoice', 2), other('payment', 3)]);
    for (const [n, id] of ids.entries()) await delivered(id, `M-${n + 1}`);
    expect(await tell()).toMatchObject({ written: 2, left: 0 });
    expect(source.info('invoice', 1)).toEqual({ external_id: 'M-1', k: 'v' });
    expect(source.info('payment', 3)).toEqual({ external_id: 'M-3' });
    expect(source.sent).toBe(2);
  });

  it('is written through the sub-resource where an installation offers only that', async () => {
    source = new Source(loadDialect({ external_info: { mode: 'subresource' } }));
    source.put('prepayment', 7, { external_id: null });
    source.put('prepayment', 8, { external_id: 'SAP-1' });
    source.hidesInfo = true;
    const ids = await post([prepayment(7), prepayment(8)]);
    for (const [n, id] of ids.entries()) await delivered(id, `M-${n + 1}`);
    expect(await tell()).toMatchObject({ written: 1, taken: 1 });
    expect(source.info('prepayment', 7)).toEqual({ external_id: 'M-1' });
    expect(source.info('prepayment', 8)).toEqual({ external_id: 'SAP-1' });
  });

  it('is not believed to be there until it is read back, and tried again until it holds', async () => {
    source.put('prepayment', 7, { external_id: null });
    const [id] = await post([prepayment(7)]);
    await delivered(id!, 'M-1');
    source.drops = 2;
    for (const n of [1, 2]) {
      const report = await tell();
      expect(report).toMatchObject({ written: 0, left: 1 });
      expect(report.nextDueMs).toBeGreaterThan(0);
      expect(await tell()).toMatchObject({ written: 0, left: 1 });
      expect(source.sent).toBe(n);
      await overdue();
    }
    expect(await tell()).toMatchObject({ written: 1, left: 0, nextDueMs: null });
  });

  it('is neither written to a record that is put aside nor read from its earlier version', async () => {
    for (const id of [7, 8]) source.put('prepayment', id, { external_id: null });
    const ids = await post([prepayment(7), prepayment(8)]);
    await delivered(ids[0]!, 'M-1');
    source.drops = 1;
    await tell();
    await delivered(ids[1]!, 'M-2');
    await source.ports().refresh('prepayment', [7, 8], false);
    // The answers of the source contain both records in two versions, so the mirror keeps the earlier ones.
    await execute(
      db,
      `insert into put_aside (installation, kind, record, code, message)
       values (?, 'prepayment', '7', 'contradiction', ''), (?, 'prepayment', '8', 'contradiction', '')`,
      [installation, installation],
    );
    const { refresh } = source.ports();
    for (const id of [7, 8]) source.put('prepayment', id, { external_id: 'SAP-1', till: 'K1' });
    for (let n = 0; n < 3; n++) {
      await overdue();
      const noneStored = async (_: unknown, wanted: readonly number[]) => new Map(wanted.map((id) => [id, true]));
      expect(await tell({ refresh: noneStored })).toMatchObject({ written: 0, left: 2, waitingFor: null });
    }
    expect(source.sent).toBe(1);
    expect(await problems()).toMatchObject([
      { document_id: 7, error_code: 'number_not_written', state: 'failed' },
      { document_id: 8, error_code: 'number_not_written', state: 'failed' },
    ]);

    await execute(db, 'delete from put_aside where installation = ?', [installation]);
    await refresh('prepayment', [7, 8], false);
    await overdue();
    expect(await tell()).toMatchObject({ written: 0, left: 0, taken: 2 });
    expect(source.overwritten).toEqual([]);
  });

  it('waits while the practice software is down, and one record that fails keeps back no other', async () => {
    const ids = await post(Array.from({ length: 20 }, (_, n) => prepayment(n + 1)));
    for (const [n, id] of ids.entries()) {
      source.put('prepayment', n + 1, { external_id: null });
      await delivered(id, `M-${n + 1}`);
    }
    source.fails = (id) => (id === 3 ? 'refused' : null);
    expect(await tell()).toMatchObject({ written: 19, left: 1, waitingFor: null });
    await overdue();
    source.fails = () => 'unreachable';
    expect(await tell()).toMatchObject({ written: 0, left: 1 });
    source.isDown = true;
    await overdue();
    expect(await tell()).toMatchObject({ written: 0, left: 1, waitingFor: { code: 'unreachable' } });
    [source.isDown, source.fails] = [false, () => null];
    expect(await tell()).toMatchObject({ written: 1, left: 0, waitingFor: null });
  });
});

describe('a version that shows only what we wrote', () => {
  it('is no change of an invoice, and its rows stay fresh', async () => {
    const dialect = loadDialect({ external_info: { kinds: ['invoice'] } });
    source = new Source(dialect);
    const scope = { installation, timezone: 'Europe/Helsinki', dialect, keepRaw: 'mapped' as const };
    const save = async (info: object, at: string, changes: object = {}) => {
      const record = {
        ...{ id: 1, status: 3, total: '10.00', total_vat: '0.00', total_with_vat: '10.00' },
        ...{ modified: at, external_info: info, ...changes },
      };
      const raw = JSON.stringify(record);
      const page = { results: [{ id: 1, raw, value: readJson(raw) }], ...answerTimes({ sourceTime: new Date(at) }) };
      return db.transaction((trx) =>
        savePage(trx, scope, 'invoice', page, ownEchoes(trx, installation, dialect)).then(({ pulled }) => pulled),
      );
    };
    const freshness = async () =>
      query<{ version: number; fresh: boolean; dirty: boolean }>(
        db,
        `select m.version, m.rows_source_time >= m.rows_fresh_from as fresh, d.dirty
         from mirror_record m join document d using (installation, kind, id) where installation = ?`,
        [installation],
      );
    expect(await save({ external_id: null, k: 1 }, '2026-02-01T10:00:00Z')).toBe(1);
    await db.raw(`update mirror_record set rows_source_time = '2026-02-01T11:00:00Z' where installation = ?`, [
      installation,
    ]);
    await db.raw('update document set dirty = false where installation = ?', [installation]);
    const [id] = await post([other('invoice', 1)]);
    await delivered(id!, 'M-1');
    source.put('invoice', 1, { external_id: null, k: 1 });
    await tell({ refresh: async (_kind, ids) => new Map(ids.map((id) => [id, true])) });
    expect(await save({ external_id: 'M-1', k: 1 }, '2026-02-01T12:00:00Z')).toBe(0);
    expect(await freshness()).toEqual([{ version: 2, fresh: true, dirty: false }]);

    // The same value counts as a change if another user wrote it.
    expect(await save({ external_id: 'M-1', k: 2 }, '2026-02-01T13:00:00Z')).toBe(1);
    expect(await freshness()).toEqual([{ version: 3, fresh: null, dirty: true }]);
  });
});

test('values of other programs stay, and ours are written in the end, whatever the requests return', async () => {
  const happening = fc.record({
    request: fc.constantFrom('done', 'done, then 500', '500', 'refused', 'dropped') as fc.Arbitrary<Happening>,
    staff: fc.constantFrom(null, null, 'SAP-1', 'SAP-2'),
    number: fc.constantFrom(null, null, 'M-8', 'M-9'),
  });
  let id = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 5 }), fc.constantFrom(null, 'SAP-0'), async (script, before) => {
      id += 1;
      source = new Source(loadDialect());
      source.put('prepayment', id, { external_id: before, note: 'kept' });
      const [unitId] = await post([prepayment(id)]);
      let number = 'M-1';
      await delivered(unitId!, number);
      let foreign: string | null = before;
      for (const { request, staff, number: next } of [...script, ...Array(3).fill(calm)]) {
        source.happens = request;
        await tell();
        if (staff !== null) {
          source.put('prepayment', id, { ...source.info('prepayment', id), external_id: staff });
          foreign = staff;
        }
        if (next !== null) {
          number = next;
          await execute(db, `update erp_unit set erp_number = ? where unit_id = ?`, [number, unitId!]);
        }
        await overdue();
      }
      expect(source.overwritten).toEqual([]);
      const { external_id, note } = source.info('prepayment', id);
      expect(note).toBe('kept');
      if (foreign === null) expect(external_id).toBe(number);
      else expect(external_id).toBe(foreign);
    }),
    { numRuns: runs(40) },
  );
});

describe('E10 compares what the source shows with the units of the ERP', () => {
  const foreign = { differences: [], foreign: ['prepayment 7'], unproven: [] };
  const different = { differences: ['prepayment 7'], foreign: [], unproven: [] };
  const right = { differences: [], foreign: [], unproven: [] };
  it.each([
    ['its number', 'M-1', right],
    ['none', null, different],
    ['an empty one', '', different],
    ['the number of another document', 'M-2', different],
    ['its entry id, where the number is what is written', 'prepayment/7/1', different],
    ['the entry id of another document', 'prepayment/8/1', different],
    ['somebody else’s value', 'SAP-1', foreign],
  ])('%s', async (_name, value, expected) => {
    for (const id of [7, 8]) source.put('prepayment', id, { external_id: null });
    const ids = await post([prepayment(7), prepayment(8)]);
    for (const [n, id] of ids.entries()) await delivered(id, `M-${n + 1}`);
    await tell();
    expect(await e10()).toEqual(right);
    const shown = value?.startsWith('prepayment/') ? `${installation}/${value}` : value;
    source.put('prepayment', 7, { external_id: shown });
    await source.ports().refresh('prepayment', [7], false);
    expect(await e10()).toEqual(expected);
  });

  it('names a prepayment that was never written back and carries the id of another one', async () => {
    source.put('prepayment', 7, { external_id: `${installation}/prepayment/8/1` });
    source.put('prepayment', 8, { external_id: `${installation + 1}/prepayment/9/1` });
    await source.ports().refresh('prepayment', [7, 8], false);
    expect(await e10()).toEqual(different);
  });

  it('says nothing of what was refused, and that a write is unproven until it is read', async () => {
    for (const id of [7, 8]) source.put('prepayment', id, { external_id: null });
    await source.ports().refresh('prepayment', [7, 8], false);
    const [refused, written] = [`${installation}/prepayment/7/1`, `${installation}/prepayment/8/1`];
    await execute(
      db,
      `insert into write_back (installation, kind, document_id, unit_id, value_is, value, state, written_at)
       values (?, 'prepayment', 7, ?, 'entry_id', ?, 'failed', null), (?, 'prepayment', 8, ?, 'entry_id', ?, 'done', now())`,
      [installation, refused, refused, installation, written, written],
    );
    expect(await e10()).toEqual({ ...right, unproven: ['prepayment 8'] });
  });
});

async function e10() {
  const { equation, foreign, unproven } = await checkWriteBacks(db, { id: installation, dialect: source.dialect });
  const names = (notes: readonly { document: string }[]) => notes.map(({ document }) => document);
  return {
    ...{ differences: names(equation.documents), foreign: names(foreign.items), unproven: names(unproven.items) },
  };
}

type Happening = 'done' | 'done, then 500' | '500' | 'refused' | 'dropped';
const calm = { request: 'done' as const, staff: null, number: null };

/** The external_info of the practice software's records. */
class Source {
  readonly dialect: Dialect;
  sent = 0;
  /** The number of writes that are accepted but not stored. */
  drops = 0;
  hidesInfo = false;
  isDown = false;
  happens: Happening = 'done';
  fails: (id: number) => 'refused' | 'unreachable' | null = () => null;
  /** Values of other users that were overwritten. */
  readonly overwritten: string[] = [];
  readonly #info = new Map<string, Record<string, unknown> | null>();

  constructor(dialect: Dialect) {
    this.dialect = dialect;
  }

  put(kind: DocumentKind, id: number, info: Record<string, unknown> | null): void {
    this.#info.set(`${kind}/${id}`, info);
  }

  info(kind: DocumentKind, id: number): Record<string, unknown> {
    return this.#info.get(`${kind}/${id}`) ?? {};
  }

  record(kind: DocumentKind, id: number): string {
    const info = this.#info.get(`${kind}/${id}`);
    return JSON.stringify({ id, ...(info && !this.hidesInfo ? { external_info: info } : {}) });
  }

  ports(): WriteBackPorts {
    const transact = transactionsOf(db);
    return {
      ...{ db, transact, record: transact, pause: async () => undefined, signal: new AbortController().signal },
      ...{ roomInMs: async () => 0, elapsed: () => performance.now() },
      onProgress: () => undefined,
      onRefused: () => undefined,
      refresh: async (kind, ids) => {
        if (this.isDown) throw new PracticeError('unreachable', 'there is no answer');
        const found = ids.filter((id) => this.#info.has(`${kind}/${id}`));
        for (const id of found) {
          await db.raw(
            `insert into mirror_record (installation, kind, id, version, source_time, first_seen_at, content_hash, raw)
             values (?, ?, ?, 1, now(), now(), 'h', ?::json) on conflict (installation, kind, id) do update set raw = excluded.raw`,
            [installation, kind, id, this.record(kind, id)],
          );
        }
        return new Map(ids.map((id) => [id, found.includes(id)]));
      },
      read: async ({ kind, id }) => (this.info(kind, id).external_id as string | null) ?? null,
      send: async ({ kind, record, externalId, mayReplace }) => {
        const id = isJsonObject(record) ? Number(record.id) : 0;
        const failure = this.fails(id);
        if (failure !== null) throw new PracticeError(failure, 'it failed');
        this.sent += 1;
        const current = (this.info(kind, id).external_id as string | null) ?? null;
        if (this.dialect.external_info.mode === 'subresource' && mayReplace?.(current) === false)
          throw new ExternalIdTaken(current);
        if (this.happens === '500') throw new PracticeError('server_error', 'it failed', { status: 500 });
        if (this.happens === 'refused') throw new PracticeError('refused', 'it refused', { status: 400 });
        if (this.drops-- > 0 || this.happens === 'dropped') return;
        if (current?.startsWith('SAP')) this.overwritten.push(current);
        const sent = isJsonObject(record) && isJsonObject(record.external_info) ? record.external_info : {};
        this.put(kind, id, { ...this.info(kind, id), ...sent, external_id: externalId });
        if (this.happens === 'done, then 500') throw new PracticeError('server_error', 'it failed', { status: 500 });
      },
    };
  }
}

function tell(changes: Partial<WriteBackPorts> = {}) {
  const of = { id: installation, dialect: source.dialect };
  return writeBackNumbers(of, { ...source.ports(), ...changes }, () => false);
}

function prepayment(id: number, amount = '10.00'): DraftEntry {
  return draft({
    ...{ kind: 'prepayment', id, date: '2026-02-01', inputHash: amount },
    lines: [
      ['1910', 'bank_clearing', amount],
      ['2400', 'prepayment_liability', `-${amount}`],
    ],
  });
}

function other(kind: 'invoice' | 'payment', id: number): DraftEntry {
  return draft({
    ...{ kind, id, date: '2026-02-01', inputHash: 'h' },
    lines: [
      ['1910', 'bank_clearing', '10.00'],
      ['1700', 'receivable', '-10.00'],
    ],
  });
}

function reversed(entryId: string, of: DraftEntry): DraftEntry {
  return { ...of, reason: 'source_changed', reverses: entryId, inputHash: entryId, lines: reversedLines(of.lines) };
}

async function post(drafts: DraftEntry[], postingMode: PostingMode = 'document'): Promise<string[]> {
  const ids = await db.transaction((trx) =>
    appendEntries(trx, installation, drafts, { decimals: 2, windowId: null, postingMode }),
  );
  if (postingMode === 'document') for (const id of ids) await unit(id, 'entry');
  return ids;
}

let seq = 0;
async function unit(id: string, kind: 'entry' | 'daily_summary'): Promise<void> {
  await execute(
    db,
    `insert into erp_unit (installation, unit_id, kind, seq, unit_date, erp_key, company)
     values (?, ?, ?, ?, '2026-02-01', ?, 'company')`,
    [installation, id, kind, ++seq, `KEY${seq}`],
  );
}

async function delivered(id: string, number: string): Promise<void> {
  await execute(
    db,
    `update erp_unit set state = 'delivered', erp_id = ?, erp_number = ? where installation = ? and unit_id = ?`,
    [number, number, installation, id],
  );
}

async function cancelledOut(id: string): Promise<void> {
  await execute(db, `update erp_unit set state = 'cancelled_out' where installation = ? and unit_id = ?`, [
    installation,
    id,
  ]);
}

/** Makes the next attempts due. */
async function overdue(): Promise<void> {
  await execute(db, `update write_back set not_before = null where installation = ?`, [installation]);
}

function problems() {
  return query(
    db,
    'select document_id, error_code, state from write_back where installation = ? and error_code is not null',
    [installation],
  );
}
