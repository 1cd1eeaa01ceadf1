import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TrytonServer } from '../../../scripts/tryton/server.ts';
import { Money } from '../../../src/domain/money.ts';
import { compareEntry } from '../../../src/erp/compare.ts';
import { entryKey } from '../../../src/erp/entry-key.ts';
import type { ErpEntry, ErpLine, FoundEntry } from '../../../src/erp/erp-entry.ts';
import { type CheckPlan, type CheckResult, ErpError, type ErpTarget } from '../../../src/erp/port.ts';
import { openTryton } from '../../../src/erp/targets/tryton/index.ts';
import { configOf, hasTryton, openTestTryton, ports, TrytonPerson } from '../../support/tryton.ts';

const request = { signal: new AbortController().signal, priority: 0, attemptId: 'attempt' };
const date = (year: number, month: number, day: number) => ({ __class__: 'date', year, month, day });

let entries = 0;

function line(account: string, amount: string, changes: Partial<ErpLine> = {}): ErpLine {
  const isCredit = amount.startsWith('-');
  return {
    ...{ account, role: 'other_clearing', side: isCredit ? 'credit' : 'debit', description: 'a line' },
    ...{
      amount: new Money(amount.replace('-', '')),
      party: null,
      vat: null,
      dimensions: {},
      openItem: null,
      dueDate: null,
    },
    ...changes,
  };
}

const client = (id: number, name: string | null = `Client number ${id}`) => ({
  ...{ code: `4711/client/${id}`, isOurs: true, name, vatNumber: null, countryCode: null },
});
const theirs = (code: string) => ({ code, isOurs: false, name: null, vatNumber: null, countryCode: null });

function entry(changes: Partial<ErpEntry> = {}): ErpEntry {
  const unitId = `4711/invoice/${++entries}/1`;
  const vat = (part: 'base' | 'tax') => ({ code: 'Sales 25.5 %', part, base: null, rate: null });
  const dimensions = { Department: '11', 'Reporting dimension 1': 'LAB', 'Reporting dimension 2': 'NONE' };
  return {
    ...{ key: entryKey('test', unitId), unitId, installation: 4711, date: '2026-03-15', journal: 'REV' },
    ...{ description: `Invoice ${entries}`, reference: null, reverses: null },
    lines: [
      line('1700', '125.50', { role: 'receivable', party: client(5), dueDate: '2026-04-01' }),
      line('3000', '-100', { role: 'revenue', vat: vat('base'), dimensions }),
      line('2931', '-25.50', { role: 'vat', vat: vat('tax') }),
    ],
    ...changes,
  };
}

const ofCash = (amount: string, changes: Partial<ErpEntry> = {}) =>
  entry({ lines: [line('1900', amount), line('1910', `-${amount}`)], ...changes });

describe.skipIf(!hasTryton)('delivery into a real Tryton', { timeout: 60_000 }, () => {
  let tryton: TrytonServer;
  let target: ErpTarget;
  let accountant: TrytonPerson;

  beforeAll(async () => {
    tryton = await openTestTryton();
    target = openTryton(configOf(tryton), ports);
    accountant = await TrytonPerson.logIn(tryton, 'admin');
  }, 120_000);
  afterAll(async () => {
    await target?.close();
    await tryton?.release();
  });

  async function create(...of: ErpEntry[]): Promise<string[]> {
    const ids = await target.create(of, request);
    return of.map(({ key }) => ids.get(key)!);
  }

  async function posted(...of: ErpEntry[]): Promise<FoundEntry[]> {
    const ids = await create(...of);
    await target.post(ids, request);
    return target.read(ids, request);
  }

  async function refusal(work: Promise<unknown>): Promise<Pick<ErpError, 'means' | 'problem' | 'keys' | 'message'>> {
    try {
      await work;
    } catch (error) {
      if (!(error instanceof ErpError)) throw error;
      return { means: error.means, problem: error.problem, keys: error.keys, message: error.message };
    }
    throw new Error('it was not refused');
  }

  const search = (key: string, dates = ['2026-03-15']) => target.find([{ key, dates, since: null }], request);

  test('the company is the same by name, by id, and without either', async () => {
    const first = await target.identify?.(request);
    const id = first?.id.split('/').at(-1) ?? '';
    expect(id).toMatch(/^\d+$/);
    const found = await accountant.call<[{ rec_name: string }]>(
      'model.company.company.read',
      [Number(id)],
      ['rec_name'],
    );
    const [{ rec_name: name }] = found;
    for (const company of [id, name]) {
      const other = openTryton(configOf(tryton, { company }), ports);
      expect(other.company).not.toEqual(target.company);
      expect(await other.identify?.(request)).toEqual(first);
      await other.close();
    }
  });

  test('an entry is a draft that is found by its key, then posted with a number, and read back as it was sent', async () => {
    const sent = entry();
    const [id] = await create(sent);
    const drafts = await search(sent.key);
    expect(drafts).toMatchObject({ isComplete: true, found: [{ id, key: sent.key, state: 'draft', number: null }] });
    await target.post([id!], request);
    const [found] = await target.read([id!], request);
    expect(found).toMatchObject({ state: 'posted', date: '2026-03-15', journal: 'REV' });
    expect(found!.number).toMatch(/^2026\/\d{6}$/);
    expect(found!.lines.map(({ account, amount, party }) => [account, amount.toFixed(2), party])).toEqual([
      ['1700', '125.50', '4711/client/5'],
      ['3000', '-100.00', null],
      ['2931', '-25.50', null],
    ]);
    const vat = found!.lines.flatMap((each) =>
      each.vat.map(({ code, part, amount }) => [code, part, amount.toFixed(2)]),
    );
    expect(vat).toEqual([
      ['Sales 25.5 %', 'base', '-100.00'],
      ['Sales 25.5 %', 'tax', '-25.50'],
    ]);
    expect(found!.lines[1]!.dimensions).toEqual({
      ...{ Department: '11', 'Reporting dimension 1': 'LAB', 'Reporting dimension 2': 'NONE' },
    });
  });

  test('a reversal names the move that it reverses as its origin, which is read back and stays', async () => {
    const original = ofCash('10.00');
    const [first] = await posted(original);
    const lines = [line('1900', '-10.00'), line('1910', '10.00')];
    const reversal = entry({ lines, reverses: original.unitId, originId: first!.id });
    const [second] = await posted(reversal);
    expect(second).toMatchObject({ state: 'posted', originId: first!.id });
    expect(first).not.toHaveProperty('originId');
    expect(compareEntry(reversal, second!, { capabilities: target.capabilities, decimals: 2 })).toEqual([]);
    // The origin is visible to users, who can no longer change it.
    const fields = ['origin', 'origin.rec_name', 'origin.number'];
    const [move] = await accountant.call<[Record<string, unknown>]>(
      ...(['model.account.move.read', [Number(second!.id)], fields] as const),
    );
    expect(move).toMatchObject({ origin: `account.move,${first!.id}`, 'origin.': { number: first!.number } });
    await expect(accountant.call('model.account.move.write', [Number(second!.id)], { origin: null })).rejects.toThrow();
  });

  test('Tryton’s VAT report shows base and tax per code; a refund lowers both', async () => {
    const march = await accountant.idOf('account.period', [['name', '=', '2025-03']]);
    const report = async () => {
      const codes = await accountant.call<{ code: string; amount: { decimal: string } }[]>(
        ...([
          'model.account.tax.code.search_read',
          [['code', 'like', '%14 %']],
          0,
          null,
          null,
          ['code', 'amount'],
        ] as const),
      );
      expect(codes).toHaveLength(2);
      // The context selects the period. The request is sent directly, because `call` has another context.
      const answer = await fetch(`${tryton.url}/${tryton.database}/rpc/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: await basic() },
        body: JSON.stringify({
          ...{ id: 1, method: 'model.account.tax.code.search_read' },
          params: [[['code', 'like', '%14 %']], 0, null, null, ['code', 'amount'], { company: 1, periods: [march] }],
        }),
      });
      const { result } = (await answer.json()) as { result: { code: string; amount: { decimal: string } }[] };
      return Object.fromEntries(result.map(({ code, amount }) => [code, amount.decimal]));
    };
    const basic = async () =>
      `Basic ${Buffer.from(`${tryton.users.admin.user}:${tryton.users.admin.password}`).toString('base64')}`;
    const sale = (sign: '' | '-', amount: string, tax: string) => {
      const other = sign === '' ? '-' : '';
      const vat = (part: 'base' | 'tax') => ({ code: 'Sales 14 %', part, base: null, rate: null });
      return entry({
        date: '2025-03-10',
        lines: [
          line('1900', `${sign}${new Money(amount).plus(tax).toFixed(2)}`),
          line('3100', `${other}${amount}`, { role: 'revenue', vat: vat('base') }),
          line('2932', `${other}${tax}`, { role: 'vat', vat: vat('tax') }),
        ],
      });
    };
    await posted(sale('', '100.00', '14.00'), sale('', '50.00', '7.00'), sale('-', '20.00', '2.80'));
    expect(await report()).toEqual({ 'Base Sales 14 %': '130.00', 'Tax Sales 14 %': '18.20' });
  });

  test('all entries with a key are found, including drafts and entries of another date; others are not', async () => {
    const one = ofCash('1.00');
    const [first] = await create(one);
    const [second] = await create({ ...one });
    await target.post([first!], request);
    const other = ofCash('1.00', { description: `quotes [${one.key}] in its text` });
    await create(other);
    const { found, isComplete } = await search(one.key);
    expect(isComplete).toBe(true);
    expect(found.map(({ id, state }) => [id, state])).toEqual([
      [first, 'posted'],
      [second, 'draft'],
    ]);
    expect((await search('A'.repeat(20))).found).toEqual([]);
    await target.withdrawDrafts([second!], request);
    expect((await search(one.key, ['2024-01-01'])).found.map(({ id }) => id)).toEqual([first]);
    expect(await target.read([first!, second!, '999999'], request)).toHaveLength(1);
  });

  test('a hundred entries go in one request, and are found page by page', async () => {
    const many = Array.from({ length: 120 }, () => ofCash('2.00', { date: '2024-05-05' }));
    await create(...many);
    const keys = many.map(({ key }) => ({ key, dates: ['2024-05-05'], since: null }));
    const { found } = await target.find(keys, request);
    expect(new Set(found.map(({ key }) => key))).toEqual(new Set(many.map(({ key }) => key)));
    await target.withdrawDrafts(
      found.map(({ id }) => id),
      request,
    );
  });

  test('a text of 500 characters with emoji, quotes and controls is one line of the description', async () => {
    const text = `${'😀 "Åke" \\ %_[x] '.repeat(40)}\u202e\n\0end`;
    const [found] = await posted(ofCash('3.00', { description: text, reference: 'KU-77' }));
    expect(found!.key).not.toBeNull();
    expect(found!.description.startsWith('KU-77 😀 "Åke"')).toBe(true);
    expect(found!.description).not.toMatch(/[\n\0\u202e]/);
  });

  describe('parties', () => {
    test('a client is created once and found by our id; a changed name creates no other party', async () => {
      const ofClient = (name: string) =>
        entry({ lines: [line('1700', '1.00', { party: client(71, name) }), line('1900', '-1.00')] });
      await create(ofClient('Anna'));
      // A party with the same name but without our id.
      await accountant.call('model.party.party.create', [{ name: 'Berta' }]);
      const other = openTryton(configOf(tryton), ports);
      await other.create([ofClient('Berta')], request);
      await other.close();
      const domain = [['identifiers.code', '=', '4711/client/71']];
      expect(await accountant.call('model.party.party.search_count', domain)).toBe(1);
    });

    test('a client with two parties is refused, and so is an unknown or inactive party', async () => {
      const identifiers = [['create', [{ code: '4711/client/72' }]]];
      await accountant.call('model.party.party.create', [
        { name: 'One', identifiers },
        { name: 'Two', identifiers },
      ]);
      await accountant.call('model.party.party.create', [
        { name: 'Gone', active: false, identifiers: [['create', [{ code: '4711/client/73' }]]] },
      ]);
      const withParty = (party: ErpLine['party']) =>
        entry({ lines: [line('1700', '1.00', { party }), line('1900', '-1.00')] });
      for (const [party, message] of [
        [client(72), 'Tryton has 2 parties with the identifier 4711/client/72'],
        [client(73), 'is not active'],
        [theirs('NOBODY'), 'Tryton has no party with the code NOBODY'],
      ] as const) {
        const bad = withParty(party);
        expect(await refusal(create(ofCash('1.00'), bad))).toMatchObject({
          ...{
            means: 'refused',
            problem: 'erp_party_refused',
            keys: [bad.key],
            message: expect.stringContaining(message),
          },
        });
      }
      const [collective] = await posted(withParty(theirs('CLIENTS')));
      expect(collective!.lines[0]!.party).toBe('CLIENTS');
    });

    test('a line without the party that its account needs, or with one that it does not take, is refused', async () => {
      const without = entry({ lines: [line('1700', '1.00'), line('1900', '-1.00')] });
      const superfluous = entry({ lines: [line('1910', '1.00', { party: client(5) }), line('1900', '-1.00')] });
      for (const bad of [without, superfluous]) {
        expect(await refusal(create(bad))).toMatchObject({ problem: 'erp_party_refused', keys: [bad.key] });
      }
    });
  });

  describe('a record that Tryton lacks refuses the entries that name it, before anything is sent', () => {
    const good = ofCash('1.00');
    test.each<[string, Partial<ErpEntry>, string]>([
      ['account', { lines: [line('1900', '1'), line('9999', '-1')] }, 'erp_account_unknown'],
      ['journal', { journal: 'NONE' }, 'erp_journal_unknown'],
      ['period', { date: '2031-01-01' }, 'erp_period_missing'],
      [
        'tax',
        {
          lines: [line('1900', '1'), line('3000', '-1', { vat: { code: 'X', part: 'base', base: null, rate: null } })],
        },
        'erp_tax_unknown',
      ],
      [
        'analytic account',
        { lines: [line('1900', '1'), line('3000', '-1', { dimensions: { Department: '99' } })] },
        'erp_dimension_unknown',
      ],
      [
        'root of analytic accounts',
        { lines: [line('1900', '1'), line('3000', '-1', { dimensions: { Colour: '11' } })] },
        'erp_dimension_unknown',
      ],
    ])('%s', async (_, changes, problem) => {
      const bad = entry(changes);
      expect(await refusal(create(good, bad))).toMatchObject({ means: 'refused', problem, keys: [bad.key] });
      expect((await search(good.key)).found).toEqual([]);
    });
  });

  test('a code that two accounts have is a problem; it is used again once that is corrected', async () => {
    const original = await accountant.idOf('account.account', [['code', '=', '1922']]);
    const [copy] = await accountant.call<number[]>('model.account.account.copy', [original], { code: '1922' });
    const onIt = entry({ lines: [line('1900', '1.00'), line('1922', '-1.00')] });
    expect(await refusal(create(onIt))).toMatchObject({ problem: 'erp_account_unknown', keys: [onIt.key] });
    await accountant.call('model.account.account.delete', [copy]);
    const ids = await create(onIt);
    await target.withdrawDrafts(ids, request);
    await accountant.call('model.account.account.write', [original], { closed: true });
    expect(await refusal(create(onIt).then((made) => target.withdrawDrafts(made, request)))).toMatchObject({
      ...{ means: 'refused', problem: 'erp_account_unknown' },
    });
    await accountant.call('model.account.account.write', [original], { closed: false });
  });

  test('a period that is closed is read as closed, and refuses what is dated in it', async () => {
    const february = await accountant.idOf('account.period', [['name', '=', '2024-02']]);
    await accountant.call('model.account.period.close', [february]);
    const { periods } = await target.periods(request);
    const closed = periods!.filter(({ isOpen }) => !isOpen);
    expect(closed).toEqual([{ from: '2024-02-01', through: '2024-02-29', isOpen: false, kind: 'general' }]);
    const late = ofCash('1.00', { date: '2024-02-10' });
    expect(await refusal(create(late))).toMatchObject({ problem: 'period_closed_in_erp', keys: [late.key] });
    await accountant.call('model.account.period.reopen', [february]);
    const [id] = await create(late);
    // The period was open when it was read, and closes before the next entry.
    await target.withdrawDrafts([id!], request);
    await accountant.call('model.account.period.close', [february]);
    expect(await refusal(create(late))).toMatchObject({ problem: 'period_closed_in_erp' });
    await accountant.call('model.account.period.reopen', [february]);
  });

  test('a posted move cannot be deleted, posted twice, or be another company’s', async () => {
    const [found] = await posted(ofCash('4.00'));
    for (const work of [target.withdrawDrafts([found!.id], request), target.post([found!.id], request)]) {
      expect(await refusal(work)).toMatchObject({ means: 'refused', problem: 'erp_refused' });
    }
    expect(await refusal(target.withdrawDrafts(['999999'], request))).toMatchObject({ means: 'refused' });
  });

  describe('matching', () => {
    const receivable = (amount: string, id = 81) =>
      entry({
        lines: [
          line('1700', amount, { party: client(id) }),
          line('1900', amount.startsWith('-') ? amount.slice(1) : `-${amount}`),
        ],
      });
    const lineOf = (found: FoundEntry) => found.lines.find(({ account }) => account === '1700')!.id!;
    const matchesOf = async (of: FoundEntry[]) => {
      const again = await target.read(
        of.map(({ id }) => id),
        request,
      );
      return again.map(({ lines }) => lines.find(({ account }) => account === '1700')!.matched);
    };

    test('lines that sum to zero are matched and unmatched, by a user of the group Accounting', async () => {
      const moves = await posted(
        receivable('50'),
        receivable('-30'),
        receivable('-20'),
        receivable('7', 82),
        receivable('-7', 82),
      );
      const [a, b, c, d, e] = moves.map(lineOf);
      await target.matching!.match(
        [
          [a!, b!, c!],
          [d!, e!],
        ],
        request,
      );
      const matched = await matchesOf(moves);
      expect(new Set(matched.slice(0, 3)).size).toBe(1);
      expect(matched.every((match) => match !== null)).toBe(true);
      expect(matched[3]).not.toBe(matched[0]);
      // Repeating the request changes nothing.
      await target.matching!.match([[a!, b!, c!]], request);
      expect(await matchesOf(moves)).toEqual(matched);
      await target.matching!.unmatch([[a!, b!, c!]], request);
      expect((await matchesOf(moves)).slice(0, 3)).toEqual([null, null, null]);
      await target.matching!.unmatch([[a!, b!, c!]], request);
    });

    test('lines of some accounts are read without the rest', async () => {
      const [move] = await posted(receivable('50'));
      const [bare, ...others] = await target.read([move!.id], request, { accounts: ['1700'] });
      expect(others).toEqual([]);
      const own = move!.lines.filter(({ account }) => account === '1700');
      expect(bare).toEqual({ ...move, lines: own.map((each) => ({ ...each, vat: [], dimensions: {} })) });
      expect(await target.read([move!.id], request, { accounts: ['3000'] })).toEqual([{ ...move, lines: [] }]);
    });

    test('a group that does not sum to zero, belongs to several parties or is matched otherwise is refused with the request', async () => {
      const moves = await posted(
        receivable('50'),
        receivable('-49'),
        receivable('-50', 82),
        receivable('-50'),
        receivable('50'),
      );
      const [a, b, c, d, e] = moves.map(lineOf);
      for (const group of [
        [a!, b!],
        [a!, c!],
        [a!, '999999'],
      ]) {
        expect(await refusal(target.matching!.match([[d!, e!], group], request))).toMatchObject({ means: 'refused' });
      }
      expect(await matchesOf(moves)).toEqual([null, null, null, null, null]);
      await target.matching!.match([[a!, d!]], request);
      expect(await refusal(target.matching!.match([[e!, d!]], request))).toMatchObject({ means: 'refused' });
    });
  });

  test('books: balances of posted entries; entries by date, by account and by when they were written', async () => {
    const day = '2027-06-10';
    const [first] = await posted(ofCash('10.00', { date: day }));
    await create(ofCash('99.00', { date: day }));
    const range = { from: '2027-06-01', through: '2027-06-30' };
    expect(await target.books!.balances(range, request)).toEqual({
      entries: 1,
      balances: new Map([
        ['1900', '10'],
        ['1910', '-10'],
      ]),
    });
    const cash = await accountant.idOf('account.account', [['code', '=', '1900']]);
    const bank = await accountant.idOf('account.account', [['code', '=', '1910']]);
    const june = await accountant.idOf('account.period', [['name', '=', '2027-06']]);
    const decimal = (amount: string) => ({ __class__: 'Decimal', decimal: amount });
    const [byHand] = await accountant.call<number[]>('model.account.move.create', [
      {
        ...{ company: 1, journal: 1, period: june, date: date(2027, 6, 11), description: 'by hand' },
        lines: [
          [
            'create',
            [
              { account: cash, debit: decimal('5'), credit: decimal('0') },
              { account: bank, debit: decimal('0'), credit: decimal('5') },
            ],
          ],
        ],
      },
    ]);
    await accountant.call('model.account.move.post', [byHand]);
    const read = async (changes: Partial<Parameters<NonNullable<ErpTarget['books']>['entries']>[0]>) => {
      const ids: string[] = [];
      const which = { ...range, changedSince: null, accounts: [], ...changes };
      for await (const page of target.books!.entries(which, request)) ids.push(...page.map(({ id }) => id));
      return ids;
    };
    expect(await read({})).toEqual([first!.id]);
    expect(await read({ accounts: ['1910'] })).toEqual([first!.id, String(byHand)]);
    expect(await read({ changedSince: new Date(Date.now() + 3_600_000) })).toEqual([]);
    expect(await read({ changedSince: new Date(Date.now() - 3_600_000) })).toContain(first!.id);
  });

  describe('check', () => {
    const plan: CheckPlan = {
      writes: true,
      currency: 'EUR',
      makesParties: true,
      parties: ['CLIENTS', 'INSURANCE'],
      accounts: [
        { account: '1700', roles: ['receivable'], isControl: true },
        { account: '1900', roles: ['cash'], isControl: false },
        { account: '3000', roles: ['revenue'], isControl: false },
        { account: '2931', roles: ['vat'], isControl: false },
      ],
      taxes: ['Sales 25.5 %'],
      dimensions: [{ theirs: 'Department', values: ['11', '12'] }],
      journals: ['REV', 'CASH'],
      dates: ['2026-03-01'],
    };
    const results = async (of: ErpTarget, changes: Partial<CheckPlan> = {}) => {
      const found: CheckResult[] = [];
      for await (const result of of.check({ ...plan, ...changes }, request)) found.push(result);
      return found;
    };
    const moves = () => accountant.call<number>('model.account.move.search_count', []);

    test('everything is right, and nothing remains in Tryton', async () => {
      const january = await accountant.idOf('account.period', [['name', '=', '2024-01']]);
      await accountant.call('model.account.period.close', [january]);
      const before = await moves();
      const found = await results(target);
      await accountant.call('model.account.period.reopen', [january]);
      expect(found.filter(({ ok }) => !ok)).toEqual([]);
      expect(found.map(({ name }) => name)).toContain('right to post; an entry that does not balance is refused');
      expect(found.find(({ name }) => name === 'a closed period is refused')).toMatchObject({ ok: true, message: '' });
      expect(await moves()).toBe(before);
    });

    test('without permission to write it only reads', async () => {
      const found = await results(target, { writes: false });
      expect(found.filter(({ ok }) => !ok)).toEqual([]);
      expect(found.map(({ name }) => name).filter((name) => /draft|post/.test(name))).toEqual([]);
    });

    test('missing and unsuitable records are named with the next step', async () => {
      const found = await results(target, {
        accounts: [
          ...plan.accounts,
          { account: '9999', roles: ['cash'], isControl: false },
          { account: '1910', roles: ['receivable'], isControl: true },
          { account: '3010', roles: ['vat'], isControl: false },
        ],
        taxes: ['Sales 99 %'],
        dimensions: [{ theirs: 'Department', values: ['77'] }],
        parties: ['NOBODY'],
        journals: ['REV', 'XXX'],
        dates: ['2031-01-01'],
      });
      const wrong = found.filter(({ ok }) => !ok);
      expect(wrong.map(({ name }) => name)).toEqual([
        ...[
          'account 9999 (cash)',
          'account 1910 (receivable)',
          'account 3010 (vat)',
          'party NOBODY',
          'journal XXX',
          'tax Sales 99 %',
        ],
        ...['dimension Department: 77', 'period of 2031-01-01'],
      ]);
      expect(wrong.every(({ message, todo }) => message !== '' && todo !== '')).toBe(true);
    });

    test('a user without the group Accounting lacks rights, and the check says so', async () => {
      await accountant.call('model.res.user.create', [
        { ...{ login: 'nobody', name: 'Nobody', password: 'Rather-long-1', company: 1 }, companies: [['add', [1]]] },
      ]);
      const other = openTryton(configOf(tryton, { user: 'nobody', password: 'Rather-long-1' }), ports);
      const wrong = (await results(other)).filter(({ ok }) => !ok);
      expect(wrong.map(({ message }) => message)).toContain('You are not allowed to access "Account Move".');
      expect(await refusal(other.create([ofCash('1.00')], request))).toMatchObject({ means: 'auth' });
      await other.close();
    });
  });

  describe('a wrong configuration', () => {
    test.each<[string, Parameters<typeof configOf>[1], string]>([
      ['password', { password: 'wrong-password' }, 'refuses the user vetledger, or the password'],
      ['database', { database: 'other' }, 'has no Tryton database other'],
      [
        'company',
        { company: 'Somebody else' },
        'may not use the company Somebody else; the companies of the user: Kuusikko',
      ],
    ])('%s', async (_, changes, message) => {
      const other = openTryton(configOf(tryton, changes), ports);
      const told = await refusal(other.create([ofCash('1.00')], request));
      expect(told).toMatchObject({ means: 'auth', message: expect.stringContaining(message) });
      expect(told.message).not.toContain('wrong-password');
      await other.close();
    });

    test('the company by name and by id', async () => {
      for (const company of ['Kuusikko Veterinary Group', '1']) {
        const other = openTryton(configOf(tryton, { company }), ports);
        expect((await other.periods(request)).periods).toHaveLength(48);
        await other.close();
      }
    });
  });

  describe('a server that becomes unavailable', () => {
    test('a session that has ended is renewed before anything is done', async () => {
      const other = openTryton(configOf(tryton), ports);
      await other.periods(request);
      // Ends all sessions of the user.
      const user = await accountant.idOf('res.user', [['login', '=', 'vetledger']]);
      await accountant.call('model.res.user.write', [user], { password: tryton.users.api.password });
      const sent = ofCash('6.00');
      const ids = await other.create([sent], request);
      await other.post([...ids.values()], request);
      expect((await other.find([{ key: sent.key, dates: [sent.date], since: null }], request)).found).toHaveLength(1);
      await other.close();
    });

    test('with a locked database, a request that did nothing causes no doubt', async () => {
      const other = openTryton(configOf(tryton, { timeoutSeconds: 2 }), ports);
      await other.periods(request);
      const sent = ofCash('7.00');
      const unlock = tryton.lockDatabase();
      const told = await refusal(other.create([sent], request));
      unlock();
      expect(['locked', 'doubt', 'unsent']).toContain(told.means);
      expect(told.problem).toBeNull();
      await other.close();
    });

    test('while it is stopped, requests are not sent; after the restart, delivery continues', async () => {
      await tryton.kill();
      expect(await refusal(target.create([ofCash('8.00')], request))).toMatchObject({ means: 'unsent' });
      expect(await refusal(target.find([{ key: 'A'.repeat(20), dates: [], since: null }], request))).toMatchObject({
        means: 'unsent',
      });
      await tryton.start();
      const [found] = await posted(ofCash('8.00'));
      expect(found!.state).toBe('posted');
    });
  });
});
