import { describe, expect, test } from 'vitest';
import { Money } from '../../../src/domain/money.ts';
import { ErpError } from '../../../src/erp/port.ts';
import { type EntryLine, erpEntry } from './entries.ts';
import { faultKinds, playedRecords, records } from './records.ts';
import { FakeServer, type Flaws, meaningOf, noFlaws } from './server.ts';
import { type Circumstances, calm, FakeTarget } from './target.ts';
import { SimulatedTime } from './time.ts';

const start = Date.parse('2026-03-02T08:00:00Z');

/**
 * A fake ERP with a record, a client of it, and the circumstances of its first requests. Later requests have no faults.
 */
function open(
  name: string,
  { flaws = {}, next = [] }: { flaws?: Partial<Flaws>; next?: Partial<Circumstances>[] } = {},
) {
  const time = new SimulatedTime(start);
  const server = new FakeServer({ record: records[name]!, time, random: () => 0.5, flaws: { ...noFlaws, ...flaws } });
  const network = () => ({ ...calm, ...next.shift() });
  const target = new FakeTarget({ server, network, timeoutMs: 10_000 });
  const options = { signal: new AbortController().signal, priority: 5 };
  return {
    time,
    server,
    target,
    next,
    create: (entries: ReturnType<typeof erpEntry>[], attemptId: string = crypto.randomUUID()) =>
      time.run(target.create(entries, { ...options, attemptId })),
    post: (ids: string[]) => time.run(target.post(ids, { ...options, attemptId: 'x' })),
    withdrawDrafts: (ids: string[]) => time.run(target.withdrawDrafts(ids, { ...options, attemptId: 'x' })),
    read: (ids: string[]) => time.run(target.read(ids, options)),
    find: (...entries: ReturnType<typeof erpEntry>[]) =>
      time.run(
        target.find(
          entries.map(({ key, date }) => ({ key, dates: [date], since: null })),
          options,
        ),
      ),
    pass: (ms: number) => time.run(time.sleep(ms)),
    states: () => server.held().map(({ unitId, state, date }) => `${unitId} ${state} ${date}`),
  };
}

async function errorOf(work: Promise<unknown>): Promise<ErpError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ErpError)) throw new Error(`no ErpError came, but ${String(error)}`);
  return error;
}

describe('simulated time', () => {
  test('advances when all processes wait for it', async () => {
    const time = new SimulatedTime(1_000);
    const order: string[] = [];
    const wait = async (ms: number) => {
      await time.sleep(ms);
      order.push(`${ms} at ${time.nowMs}`);
    };
    await time.run(Promise.all([wait(3_600_000), wait(5), wait(200)]));
    expect(order).toEqual(['5 at 1005', '200 at 1200', '3600000 at 3601000']);
  });

  test('waits for work without duration, and for timers of the event loop', async () => {
    const time = new SimulatedTime(0);
    const work = async () => {
      const end = time.begin();
      await new Promise((resolve) => setTimeout(resolve, 50));
      end();
      await new Promise((resolve) => setTimeout(resolve, 5));
      return time.nowMs;
    };
    const [worked] = await time.run(Promise.all([work(), time.sleep(60_000)]));
    expect(worked).toBe(0);
  });

  test('a sleeper is woken by its signal', async () => {
    const time = new SimulatedTime(0);
    const stop = new AbortController();
    time.at(10, () => stop.abort(new Error('stop')));
    await expect(time.run(time.sleep(1_000, stop.signal))).rejects.toThrow('stop');
    expect(time.nowMs).toBe(10);
  });
});

describe('records', () => {
  test.each(playedRecords)('%s understands what it says', (name) => {
    const record = records[name]!;
    const means = faultKinds.map((kind) => [kind, meaningOf({ record }, record.says[kind]).means]);
    expect(Object.fromEntries(means)).toEqual({
      account: 'refused',
      dimension: 'refused',
      party: 'refused',
      period: 'refused',
      unbalanced: 'refused',
      too_large: 'refused',
      duplicate: 'duplicate',
      repeated: 'repeated',
      throttled: 'throttled',
      busy: 'locked',
      auth: 'auth',
    });
    expect(meaningOf({ record }, { http: 400, code: 'INTERNAL', text: 'Object reference not set' }).means).toBe(
      'doubt',
    );
  });

  const computing = playedRecords.filter((name) =>
    records[name]!.capabilities.read_back.normalises.includes('merged_lines'),
  );

  test.each(computing)('%s: computes the VAT of the sent lines', async (name) => {
    const fake = open(name);
    const vat = { code: 'S25', part: 'base' as const, base: null, rate: new Money('25.5') };
    const { mode } = records[name]!.capabilities.vat;
    const lines: EntryLine[] = [
      ['1700', '12.55'],
      ['3000', mode === 'from_net' ? '-10.00' : '-12.55', { vat }],
    ];
    const entry = { ...erpEntry(1), sentLines: erpEntry(1, { lines }).lines };
    const ids = await fake.create([entry]);
    const [found] = await fake.read([ids.get(entry.key)!]);
    const told = found!.lines.map((line) => [
      line.account,
      line.amount.toFixed(2),
      ...line.vat.map(({ part }) => part),
    ]);
    expect(told.sort()).toEqual([
      ['1700', '12.55'],
      ['2931', '-2.55', 'tax'],
      ['3000', '-10.00', 'base'],
    ]);
  });

  const others = playedRecords.filter((name) => !computing.includes(name));
  test.each(others)('%s: what is created and posted is held, found and read as it was sent', async (name) => {
    const fake = open(name);
    const hasTaxes = records[name]!.capabilities.vat.mode !== 'tagged_bases';
    const entry = erpEntry(1, {
      lines: [
        ['1700', '12.40', { dimensions: {} }],
        ['3000', '-10.00', { vat: { code: 'A', part: 'base', base: null, rate: null } }],
        ['2940', '-2.40', { vat: { code: 'A', part: 'tax', base: new Money('10.00'), rate: null } }],
      ],
    });
    const ids = await fake.create([entry]);
    if (records[name]!.capabilities.write.steps !== 'one') await fake.post([ids.get(entry.key)!]);
    await fake.pass(60_000);
    const { found, isComplete } = await fake.find(entry);
    expect(isComplete).toBe(true);
    expect(found).toEqual(await fake.read([ids.get(entry.key)!]));
    expect(found[0]).toMatchObject({ key: entry.key, state: 'posted', number: 'V1', date: '2026-03-02' });
    const lines = found[0]!.lines.map(({ account, amount, vat }) => [
      account,
      amount.toFixed(2),
      ...vat.map(({ code, part, amount: of }) => `${code} ${part} ${of.toFixed(2)}`),
    ]);
    expect(lines.sort()).toEqual([
      ['1700', '12.40'],
      ['2940', '-2.40', ...(hasTaxes ? ['A tax -2.40', 'A base -10.00'] : [])],
      ['3000', '-10.00', 'A base -10.00'],
    ]);
    expect(fake.server.misdeeds).toEqual([]);
  });
});

describe('requests that go wrong', () => {
  const cases: [fault: Circumstances['fault'], means: string, unknown: boolean, held: number][] = [
    ['unreachable', 'unsent', false, 0],
    ['request_lost', 'doubt', false, 0],
    ['answer_lost', 'doubt', false, 1],
    ['page', 'doubt', false, 0],
    ['page_though_done', 'doubt', false, 1],
    ['throttled', 'throttled', false, 0],
    ['busy', 'locked', false, 0],
    ['auth', 'auth', false, 0],
    ['strange', 'doubt', true, 0],
    ['strange_though_done', 'doubt', true, 1],
    ['server_dies', 'doubt', false, 0],
  ];
  test.each(cases)('%s means %s', async (fault, means, isUnknown, held) => {
    const fake = open('fortnox', { next: [{ fault }] });
    const error = await errorOf(fake.create([erpEntry(1)]));
    expect([error.means, error.problem]).toEqual([means, isUnknown ? 'erp_refused_unknown' : null]);
    await fake.pass(1_000);
    expect(fake.states()).toHaveLength(held);
  });

  test('a late answer is lost, and the server continues for as long as its record says', async () => {
    const fake = open('fortnox', { next: [{ workMs: 600_000 }] });
    expect((await errorOf(fake.create([erpEntry(1)]))).means).toBe('doubt');
    expect(fake.time.nowMs).toBe(start + 10_000);
    await fake.pass(109_900);
    expect(fake.states()).toEqual([]);
    await fake.pass(100);
    expect(fake.states()).toEqual(['1/invoice/1/1 posted 2026-03-02']);
  });

  test('an aborted request still takes effect', async () => {
    const fake = open('fortnox', { next: [{ workMs: 5_000 }] });
    const stop = new AbortController();
    fake.time.at(start + 1_000, () => stop.abort(new Error('the end')));
    const aborted = fake.target.create([erpEntry(1)], { signal: stop.signal, priority: 5, attemptId: 'a' });
    await expect(fake.time.run(aborted)).rejects.toThrow('the end');
    expect((await fake.find(erpEntry(1))).found).toEqual([]);
    await fake.pass(5_000);
    expect((await fake.find(erpEntry(1))).found).toHaveLength(1);
  });

  test('a truncated answer has half of the ids', async () => {
    const fake = open('tryton', { next: [{ fault: 'half' }] });
    const ids = await fake.create([erpEntry(1), erpEntry(2)]);
    expect([...ids.keys()]).toEqual([erpEntry(2).key]);
    expect(fake.states()).toHaveLength(2);
  });

  test('a truncated look-up is marked as incomplete; a lagging one is not', async () => {
    const fake = open('quickbooks', { next: [{}, {}, { fault: 'truncated' }] });
    await fake.create([erpEntry(1)]);
    expect(await fake.find(erpEntry(1))).toEqual({ found: [], isComplete: true });
    await fake.pass(5_000);
    expect((await fake.find(erpEntry(1))).isComplete).toBe(false);
    expect(await fake.find(erpEntry(1))).toMatchObject({ found: [{ key: erpEntry(1).key }], isComplete: true });
  });

  test('a look-up by date finds no other date', async () => {
    const fake = open('fortnox');
    await fake.create([erpEntry(1)]);
    expect((await fake.find(erpEntry(1, { date: '2026-03-03' }))).found).toEqual([]);
  });
});

describe('a key that the ERP has', () => {
  test('has no effect if keys are not unique', async () => {
    const fake = open('fortnox');
    await fake.create([erpEntry(1)]);
    await fake.create([erpEntry(1)]);
    expect(fake.states()).toHaveLength(2);
  });

  test('is refused', async () => {
    const fake = open('poweroffice');
    await fake.create([erpEntry(1)]);
    const error = await errorOf(fake.create([erpEntry(1), erpEntry(2)]));
    expect([error.means, error.keys]).toEqual(['duplicate', [erpEntry(1).key]]);
    // The fake creates entries one by one, so the second one is in the books.
    expect(fake.states()).toHaveLength(2);
  });

  test('is refused within its period only', async () => {
    const fake = open('keys_by_period');
    await fake.create([erpEntry(1)]);
    expect((await errorOf(fake.create([erpEntry(1, { date: '2026-03-30' })]))).means).toBe('duplicate');
    await fake.create([erpEntry(1, { date: '2026-04-01' })]);
    expect(fake.states()).toHaveLength(2);
  });

  test('is overwritten, which is a misdeed', async () => {
    const fake = open('overwriting');
    await fake.create([erpEntry(1)]);
    await fake.create([erpEntry(1, { date: '2026-03-05' })]);
    expect(fake.states()).toEqual(['1/invoice/1/1 posted 2026-03-05']);
    expect(fake.server.misdeeds).toHaveLength(1);
  });

  test('gets its lines a second time, which is a misdeed', async () => {
    const fake = open('odoo');
    await fake.create([erpEntry(1)]);
    await fake.create([erpEntry(1)]);
    expect(fake.server.held().map(({ lines }) => lines.length)).toEqual([4]);
    expect(fake.server.misdeeds).toHaveLength(1);
  });

  test('a repeated attempt gets the first answer again, also a failure, within the declared time', async () => {
    const fake = open('e_conomic', { next: [{ fault: 'strange' }] });
    expect((await errorOf(fake.create([erpEntry(1)], 'one'))).problem).toBe('erp_refused_unknown');
    expect((await errorOf(fake.create([erpEntry(1)], 'one'))).problem).toBe('erp_refused_unknown');
    const ids = await fake.create([erpEntry(1)], 'two');
    expect(await fake.create([erpEntry(1)], 'two')).toEqual(ids);
    expect(fake.states()).toHaveLength(1);
    expect((await errorOf(fake.create([erpEntry(2)], 'two'))).problem).toBe('erp_refused_unknown');
    expect(fake.server.misdeeds.map(({ text }) => text)).toEqual(['attempt two came with another body']);
    await fake.pass(3_600_000);
    await fake.create([erpEntry(1)], 'two');
    expect(fake.states()).toHaveLength(2);
  });
});

describe('drafts', () => {
  test('can be posted and deleted, unless they are posted', async () => {
    const fake = open('tryton');
    const ids = [...(await fake.create([erpEntry(1), erpEntry(2)])).values()];
    await fake.post([ids[0]!]);
    await fake.withdrawDrafts([ids[1]!]);
    expect(fake.states()).toEqual(['1/invoice/1/1 posted 2026-03-02']);
    expect((await errorOf(fake.withdrawDrafts([ids[0]!]))).means).toBe('doubt');
    await fake.post([ids[0]!]);
  });

  test('prevent their period from being closed', async () => {
    const fake = open('tryton');
    await fake.create([erpEntry(1)]);
    expect(fake.server.lock('2026-03-31')).toBe(false);
    expect(fake.server.lock('2026-03-01')).toBe(true);
  });
});

describe('closed periods', () => {
  test('are refused', async () => {
    const fake = open('spiris');
    fake.server.lock('2026-03-31');
    expect((await errorOf(fake.create([erpEntry(1)]))).problem).toBe('period_closed_in_erp');
    fake.server.unlock();
    await fake.create([erpEntry(1)]);
  });

  test('move the date of an entry in them', async () => {
    const fake = open('odoo');
    fake.server.lock('2026-03-31');
    await fake.post([...(await fake.create([erpEntry(1)])).values()]);
    expect(fake.states()).toEqual(['1/invoice/1/1 posted 2026-04-01']);
  });

  test('accept entries with a warning', async () => {
    const fake = open('keys_by_period');
    fake.server.lock('2026-03-31');
    await fake.create([erpEntry(1)]);
    expect(fake.states()).toEqual(['1/invoice/1/1 posted 2026-03-02']);
  });
});

describe('what is wrong with entries', () => {
  const unknown = { unknownAccounts: new Set(['3999']) };
  const bad = erpEntry(2, {
    lines: [
      ['1700', '10.00'],
      ['3999', '-10.00'],
    ],
  });

  test('one bad entry: its batch is refused as one', async () => {
    const fake = open('tryton', { flaws: unknown });
    const error = await errorOf(fake.create([erpEntry(1), bad, erpEntry(3)]));
    expect([error.means, error.problem, error.keys]).toEqual(['refused', 'erp_account_unknown', []]);
    expect(fake.states()).toEqual([]);
  });

  test('one bad entry: named, and the others are created', async () => {
    const fake = open('poweroffice', { flaws: unknown });
    const error = await errorOf(fake.create([erpEntry(1), bad, erpEntry(3)]));
    expect([error.problem, error.keys]).toEqual(['erp_account_unknown', [bad.key]]);
    expect(fake.states()).toHaveLength(2);
  });

  test('one bad entry: not named, and those before it are created', async () => {
    const fake = open('keys_by_period', { flaws: unknown });
    const error = await errorOf(fake.create([erpEntry(1), bad, erpEntry(3)]));
    expect([error.problem, error.keys]).toEqual(['erp_account_unknown', []]);
    expect(fake.states()).toHaveLength(1);
  });

  test('a success that is wrong: accounts and dimensions dropped, lines added', async () => {
    const fake = open('exact', {
      flaws: {
        droppedAccounts: new Set(['3001']),
        balancedAccounts: new Set(['3002']),
        unknownValues: new Set(['north']),
      },
    });
    const sale = (n: number, account: string, department: string) =>
      erpEntry(n, {
        lines: [
          ['1700', '10.00'],
          [account, '-10.00', { dimensions: { department } }],
        ],
      });
    for (const entry of [sale(1, '3001', 'south'), sale(2, '3002', 'south'), sale(3, '3003', 'north')])
      await fake.create([entry]);
    const told = fake.server
      .held()
      .map(({ lines }) => lines.map(({ account, dimensions }) => `${account} ${dimensions.department ?? '-'}`));
    expect(told).toEqual([
      ['1700 -', ' south'],
      ['1700 -', '3002 south', '9999 -', '9999 -'],
      ['1700 -', '3003 -'],
    ]);
  });

  test.each([
    ['tryton', 'erp_dimension_unknown'],
    ['netvisor', null],
  ])('a value that a dimension lacks, %s', async (name, problem) => {
    const fake = open(name, { flaws: { unknownValues: new Set(['north']) } });
    const entry = erpEntry(1, {
      lines: [
        ['1700', '10.00'],
        ['3000', '-10.00', { dimensions: { department: 'north' } }],
      ],
    });
    if (problem !== null) expect((await errorOf(fake.create([entry]))).problem).toBe(problem);
    else expect([...(await fake.create([entry])).values()]).toHaveLength(1);
  });
});

describe('how much it takes', () => {
  test('more requests than a limit allows are refused, and noted', async () => {
    const fake = open('fortnox');
    for (let n = 0; n < 25; n++) fake.next.push({ outMs: 1, workMs: 1, backMs: 1 });
    for (let n = 0; n < 25; n++) await fake.find(erpEntry(n));
    expect((await errorOf(fake.find(erpEntry(1)))).means).toBe('throttled');
    expect(fake.server.misdeeds).toHaveLength(1);
    await fake.pass(5_000);
    await fake.find(erpEntry(1));
  });

  test('after too many errors nothing is answered for a while', async () => {
    const fake = open('exact', { flaws: { unknownAccounts: new Set(['1700']) } });
    for (let n = 0; n < 10; n++) expect((await errorOf(fake.create([erpEntry(1)]))).means).toBe('refused');
    expect((await errorOf(fake.find(erpEntry(1)))).means).toBe('throttled');
    await fake.pass(3_600_000);
    await fake.find(erpEntry(1));
  });

  test('concurrent requests are recorded if the ERP allows only one', async () => {
    const fake = open('tryton');
    await fake.time.run(
      Promise.all(
        [1, 2].map((n) => fake.target.read([String(n)], { signal: new AbortController().signal, priority: 5 })),
      ),
    );
    expect(fake.server.misdeeds.map(({ text }) => text)).toEqual(['2 requests at once, where 1 may be']);
  });
});

test('only lines that sum to zero are matched', async () => {
  const fake = open('tryton');
  await fake.create([
    erpEntry(1),
    erpEntry(2, {
      lines: [
        ['1700', '-10.00'],
        ['1910', '10.00'],
      ],
    }),
  ]);
  const lines = fake.server.held().flatMap((entry) => entry.lines.filter(({ account }) => account === '1700'));
  const request = { signal: new AbortController().signal, priority: 5, attemptId: 'x' };
  const match = (ids: string[]) => fake.time.run(fake.target.matching!.match([ids], request));
  expect((await errorOf(match([lines[0]!.id]))).means).toBe('refused');
  await match(lines.map(({ id }) => id));
  expect(new Set(lines.map(({ matched }) => matched)).size).toBe(1);
});
