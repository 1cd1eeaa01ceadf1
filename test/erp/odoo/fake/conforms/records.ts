// Scripted calls about records in general: domains, orders, field values in JSON, and matching of lines.

import type { ScriptedCall } from './call.ts';
import { outcome, type ScriptLine, type World } from './world.ts';

const cash = (amount: string): ScriptLine[] => [
  { account: '121000', amount },
  { account: '400000', amount: amount.startsWith('-') ? amount.slice(1) : `-${amount}` },
];

/** Creates three entries that domains can distinguish. */
async function three(w: World): Promise<Map<number, string>> {
  const ids = new Map<number, string>();
  for (const [key, date, amount] of [
    ['d1', '2025-01-05', '10.00'],
    ['d2', '2025-01-07', '20.00'],
    ['d3', '2025-02-01', '30.00'],
  ] as const) {
    const ref = `${key} of ${w.suffix} 100%_x`;
    const [known] = await w.admin.search('account.move', [['ref', '=', ref]]);
    ids.set(known ?? (await w.loaded({ key, date, lines: cash(amount), ref })), key);
  }
  return ids;
}

async function found(w: World, domain: unknown[], named: object = {}): Promise<unknown> {
  const ids = await three(w);
  const all = await outcome(
    w.admin.call('account.move', 'search', [[['id', 'in', [...ids.keys()]], ...domain]], { order: 'id', ...named }),
  );
  return Array.isArray(all) ? all.map((id) => ids.get(id)).join(' ') : String(all);
}

/** Creates two posted entries whose receivable lines settle each other. Returns the lines. */
async function pair(w: World, key: string, second = '-100.00'): Promise<number[]> {
  const lines: number[] = [];
  for (const [n, amount] of ['100.00', second].entries()) {
    const id = await w.posted({ key: `${key}${n}`, date: '2026-05-03', lines: cash(amount) });
    lines.push(
      ...(await w.admin.search('account.move.line', [
        ['move_id', '=', id],
        ['account_id', '=', w.account('121000')],
      ])),
    );
  }
  return lines;
}

async function matched(w: World, ids: number[]): Promise<unknown> {
  const fields = ['reconciled', 'amount_residual', 'matching_number', 'full_reconcile_id'];
  const rows = await w.admin.read<Record<string, unknown>>('account.move.line', ids, fields);
  const numbers = new Set(rows.map(({ matching_number: number }) => number));
  return [
    rows.map(({ reconciled, amount_residual: residual, full_reconcile_id: full, matching_number: number }) =>
      [
        reconciled,
        residual,
        Array.isArray(full),
        typeof number === 'string' ? number.replace(/\d+/, 'N') : number,
      ].join(' '),
    ),
    numbers.size,
  ];
}

const domains: [string, unknown[]][] = [
  ['=', [['date', '=', '2025-01-05']]],
  ['!=', [['date', '!=', '2025-01-05']]],
  [
    '>= and <',
    [
      ['date', '>=', '2025-01-07'],
      ['date', '<', '2025-02-01'],
    ],
  ],
  [
    '<= and >',
    [
      ['date', '<=', '2025-01-07'],
      ['date', '>', '2025-01-05'],
    ],
  ],
  ['like', [['ref', 'like', 'd1 of']]],
  ['like is case-sensitive', [['ref', 'like', 'D1 of']]],
  ['ilike', [['ref', 'ilike', 'D1 OF']]],
  ['like with wildcards', [['ref', 'like', 'd_ of%100']]],
  ['like with an escaped wildcard', [['ref', 'like', '100\\%\\_x']]],
  ['=like', [['ref', '=like', 'd1%']]],
  ['=like of a part', [['ref', '=like', 'd1']]],
  ['not like', [['ref', 'not like', 'd1 of']]],
  ['in of nothing', [['date', 'in', []]]],
  ['not in', [['date', 'not in', ['2025-01-05']]]],
  ['= False', [['partner_id', '=', false]]],
  ['!= False', [['partner_id', '!=', false]]],
  ['|', ['|', ['date', '=', '2025-01-05'], ['date', '=', '2025-02-01']]],
  ['! and &', ['!', '&', ['date', '>=', '2025-01-06'], ['ref', 'like', 'd2']]],
  [
    'a path over lines',
    [
      ['line_ids.account_id.code', '=', '121000'],
      ['line_ids.balance', '=', 20],
    ],
  ],
  ['a path over lines, in', [['line_ids.account_id.code', 'in', ['450000']]]],
  ['a path over lines, negated', [['line_ids.account_id.code', '!=', '121000']]],
  [
    'the state and the journal',
    [
      ['state', '=', 'draft'],
      ['journal_id.code', '=', 'MISC'],
    ],
  ],
  ['the journal by its name', [['journal_id', '=', 'Miscellaneous Operations']]],
  ['an unknown field', [['nix', '=', 1]]],
  ['an unknown operator', [['ref', 'near', 1]]],
];

export const recordCalls: ScriptedCall[] = [
  ...domains.map(([name, domain]) => ({
    name: `domain: ${name}`,
    run: (w: World) => found(w, domain).then((said) => String(said).replaceAll(w.suffix, '')),
  })),
  {
    name: 'order, limit and offset',
    run: async (w) => [
      await found(w, [], { order: 'date desc, id' }),
      await found(w, [], { order: 'ref asc', limit: 2 }),
      await found(w, [], { order: 'id desc', offset: 1, limit: 1 }),
      await found(w, [], { order: '' }),
      await found(w, [], { order: 'nix' }),
    ],
  },
  {
    name: 'values on the wire',
    async run(w) {
      const [first] = [...(await three(w)).keys()];
      const [move] = await w.admin.read<Record<string, unknown>>(
        'account.move',
        [first!],
        [
          ...[
            'name',
            'ref',
            'date',
            'state',
            'move_type',
            'journal_id',
            'partner_id',
            'write_date',
            'company_id',
            'reversed_entry_id',
          ],
        ],
      );
      const body = JSON.stringify({
        jsonrpc: '2.0',
        method: 'call',
        params: {
          service: 'object',
          method: 'execute_kw',
          args: [
            w.admin.login.database,
            await w.admin.userId(),
            w.admin.login.password,
            'account.move.line',
            'search_read',
            [
              [['move_id', '=', first]],
              ['debit', 'balance', 'partner_id', 'tax_ids', 'analytic_distribution', 'date_maturity'],
            ],
            { order: 'id', limit: 1 },
          ],
        },
      });
      const answer = await w.admin.transport({ path: '/jsonrpc', headers: {}, body });
      const {
        journal_id: journal,
        write_date: written,
        ref,
        company_id: company,
        id: _id,
        ...rest
      } = move as Record<string, string & [number, string]>;
      return [
        rest,
        journal![1],
        /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(written!),
        ref!.slice(0, 2),
        typeof company![1],
        answer.body.replace(/"id": \d+/, '"id": N').replace(/.*"result": /, ''),
      ];
    },
  },
  {
    name: 'fields that are unknown, and records that are gone',
    async run(w) {
      const [first] = [...(await three(w)).keys()];
      const { admin } = w;
      return [
        await outcome(admin.read('account.move', [first!], ['nix'])),
        await outcome(admin.searchRead('account.move', [['id', '=', first]], ['nix'])),
        await outcome(admin.call('account.move', 'write', [[first], { nix: 1 }])),
        await outcome(admin.call('res.partner', 'create', [[{ name: 'x', nix: 1 }]])),
        await outcome(admin.read('account.move', [999_999], ['ref'])),
        await outcome(admin.call('account.move', 'write', [[999_999], { ref: 'x' }])),
        await outcome(admin.call('account.move', 'unlink', [[999_999]])),
        await outcome(admin.call('account.move', 'action_post', [[999_999]])),
        await outcome(admin.call('account.move', 'nix', [[first]])),
        await outcome(admin.call('account.nix', 'read', [[first]])),
        await outcome(admin.call('account.move', '_post', [[first]])),
        await outcome(admin.call('account.move', 'action_post', [[]])),
      ].map((said) => String(said).slice(0, 160));
    },
  },
  {
    name: 'load of a field, a value or an id that is unknown',
    async run(w) {
      const load = async (fields: string[], row: string[]) => {
        const said = await outcome(
          w.admin.call('res.partner', 'load', [fields, [row]], { context: { lang: 'en_US' } }),
        );
        if (typeof said === 'string') return said.slice(0, 150);
        return (said as { messages: { message: string }[] }).messages.map(({ message }) => message);
      };
      return [
        await load(['nix'], ['x']),
        await load(['name', 'parent_id/.id'], ['x', '999999']),
        await load(['name', 'parent_id/id'], ['x', 'vetledger.nix']),
        await load(['name', 'is_company'], ['x', 'perhaps']),
        await load(['name', 'partner_latitude'], ['x', 'far']),
      ];
    },
  },
  {
    name: 'a partner by its external id is one, however often it is loaded',
    async run(w) {
      const fields = ['id', 'name', 'ref'];
      const row = [w.id('partner_1_client_5'), 'A client', '1/client/5'];
      const first = await w.admin.call<{ ids: number[] }>('res.partner', 'load', [fields, [row]]);
      const second = await w.admin.call<{ ids: number[] }>('res.partner', 'load', [
        fields,
        [[row[0], 'Another name', row[2]]],
      ]);
      const [partner] = await w.admin.read('res.partner', first.ids, [
        'name',
        'ref',
        'active',
        'company_id',
        'parent_id',
        'vat',
        'lang',
      ]);
      return [first.ids[0] === second.ids[0], { ...partner, id: 0 }];
    },
  },
  {
    name: 'lines that settle each other are matched, and unmatched',
    async run(w) {
      const lines = await pair(w, 'match');
      const told = [await outcome(w.admin.call('account.move.line', 'reconcile', [lines])), await matched(w, lines)];
      told.push(await outcome(w.admin.call('account.move.line', 'reconcile', [lines])));
      told.push(
        await outcome(w.admin.call('account.move.line', 'write', [[lines[0]], { account_id: w.account('450000') }])),
      );
      told.push(
        await outcome(w.admin.call('account.move.line', 'remove_move_reconcile', [lines])),
        await matched(w, lines),
      );
      return told.map((one) =>
        typeof one === 'string' ? one.replace(/\(\d+\)/, '(N)').replace(/[A-Z]+\/\d+\/\d+\/\d+/, 'NAME') : one,
      );
    },
  },
  {
    name: 'lines that do not settle each other in full',
    async run(w) {
      const lines = await pair(w, 'partial', '-40.00');
      await w.admin.call('account.move.line', 'reconcile', [lines]);
      return matched(w, lines);
    },
  },
  {
    name: 'lines that cannot be matched',
    async run(w) {
      const draft = await w.loaded({ key: 'nomatch', date: '2026-05-03', lines: cash('100.00') });
      const lines = await w.admin.search('account.move.line', [['move_id', '=', draft]], { order: 'id' });
      const [posted] = await pair(w, 'nomatch2');
      const id = await w.posted({ key: 'nomatch3', date: '2026-05-03', lines: cash('-100.00') });
      const [, income] = await w.admin.search('account.move.line', [['move_id', '=', id]], { order: 'id' });
      const reconcile = async (ids: number[]) => await outcome(w.admin.call('account.move.line', 'reconcile', [ids]));
      return [await reconcile([lines[0]!, posted!]), await reconcile([posted!, income!]), await reconcile([income!])];
    },
  },
  {
    name: 'a matched entry back to draft is unmatched',
    async run(w) {
      const lines = await pair(w, 'redraft');
      await w.admin.call('account.move.line', 'reconcile', [lines]);
      const [line] = await w.admin.read<{ move_id: [number, string] }>('account.move.line', [lines[0]!], ['move_id']);
      await w.admin.call('account.move', 'button_draft', [[line!.move_id[0]]]);
      return matched(w, lines);
    },
  },
  {
    name: 'an analytic distribution, and a model that fills one in',
    async run(w) {
      const [plan] = await w.admin.call<number[]>('account.analytic.plan', 'create', [[{ name: `Plan ${w.suffix}` }]]);
      const account = async (code: string) =>
        (
          await w.admin.call<number[]>('account.analytic.account', 'create', [
            [{ name: code, code: `${code} ${w.suffix}`, plan_id: plan }],
          ])
        )[0]!;
      const [lab, xray] = [await account('LAB'), await account('XRAY')];
      const name = (distribution: Record<string, number> | false) =>
        distribution &&
        Object.fromEntries(
          Object.entries(distribution).map(([ids, share]) => [
            ids
              .split(',')
              .map((id) => (Number(id) === lab ? 'lab' : Number(id) === xray ? 'xray' : id))
              .join(','),
            share,
          ]),
        );
      const tell = async (id: number) =>
        (
          await w.admin.searchRead<{ analytic_distribution: Record<string, number> | false }>(
            'account.move.line',
            [['move_id', '=', id]],
            ['analytic_distribution'],
            { order: 'id' },
          )
        ).map((line) => name(line.analytic_distribution));
      const load = async (key: string, analytic?: string) => {
        const [one, two] = cash('10.00');
        return tell(
          await w.loaded({
            key,
            date: '2026-05-03',
            lines: [one!, { ...two!, account: '450000', ...(analytic === undefined ? {} : { analytic }) }],
          }),
        );
      };
      const told = [
        await load('ana1', `{"${lab},${xray}": 100}`),
        await load('ana2', `{"${lab}": 60, "${xray}": 40}`),
        await outcome(load('ana5', '{"999999": 100}')),
      ];
      const [model] = await w.admin.call<number[]>('account.analytic.distribution.model', 'create', [
        [{ account_prefix: '450', analytic_distribution: { [lab]: 100 }, company_id: w.company }],
      ]);
      told.push(await load('ana3'), await load('ana4', ''), await load('ana6', `{"${xray}": 100}`));
      await w.admin.call('account.analytic.distribution.model', 'unlink', [[model]]);
      return told;
    },
  },
  {
    name: 'dates of change, of an entry and of its lines',
    async run(w) {
      const id = await w.posted({ key: 'dates', date: '2026-05-03', lines: cash('10.00') });
      const [row] = await w.admin.read<{ write_date: string }>('account.move', [id], ['write_date']);
      const count = (path: string) =>
        w.admin.call('account.move', 'search_count', [
          [
            ['id', '=', id],
            [`${path}write_date`, '>=', row!.write_date],
          ],
        ]);
      return [await count(''), await count('line_ids.')];
    },
  },
  {
    name: 'balances by account',
    async run(w) {
      await three(w);
      const domain = [['move_id.ref', 'like', `of ${w.suffix} 100`]];
      const grouped = async (method: string, args: unknown[]) =>
        outcome(w.admin.call<Record<string, unknown>[]>('account.move.line', method, [domain, ...args])).then((rows) =>
          Array.isArray(rows)
            ? rows.map((row) =>
                Object.fromEntries(
                  Object.entries(row)
                    .filter(([key]) => !key.includes('domain'))
                    .map(([key, value]) => [key, Array.isArray(value) ? w.codeOf(value[0]) : value]),
                ),
              )
            : String(rows).slice(0, 120),
        );
      return [
        await grouped('read_group', [['balance:sum'], ['account_id']]),
        await grouped('read_group', [['debit', 'credit'], ['account_id']]),
        w.version === 19 ? await grouped('formatted_read_group', [['account_id'], ['balance:sum', '__count']]) : null,
      ];
    },
  },
];
