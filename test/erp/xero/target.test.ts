import { describe, expect, test } from 'vitest';
import { Money } from '../../../src/domain/money.ts';
import type { ErpEntry } from '../../../src/erp/erp-entry.ts';
import type { ErpTarget } from '../../../src/erp/port.ts';
import type { ErpRequest } from '../../../src/erp/targets/api/http.ts';
import { openTarget } from '../../../src/erp/targets/open.ts';
import { openXero } from '../../../src/erp/targets/xero/index.ts';
import { type EntryLine, erpEntry } from '../fake/entries.ts';
import { SimulatedTime } from '../fake/time.ts';
import { FakeXero } from './fake.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {} };
let attempts = 0;
const request = () => {
  attempts += 1;
  return { signal: new AbortController().signal, priority: 0, attemptId: `attempt ${attempts}` };
};

/** A way in which a target could be wrong: it changes a request before it is sent, or an answer. */
interface Mutant {
  request?: (request: ErpRequest) => ErpRequest | null;
  answer?: (name: string, value: unknown) => unknown;
}

function open(mutant: Mutant = {}, post: 'posted' | 'draft' = 'posted') {
  const time = new SimulatedTime(Date.parse('2026-03-06T06:00:00Z'));
  const fake = new FakeXero(time.clock());
  if (mutant.answer !== undefined) fake.onAnswer = mutant.answer;
  const transport = {
    send: (sent: ErpRequest, options: { signal: AbortSignal }) =>
      fake.send(mutant.request?.(structuredClone(sent)) ?? sent, options),
    close: () => {},
  };
  const config = { ...fake.config, post };
  const target = openXero(config, { clock: time.clock(), log: silent as never, transport });
  return { fake, target, time, config };
}

/** A sale of 125.50 with VAT, and its VAT line, which is not sent. */
function sale(n: number, fields: Parameters<typeof erpEntry>[1] = {}): ErpEntry {
  const vat = { code: 'OUTPUT2', part: 'base', base: null, rate: new Money('25.5') } as const;
  const sent: EntryLine[] = [
    ['1700', '125.50'],
    ['3000', '-100', { vat, dimensions: { project: 'east' } }],
  ];
  const whole = erpEntry(n, {
    journal: 'MANJOURNAL',
    ...fields,
    lines: [...sent, ['2931', '-25.50', { vat: { ...vat, part: 'tax' } }]],
  });
  return { ...whole, key: `KEY${'ABCDEFGH'.charAt(n).repeat(17)}`, sentLines: erpEntry(n, { lines: sent }).lines };
}

/** An entry with these lines, which are sent as they are. */
const plain = (n: number, lines: EntryLine[]): ErpEntry => {
  const { lines: own } = erpEntry(n, { lines });
  return { ...sale(n), lines: own, sentLines: own };
};

async function created(target: ErpTarget, entry: ErpEntry): Promise<string> {
  const id = (await target.create([entry], request())).get(entry.key);
  if (id === undefined) throw new Error('no id');
  return id;
}

const since = new Date('2026-03-06T06:00:00Z');
const find = async (target: ErpTarget, { key, date }: ErpEntry) =>
  (await target.find([{ key, dates: [date], since }], request())).found;

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

type Body = { ManualJournals: Record<string, unknown>[] };
const inBody = (change: (journal: Record<string, unknown>) => void): Mutant => ({
  request: (sent) => {
    if (sent.verb !== 'PUT') return null;
    // The digits of amounts stay as they are.
    const body = JSON.parse(sent.body.replaceAll(/"LineAmount":([^,}]*)/g, '"LineAmount":"#$1"')) as Body;
    for (const journal of body.ManualJournals) change(journal);
    return { ...sent, body: JSON.stringify(body).replaceAll(/"#([^"]*)"/g, '$1') };
  },
});
const inLines = (change: (line: Record<string, unknown>) => void): Mutant =>
  inBody(({ JournalLines: lines }) => {
    for (const line of lines as Record<string, unknown>[]) change(line);
  });
const withoutQuery = (name: string): Mutant => ({
  request: ({ query = {}, ...sent }) => {
    const { [name]: _, ...rest } = query;
    return { ...sent, query: rest };
  },
});
const withHeader = (name: string, value: string): Mutant => ({
  request: (sent) => (name in sent.headers ? { ...sent, headers: { ...sent.headers, [name]: value } } : null),
});
const inJournals = (change: (journal: Record<string, unknown>) => void): Mutant => ({
  answer: (_, value) => {
    const answer = structuredClone(value) as Partial<Body>;
    for (const journal of answer.ManualJournals ?? []) change(journal);
    return answer;
  },
});

const traps: Record<string, Trap> = {
  'a journal whose account is dropped, with status 200 and a warning': {
    async run({ fake, target }) {
      fake.forget('3010');
      const entry = plain(1, [
        ['1700', '10'],
        ['3010', '-10'],
      ]);
      const error = await errorOf(target.create([entry], request()));
      expect(error).toMatchObject({ means: 'refused', problem: 'erp_account_unknown', keys: [entry.key] });
      // What is left of it is found as a draft that can be deleted.
      const [left] = await find(target, entry);
      expect(left).toMatchObject({ state: 'draft', lines: [{ account: '1700' }, { account: '' }] });
      await target.withdrawDrafts([left?.id ?? ''], request());
      expect(await find(target, entry)).toEqual([]);
    },
    mutant: inJournals((journal) => delete journal.Warnings),
  },
  'a journal without a status, which is a draft': {
    async run({ fake, target }) {
      await created(target, sale(1));
      expect(fake.held()).toMatchObject([{ status: 'POSTED' }]);
    },
    mutant: inBody((journal) => delete journal.Status),
  },
  'one wrong journal, which refuses the others too': {
    async run({ fake, target }) {
      fake.lock('2026-01-31');
      const wrong = sale(1, { date: '2026-01-30' });
      const error = await errorOf(target.create([wrong, sale(2)], request()));
      expect(error).toMatchObject({ means: 'refused', problem: 'period_closed_in_erp', keys: [wrong.key] });
      expect(fake.held()).toHaveLength(1);
    },
    mutant: withoutQuery('summarizeErrors'),
  },
  'a tax type that is left out, so that the line has the one of its account': {
    async run({ target }) {
      const entry = plain(1, [
        ['1700', '10'],
        ['3000', '-10'],
      ]);
      await created(target, entry);
      expect((await find(target, entry))[0]?.lines.map(({ vat }) => vat)).toEqual([[], []]);
    },
    mutant: inLines((line) => delete line.TaxType),
  },
  'a journal without tax, whose VAT is not on the return': {
    async run({ fake, target }) {
      await created(target, sale(1));
      expect([...fake.vatReport()].map(([type, tax]) => `${type} ${tax.toFixed(2)}`)).toEqual(['OUTPUT2 -25.50']);
    },
    mutant: inBody((journal) => {
      journal.LineAmountTypes = 'NoTax';
    }),
  },
  'amounts that include VAT': {
    async run({ target }) {
      const entry = sale(1);
      await created(target, entry);
      expect((await find(target, entry))[0]?.lines.map(({ amount }) => amount.toFixed(2))).toEqual([
        ...['125.50', '-100.00', '-25.50'],
      ]);
    },
    mutant: inBody((journal) => {
      journal.LineAmountTypes = 'Inclusive';
    }),
  },
  'an amount that binary64 cannot hold': {
    async run({ fake, target }) {
      const entry = plain(1, [
        ['1700', '90071992547409.93'],
        ['3020', '-90071992547409.93'],
      ]);
      const bodies: string[] = [];
      fake.onSent = (body) => bodies.push(body);
      await created(target, entry);
      expect(bodies.join()).toContain('"LineAmount":-90071992547409.93');
    },
    mutant: {
      request: (sent) => (sent.verb === 'PUT' ? { ...sent, body: JSON.stringify(JSON.parse(sent.body)) } : null),
    },
  },
  'an option of a tracking category that is dropped without an error': {
    async run({ target }) {
      const entry = sale(1);
      await created(target, entry);
      expect((await find(target, entry))[0]?.lines[1]?.dimensions).toEqual({ project: 'east' });
    },
    // The example in the specification has name and option the wrong way round.
    mutant: inLines((line) => {
      const [one] = (line.Tracking ?? []) as { Name: string; Option: string }[];
      if (one !== undefined) [one.Name, one.Option] = [one.Option, one.Name];
    }),
  },
  'another organisation that the token reaches': {
    async run({ fake, target }) {
      expect(await target.identify?.(request())).toMatchObject({ id: fake.tenants[0]?.tenantId, currency: 'EUR' });
      await created(target, sale(1));
      expect(fake.held()).toHaveLength(1);
    },
    mutant: { request: (sent) => withTenant(sent, new FakeXero({ now: () => 0 }).tenants[1]?.tenantId ?? '') },
  },
  'the id of the connection, which is not the one of the organisation': {
    async run({ fake, target }) {
      await created(target, sale(1));
      expect(fake.held()).toHaveLength(1);
    },
    mutant: { request: (sent) => withTenant(sent, new FakeXero({ now: () => 0 }).tenants[0]?.id ?? '') },
  },
  'a list without pages, which has no lines': {
    async run({ target }) {
      const entry = sale(1);
      await created(target, entry);
      expect((await find(target, entry))[0]?.lines).toHaveLength(3);
    },
    mutant: withoutQuery('page'),
  },
  'pages in another order': {
    async run({ fake, target, time }) {
      for (let n = 1; n <= 3; n++) {
        await time.run(time.sleep(1_000));
        await created(target, sale(n));
      }
      expect(await find(target, sale(1))).toHaveLength(1);
      expect(fake.held()).toHaveLength(3);
    },
    mutant: {
      answer: (name, value) => {
        const answer = structuredClone(value) as Partial<Body>;
        if (name === 'GET /ManualJournals') answer.ManualJournals?.reverse();
        return answer;
      },
    },
  },
  'a look-up that starts after the journal was created': {
    async run({ target, time }) {
      const entry = sale(1);
      await created(target, entry);
      await time.run(time.sleep(3 * 86_400_000));
      expect(await find(target, entry)).toHaveLength(1);
    },
    mutant: withHeader('if-modified-since', '2026-03-08T06:00:00Z'),
  },
  'the id of a request that was sent before, whose answer is replayed': {
    async run({ fake, target }) {
      const [one, other] = [sale(1), sale(2)];
      await created(target, one);
      await created(target, other);
      expect(fake.held()).toHaveLength(2);
    },
    mutant: withHeader('idempotency-key', 'one for all'),
  },
  'a day at midnight, written as milliseconds': {
    async run({ target }) {
      const entry = sale(1, { date: '2026-03-05' });
      await created(target, entry);
      expect(await find(target, entry)).toMatchObject([{ date: '2026-03-05' }]);
    },
    mutant: inJournals((journal) => {
      journal.Date = String(journal.Date).replace('+0000', '-0100');
    }),
  },
  'a deleted draft, which Xero still lists': {
    async run({ target }) {
      const entry = sale(1);
      await target.withdrawDrafts([await created(target, entry)], request());
      expect(await find(target, entry)).toEqual([]);
    },
    mutant: inJournals((journal) => {
      if (journal.Status === 'DELETED') journal.Status = 'VOIDED';
    }),
  },
};

const withTenant = (sent: ErpRequest, tenant: string): ErpRequest | null =>
  'xero-tenant-id' in sent.headers ? { ...sent, headers: { ...sent.headers, 'xero-tenant-id': tenant } } : null;
const asDraft = new Set(['a deleted draft, which Xero still lists']);

describe.each(Object.entries(traps))('%s', (name, { run, mutant }) => {
  const post = asDraft.has(name) ? 'draft' : 'posted';
  test('does not catch the target', () => run(open({}, post)));
  test('catches a target that is wrong', async () => {
    await expect(run(open(mutant, post))).rejects.toThrow();
  });
});

describe('a journal', () => {
  test('is posted at once, with the net amount and tax type of each line, and read with the VAT of Xero', async () => {
    const { fake, target } = open();
    const entry = sale(1, { description: 'Invoice KU-1042' });
    const id = await created(target, entry);
    expect(fake.journal(id)).toMatchObject({
      ...{
        Status: 'POSTED',
        Narration: `Invoice KU-1042 · 1/invoice/1/1 [${entry.key}]`,
        LineAmountTypes: 'Exclusive',
      },
      JournalLines: [
        { AccountCode: '1700', LineAmount: 125.5, TaxType: 'NONE', Tracking: [] },
        { AccountCode: '3000', LineAmount: -100, TaxType: 'OUTPUT2', TaxAmount: -25.5, Tracking: [{ Option: 'east' }] },
      ],
    });
    const [found] = await target.read([id], request());
    expect(found).toMatchObject({
      ...{ id, key: entry.key, number: id, state: 'posted', date: entry.date, journal: 'MANJOURNAL' },
      lines: [
        { account: '1700', vat: [] },
        { account: '3000', vat: [{ code: 'OUTPUT2', part: 'base' }], dimensions: { project: 'east' } },
        { account: '2931', vat: [{ code: 'OUTPUT2', part: 'tax' }], dimensions: {} },
      ],
    });
    expect(await find(target, entry)).toEqual([found]);
  });

  test('stays a draft until the accountant posts it, if the configuration says so', async () => {
    const { fake, target } = open({}, 'draft');
    expect(target.capabilities.write.steps).toBe('draft_then_post');
    const id = await created(target, sale(1));
    expect(fake.held()).toMatchObject([{ status: 'DRAFT' }]);
    await target.post([id], request());
    expect(fake.held()).toMatchObject([{ status: 'POSTED' }]);
    expect(await errorOf(target.withdrawDrafts([id], request()))).toMatchObject({ means: 'refused' });
    expect(fake.held()).toMatchObject([{ status: 'POSTED' }]);
  });

  test('stays a draft in deliveries too, which rely on less than the record', () => {
    const { config, time } = open({}, 'draft');
    const ports = { clock: time.clock(), log: silent as never, logins: { db: null as never, keys: [] } };
    const { capabilities } = openTarget({ erp: config } as never, ports);
    expect(capabilities.write.steps).toBe('draft_then_post');
    expect(capabilities.doubt.server_may_work_seconds).toBe(600);
  });

  test('is one of a batch that one request creates and one request reads', async () => {
    const { fake, target } = open();
    const entries = Array.from({ length: 5 }, (_, n) => sale(n + 1));
    const ids = await target.create(entries, request());
    expect(ids.size).toBe(5);
    fake.asked.length = 0;
    const keys = entries.map(({ key, date }) => ({ key, dates: [date], since }));
    const { found } = await target.find(keys, request());
    expect(new Map(found.map(({ id, key }) => [key, id]))).toEqual(ids);
    expect(fake.asked).toEqual(['GET /ManualJournals']);
  });

  test('among 250 is found over pages; a list that changes meanwhile is not complete', async () => {
    const { fake, target } = open();
    const ids = await Promise.all(Array.from({ length: 5 }, (_, n) => created(target, sale(n + 1))));
    for (let n = 0; n < 245; n++) fake.copy(ids[n % 4] ?? '');
    const key = { key: sale(5).key, dates: ['2026-03-02'], since };
    expect(await target.find([key], request())).toMatchObject({ found: [{ id: ids[4] }], isComplete: true });
    let lists = 0;
    fake.onAnswer = (name, value) => {
      if (name === 'GET /ManualJournals') lists += 1;
      if (lists === 2) fake.copy(ids[0] ?? '');
      return value;
    };
    expect((await target.find([key], request())).isComplete).toBe(false);
  });
});

describe('entries with keys', () => {
  test('are listed page by page in the order of their changes', async () => {
    const { fake, target, time } = open();
    const ids: string[] = [];
    for (let n = 1; n <= 3; n++) {
      ids.push(await created(target, sale(n)));
      await time.run(time.sleep(10_000));
      for (let copies = 0; copies < 120; copies++) fake.copy(ids[0] ?? '');
    }
    const seen = new Set<string>();
    let pages = 0;
    for (let after: string | null = null; ; pages++) {
      const page = await target.keyed({ installation: 1, changedSince: null, after }, request());
      for (const { id, key, unitId } of page.entries) seen.add(`${id} ${key} ${unitId}`);
      if (page.next === null) break;
      after = page.next;
    }
    expect(seen.size).toBe(363);
    expect(pages).toBeLessThan(8);
  });
});

describe('an error', () => {
  const line = (account: string, fields: EntryLine[2] = {}): EntryLine[] => [
    ['1700', '1'],
    [account, '-1', fields],
  ];
  const vat = (code: string, rate: string, part: 'base' | 'tax' = 'base') =>
    ({ vat: { code, part, base: null, rate: new Money(rate) } }) as const;

  test.each<[name: string, lines: EntryLine[], problem: string]>([
    ['an unknown account', line('3999'), 'erp_account_unknown'],
    ['an archived account', line('3900'), 'erp_account_unknown'],
    ['a bank account', line('090'), 'erp_account_unknown'],
    ['a system account', line('610'), 'erp_account_unknown'],
    ['the account of the VAT that Xero computes', line('2931'), 'erp_account_unknown'],
    ['VAT on another account', line('3000', vat('OUTPUT2', '25.5', 'tax')), 'erp_account_unknown'],
    ['an unknown tax type', line('3000', vat('OUTPUT9', '9')), 'erp_tax_unknown'],
    ['a deleted tax type', line('3000', vat('OLD', '25.5')), 'erp_tax_unknown'],
    ['a tax type with another rate', line('3000', vat('OUTPUT2', '24')), 'erp_tax_unknown'],
    ['the tax type of lines without VAT', line('3000', vat('NONE', '0')), 'erp_tax_unknown'],
    ['an unknown option', line('3000', { dimensions: { project: 'north' } }), 'erp_dimension_unknown'],
  ])('of %s refuses the entry before it is sent', async (_, lines, problem) => {
    const { fake, target } = open();
    const entry = plain(1, lines);
    expect(await errorOf(target.create([entry], request()))).toMatchObject({
      ...{ means: 'refused', keys: [entry.key], problem },
    });
    expect(fake.asked.filter((each) => each.startsWith('PUT'))).toEqual([]);
  });

  test.each(['PeriodLockDate', 'EndOfYearLockDate'] as const)('of the %s is one of the entry', async (which) => {
    const { fake, target } = open();
    fake.lock('2026-03-31', which);
    const closed = { means: 'refused', problem: 'period_closed_in_erp' };
    expect(await errorOf(target.create([sale(2)], request()))).toMatchObject(closed);
    const { periods, lockedThrough } = await target.periods(request());
    const kind = which === 'PeriodLockDate' ? 'general' : 'year';
    expect([periods, lockedThrough]).toEqual([null, [{ kind, date: '2026-03-31' }]]);
  });

  test('of a token that has ended leads to a new one, and the request is sent once more', async () => {
    const { fake, target, time } = open();
    fake.tokenSeconds = 10;
    await created(target, sale(1));
    await time.run(time.sleep(30_000));
    await created(target, sale(2));
    expect(fake.held()).toHaveLength(2);
  });

  test('of another organisation stops everything', async () => {
    const { fake, target, config } = open();
    config.company = 'Cats Ltd';
    expect(await errorOf(target.create([sale(1)], request()))).toMatchObject({ means: 'auth' });
    expect(fake.held()).toEqual([]);
  });

  test('of two organisations with the same name stops everything, unless the id is configured', async () => {
    const { fake, target, config } = open();
    for (const tenant of fake.tenants) tenant.tenantName = 'Vets Ltd';
    expect(await errorOf(target.create([sale(1)], request()))).toMatchObject({ means: 'auth' });
    config.company = fake.tenants[0]?.tenantId ?? '';
    await created(target, sale(1));
  });

  test('of a spent day says so, and names the time to wait', async () => {
    const { fake, target } = open();
    await created(target, sale(1));
    fake.dayLimit = 0;
    const spent = { means: 'throttled', problem: 'erp_limit_spent', retryAfterMs: 900_000 };
    expect(await errorOf(target.create([sale(2)], request()))).toMatchObject(spent);
    expect(await errorOf(find(target, sale(1)))).toMatchObject({ means: 'throttled' });
    expect(target.limitsLeft?.()).toEqual([{ perSeconds: 86_400, left: 0 }]);
  });

  test('without a known text is a doubt about its entry', async () => {
    const { fake, target } = open();
    fake.onAnswer = (name, value) => {
      if (name !== 'PUT /ManualJournals') return value;
      const [journal] = (value as Body).ManualJournals;
      return { ManualJournals: [{ ...journal, ValidationErrors: [{ Message: 'Object reference not set' }] }] };
    };
    const doubt = { means: 'doubt', problem: 'erp_refused_unknown', keys: [sale(1).key] };
    expect(await errorOf(target.create([sale(1)], request()))).toMatchObject(doubt);
  });

  test('of an answer that lacks a journal is a doubt', async () => {
    const { fake, target } = open();
    fake.onAnswer = (name, value) =>
      name === 'PUT /ManualJournals' ? { ManualJournals: (value as Body).ManualJournals.slice(1) } : value;
    expect(await errorOf(target.create([sale(1), sale(2)], request()))).toMatchObject({
      means: 'doubt',
      problem: null,
    });
  });
});

test('the books have posted and voided journals, with the VAT of Xero', async () => {
  const { fake, target, time } = open();
  const ids: string[] = [];
  for (let n = 1; n <= 4; n++) ids.push(await created(target, sale(n)));
  const [kept, voided, moved, copied] = ids as [string, string, string, string];
  await time.run(time.sleep(4 * 86_400_000));
  fake.change(voided, { Status: 'VOIDED' });
  fake.change(moved, { date: '2026-04-01' });
  fake.copy(copied);
  const march = { from: '2026-03-01', through: '2026-03-31' };
  const states = async (changedSince: Date | null) => {
    const found: [string, string][] = [];
    for await (const page of target.books?.entries({ ...march, changedSince, accounts: [] }, request()) ?? [])
      found.push(...page.map(({ id, state }): [string, string] => [id, state]));
    return found;
  };
  expect(await states(null)).toHaveLength(4);
  expect((await states(null)).filter(([, state]) => state === 'void')).toEqual([[voided, 'void']]);
  expect((await states(new Date('2026-03-10T00:00:00Z'))).map(([id]) => id)).not.toContain(kept);
  const { entries, balances } = (await target.books?.balances(march, request())) ?? {};
  expect([entries, [...(balances ?? [])]]).toEqual([
    3,
    [
      ['1700', '376.5'],
      ['3000', '-300'],
      ['2931', '-76.5'],
    ],
  ]);
});

test('a check creates one draft on all accounts and deletes it', async () => {
  const { fake, target } = open();
  fake.lock('2025-12-31');
  const account = (code: string, ...roles: string[]) => ({ account: code, roles, isControl: false });
  const plan = {
    ...{ writes: true, currency: 'EUR', makesParties: false, parties: [], journals: ['MANJOURNAL'] },
    accounts: [
      ...[
        account('1700', 'receivable'),
        account('2931', 'vat'),
        account('3000', 'revenue'),
        account('3999', 'revenue'),
      ],
      ...[account('090', 'cash'), account('610', 'receivable'), account('1900', 'vat'), account('3900', 'revenue')],
    ],
    ...{ taxes: ['OUTPUT2', 'NONE', 'OLD'], dimensions: [{ theirs: 'project', values: ['east', 'north'] }] },
    dates: ['2025-12-31', '2026-03-05'],
  };
  const results = [];
  for await (const each of target.check(plan, request())) results.push(each);
  expect(results.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual([
    'account 3999 (revenue)',
    'account 090 (cash)',
    'account 610 (receivable)',
    'account 1900 (vat)',
    'account 3900 (revenue)',
    'tax NONE',
    'tax OLD',
    'dimension project: north',
    'day 2025-12-31',
  ]);
  expect(fake.held()).toEqual([]);
  expect(fake.asked.filter((each) => each.startsWith('PUT'))).toHaveLength(1);
});
