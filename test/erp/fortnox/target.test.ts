import { describe, expect, test } from 'vitest';
import { Money } from '../../../src/domain/money.ts';
import type { ErpEntry, ErpLine } from '../../../src/erp/erp-entry.ts';
import type { CheckPlan, ErpTarget } from '../../../src/erp/port.ts';
import type { ErpRequest } from '../../../src/erp/targets/api/http.ts';
import { openFortnox } from '../../../src/erp/targets/fortnox/index.ts';
import { type EntryLine, erpEntry } from '../fake/entries.ts';
import { SimulatedTime } from '../fake/time.ts';
import { readSie } from '../files/readers/sie.ts';
import { FakeFortnox } from './fake.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {} };
const request = { signal: new AbortController().signal, priority: 0, attemptId: 'attempt' };

/** A way in which a target could be wrong: it changes a request before it is sent, or an answer before it is read. */
interface Mutant {
  request?(sent: ErpRequest): ErpRequest;
  answer?(text: string, sent: ErpRequest): string;
}

function open({ request: change = (sent) => sent, answer: read = (text) => text }: Mutant = {}) {
  const time = new SimulatedTime(Date.parse('2026-03-06T06:00:00Z'));
  const fake = new FakeFortnox(time.clock());
  const transport = {
    async send(sent: ErpRequest, options: { signal: AbortSignal }) {
      const answer = await fake.send(change(sent), options);
      return { ...answer, text: read(answer.text, sent) };
    },
    close: () => {},
  };
  const target = openFortnox(fake.config, { clock: time.clock(), log: silent as never, transport });
  return { fake, target, time };
}

const vatOf = (part: 'base' | 'tax', code = 'MP1/U1'): Partial<ErpLine> => ({
  vat: { code, part, base: null, rate: new Money('25') },
});

/** A sale of 125.50 with VAT. */
function sale(n: number, fields: Parameters<typeof erpEntry>[1] = {}): ErpEntry {
  const lines: EntryLine[] = [
    ['1510', '125.50', { description: 'Kund 17' }],
    ['3001', '-100.40', { ...vatOf('base'), dimensions: { CostCenter: 'HKI', Project: 'east' } }],
    ['2611', '-25.10', vatOf('tax')],
  ];
  const whole = erpEntry(n, { journal: 'V', description: `Faktura ${n}`, lines, ...fields });
  return { ...whole, key: `KEY${'ABCDEFGH'.charAt(n).repeat(17)}` };
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

const march = { from: '2026-03-01', through: '2026-03-31' };
async function books(target: ErpTarget, changedSince: Date | null = null) {
  const found = [];
  for await (const page of target.books?.entries({ ...march, changedSince, accounts: [] }, request) ?? [])
    found.push(...page);
  return found;
}

interface Trap {
  /** Throws if the target is caught. */
  run(on: ReturnType<typeof open>): Promise<void>;
  mutant: Mutant;
}

const inBody = (change: (body: string) => string): Mutant => ({
  request: (sent) => (sent.path === '/3/vouchers' && sent.body !== '' ? { ...sent, body: change(sent.body) } : sent),
});
const withoutQuery = (name: string): Mutant => ({
  request({ query = {}, ...sent }) {
    const { [name]: _, ...rest } = query;
    return { ...sent, query: rest };
  },
});

const traps: Record<string, Trap> = {
  'a year that a person has chosen': {
    async run({ target }) {
      expect(await created(target, sale(1))).toBe('V/1/6');
    },
    mutant: withoutQuery('financialyear'),
  },
  'brackets and dots, which Fortnox refuses in texts': {
    async run({ fake, target }) {
      const entry = sale(1, { description: 'Faktura «KU·1042» "Ruff" [a] | O\'Brien & e\u0301 \u{1f415}' });
      const id = await created(target, entry);
      expect(fake.voucher(id).Description).toBe(`Faktura KU-1042 Ruff a O Brien é ? - 1/invoice/1/1 (${entry.key})`);
    },
    mutant: inBody((body) => body.replace(/ \(([A-Z2-7]{20})\)/, ' [$1]')),
  },
  'a description of a row, in whose place Fortnox writes the name of the account': {
    async run({ fake, target }) {
      const [first] = fake.voucher(await created(target, sale(1))).VoucherRows;
      expect(first).toMatchObject({ Description: 'Kundfordringar', TransactionInformation: 'Kund 17' });
    },
    mutant: inBody((body) => body.replace(',"TransactionInformation":"Kund 17"', '')),
  },
  'rows that a person has removed': {
    async run({ fake, target }) {
      const id = await created(target, sale(1));
      fake.change(id, (voucher) => {
        const [row] = voucher.VoucherRows;
        if (row === undefined) throw new Error('no row');
        voucher.VoucherRows.push({ ...row, Account: 1910 });
        row.Removed = true;
      });
      const [found] = await target.read([id], request);
      expect(found?.lines.map(({ account }) => account)).toEqual(['3001', '2611', '1910']);
    },
    mutant: { answer: (text) => text.replaceAll('"Removed":true', '"Removed":false') },
  },
  'a second page': {
    async run({ fake, target }) {
      fake.mostPerPage = 2;
      for (let n = 1; n <= 5; n++) await created(target, sale(n));
      expect(await find(target, sale(5))).toEqual(['V/5/6']);
    },
    mutant: { answer: (text) => text.replaceAll(/"@TotalPages":\d+/g, '"@TotalPages":1') },
  },
  'a voucher that is entered while the pages are read': {
    async run({ fake, target }) {
      fake.mostPerPage = 2;
      const ids: string[] = [];
      for (let n = 1; n <= 4; n++) ids.push(await created(target, sale(n, n === 1 ? { journal: 'A' } : {})));
      fake.onPage = () => {
        fake.copy(ids[0] ?? '');
        fake.onPage = () => {};
      };
      const looked = await target.find([{ key: sale(5).key, dates: ['2026-03-02'], since: null }], request);
      expect(looked).toEqual({ found: [], isComplete: false });
      expect(await find(target, sale(4))).toEqual(['V/3/6']);
    },
    mutant: { answer: (text) => text.replaceAll(/"@TotalResources":\d+/g, '"@TotalResources":4') },
  },
  'the clock of Sweden': {
    async run({ fake, target, time }) {
      const id = await created(target, sale(1));
      await time.sleep(7 * 86_400_000);
      fake.change(id, (voucher) => {
        voucher.Description += ' rättad';
      });
      expect(await books(target, new Date(time.nowMs))).toHaveLength(1);
      expect(await books(target, new Date(time.nowMs + 3 * 86_400_000))).toEqual([]);
    },
    mutant: {
      request: (sent) =>
        sent.query?.lastmodified === undefined
          ? sent
          : { ...sent, query: { ...sent.query, lastmodified: '2026-03-14 00:00' } },
    },
  },
  'another company': {
    async run({ fake, target }) {
      fake.databaseNumber = 7_654_321;
      expect(await errorOf(target.create([sale(1)], request))).toMatchObject({ means: 'auth' });
      expect(fake.held()).toEqual([]);
    },
    mutant: { answer: (text) => text.replace('7654321', '1234567') },
  },
  'the code page of SIE': {
    async run({ target }) {
      await created(target, sale(1, { description: 'Fröken Åsas katt' }));
      expect(await books(target)).toMatchObject([
        { description: 'Fröken Åsas katt · 1/invoice/1/1', number: 'V 1/2026' },
      ]);
    },
    mutant: { answer: (text, { path }) => (path === '/3/sie/4' ? text.replaceAll('\u0094', 'ö') : text) },
  },
  'rows in SIE that were removed': {
    async run({ fake, target }) {
      const id = await created(target, sale(1));
      fake.change(id, (voucher) => {
        const [row] = voucher.VoucherRows;
        if (row === undefined) throw new Error('no row');
        voucher.VoucherRows.push({ ...row, Account: 1910 });
        row.Removed = true;
      });
      const balances = await target.books?.balances(march, request);
      expect([...(balances?.balances ?? [])].toSorted()).toEqual([
        ['1910', '125.5'],
        ['2611', '-25.1'],
        ['3001', '-100.4'],
      ]);
    },
    mutant: { answer: (text) => text.replaceAll('#BTRANS', '#TRANS') },
  },
  'half of a SIE file': {
    async run({ fake, target }) {
      await created(target, sale(1));
      fake.onAnswer = (name, value) =>
        name === 'GET /3/sie/4' ? (value as string).slice(0, (value as string).indexOf('}\r\n')) : value;
      expect(await errorOf(books(target))).toMatchObject({ means: 'unsent' });
    },
    mutant: { answer: (text, { path }) => (path === '/3/sie/4' ? `${text}}\r\n` : text) },
  },
};

describe.each(Object.entries(traps))('%s', (_, { run, mutant }) => {
  const tried = (on: ReturnType<typeof open>) => on.time.run(run(on));
  test('does not catch the target', () => tried(open()));
  test('catches a target that is wrong', async () => {
    await expect(tried(open(mutant))).rejects.toThrow();
  });
});

describe('a voucher', () => {
  test('has debit and credit as digits, and its number with series and year', async () => {
    const { fake, target } = open();
    const entry = sale(1, {
      lines: [
        ['1510', '9007199254740.99'],
        ['3001', '-9007199254740.99', vatOf('base')],
      ],
    });
    const sent: string[] = [];
    const send = fake.send.bind(fake);
    fake.send = (each, options) => {
      sent.push(each.body);
      return send(each, options);
    };
    await errorOf(target.create([entry], request));
    expect(sent.at(-1)).toContain('"Debit":9007199254740.99,"Credit":0');
    const id = await created(target, sale(2));
    expect(await target.read([id], request)).toMatchObject([
      {
        ...{ id: 'V/1/6', key: sale(2).key, number: 'V 1/2026', state: 'posted', journal: 'V', date: '2026-03-02' },
        lines: [{}, { account: '3001', dimensions: { CostCenter: 'HKI', Project: 'east' } }, {}],
      },
    ]);
    expect(target.describe?.(sale(2))).toBe('Faktura 2 · 1/invoice/2/1');
  });

  test('keeps unit and key in 200 characters, whatever the description', async () => {
    const { fake, target } = open();
    const unitId = '4711/daily_summary/2026-03-05/12/1';
    const entry = sale(1, { description: `€${'x'.repeat(300)}`, unitId });
    const id = await created(target, entry);
    const { Description: text } = fake.voucher(id);
    expect(text.length).toBeLessThanOrEqual(200);
    expect(text.endsWith(` - ${unitId} (${entry.key})`)).toBe(true);
    const ofYear = (after: string | null) => target.keyed({ installation: 4711, changedSince: null, after }, request);
    expect(await ofYear('6')).toMatchObject({ entries: [{ id, key: entry.key, unitId }], next: null });
    expect(await ofYear(null)).toMatchObject({ entries: [], next: '5' });
  });

  test('of the year before is in that year, and is found there', async () => {
    const { target } = open();
    const entry = sale(1, { date: '2025-12-30' });
    expect(await created(target, entry)).toBe('V/1/5');
    expect(await created(target, sale(2))).toBe('V/1/6');
    expect(await find(target, entry)).toEqual(['V/1/5']);
    const found = [];
    for (let after: string | null = null; ; ) {
      const page = await target.keyed({ installation: 1, changedSince: null, after }, request);
      found.push(...page.entries.map(({ number }) => number));
      after = page.next;
      if (after === null) break;
    }
    expect(found).toEqual(['V 1/2025', 'V 1/2026']);
  });

  test('that a person deleted is left out', async () => {
    const { fake, target } = open();
    const [one, other] = [await created(target, sale(1)), await created(target, sale(2))];
    fake.remove(other);
    expect(await target.read([one, other], request)).toMatchObject([{ id: one }]);
  });

  test('is read at the pace that Fortnox allows', async () => {
    const { fake, target, time } = open();
    const ids: string[] = [];
    for (let n = 1; n <= 7; n++) ids.push(await time.run(created(target, sale(n))));
    const many = Array.from({ length: 60 }, (_, n) => ids[n % 7] ?? '');
    const beganMs = time.nowMs;
    expect(await time.run(target.read(many, request))).toHaveLength(60);
    expect(time.nowMs - beganMs).toBeGreaterThanOrEqual(10_000);
    expect(fake.asked.filter((each) => each.startsWith('POST /oauth'))).toHaveLength(1);
  });
});

describe('an error', () => {
  const unknownAccount: EntryLine[] = [
    ['1510', '1'],
    ['3999', '-1'],
  ];
  test.each<[name: string, entry: ErpEntry, prepare: (fake: FakeFortnox) => void, problem: string]>([
    ['of an unknown account', sale(1, { lines: unknownAccount }), () => {}, 'erp_account_unknown'],
    [
      'of an account that is closed in the year of the entry',
      sale(1, { date: '2025-03-02' }),
      (fake) => Object.assign(fake.account(3001, 5), { Active: false }),
      'erp_account_unknown',
    ],
    ['of an unknown series', sale(1, { journal: 'X' }), () => {}, 'erp_journal_unknown'],
    ['of a series that is not manual', sale(1, { journal: 'B' }), () => {}, 'erp_journal_unknown'],
    [
      'of a VAT code of another rate',
      sale(1),
      (fake) => Object.assign(fake.account(3001), { VATCode: 'MP2' }),
      'erp_tax_unknown',
    ],
    ['of a VAT account without a code', sale(1), (fake) => delete fake.account(2611).VATCode, 'erp_tax_unknown'],
    [
      'of an account that requires a cost centre',
      sale(1),
      (fake) => Object.assign(fake.account(1510), { CostCenterSettings: 'MANDATORY' }),
      'erp_dimension_unknown',
    ],
    [
      'of an account that adds a project',
      sale(1),
      (fake) => Object.assign(fake.account(2611), { Project: 'west' }),
      'erp_dimension_unknown',
    ],
    [
      'of a cost centre that is not active',
      sale(1, {
        lines: [
          ['1510', '1'],
          ['3001', '-1', { ...vatOf('base'), dimensions: { CostCenter: 'OLD' } }],
        ],
      }),
      () => {},
      'erp_dimension_unknown',
    ],
    ['of a date without a financial year', sale(1, { date: '2031-01-01' }), () => {}, 'erp_period_missing'],
  ])('%s refuses the entry before it is sent', async (_, entry, prepare, problem) => {
    const { fake, target } = open();
    prepare(fake);
    const error = await errorOf(target.create([entry], request));
    expect(error).toMatchObject({ means: 'refused', keys: [entry.key], problem });
    expect(fake.asked.filter((each) => each === 'POST /3/vouchers')).toEqual([]);
  });

  test('of a locked period is one of the entry, and the lock is read', async () => {
    const { fake, target } = open();
    fake.lock('2026-03-31');
    const closed = { means: 'refused', problem: 'period_closed_in_erp' };
    expect(await errorOf(target.create([sale(1)], request))).toMatchObject(closed);
    const { periods, lockedThrough } = await target.periods(request);
    expect(lockedThrough).toEqual([{ kind: 'general', date: '2026-03-31' }]);
    expect(periods?.map(({ from }) => from)).toEqual(['2024-01-01', '2025-01-01', '2026-01-01']);
    fake.unlock();
    expect((await target.periods(request)).lockedThrough).toEqual([]);
  });

  test('of a token that has ended leads to a new one, and the request is sent once more', async () => {
    const { fake, target, time } = open();
    fake.tokenSeconds = 10;
    await created(target, sale(1));
    await time.run(time.sleep(30_000));
    await created(target, sale(2));
    expect(fake.held()).toHaveLength(2);
  });

  test('of too many requests lets a reading request wait; after three times, or if it writes, it ends', async () => {
    const { fake, target, time } = open();
    const ids = [await created(target, sale(1)), await created(target, sale(2))];
    const send = fake.send.bind(fake);
    let refusals = 0;
    fake.send = async (sent, options) => {
      const answer = await send(sent, options);
      if (refusals === 0) return answer;
      refusals -= 1;
      return { ...answer, status: 429, text: JSON.stringify({ message: 'Too many requests' }) };
    };
    const beganMs = time.nowMs;
    refusals = 3;
    const read = await time.run(target.read(ids, request));
    expect(read.map(({ id }) => id)).toEqual(ids);
    expect(time.nowMs - beganMs).toBeGreaterThanOrEqual(15_000);
    refusals = 4;
    expect(await time.run(errorOf(target.read(ids, request)))).toMatchObject({ means: 'throttled' });
    refusals = 1;
    expect(await time.run(errorOf(target.create([sale(3)], request)))).toMatchObject({ means: 'throttled' });
  });

  test.each([
    [500, { ErrorInformation: { Error: 1, Message: 'System exception', Code: 1_000_003 } }, 'doubt', null],
    [502, '<html>Bad gateway</html>', 'doubt', null],
    [429, { message: 'Too many requests' }, 'throttled', null],
    [400, { ErrorInformation: { error: 1, message: 'Något annat', code: 2_009_999 } }, 'doubt', 'erp_refused_unknown'],
    [400, { ErrorInformation: { error: 1, message: 'Låst', code: 2_000_401 } }, 'refused', 'period_closed_in_erp'],
    [403, { ErrorInformation: { Error: 1, Message: 'Ingen licens', Code: 2_001_101 } }, 'auth', null],
  ])('%s %j means %s', async (status, said, means, problem) => {
    const { fake, target } = open();
    const send = fake.send.bind(fake);
    fake.send = async (sent, options) => {
      const answer = await send(sent, options);
      if (sent.path !== '/3/vouchers' || sent.body === '') return answer;
      return { ...answer, status, text: typeof said === 'string' ? said : JSON.stringify(said) };
    };
    expect(await errorOf(target.create([sale(1)], request))).toMatchObject({ means, problem });
  });
});

test('the SIE file of the fake is one that another reader reads', async () => {
  const { fake, target } = open();
  await created(target, sale(1, { description: 'Fröken Åsas katt' }));
  const ask = { path: '/3/companyinformation', verb: 'GET' as const, headers: {}, body: '', method: '' };
  let headers: Record<string, string> = {};
  const send = fake.send.bind(fake);
  fake.send = (sent, options) => {
    headers = sent.headers;
    return send(sent, options);
  };
  await target.periods(request);
  const sie = { ...ask, path: '/3/sie/4', query: { financialyear: '6' }, answerEncoding: 'latin1' as const, headers };
  const { text } = await send(sie, request);
  const { vouchers } = readSie(Uint8Array.from(text, (character) => character.charCodeAt(0)));
  expect(vouchers).toMatchObject([
    { series: 'V', number: '1', date: '2026-03-02', lines: [{ amount: '125.50' }, {}, {}] },
  ]);
  expect(vouchers[0]?.title).toContain('Fröken Åsas katt - 1/invoice/1/1 (');
});

test('a check only reads, and names accounts whose VAT code is not the one of the mapping', async () => {
  const { fake, target } = open();
  Object.assign(fake.account(3002), { VATCode: 'MP1' });
  Object.assign(fake.account(1910), { Active: false });
  const part = (code: string) => ({ code, part: 'base' as const });
  const account = (number: string, roles: string[], ...taxes: { code: string; part: 'base' | 'tax' }[]) => ({
    ...{ account: number, roles, isControl: false, taxes },
  });
  const plan: CheckPlan = {
    ...{ writes: true, currency: 'SEK', makesParties: false, parties: [], journals: ['V', 'B', 'X'] },
    accounts: [
      account('1510', ['receivable']),
      account('1910', ['cash']),
      account('2611', ['vat'], { code: 'MP1/U1', part: 'tax' }),
      account('3001', ['revenue'], part('MP1/U1')),
      account('3002', ['revenue'], part('MP2/U2')),
      account('3999', ['revenue']),
    ],
    taxes: ['MP1/U1', 'MP9'],
    dimensions: [
      { theirs: 'CostCenter', values: ['HKI', 'OLD'] },
      { theirs: 'Department', values: ['1'] },
    ],
    dates: ['2026-03-05', '2031-01-01'],
  };
  const results = [];
  for await (const each of target.check(plan, request)) results.push(each);
  expect(results.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual([
    'account 1910 (cash)',
    'account 3002 (revenue)',
    'account 3999 (revenue)',
    'journal B',
    'journal X',
    'tax MP9',
    'dimension CostCenter: OLD',
    'dimension Department: 1',
    'period of 2031-01-01',
  ]);
  expect(results.find(({ name }) => name === 'account 3002 (revenue)')?.message).toContain('MP1');
  expect(fake.asked.filter((each) => each.startsWith('POST /3/'))).toEqual([]);
});
