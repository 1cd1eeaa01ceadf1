import { describe, expect, it, test } from 'vitest';
import type { ErpEntry } from '../../src/erp/erp-entry.ts';
import type { ErpPeriods } from '../../src/erp/port.ts';
import { assumedFacts, knownFacts } from '../../src/erp/provenance.ts';
import {
  type Absent,
  dateProblem,
  type Failure,
  isSameMessage,
  restMs,
  searchDays,
  sizeProblem,
  strategyOf,
  verdictOf,
  verdictOnAbsence,
} from '../../src/erp/strategy.ts';
import { provenances } from '../../src/erp/targets/provenance.ts';
import { type Changes, capabilitiesWith } from './capabilities.ts';

const requestId: NonNullable<Changes['request_id']> = {
  ...{ header: 'X-Id', max: 36, on_repeat: 'refused', remembered_seconds: 'unknown', survives: 'all' },
};

describe('what a capability record means', () => {
  const cases: [string, Changes, object][] = [
    ['a key that can be looked up decides any doubt', {}, { afterDoubt: 'look_up' }],
    [
      'without look-up, an ERP that refuses a key it has may be asked again',
      { key: { lookup: 'none', unique: 'enforced', duplicate_reply: 'refused' } },
      { afterDoubt: 'send_again', readBack: 'by_id' },
    ],
    [
      'a key that is unique in its period only may be there in another one',
      { key: { lookup: 'none', unique: 'per_period', duplicate_reply: 'refused' } },
      { afterDoubt: 'ask' },
    ],
    [
      'a known key that is written to is never sent again',
      { key: { lookup: 'none', unique: 'enforced', duplicate_reply: 'overwrites' } },
      { afterDoubt: 'ask' },
    ],
    [
      'neither key nor look-up leaves it to somebody',
      { key: { lookup: 'none', unique: 'none' } },
      { afterDoubt: 'ask' },
    ],
    [
      'a look-up waits for the server and for its own lag',
      { doubt: { server_may_work_seconds: 60 }, key: { lookup_lag_seconds: 5 } },
      { lookUpAfterMs: 65_000, seenAfterMs: 5_000 },
    ],
    ['batches are as large as the ERP takes', { write: { max_entries: 30 } }, { batchEntries: 30 }],
    ['and a hundred at most', { write: { max_entries: 5_000 } }, { batchEntries: 100 }],
    ['a search has the keys of a batch', { write: { max_entries: 1 } }, { lookUpKeys: 1 }],
    [
      'a scan answers for all keys at once',
      { write: { max_entries: 1 }, key: { lookup: 'scan_since' } },
      { lookUpKeys: 100 },
    ],
    [
      'a request whose id is refused when it is repeated tells what became of the first one',
      { request_id: requestId },
      { repeatsAtOnce: true },
    ],
    [
      'unless the ERP may have forgotten the id',
      { request_id: { ...requestId, remembered_seconds: 30 }, doubt: { server_may_work_seconds: 60 } },
      { repeatsAtOnce: false },
    ],
    ['or answers as before', { request_id: { ...requestId, on_repeat: 'replayed' } }, { repeatsAtOnce: false }],
    ['one step makes no drafts', { write: { steps: 'one' } }, { draftsFirst: false }],
    ['a journal is posted like drafts', { write: { steps: 'journal_then_post' } }, { draftsFirst: true }],
    ['reading back by period is reading by key', { read_back: { by: 'period' } }, { readBack: 'by_key' }],
    [
      'without key, what is read back needs an id',
      { read_back: { by: 'key' }, key: { lookup: 'none' } },
      { readBack: 'none' },
    ],
    [
      'an ERP that moves dates is sent nothing where its locks cannot be read',
      { periods: { readable: false, on_locked: 'redated' } },
      { unsafe: 'locks_unreadable' },
    ],
    ['one that refuses a locked date may be', { periods: { readable: false, on_locked: 'refused' } }, { unsafe: null }],
  ];
  test.each(cases)('%s', (_, changes, expected) => {
    expect(strategyOf(capabilitiesWith(changes))).toMatchObject(expected);
  });

  it('searches the days to which the ERP may have moved an entry', () => {
    expect(searchDays(capabilitiesWith(), '2026-01-30', '2026-03-01')).toEqual(['2026-01-30']);
    const redated = capabilitiesWith({ periods: { on_locked: 'redated' } });
    const days = searchDays(redated, '2026-01-30', '2026-03-01');
    expect(days.slice(0, 3)).toEqual(['2026-01-30', '2026-01-31', '2026-02-01']);
    expect(days.at(-1)! > '2026-04-30').toBe(true);
    expect(searchDays(redated, '2010-01-01', '2026-03-01').length).toBeLessThanOrEqual(800);
  });
});

test('each field of a record has an origin, and names of facts are those of fields', () => {
  for (const [kind, known] of Object.entries(provenances)) {
    const facts = knownFacts(known);
    const names = facts.map(({ fact }) => fact);
    expect(names, kind).toEqual(expect.arrayContaining(['key.lookup', 'vat.mode', 'request_id', 'errors']));
    expect(Object.keys(known.facts).filter((fact) => !names.includes(fact))).toEqual([]);
    expect(facts.every(({ where }) => where !== '')).toBe(true);
  }
  expect(assumedFacts(provenances.procountor)).toContain('doubt.server_may_work_seconds');
  expect(assumedFacts(provenances.tryton)).toEqual([]);
});

describe('an error of a request that writes', () => {
  const strategy = strategyOf(capabilitiesWith({ doubt: { server_may_work_seconds: 60 } }));
  const error = (means: Failure['error']['means'], more: Partial<Failure['error']> = {}): Failure['error'] => ({
    ...{ means, problem: null, keys: [], retryAfterMs: null },
    ...more,
  });
  const unknown = error('doubt', { problem: 'erp_refused_unknown' });
  const cases: [string, Failure, object][] = [
    [
      'without an answer is waited for, and never halves a batch',
      { error: error('doubt'), entries: 8, failures: 1 },
      { units: 'look_up', isOver: false, doubt: 'no_answer', isHalved: false, waitMs: 60_000 },
    ],
    [
      'without an answer again and again is waited for longer',
      { error: error('doubt'), entries: 8, failures: 20 },
      { waitMs: 300_000 },
    ],
    [
      'that is known and names no entry halves the batch',
      { error: error('refused', { problem: 'erp_refused' }), entries: 8, failures: 1 },
      { units: 'look_up', isOver: true, doubt: 'refused', isHalved: true, waitMs: 0 },
    ],
    [
      'that is known and names its entries leaves the others together',
      { error: error('refused', { keys: ['K'] }), entries: 8, failures: 1 },
      { doubt: 'refused', isHalved: false },
    ],
    ['about one entry halves nothing', { error: error('refused'), entries: 1, failures: 1 }, { isHalved: false }],
    [
      'whose message is not known is doubt; the batch is halved, and the next one is tried',
      { error: unknown, entries: 8, failures: 1 },
      { units: 'look_up', isOver: false, doubt: 'unknown', isHalved: true, waitMs: 0 },
    ],
    ['of that kind twice in a row is waited for', { error: unknown, entries: 8, failures: 2 }, { waitMs: restMs(1) }],
    [
      'that says throttled took no effect',
      { error: error('throttled', { retryAfterMs: 30_000 }), entries: 8, failures: 1 },
      { units: 'again', waitMs: 30_000, isHalved: false },
    ],
    ['about credentials took no effect', { error: error('auth'), entries: 8, failures: 1 }, { units: 'again' }],
    ['before it was sent took no effect', { error: error('unsent'), entries: 8, failures: 1 }, { units: 'again' }],
    [
      'about a lock leaves doubt, since a server between may have sent it',
      { error: error('locked'), entries: 8, failures: 1 },
      { units: 'look_up', isOver: false, doubt: 'no_answer', isHalved: false },
    ],
    [
      'about a key that it has is looked up at once',
      { error: error('duplicate', { keys: ['K'] }), entries: 8, failures: 1 },
      { units: 'look_up', isOver: true, doubt: 'duplicate', waitMs: 0 },
    ],
  ];
  test.each(cases)('%s', (_, failure, expected) => {
    expect(verdictOf(failure, strategy)).toMatchObject(expected);
  });

  it('is distinguished from another by its text', () => {
    expect(isSameMessage('Move 17 of 2026-01-01 failed', 'Move 18 of 2026-02-01 failed')).toBe(true);
    expect(isSameMessage('Move 17 failed', 'Party 17 failed')).toBe(false);
    expect(isSameMessage(null, 'Party 17 failed')).toBe(false);
  });
});

describe('a unit that a complete look-up did not find', () => {
  const absent = (fields: Partial<Absent>): Absent => ({
    ...{ doubt: 'no_answer', unknownRefusals: 0, problemCode: null, problemMessage: 'no' },
    ...fields,
  });
  const cases: [string, Absent, object][] = [
    ['is sent again after a request without an answer', absent({}), { state: 'pending' }],
    ['however often that was', absent({ unknownRefusals: 99 }), { state: 'pending' }],
    [
      'is refused for a reason that is known',
      absent({ doubt: 'refused', problemCode: 'erp_tax_unknown' }),
      { state: 'refused', code: 'erp_tax_unknown' },
    ],
    [
      'is sent again after one refusal that is not',
      absent({ doubt: 'unknown', unknownRefusals: 1 }),
      { state: 'pending' },
    ],
    ['and after two', absent({ doubt: 'unknown', unknownRefusals: 2 }), { state: 'pending' }],
    [
      'and is refused after three',
      absent({ doubt: 'unknown', unknownRefusals: 3 }),
      { state: 'refused', code: 'erp_refused_unknown' },
    ],
    [
      'so it is where the ERP accepts it and has nothing',
      absent({ doubt: 'unseen', unknownRefusals: 3 }),
      { state: 'refused' },
    ],
    [
      'so it is where the ERP says that it has it',
      absent({ doubt: 'duplicate', unknownRefusals: 3 }),
      { state: 'refused' },
    ],
  ];
  test.each(cases)('%s', (_, unit, expected) => {
    expect(verdictOnAbsence(unit)).toMatchObject(expected);
  });
});

describe('the date of an entry', () => {
  const month = (isOpen: boolean) => ({ from: '2026-01-01', through: '2026-01-31', isOpen, kind: 'general' as const });
  const cases: [string, string, ErpPeriods, string | null][] = [
    ['is open where nothing is closed', '2026-01-15', { periods: null, lockedThrough: [] }, null],
    [
      'is closed by a lock',
      '2026-01-15',
      { periods: null, lockedThrough: [{ kind: 'general', date: '2026-01-15' }] },
      'period_closed_in_erp',
    ],
    ['is open after it', '2026-01-15', { periods: null, lockedThrough: [{ kind: 'vat', date: '2026-01-14' }] }, null],
    ['is open in an open period', '2026-01-15', { periods: [month(true)], lockedThrough: [] }, null],
    ['is closed in a closed one', '2026-01-15', { periods: [month(false)], lockedThrough: [] }, 'period_closed_in_erp'],
    ['has no period', '2026-02-01', { periods: [month(true)], lockedThrough: [] }, 'erp_period_missing'],
  ];
  test.each(cases)('%s', (_, date, periods, expected) => {
    expect(dateProblem(date, periods)?.code ?? null).toBe(expected);
  });
});

it('an entry with more lines or bytes than the ERP accepts is not sent', () => {
  const entry = { lines: [], description: 'x'.repeat(100) } as unknown as ErpEntry;
  expect(sizeProblem(entry, capabilitiesWith())).toBeNull();
  expect(sizeProblem({ ...entry, lines: new Array(501).fill(null) }, capabilitiesWith())).toMatch('501 lines');
  expect(sizeProblem(entry, capabilitiesWith({ write: { max_bytes: 50 } }))).toMatch('bytes');
});
