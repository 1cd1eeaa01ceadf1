// Scripted calls about rights of users, companies and languages.

import type { OdooClient } from '../../client.ts';
import type { ScriptedCall } from './call.ts';
import { outcome, type ScriptLine } from './world.ts';

const cash: ScriptLine[] = [
  { account: '121000', amount: '10.00' },
  { account: '400000', amount: '-10.00' },
];
const billing = ['account.group_account_invoice'];
const tried = [
  ...['account.move', 'account.account', 'account.analytic.plan', 'account.analytic.account', 'res.partner'],
  ...['ir.model.data', 'res.company', 'account.partial.reconcile', 'res.users.apikeys'],
];

async function rightsOf(client: OdooClient, version: number): Promise<Record<string, string>> {
  const told: Record<string, string> = {};
  for (const model of tried) {
    let letters = '';
    for (const operation of ['read', 'write', 'create', 'unlink']) {
      const may =
        version === 17
          ? await client.call(model, 'check_access_rights', [operation], { raise_exception: false })
          : await client.call(model, 'has_access', [[], operation]);
      if (may) letters += operation[0];
    }
    told[model] = letters;
  }
  return told;
}

export const peopleCalls: ScriptedCall[] = [
  {
    name: 'rights of a user with Billing only, and of others',
    async run(w) {
      const told = [];
      for (const [name, groups] of Object.entries({
        billing,
        partners: [...billing, 'base.group_partner_manager'],
        analytic: [...billing, 'analytic.group_analytic_accounting'],
        manager: ['account.group_account_manager'],
        rights: [...billing, 'base.group_erp_manager'],
        nobody: [],
      })) {
        const { client } = await w.person(name, groups);
        told.push(await rightsOf(client, w.version));
      }
      return told;
    },
  },
  {
    name: 'has_group, and check_access_rights that raises',
    async run(w) {
      const { client, id } = await w.person('billing', billing);
      const ids = w.version === 17 ? [] : [[id]];
      const has = (group: string) => outcome(client.call('res.users', 'has_group', [...ids, group]));
      return [
        await has('account.group_account_invoice'),
        await has('account.group_account_manager'),
        await has('base.group_erp_manager'),
        await has('base.group_nix'),
        await outcome(client.call('ir.model.data', 'check_access_rights', ['read'])),
        await outcome(client.call('account.move', 'check_access_rights', ['read'])),
      ];
    },
  },
  {
    name: 'an ordinary user loads with external ids, and cannot look them up',
    async run(w) {
      const { client } = await w.person('billing', billing);
      const id = await w.loaded({ key: 'byuser', date: '2026-05-03', lines: cash }, { by: client });
      const name = w.id('byuser').slice('vetledger.'.length);
      const again = await w.loaded({ key: 'byuser', date: '2026-05-03', lines: cash }, { by: client });
      const [meta] = await client.call<{ xmlid: string; xmlids: unknown[] }[]>('account.move', 'get_metadata', [[id]]);
      return [
        again === id,
        await outcome(client.searchRead('ir.model.data', [['module', '=', 'vetledger']], ['name'])),
        JSON.stringify(await outcome(client.call('ir.model.data', 'check_object_reference', ['vetledger', name]))) ===
          JSON.stringify(['account.move', id]),
        meta!.xmlids.length,
        await outcome(client.call('account.move', 'unlink', [[id]])),
      ];
    },
  },
  {
    name: 'check_object_reference of one who may look',
    async run(w) {
      const id = await w.loaded({ key: 'checkref', date: '2026-05-03', lines: cash });
      const name = w.id('checkref').slice('vetledger.'.length);
      const found = await w.admin.call('ir.model.data', 'check_object_reference', ['vetledger', name]);
      return [
        JSON.stringify(found) === JSON.stringify(['account.move', id]),
        await outcome(w.admin.call('ir.model.data', 'check_object_reference', ['vetledger', 'nix'])),
      ];
    },
  },
  {
    name: 'a user without any right',
    async run(w) {
      const { client } = await w.person('nobody', []);
      return [
        await outcome(client.searchRead('account.move', [], ['name'])),
        await outcome(w.load({ key: 'nobody', date: '2026-05-03', lines: cash }, { by: client })),
        await outcome(client.call('account.move', 'action_post', [[1]])),
        await outcome(client.call('res.partner', 'create', [[{ name: 'x' }]])),
      ];
    },
  },
  {
    name: 'a draft that others follow, deleted by one who does not administer',
    async run(w) {
      const { client } = await w.person('billing', billing);
      const date = '2024-03-03';
      const first = await w.loaded({ key: 'chain1', date, lines: cash });
      await w.posted({ key: 'chain2', date, lines: cash });
      return [
        await outcome(client.call('account.move', 'unlink', [[first]])),
        await outcome(w.admin.call('account.move', 'unlink', [[first]])),
      ];
    },
  },
  {
    name: 'words of errors are in the language of the context, and of the user without one',
    async run(w) {
      await w.language();
      const { client, id } = await w.person('finn', billing);
      await w.admin.call('res.users', 'write', [[id], { lang: 'fi_FI' }]);
      const move = await w.posted({ key: 'lang', date: '2026-05-03', lines: cash });
      const post = (context: object) => outcome(client.call('account.move', 'unlink', [[move]], { context }));
      return [await post({}), await post({ lang: 'en_US' }), await post({ lang: 'xx_XX' })];
    },
  },
  {
    name: 'a company that is not the user’s',
    async run(w) {
      const branch = await w.branch();
      const { client } = await w.person('billing', billing);
      const ask = (companies: number[]) =>
        outcome(
          client.call('account.move', 'search_count', [[]], {
            context: { lang: 'en_US', allowed_company_ids: companies },
          }),
        );
      const company = await outcome(client.searchRead('res.company', [['id', '=', branch]], ['name']));
      return [await ask([branch]), await ask([999_999]), company];
    },
  },
  {
    name: 'an entry without a company in the context is in the user’s own, and seen with those that the context names',
    async run(w) {
      const branch = await w.branch();
      const context = { lang: 'en_US', skip_invoice_sync: true, allowed_company_ids: [branch] };
      const mine = await w.loaded(
        { key: 'mine', date: '2026-05-03', lines: cash },
        { context: { allowed_company_ids: undefined } },
      );
      const theirs = await w.loaded({ key: 'theirs', date: '2026-05-03', lines: cash }, { context });
      const companyOf = async (id: number) =>
        (await w.admin.read<{ company_id: [number, string] }>('account.move', [id], ['company_id']))[0]!.company_id[0];
      const seen = (companies: number[]) =>
        w.admin.call('account.move', 'search_count', [[['id', 'in', [mine, theirs]]]], {
          context: { allowed_company_ids: companies },
        });
      return [
        (await companyOf(mine)) === w.company,
        (await companyOf(theirs)) === branch,
        await seen([w.company]),
        await seen([branch]),
        await seen([w.company, branch]),
        String(
          await outcome(
            w.admin.call('account.move', 'read', [[theirs], ['ref']], {
              context: { lang: 'en_US', allowed_company_ids: [w.company] },
            }),
          ),
        )
          .replaceAll(String(theirs), 'ID')
          .slice(0, 200),
      ];
    },
  },
  {
    name: 'keys of the API that a user may see',
    async run(w) {
      const { client } = await w.person('billing', billing);
      const keys = await outcome(
        client.searchRead(
          'res.users.apikeys',
          [],
          w.version === 17 ? ['name', 'scope', 'user_id'] : ['name', 'scope', 'user_id', 'expiration_date'],
        ),
      );
      const fields = await client.call<Record<string, unknown>>('res.users.apikeys', 'fields_get', [[], ['type']]);
      return [
        keys,
        Object.keys(fields)
          .filter((name) => !/^(create|write|display|__)/.test(name))
          .sort(),
      ];
    },
  },
];
