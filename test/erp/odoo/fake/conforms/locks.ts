// Scripted calls about lock dates: Odoo silently changes the date of an entry that is posted into a locked period.

import type { OdooClient } from '../../client.ts';
import type { ScriptedCall } from './call.ts';
import { outcome, type ScriptLine, type World } from './world.ts';

const cash: ScriptLine[] = [
  { account: '121000', amount: '10.00' },
  { account: '400000', amount: '-10.00' },
];
const taxed: ScriptLine[] = [cash[0]!, { ...cash[1]!, tags: ['base'] }];

/** Loads an entry before or after the lock is set, and then posts it. Returns its date at the end. */
async function postedUnder(
  w: World,
  locks: Record<string, string>,
  entry: { key: string; date: string; journal?: string; lines?: ScriptLine[] },
  { by = w.admin, company = w.company, lockOf = company }: { by?: OdooClient; company?: number; lockOf?: number } = {},
): Promise<unknown> {
  const context = { lang: 'en_US', allowed_company_ids: [company], skip_invoice_sync: true };
  return w.withLocks(
    locks,
    async () => {
      const id = await outcome(w.loaded({ lines: cash, ...entry }, { by, context }));
      if (typeof id !== 'number') return id;
      const posted = await outcome(by.call('account.move', 'action_post', [[id]], { context }));
      return [posted, (await w.told(id)).is];
    },
    lockOf,
  );
}

export const lockCalls: ScriptedCall[] = [
  {
    name: 'an entry posted into a locked fiscal year is dated at the end of the next open month',
    run: (w) => postedUnder(w, { fiscalyear_lock_date: '2023-04-15' }, { key: 'year', date: '2023-03-10' }),
  },
  {
    name: 'on the last day of the lock, and on the day after',
    run: async (w) => [
      await postedUnder(w, { fiscalyear_lock_date: '2023-03-31' }, { key: 'last', date: '2023-03-31' }),
      await postedUnder(w, { fiscalyear_lock_date: '2023-03-31' }, { key: 'after', date: '2023-04-01' }),
    ],
  },
  {
    name: 'the lock of taxes moves an entry with tags only',
    run: async (w) => [
      await postedUnder(w, { tax_lock_date: '2023-04-30' }, { key: 'tax', date: '2023-03-10', lines: taxed }),
      await postedUnder(w, { tax_lock_date: '2023-04-30' }, { key: 'notax', date: '2023-03-10' }),
    ],
  },
  {
    name: 'the lock of a period is for those who do not administer',
    only: [17],
    async run(w) {
      const { client } = await w.person('biller', ['account.group_account_invoice']);
      const lock = { period_lock_date: '2023-04-30' };
      return [
        await postedUnder(w, lock, { key: 'perioda', date: '2023-03-10' }),
        await postedUnder(w, lock, { key: 'periodb', date: '2023-03-10' }, { by: client }),
      ];
    },
  },
  {
    name: 'the lock of sales is for journals of sales',
    only: [18, 19],
    async run(w) {
      const lock = { sale_lock_date: '2023-04-30' };
      return [
        await postedUnder(w, lock, { key: 'salea', date: '2023-03-10', journal: 'INV' }),
        await postedUnder(w, lock, { key: 'saleb', date: '2023-03-10' }),
        await postedUnder(
          w,
          { purchase_lock_date: '2023-04-30' },
          { key: 'salec', date: '2023-03-10', journal: 'INV' },
        ),
        await postedUnder(
          w,
          { purchase_lock_date: '2023-04-30' },
          { key: 'saled', date: '2023-03-10', journal: 'BILL' },
        ),
      ];
    },
  },
  {
    name: 'a journal that is numbered by the year moves an entry to the end of the year',
    async run(w) {
      await w.posted({ key: 'yearly0', date: '2021-02-10', journal: 'INV', lines: cash });
      return postedUnder(
        w,
        { fiscalyear_lock_date: '2021-04-30' },
        { key: 'yearly', date: '2021-03-10', journal: 'INV' },
      );
    },
  },
  {
    name: 'the lock of a parent company counts',
    async run(w) {
      const branch = await w.branch();
      return postedUnder(
        w,
        { fiscalyear_lock_date: '2023-04-15' },
        { key: 'branch', date: '2023-03-10' },
        { company: branch, lockOf: w.company },
      );
    },
  },
  {
    name: 'a lock over drafts',
    async run(w) {
      const id = await w.loaded({ key: 'indraft', date: '2022-03-10', lines: cash });
      const told = [];
      for (const lock of ['fiscalyear_lock_date', 'tax_lock_date']) {
        told.push(await outcome(w.withLocks({ [lock]: '2022-03-31' }, async () => 'set')));
      }
      await w.admin.call('account.move', 'unlink', [[id]]);
      return told;
    },
  },
  {
    name: 'what is done to a posted entry in a locked period',
    async run(w) {
      const id = await w.posted({ key: 'inlock', date: '2022-05-10', lines: cash });
      const [line] = await w.admin.search('account.move.line', [['move_id', '=', id]], { order: 'id' });
      const told = await w.withLocks({ fiscalyear_lock_date: '2022-05-31' }, async () => [
        await outcome(w.admin.call('account.move', 'write', [[id], { date: '2022-06-01' }])),
        await outcome(w.admin.call('account.move.line', 'write', [[line], { account_id: w.account('450000') }])),
        await outcome(w.admin.call('account.move.line', 'write', [[line], { name: 'other' }])),
        await outcome(w.admin.call('account.move', 'button_draft', [[id]])),
        (await w.told(id)).is,
      ]);
      return told;
    },
  },
  {
    name: 'the locks as they are read',
    async run(w) {
      const [company] = await w.admin.searchRead<Record<string, unknown>>(
        'res.company',
        [['id', '=', w.company]],
        [
          ...['fiscalyear_lock_date', 'tax_lock_date', 'parent_id', 'parent_ids'],
          ...(w.version === 17
            ? ['period_lock_date']
            : [
                'sale_lock_date',
                'purchase_lock_date',
                'hard_lock_date',
                'user_fiscalyear_lock_date',
                'user_tax_lock_date',
                'user_sale_lock_date',
                'user_hard_lock_date',
              ]),
        ],
      );
      return { ...company, id: 0, parent_ids: (company!.parent_ids as number[]).length };
    },
  },
];
