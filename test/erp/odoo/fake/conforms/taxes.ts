// Scripted calls about taxes on base lines when the tax line is sent too, so that Odoo does not recompute the entry.

import type { ScriptedCall } from './call.ts';
import { outcome, type ScriptLine, type World } from './world.ts';

interface Changes {
  tax?: Partial<ScriptLine>;
  base?: Partial<ScriptLine>;
  total?: string;
}

const sale = ({ tax = {}, base = {}, total = '115.00' }: Changes = {}): ScriptLine[] => [
  { account: '121000', amount: total },
  { account: '400000', amount: '-100.00', tags: ['base'], taxes: 'ours', ...base },
  { account: '251000', amount: '-15.00', tags: ['tax'], isTax: true, base: '100.00', ...tax },
];
const day = '2026-05-03';

/** An entry after it was loaded, written, posted, and set back to draft. */
async function lives(w: World, key: string, lines: ScriptLine[], context: object = {}): Promise<unknown[]> {
  const id = await outcome(w.loaded({ key, date: day, lines }, { context }));
  if (typeof id !== 'number') return [id];
  const told = [(await w.told(id)).lines];
  const next = async (work: Promise<unknown>) => {
    const said = await outcome(work);
    const { lines: now } = await w.told(id);
    told.push(typeof said === 'string' ? [said] : JSON.stringify(now) === JSON.stringify(told.at(-1)) ? ['same'] : now);
  };
  await next(w.admin.call('account.move', 'write', [[id], { ref: `x ${key}` }]));
  await next(w.admin.call('account.move', 'action_post', [[id]]));
  await next(w.admin.call('account.move', 'button_draft', [[id]]));
  return told;
}

export const taxCalls: ScriptedCall[] = [
  { name: 'a taxed base and its tax line', run: (w) => lives(w, 'tb1', sale()) },
  { name: 'the same, the sync skipped', run: (w) => lives(w, 'tb2', sale(), { skip_invoice_sync: true }) },
  {
    name: 'a tax line that is a cent off',
    run: (w) => lives(w, 'tb3', sale({ tax: { amount: '-15.01' }, total: '115.01' })),
  },
  {
    name: 'a taxed base without tags',
    run: async (w) => {
      const { tags: _, ...base } = sale()[1]!;
      return lives(w, 'tb4', [sale()[0]!, base, sale()[2]!]);
    },
  },
  {
    name: 'a tax line on another account',
    run: (w) => lives(w, 'tb5', sale({ tax: { account: '252000' } })),
  },
  {
    name: 'a refund: base and tax in debit',
    run: (w) => lives(w, 'tb6', sale({ base: { amount: '100.00' }, tax: { amount: '15.00' }, total: '-115.00' })),
  },
  {
    name: 'two bases of one tax',
    run: (w) =>
      lives(w, 'tb7', [
        ...sale({ total: '172.50', tax: { amount: '-22.50', base: '150.00' } }).slice(0, 2),
        { account: '450000', amount: '-50.00', tags: ['base'], taxes: 'ours' },
        { account: '251000', amount: '-22.50', tags: ['tax'], isTax: true, base: '150.00' },
      ]),
  },
  {
    name: 'the same loaded again with other amounts',
    async run(w) {
      const id = await w.loaded({ key: 'tb8', date: day, lines: sale() });
      const other = sale({ base: { amount: '-200.00' }, tax: { amount: '-30.00', base: '200.00' }, total: '230.00' });
      await outcome(w.loaded({ key: 'tb8', date: day, lines: other }));
      return (await w.told(id)).lines;
    },
  },
];
