import { describe, expect, test } from 'vitest';
import type { CheckPlan, ErpError } from '../../../src/erp/port.ts';
import { apiLogin } from './fake/company.ts';
import { userError } from './fake/errors.ts';
import type { OdooVersion } from './fake/schema.ts';
import { Trap } from './traps/cases.ts';

const request = { signal: new AbortController().signal, priority: 0 };
const plan: CheckPlan = {
  ...{ writes: true, currency: 'EUR', makesParties: true, parties: ['CASH'], taxes: ['S25'], journals: ['SALES'] },
  ...{ dimensions: [{ theirs: 'project', values: ['east', 'west'] }], dates: ['2026-03-02'] },
  accounts: [
    { account: '1700', roles: ['receivable'], isControl: true },
    { account: '3000', roles: ['revenue'], isControl: false },
    { account: '2931', roles: ['vat'], isControl: false },
  ],
};

const spoilt: [what: string, spoil: (trap: Trap) => void, named: string[]][] = [
  ['nothing', () => {}, []],
  [
    'the right to delete drafts',
    ({ fake }) => fake.odoo.takeRights(apiLogin, 'account.move', 'u'),
    ['right to delete drafts'],
  ],
  [
    'a module that keeps drafts',
    ({ fake }) => {
      fake.odoo.core.onUnlink = () => {
        throw userError('Drafts are kept.');
      };
    },
    ['draft on all accounts, with taxes and dimensions', 'drafts are deleted'],
  ],
  [
    'an account that is used no more',
    ({ fake }) => {
      const field = fake.odoo.version === 19 ? { active: false } : { deprecated: true };
      fake.odoo.inside().update('account.account', fake.idOf('account.account', 'code', '3000'), field);
    },
    ['account 3000 (revenue)'],
  ],
  ['a lock of taxes over the days', ({ fake }) => fake.lock('2026-03-31', 'tax_lock_date'), ['day 2026-03-02']],
];

const versions: OdooVersion[] = [17, 18, 19];
describe.each(versions)('the check of a fake Odoo %i', (version) => {
  test.each(spoilt)('names %s', async (_, spoil, named) => {
    const trap = new Trap(version);
    spoil(trap);
    const wrong = [];
    for await (const { name, ok } of trap.target.check(plan, request)) if (!ok) wrong.push(name);
    expect(wrong).toEqual(expect.arrayContaining(named));
    if (named.length > 0) return;
    expect(wrong).toEqual([]);
    // The check has deleted what it created.
    expect(trap.fake.held()).toEqual([]);
  });

  test('accounts have the names of its chart', async () => {
    const names = await new Trap(version).target.accountNames?.(['3000', '9999'], request);
    expect(Object.fromEntries(names ?? [])).toEqual({ '3000': 'Consultations' });
  });

  test('an API key is listed with its expiry, and refused afterwards', async () => {
    const trap = new Trap(version);
    const ends = version === 17 ? [] : ['2027-03-01T00:00:00.000Z'];
    const keys = (await trap.target.expiries?.(request)) ?? [];
    expect(keys.map(({ at }) => at.toISOString())).toEqual(ends);
    if (version === 17) return;
    const ended = new Trap(version, {}, ({ odoo }) => {
      odoo.addKey(apiLogin, 'an old key', '2026-03-01 00:00:00');
      return { password: 'an old key' };
    });
    await expect(ended.target.periods(request)).rejects.toSatisfy(({ means }: ErpError) => means === 'auth');
  });
});
