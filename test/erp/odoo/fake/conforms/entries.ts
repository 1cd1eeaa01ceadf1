// Scripted calls about entries: which entries Odoo loads, changes silently, or refuses.

import type { ScriptedCall } from './call.ts';
import { outcome, type ScriptLine, type World } from './world.ts';

const cash = (amount = '100.00'): ScriptLine[] => [
  { account: '121000', amount },
  { account: '400000', amount: `-${amount}` },
];
/** A sale with tags and a tax line, without taxes that Odoo would compute. */
const sale = ({ taxes, invert }: { taxes?: 'none'; invert?: boolean } = {}): ScriptLine[] => {
  const more = { ...(taxes && { taxes }), ...(invert !== undefined && { invert }) };
  return [
    { account: '121000', amount: '115.00', ...more, ...(invert !== undefined && { invert: false }) },
    { account: '400000', amount: '-100.00', tags: ['base'], ...more },
    { account: '251000', amount: '-15.00', tags: ['tax'], isTax: true, base: '100.00', ...more },
  ];
};
const plain = { context: {} };
const post = (w: World, id: number, context: object = { skip_invoice_sync: true }) =>
  w.admin.call('account.move', 'action_post', [[id]], { context: { lang: 'en_US', ...context } });

export const entryCalls: ScriptedCall[] = [
  {
    name: 'the same ref twice is two moves',
    async run(w) {
      const entry = { date: '2026-05-03', lines: cash(), ref: `twice ${w.suffix}` };
      await w.loaded({ key: 'twice1', ...entry });
      await w.loaded({ key: 'twice2', ...entry });
      return w.admin.call('account.move', 'search_count', [[['ref', '=', entry.ref]]]);
    },
  },
  {
    name: 'loading an id again without ids of lines adds the lines again',
    async run(w) {
      const entry = { key: 'append', date: '2026-05-03', lines: cash(), lineIds: false };
      const first = await w.loaded(entry);
      const second = await w.loaded(entry);
      return [first === second, (await w.told(first)).lines];
    },
  },
  {
    name: 'loading an id again with ids of lines changes the draft and adds nothing',
    async run(w) {
      const first = await w.loaded({ key: 'again', date: '2026-05-03', lines: cash() });
      const second = await w.loaded({ key: 'again', date: '2026-05-04', lines: cash('70.00') });
      return [first === second, await w.told(first)];
    },
  },
  {
    name: 'loading a posted entry again',
    async run(w) {
      const id = await w.posted({ key: 'posted', date: '2026-05-03', lines: cash() });
      const again = await outcome(w.loaded({ key: 'posted', date: '2026-05-04', lines: cash('70.00') }));
      return [again === id ? 'taken' : again, await w.told(id)];
    },
  },
  {
    name: 'loading a posted entry again without ids of lines',
    async run(w) {
      const entry = { key: 'posted2', date: '2026-05-03', lines: cash(), lineIds: false };
      const id = await w.posted(entry);
      const again = await outcome(w.loaded(entry));
      return [again === id ? 'taken' : again, (await w.told(id)).lines.length];
    },
  },
  {
    name: 'an entry that does not balance is not loaded',
    async run(w) {
      const [, second] = cash('100.01');
      const said = await w.load({ key: 'unbalanced', date: '2026-05-03', lines: [cash()[0]!, second!] });
      const text = said.messages.map(({ type, message }) => `${type} ${message.replace(/\s+/g, ' ')}`).join();
      return [said.ids, /not balanced/.test(text), Object.keys(said.messages[0]!).sort()];
    },
  },
  {
    name: 'an account that does not exist',
    async run(w) {
      const lines = [
        { account: '99999999', amount: '1.00' },
        { account: '400000', amount: '-1.00' },
      ];
      return (await w.load({ key: 'noaccount', date: '2026-05-03', lines })).messages.map(({ message }) => message);
    },
  },
  {
    name: 'a sale with tags and a tax line, with the sync of invoices skipped, stays as it was sent',
    async run(w) {
      const id = await w.loaded({ key: 'sale', date: '2026-05-03', lines: sale() });
      await post(w, id);
      return w.told(id);
    },
  },
  {
    name: 'a sale with tags that are inverted',
    async run(w) {
      const lines = sale({ invert: true });
      const id = await w.loaded({ key: 'inverted', date: '2026-05-03', lines });
      const first = await w.told(id);
      await w.loaded({ key: 'inverted', date: '2026-05-03', lines });
      return [first.lines, (await w.told(id)).lines];
    },
  },
  {
    name: 'a posted sale with tags that are inverted, loaded again',
    async run(w) {
      const lines = sale({ invert: true, taxes: 'none' });
      const id = await w.posted({ key: 'inverted2', date: '2026-05-03', lines });
      const first = await w.told(id);
      const said = await outcome(w.loaded({ key: 'inverted2', date: '2026-05-03', lines }));
      return [first.lines, said === id ? 'taken' : said, (await w.told(id)).lines];
    },
  },
  {
    name: 'the same without skipping it',
    async run(w) {
      const id = await w.loaded({ key: 'synced', date: '2026-05-03', lines: sale() }, plain);
      return (await w.told(id)).lines;
    },
  },
  {
    name: 'a draft with a tax line that is posted or written without skipping it',
    async run(w) {
      const id = await w.loaded({ key: 'synced2', date: '2026-05-03', lines: sale() });
      const other = await w.loaded({ key: 'synced3', date: '2026-05-03', lines: sale() });
      await post(w, id, {});
      await w.admin.call('account.move', 'write', [[other], { ref: 'x' }]);
      return [(await w.told(id)).lines, (await w.told(other)).lines];
    },
  },
  {
    name: 'a draft with a tax line and without taxes, its lines changed by hand',
    async run(w) {
      const told = [];
      for (const [n, values] of [
        { name: 'x' },
        { partner_id: w.partner },
        { account_id: w.account('450000') },
      ].entries()) {
        const id = await w.loaded({ key: `edited${n}`, date: '2026-05-03', lines: sale() });
        const [, line] = await w.admin.search('account.move.line', [['move_id', '=', id]], { order: 'id' });
        const said = await outcome(w.admin.call('account.move.line', 'write', [[line], values]));
        told.push([/not balanced/.test(String(said)) ? 'not balanced' : said, (await w.told(id)).lines]);
      }
      return told;
    },
  },
  {
    name: 'a line with taxes in an entry that balances',
    async run(w) {
      const [debit, credit] = cash();
      const lines = [debit!, { ...credit!, taxes: 'ours' as const }];
      const id = await w.loaded({ key: 'taxed', date: '2026-05-03', lines }, plain);
      const skipped = await w.loaded({ key: 'taxed2', date: '2026-05-03', lines });
      return [(await w.told(id)).lines, (await w.told(skipped)).lines];
    },
  },
  {
    name: 'a line with taxes in an entry that lacks the tax',
    async run(w) {
      const lines: ScriptLine[] = [
        { account: '121000', amount: '115.00' },
        { account: '400000', amount: '-100.00', taxes: 'ours' },
      ];
      const id = await outcome(w.loaded({ key: 'untaxed', date: '2026-05-03', lines }, plain));
      return typeof id === 'number' ? (await w.told(id)).lines : id;
    },
  },
  {
    name: 'an account with a tax of its own',
    async run(w) {
      const account = w.account('450000');
      await w.admin.call('account.account', 'write', [[account], { tax_ids: [[6, 0, [w.tax.id]]] }]);
      try {
        const told = [];
        for (const [n, taxes] of [undefined, 'none' as const].entries()) {
          for (const context of [{}, { skip_invoice_sync: true }]) {
            const lines: ScriptLine[] = [
              { account: '121000', amount: '100.00', ...(taxes && { taxes }) },
              { account: '450000', amount: '-100.00', ...(taxes && { taxes }) },
            ];
            const key = `default${n}${Object.keys(context).length}`;
            const id = await outcome(w.loaded({ key, date: '2026-05-03', lines }, { context }));
            told.push(typeof id === 'number' ? (await w.told(id)).lines : id);
          }
        }
        return told;
      } finally {
        await w.admin.call('account.account', 'write', [[account], { tax_ids: [[6, 0, []]] }]);
      }
    },
  },
  {
    name: 'the date, the lines and an account of a posted entry changed by hand',
    async run(w) {
      const id = await w.posted({ key: 'byhand', date: '2026-05-03', lines: cash() });
      const [line] = await w.admin.search('account.move.line', [['move_id', '=', id]], { order: 'id' });
      const append = ['121000', '400000'].map((account, n) => [
        ...[0, 0],
        { account_id: w.account(account), debit: n === 0 ? 5 : 0, credit: n === 0 ? 0 : 5, name: 'x' },
      ]);
      const told = [];
      for (const values of [{ date: '2026-05-20' }, { line_ids: append }, { ref: 'other' }]) {
        told.push(await outcome(w.admin.call('account.move', 'write', [[id], values])));
      }
      const write = (values: object) => outcome(w.admin.call('account.move.line', 'write', [[line], values]));
      told.push(await write({ account_id: w.account('121000') }));
      told.push(
        await write({ account_id: w.account('450000') }),
        await write({ debit: 50 }),
        await write({ name: 'y' }),
      );
      return [told, await w.told(id)];
    },
  },
  {
    name: 'a posted entry deleted',
    async run(w) {
      const id = await w.posted({ key: 'deleted', date: '2026-05-03', lines: cash() });
      return outcome(w.admin.call('account.move', 'unlink', [[id]]));
    },
  },
  {
    name: 'a posted entry back to draft, cancelled, and deleted',
    async run(w) {
      const id = await w.posted({ key: 'undone', date: '2026-05-03', lines: cash() });
      const told = [];
      for (const method of ['button_draft', 'button_draft', 'button_cancel', 'button_draft', 'unlink']) {
        told.push(await outcome(w.admin.call('account.move', method, [[id]])));
      }
      return told;
    },
  },
  {
    name: 'a posted entry posted again',
    async run(w) {
      const id = await w.posted({ key: 'reposted', date: '2026-05-03', lines: cash() });
      return String(await outcome(post(w, id)))
        .replace(/\d{3,}/g, 'N')
        .replace(String(id), 'N');
    },
  },
  {
    name: 'an entry created in the state posted, and one with no lines posted',
    async run(w) {
      const values = { move_type: 'entry', journal_id: w.journal('MISC'), date: '2026-05-03' };
      const created = await outcome(w.admin.call('account.move', 'create', [[{ ...values, state: 'posted' }]]));
      const [empty] = await w.admin.call<number[]>('account.move', 'create', [[values]]);
      return [created, await outcome(post(w, empty!))];
    },
  },
  {
    name: 'a line on a receivable account without a partner',
    async run(w) {
      const id = await w.posted({ key: 'nopartner', date: '2026-05-03', lines: cash() });
      return (await w.told(id)).is;
    },
  },
  {
    name: 'a batch with one bad entry loads none',
    async run(w) {
      const good = w.rows({ key: 'batch1', date: '2026-05-03', lines: cash() });
      const bad = w.rows({
        key: 'batch2',
        date: '2026-05-03',
        lines: [{ account: '77777777', amount: '1.00' }, cash('1.00')[1]!],
      });
      const said = await w.admin.call<{ ids: unknown; messages: Record<string, unknown>[] }>(
        'account.move',
        'load',
        [good.fields, [...good.rows, ...bad.rows]],
        {
          context: { lang: 'en_US' },
        },
      );
      const left = await w.admin.search('account.move', [['ref', 'like', '[batch1]']]);
      return [said.ids, said.messages.map(({ record, rows }) => [record, rows]), left.length];
    },
  },
  {
    name: 'external ids of an entry and of its lines, which go with it',
    async run(w) {
      const id = await w.loaded({ key: 'ids', date: '2026-05-03', lines: cash() });
      const named = () =>
        w.admin.searchRead<{ name: string; model: string; res_id: number }>(
          'ir.model.data',
          [
            ['module', '=', 'vetledger'],
            ['name', '=like', `ids_${w.suffix}%`],
          ],
          ['name', 'model', 'res_id'],
          { order: 'name' },
        );
      const before = (await named()).map(({ name, model }) => `${model} ${name.replace(w.suffix, '')}`);
      const [meta] = await w.admin.call<Record<string, unknown>[]>('account.move', 'get_metadata', [[id]]);
      await w.admin.call('account.move', 'unlink', [[id]]);
      return [before, Object.keys(meta!).sort(), (meta!.xmlid as string).replace(w.suffix, ''), await named()];
    },
  },
  {
    name: 'an id loaded again after its entry was deleted makes it anew',
    async run(w) {
      const first = await w.loaded({ key: 'anew', date: '2026-05-03', lines: cash() });
      await w.admin.call('account.move', 'unlink', [[first]]);
      const second = await w.loaded({ key: 'anew', date: '2026-05-03', lines: cash() });
      return [second > first, (await w.told(second)).lines.length];
    },
  },
  {
    name: 'numbers of drafts and of posted entries',
    async run(w) {
      const month = '2024-02';
      const name = async (id: number) =>
        (await w.admin.read<{ name: unknown }>('account.move', [id], ['name']))[0]!.name;
      const first = await w.loaded({ key: 'first', date: `${month}-03`, lines: cash() });
      const second = await w.loaded({ key: 'second', date: `${month}-04`, lines: cash() });
      const drafts = [await name(first), await name(second)];
      await post(w, second);
      await post(w, first);
      return [drafts, await name(second), await name(first)];
    },
  },
];
