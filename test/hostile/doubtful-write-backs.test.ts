import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { type Lane, releaseLease, takeLease, transactionsOf } from '../../src/db/lease.ts';
import { PracticeError } from '../../src/domain/practice-error.ts';
import { isJsonObject, type JsonValue } from '../../src/records/json.ts';
import { recordId } from '../../src/records/schema.ts';
import { writeBackEntryIds } from '../../src/writeback/entry-ids.ts';
import type { WriteBackPorts } from '../../src/writeback/write-back.ts';
import { useDatabase } from '../support/database.ts';

const installation = 4711;
const dialect = loadDialect();
const { db } = useDatabase();

interface ExternalInfo {
  external_id: string | null;
  note: string;
}

/** The effect of one request, and what staff write right after it. */
interface Happening {
  request: 'done' | 'done, then 500' | 'done, then unreadable' | '500' | 'refused' | 'done, then the process dies';
  staff: Partial<ExternalInfo>;
}

const happening: fc.Arbitrary<Happening> = fc.record({
  request: fc.constantFrom(
    'done' as const,
    'done, then 500' as const,
    'done, then unreadable' as const,
    '500' as const,
    'refused' as const,
    'done, then the process dies' as const,
  ),
  staff: fc.record(
    { external_id: fc.constantFrom('SAP-1', 'SAP-2'), note: fc.constantFrom('paid twice', 'call back') },
    { requiredKeys: [] },
  ),
});

let lastId = 0;

test('whatever becomes of the requests, what staff write after one stays', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 5 }), fc.constantFrom(null, 'SAP-0'), async (script, before) => {
      // Documents of a failed run are deleted.
      await db.raw('delete from document');
      const id = ++lastId;
      const info: ExternalInfo = { external_id: before, note: 'first' };
      const entryId = `${installation}/prepayment/${id}/1`;
      await store(id, info, entryId);
      const left = [...script];
      // The value that staff wrote after the request may have taken effect. The write-back must not overwrite it.
      let staffId: string | null = null;
      let mayHaveTakenEffect = false;
      const ports: WriteBackPorts = {
        ...{ db, transact: transactionsOf(db), record: transactionsOf(db) },
        signal: new AbortController().signal,
        refresh: async (_kind, ids) => {
          await db.raw(`update mirror_record set raw = ?::json where id = ?`, [rawOf(id, info), id]);
          return new Map(ids.map((each) => [each, true]));
        },
        send: async ({ record: prepayment }) => {
          const { request, staff: written } = left.shift() ?? { request: 'done', staff: {} };
          // Staff never write the previous value again, because that could not be recognised.
          const staff = written.external_id
            ? { ...written, external_id: `${written.external_id}/${left.length}` }
            : written;
          expect(recordId('prepayment', prepayment, 'id')).toBe(id);
          expect(staffId, 'sent over what staff wrote').toBeNull();
          const isWithoutEffect = request === '500' || request === 'refused';
          if (!isWithoutEffect) Object.assign(info, infoIn(prepayment), { external_id: entryId });
          Object.assign(info, staff);
          mayHaveTakenEffect ||= request !== 'refused';
          if (mayHaveTakenEffect) staffId = staff.external_id ?? staffId;
          if (request === 'done') return;
          if (request === 'refused') throw new PracticeError('refused', 'the answer was 400', { status: 400 });
          if (request.endsWith('unreadable')) throw new PracticeError('malformed_response', 'the answer is no record');
          if (request.endsWith('dies')) throw new Died();
          throw new PracticeError('server_error', 'the server failed (500)', { status: 500 });
        },
        pause: async () => undefined,
        ...roomy,
        onProgress: () => undefined,
        read: () => Promise.reject(new Error('the list shows it')),
        onRefused: () => undefined,
      };
      for (let windows = 0; windows < 8; windows++) {
        try {
          await writeBackEntryIds({ id: installation, dialect }, ports, { lane: 'live', token: 0 });
        } catch (error) {
          if (!(error instanceof Died) && !(error instanceof PracticeError)) throw error;
        }
      }
      const notes = script.slice(0, script.length - left.length).flatMap(({ staff }) => staff.note ?? []);
      expect(info.note).toBe(notes.at(-1) ?? 'first');
      expect(info.external_id).toBe(staffId ?? entryId);
    }),
    { numRuns: 100 },
  );
});

/** A rate budget with room. */
const roomy = { roomInMs: async () => 0, elapsed: () => performance.now() };

/**
 * Runs a lane whose requests take effect, are followed by a write of staff, and answer 500, so that each is in doubt.
 */
async function laneInDoubt(lane: Lane, infos: Map<number, ExternalInfo>, beforeSending: () => Promise<void>) {
  const lease = (await takeLease(db, { installation, lane }, lane))!;
  const sent: number[] = [];
  const ports: WriteBackPorts = {
    ...{ db, transact: transactionsOf(db), record: transactionsOf(db) },
    signal: new AbortController().signal,
    refresh: async (_kind, ids) => {
      for (const id of ids)
        await db.raw(`update mirror_record set raw = ?::json where id = ?`, [rawOf(id, infos.get(id)!), id]);
      return new Map(ids.map((id) => [id, true]));
    },
    send: async ({ record: prepayment }) => {
      const id = recordId('prepayment', prepayment, 'id');
      const info = infos.get(id)!;
      await beforeSending();
      sent.push(id);
      Object.assign(info, infoIn(prepayment), { external_id: `STAFF-${id}` });
      throw new PracticeError('server_error', 'the server failed (500)', { status: 500 });
    },
    pause: async () => undefined,
    ...roomy,
    onProgress: () => undefined,
    read: () => Promise.reject(new Error('the list shows it')),
    onRefused: () => undefined,
  };
  return { lease, sent, run: () => writeBackEntryIds({ id: installation, dialect }, ports, lease) };
}

test('a window and a backfill at work side by side send each entry id once, so that what staff write after it stays', async () => {
  await db.raw('delete from document');
  const ids = Array.from({ length: 20 }, () => ++lastId);
  const infos = new Map(ids.map((id) => [id, { external_id: null, note: 'first' } as ExternalInfo]));
  for (const id of ids) await store(id, infos.get(id)!, `${installation}/prepayment/${id}/1`);
  // Both lanes read the current value before either sends anything.
  const bothRead = Promise.withResolvers<void>();
  let reading = 0;
  const meet = async () => {
    reading += 1;
    if (reading === 2) bothRead.resolve();
    await Promise.race([bothRead.promise, new Promise((resolve) => void setTimeout(resolve, 300))]);
  };
  const window = await laneInDoubt('live', infos, meet);
  const backfill = await laneInDoubt('backfill', infos, meet);
  await Promise.all([window.run(), backfill.run()]);
  expect([...window.sent, ...backfill.sent].sort((a, b) => a - b)).toEqual(ids);
  expect(ids.map((id) => infos.get(id)!.external_id)).toEqual(ids.map((id) => `STAFF-${id}`));
});

test('what a lane was about to send when its lease ended is sent by another', async () => {
  await db.raw('delete from document');
  const id = ++lastId;
  const infos = new Map([[id, { external_id: null, note: 'first' } as ExternalInfo]]);
  await store(id, infos.get(id)!, `${installation}/prepayment/${id}/1`);
  const dead = await laneInDoubt('backfill', infos, () => Promise.reject(new Died()));
  await expect(dead.run()).rejects.toThrow(Died);
  const window = await laneInDoubt('live', infos, async () => undefined);
  await window.run();
  expect(window.sent).toEqual([]);
  await releaseLease(db, dead.lease);
  await window.run();
  expect(window.sent).toEqual([id]);
});

/** An error with a `todo` ends the window; it is not a fault of the prepayment. */
class Died extends Error {
  readonly todo = 'nothing';
}

function infoIn(prepayment: JsonValue): object {
  const found = isJsonObject(prepayment) ? prepayment.external_info : null;
  return isJsonObject(found) ? found : {};
}

function rawOf(id: number, info: ExternalInfo): string {
  return JSON.stringify({ id, paid: '10.00', external_info: info });
}

async function store(id: number, info: ExternalInfo, entryId: string): Promise<void> {
  await db.raw(
    `insert into mirror_record (installation, kind, id, version, source_time, first_seen_at, content_hash, raw)
     values (?, 'prepayment', ?, 1, now(), now(), 'h', ?)`,
    [installation, id, rawOf(id, info)],
  );
  await db.raw(
    `insert into document (installation, kind, id, state, entry_id) values (?, 'prepayment', ?, 'posted', ?)`,
    [installation, id, entryId],
  );
}
