import { describe, expect, test } from 'vitest';
import { Money } from '../../../src/domain/money.ts';
import type { ErpEntry } from '../../../src/erp/erp-entry.ts';
import type { ErpTarget } from '../../../src/erp/port.ts';
import type { ErpRequest } from '../../../src/erp/targets/api/http.ts';
import { openProcountor } from '../../../src/erp/targets/procountor/index.ts';
import { type EntryLine, erpEntry } from '../fake/entries.ts';
import { SimulatedTime } from '../fake/time.ts';
import { FakeProcountor } from './fake.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {} };
const request = { signal: new AbortController().signal, priority: 0, attemptId: 'attempt' };

/** A way in which a target could be wrong: it changes a request before it is sent. */
type Mutant = (request: ErpRequest) => ErpRequest | null;

function open(mutant: Mutant = (sent) => sent) {
  const time = new SimulatedTime(Date.parse('2026-03-06T06:00:00Z'));
  const fake = new FakeProcountor(time.clock());
  const transport = {
    send: (sent: ErpRequest, options: { signal: AbortSignal }) => fake.send(mutant(sent) ?? sent, options),
    close: () => {},
  };
  const target = openProcountor(fake.config, { clock: time.clock(), log: silent as never, transport });
  return { fake, target, time };
}

/** A sale of 125.50 with VAT, and its VAT line, which is not sent. */
function sale(n: number, fields: Parameters<typeof erpEntry>[1] = {}): ErpEntry {
  const vat = { code: 'vat_1 25.5', part: 'base', base: null, rate: new Money('25.5') } as const;
  const sent: EntryLine[] = [
    ['1700', '125.50'],
    ['3000', '-100', { vat, dimensions: { project: 'east' } }],
  ];
  const whole = erpEntry(n, {
    journal: 'JOURNAL',
    ...fields,
    lines: [...sent, ['2931', '-25.50', { vat: { ...vat, part: 'tax' } }]],
  });
  return { ...whole, key: `KEY${'ABCDEFGH'.charAt(n).repeat(17)}`, sentLines: erpEntry(n, { lines: sent }).lines };
}

async function created(target: ErpTarget, entry: ErpEntry): Promise<string> {
  const id = (await target.create([entry], request)).get(entry.key);
  if (id === undefined) throw new Error('no id');
  return id;
}

const find = async (target: ErpTarget, { key, date }: ErpEntry) =>
  (await target.find([{ key, dates: [date], since: null }], request)).found.map(({ id }) => id);

const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error('no error');
    },
    (error: unknown) => error,
  );

interface Trap {
  /** Throws if the target is caught. */
  run(on: ReturnType<typeof open>): Promise<void>;
  mutant: Mutant;
}

const inBody =
  (change: (body: Record<string, unknown>) => void): Mutant =>
  (sent) => {
    if (sent.path !== '/ledgerreceipts' || sent.body === '') return null;
    const body = JSON.parse(sent.body) as Record<string, unknown>;
    change(body);
    return { ...sent, body: JSON.stringify(body) };
  };
const withoutQuery =
  (name: string): Mutant =>
  ({ query = {}, ...sent }) => {
    const { [name]: _, ...rest } = query;
    return { ...sent, query: rest };
  };

const traps: Record<string, Trap> = {
  'a receipt that Procountor would balance itself': {
    async run({ target }) {
      const unbalanced = erpEntry(1, {
        journal: 'JOURNAL',
        lines: [
          ['1700', '10'],
          ['3000', '-9.99'],
        ],
      });
      const id = await created(target, unbalanced);
      expect(await errorOf(target.post([id], request))).toMatchObject({ means: 'doubt' });
      const [found] = await target.read([id], request);
      expect(found?.lines).toHaveLength(2);
    },
    mutant: (sent) =>
      sent.verb === 'POST' && sent.path === '/ledgerreceipts'
        ? { ...sent, query: { createReconciliation: 'true' } }
        : null,
  },
  'a VAT status that is left out, so that the line has the one of the receipt': {
    async run({ target }) {
      const entry = sale(1);
      const vat = { code: 'vat_12 0', part: 'base', base: null, rate: new Money(0) } as const;
      const lines: EntryLine[] = [
        ['1700', '10'],
        ['3000', '-10', { vat }],
      ];
      const plain = { ...entry, lines: erpEntry(1, { lines }).lines, sentLines: erpEntry(1, { lines }).lines };
      const [found] = await target.read([await created(target, plain)], request);
      expect(found?.lines.map(({ vat: taxes }) => taxes.map(({ code }) => code))).toEqual([[], ['vat_12 0']]);
    },
    mutant: inBody((body) => {
      for (const row of body.transactions as Record<string, unknown>[]) delete row.vatStatus;
    }),
  },
  'a receipt whose date a person has changed': {
    async run({ fake, target }) {
      const entry = sale(1);
      const id = await created(target, entry);
      fake.change(id, { receiptDate: '2026-02-27' });
      expect(await find(target, entry)).toEqual([id]);
    },
    mutant: (sent) =>
      'createdStartDate' in (sent.query ?? {})
        ? { ...sent, query: { ...sent.query, createdStartDate: '2026-04-01T00:00:00' } }
        : null,
  },
  'a receipt that was created long after its date': {
    async run({ fake, target }) {
      const entry = sale(1);
      const id = await created(target, entry);
      fake.asked.length = 0;
      const since = new Date('2026-03-06T06:00:00Z');
      expect((await target.find([{ key: entry.key, dates: [entry.date], since }], request)).found).toMatchObject([
        { id },
      ]);
      expect(fake.queries.at(0)).toMatchObject({ createdStartDate: '2026-03-05T06:00:00' });
    },
    mutant: withoutQuery('createdStartDate'),
  },
  'pages that are smaller than requested': {
    async run({ fake, target }) {
      fake.mostPerPage = 2;
      for (let n = 1; n <= 5; n++) await created(target, sale(n));
      expect(await find(target, sale(5))).toHaveLength(1);
    },
    mutant: (sent) =>
      'previousId' in (sent.query ?? {}) ? { ...sent, query: { ...sent.query, startDate: '2027-01-01' } } : null,
  },
  'pages in another order': {
    async run({ target }) {
      for (let n = 1; n <= 3; n++) await created(target, sale(n));
      expect(await find(target, sale(1))).toHaveLength(1);
    },
    mutant: withoutQuery('orderById'),
  },
  'a draft that is withdrawn and keeps its key': {
    async run({ fake, target }) {
      const entry = sale(1);
      const id = await created(target, entry);
      await target.withdrawDrafts([id], request);
      const { found } = await target.find([{ key: entry.key, dates: [entry.date], since: null }], request);
      expect(found).toMatchObject([{ id, state: 'void' }]);
      expect(fake.held()).toMatchObject([{ status: 'INVALIDATED' }]);
    },
    mutant: (sent) =>
      sent.path.endsWith('/invalidate') ? { ...sent, path: sent.path.replace('invalidate', 'approve') } : null,
  },
  'a dimension that gets less than its line': {
    async run({ fake, target }) {
      const id = await created(target, sale(1));
      const values = fake
        .rows(id)
        .map(({ accountingValue, dimensionItemValues: [first] = [] }) => [accountingValue, first?.value]);
      expect(values).toEqual([
        [125.5, undefined],
        [-100, -100],
      ]);
    },
    mutant: inBody((body) => {
      for (const { dimensionItemValues: [first] = [] } of body.transactions as {
        dimensionItemValues?: { value: number }[];
      }[])
        if (first) first.value = Math.abs(first.value);
    }),
  },
};

describe.each(Object.entries(traps))('%s', (_, { run, mutant }) => {
  test('does not catch the target', () => run(open()));
  test('catches a target that is wrong', async () => {
    await expect(run(open(mutant))).rejects.toThrow();
  });
});

describe('a receipt', () => {
  test('is a draft that is approved, with the net amount, status and percentage of each line', async () => {
    const { fake, target } = open();
    const entry = sale(1, { description: 'Invoice KU-1042' });
    const id = await created(target, entry);
    expect(fake.held()).toMatchObject([
      { status: 'UNFINISHED', name: `Invoice KU-1042 · 1/invoice/1/1 [${entry.key}]` },
    ]);
    expect(fake.rows(id)).toMatchObject([
      { account: '1700', accountingValue: 125.5, vatPercent: 0 },
      { account: '3000', accountingValue: -100, vatPercent: 25.5, vatStatus: 1, dimensionItemValues: [{ itemId: 51 }] },
    ]);
    await target.post([id], request);
    expect(await target.read([id], request)).toMatchObject([
      {
        id,
        key: entry.key,
        number: '1',
        state: 'posted',
        date: entry.date,
        journal: 'JOURNAL',
        lines: [{}, { vat: [{ code: 'vat_1 25.5' }], dimensions: { project: 'east' } }],
      },
    ]);
  });

  test.each([
    [`Łukasz 🐕 ${'x'.repeat(200)}`, 'Lukasz \\? x+'],
    ['x'.repeat(200), 'x+'],
    ['ﬁ'.repeat(40), '(?:fi)+f?'],
  ])('keeps unit and key in 80 characters of Windows-1252: %s', async (description, begins) => {
    const { fake, target } = open();
    await created(target, sale(1, { description, unitId: '4711/daily_summary/2026-03-05/12/1' }));
    const [{ name } = { name: '' }] = fake.held();
    expect(name).toHaveLength(80);
    expect(name).toMatch(new RegExp(`^${begins}… · 4711/daily_summary/2026-03-05/12/1 \\[[A-Z2-7]{20}\\]$`));
  });

  test('that a person sets back is a draft again', async () => {
    const { fake, target } = open();
    const id = await created(target, sale(1));
    await target.post([id], request);
    fake.change(id, { status: 'UNFINISHED' });
    expect(await target.read([id], request)).toMatchObject([{ state: 'draft', number: null }]);
  });

  test('is read with 200 others at once; missing ones are left out', async () => {
    const { fake, target } = open();
    const id = await created(target, sale(1));
    fake.asked.length = 0;
    const others = Array.from({ length: 250 }, (_, n) => String(9_000 + n));
    expect(await target.read([...others, id], request)).toHaveLength(1);
    expect(fake.asked.filter((each) => each.startsWith('GET /ledgerreceipts/'))).toHaveLength(2);
  });
});

describe('an error', () => {
  test.each<[name: string, entry: ErpEntry, expected: object]>([
    [
      'of an unknown account',
      erpEntry(1, {
        journal: 'JOURNAL',
        lines: [
          ['1700', '1'],
          ['3999', '-1'],
        ],
      }),
      { problem: 'erp_account_unknown' },
    ],
    ['of an unknown journal', sale(1, { journal: 'SALES' }), { problem: 'erp_journal_unknown' }],
  ])('%s refuses the entry before it is sent', async (_, entry, expected) => {
    const { fake, target } = open();
    expect(await errorOf(target.create([entry], request))).toMatchObject({
      means: 'refused',
      keys: [entry.key],
      ...expected,
    });
    expect(fake.held()).toEqual([]);
  });

  test('of a closed period is one of the entry', async () => {
    const { fake, target } = open();
    const id = await created(target, sale(1));
    fake.lock('2026-03-31');
    const closed = { means: 'refused', problem: 'period_closed_in_erp' };
    expect(await errorOf(target.create([sale(2)], request))).toMatchObject(closed);
    expect(await errorOf(target.post([id], request))).toMatchObject(closed);
    const { periods } = await target.periods(request);
    expect(periods?.filter(({ isOpen }) => !isOpen).at(-1)).toMatchObject({ through: '2026-03-31', kind: 'general' });
  });

  test('of a token that has ended leads to a new one, and the request is sent once more', async () => {
    const { fake, target, time } = open();
    fake.tokenSeconds = 10;
    await created(target, sale(1));
    time.at(time.nowMs + 60_000, () => {});
    await time.run(time.sleep(30_000));
    await created(target, sale(2));
    expect(fake.held()).toHaveLength(2);
  });

  test('of another company stops everything', async () => {
    const { fake, target } = open();
    fake.config.company = '78';
    expect(await errorOf(target.create([sale(1)], request))).toMatchObject({ means: 'auth' });
    expect(fake.held()).toEqual([]);
  });

  test('of a page without order proves nothing', async () => {
    const { fake, target } = open();
    await created(target, sale(1));
    fake.onAnswer = (name, value) =>
      name === 'GET /ledgerreceipts' ? { ...(value as object), meta: { resultCount: 7 } } : value;
    expect(await errorOf(find(target, sale(1)))).toMatchObject({ means: 'unsent' });
  });
});

test('the books have approved and invalidated receipts, but none that a person set back', async () => {
  const { fake, target } = open();
  const ids: string[] = [];
  for (let n = 1; n <= 4; n++) ids.push(await created(target, sale(n)));
  const [kept, back, invalid, draft] = ids as [string, string, string, string];
  for (const id of [kept, back, invalid]) await target.post([id], request);
  fake.change(back, { status: 'UNFINISHED' });
  fake.change(invalid, { status: 'INVALIDATED' });
  const march = { from: '2026-03-01', through: '2026-03-31' };
  const states = async (changedSince: Date | null) => {
    const found: [string, string][] = [];
    const which = { ...march, changedSince, accounts: [] };
    for await (const page of target.books?.entries(which, request) ?? [])
      found.push(...page.map(({ id, state }): [string, string] => [id, state]));
    return found;
  };
  expect(await states(null)).toEqual([
    [kept, 'posted'],
    [invalid, 'void'],
  ]);
  expect(await states(new Date('2026-03-06T12:00:00Z'))).toHaveLength(2);
  expect(await states(new Date('2026-03-08T00:00:00Z'))).toEqual([]);
  const { entries, balances } = (await target.books?.balances(march, request)) ?? {};
  expect([entries, [...(balances ?? [])]]).toEqual([
    1,
    [
      ['1700', '125.5'],
      ['3000', '-100'],
    ],
  ]);
  expect(await target.read([back, draft], request)).toMatchObject([{ state: 'draft' }, { state: 'draft' }]);
});

test('a check creates one receipt on all accounts and invalidates it', async () => {
  const { fake, target } = open();
  const plan = {
    ...{ writes: true, currency: 'EUR', makesParties: false, parties: [], journals: ['JOURNAL'] },
    accounts: ['1700', '3000', '3999'].map((account) => ({ account, roles: ['revenue'], isControl: false })),
    ...{ taxes: ['vat_1 25.5', 'vat_1 0', 'vat_9 14'], dimensions: [{ theirs: 'project', values: ['east', 'north'] }] },
    dates: ['2026-03-05', '2031-01-01'],
  };
  const results = [];
  for await (const each of target.check(plan, request)) results.push(each);
  expect(results.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual([
    'account 3999 (revenue)',
    'tax vat_1 0',
    'tax vat_9 14',
    'dimension project: north',
    'period of 2031-01-01',
  ]);
  expect(fake.held().map(({ status, lines }) => [status, lines.length])).toEqual([['INVALIDATED', 4]]);
});
