// The world of the scripted calls in a company: accounts, a tax with tags, users, and functions that load and read
// entries.

import type { OdooClient } from '../../client.ts';
import { OdooSays } from '../../client.ts';

export type OdooVersion = 17 | 18 | 19;

/** A line of an entry; debits are positive. */
export interface ScriptLine {
  account: string;
  amount: string;
  tags?: ('base' | 'tax')[];
  /** True for the tax line of the tax. */
  isTax?: boolean;
  base?: string;
  taxes?: 'ours' | 'none';
  invert?: boolean;
  partner?: number;
  analytic?: string;
  name?: string;
}

export interface ScriptEntry {
  key: string;
  date: string;
  journal?: string;
  lines: ScriptLine[];
  /** True if lines have external ids. */
  lineIds?: boolean;
  ref?: string;
}

interface Person {
  client: OdooClient;
  id: number;
}

const skipSync = { skip_invoice_sync: true };

/** A prepared company. */
export class World {
  readonly version: OdooVersion;
  readonly admin: OdooClient;
  readonly suffix: string;
  readonly accounts = new Map<string, number>();
  readonly journals = new Map<string, number>();
  readonly people = new Map<string, Person>();
  company = 0;
  /** A contact of the company. */
  partner = 0;
  /** The administrator's API key for `/json/2`. */
  key = '';
  tax = { id: 0, repartition: 0, tags: { base: 0, tax: 0 } };
  #branch = 0;
  #accountNames = new Map<number, string>();

  constructor(version: OdooVersion, admin: OdooClient, suffix: string) {
    this.version = version;
    this.admin = admin;
    this.suffix = suffix;
  }

  get groupsField(): string {
    return this.version === 19 ? 'group_ids' : 'groups_id';
  }

  /** True if lines have a field for the side of the report on which their tags count. */
  get hasInvert(): boolean {
    return this.version < 19;
  }

  async prepare(): Promise<this> {
    const { admin, suffix } = this;
    const groups = ['account.group_account_user', 'account.group_account_manager'];
    const add = [];
    for (const group of groups) add.push([4, await admin.ref(group)]);
    const [user] = await admin.searchRead<{ id: number; company_id: [number, string] }>(
      'res.users',
      [['login', '=', admin.login.user]],
      ['company_id'],
    );
    await admin.call('res.users', 'write', [[user!.id], { [this.groupsField]: add }]);
    this.company = user!.company_id[0];
    for (const [model, known, field] of [
      ['account.account', this.accounts, 'code'],
      ['account.journal', this.journals, 'code'],
    ] as const) {
      for (const row of await admin.searchRead<{ id: number; code: string }>(model, [], [field])) {
        known.set(row.code, row.id);
      }
    }
    for (const [code, id] of this.accounts) this.#accountNames.set(id, code);
    const [partner] = await admin.call<number[]>('res.partner', 'create', [[{ name: `Contact ${suffix}` }]]);
    this.partner = partner!;
    await this.#makeTax(suffix);
    return this;
  }

  async #makeTax(suffix: string): Promise<void> {
    const { admin } = this;
    const [company] = await admin.read<{ account_fiscal_country_id: [number, string] }>(
      'res.company',
      [this.company],
      ['account_fiscal_country_id'],
    );
    const country = company!.account_fiscal_country_id[0];
    const tag = async (name: string) => {
      const [id] = await admin.call<number[]>('account.account.tag', 'create', [
        [{ name: `+${name} ${suffix}`, applicability: 'taxes', country_id: country }],
      ]);
      return id!;
    };
    const tags = { base: await tag('base'), tax: await tag('tax') };
    const lines = [
      [0, 0, { repartition_type: 'base', tag_ids: [[6, 0, [tags.base]]] }],
      [...[0, 0], { repartition_type: 'tax', account_id: this.account('251000'), tag_ids: [[6, 0, [tags.tax]]] }],
    ];
    const [id] = await admin.call<number[]>('account.tax', 'create', [
      [
        {
          ...{ name: `Sales 15 % ${suffix}`, amount: 15, amount_type: 'percent', type_tax_use: 'sale' },
          ...{ invoice_repartition_line_ids: lines, refund_repartition_line_ids: lines },
        },
      ],
    ]);
    const [repartition] = await admin.search('account.tax.repartition.line', [
      ['tax_id', '=', id],
      ['document_type', '=', 'invoice'],
      ['repartition_type', '=', 'tax'],
    ]);
    this.tax = { id: id!, repartition: repartition!, tags };
  }

  /** A user with these groups, created at the first call. */
  async person(name: string, groups: string[]): Promise<Person> {
    const known = this.people.get(name);
    if (known !== undefined) return known;
    const login = `${name}-${this.suffix}`;
    const ids = [];
    for (const group of ['base.group_user', ...groups]) ids.push(await this.admin.ref(group));
    const values = { name: login, login, password: login, [this.groupsField]: [[6, 0, ids]] };
    const made = await this.admin.call<number | number[]>('res.users', 'create', [values]);
    const person = { client: this.admin.as(login, login), id: Array.isArray(made) ? made[0]! : made };
    this.people.set(name, person);
    return person;
  }

  /** A branch of the company, which its administrator may use too. */
  async branch(): Promise<number> {
    if (this.#branch !== 0) return this.#branch;
    const values = { name: `Branch ${this.suffix}`, parent_id: this.company };
    const made = await this.admin.call<number | number[]>('res.company', 'create', [values]);
    this.#branch = Array.isArray(made) ? made[0]! : made;
    const [admin] = await this.admin.search('res.users', [['login', '=', this.admin.login.user]]);
    await this.admin.call('res.users', 'write', [[admin], { company_ids: [[4, this.#branch]] }]);
    return this.#branch;
  }

  /** Installs a second language with the translations of accounting. */
  async language(): Promise<void> {
    const [id] = await this.admin.search('res.lang', [['code', '=', 'fi_FI']], { context: { active_test: false } });
    const [row] = await this.admin.read<{ active: boolean }>('res.lang', [id!], ['active']);
    if (row!.active) return;
    const wizard = await this.admin.call<number>('base.language.install', 'create', [{ lang_ids: [[6, 0, [id]]] }]);
    await this.admin.call('base.language.install', 'lang_install', [[wizard]]);
  }

  account(code: string): number {
    const id = this.accounts.get(code);
    if (id === undefined) throw new Error(`no account ${code}`);
    return id;
  }

  codeOf(account: number): string {
    return this.#accountNames.get(account) ?? `#${account}`;
  }

  journal(code: string): number {
    const id = this.journals.get(code);
    if (id === undefined) throw new Error(`no journal ${code}`);
    return id;
  }

  /** The external id of an entry of this run. */
  id(key: string): string {
    return `vetledger.${key}_${this.suffix}`;
  }

  /** The fields and rows for a call of `load`. */
  rows(entry: ScriptEntry): { fields: string[]; rows: string[][] } {
    const { key, date, journal = 'MISC', lines, lineIds = true, ref } = entry;
    const id = this.id(key);
    const head: Record<string, string> = {
      ...{ id, move_type: 'entry', 'journal_id/.id': String(this.journal(journal)), date },
      ref: ref ?? `a sale [${key}]`,
    };
    const columns = lines.map((line, n): Record<string, string> => {
      const isCredit = line.amount.startsWith('-');
      const amount = line.amount.replace('-', '');
      const tags = (line.tags ?? []).map((tag) => this.tax.tags[tag]);
      return {
        ...(lineIds ? { 'line_ids/id': `${id}_${n + 1}` } : {}),
        'line_ids/account_id/.id': String(this.accounts.get(line.account) ?? line.account),
        'line_ids/name': line.name ?? `line ${n + 1}`,
        'line_ids/debit': isCredit ? '0.00' : amount,
        'line_ids/credit': isCredit ? amount : '0.00',
        ...(line.taxes === undefined
          ? {}
          : { 'line_ids/tax_ids/.id': line.taxes === 'ours' ? String(this.tax.id) : '' }),
        ...(tags.length === 0 ? {} : { 'line_ids/tax_tag_ids/.id': tags.join(',') }),
        ...(line.isTax ? { 'line_ids/tax_repartition_line_id/.id': String(this.tax.repartition) } : {}),
        ...(line.base === undefined ? {} : { 'line_ids/tax_base_amount': line.base }),
        ...(line.invert === undefined || !this.hasInvert
          ? {}
          : { 'line_ids/tax_tag_invert': line.invert ? 'True' : 'False' }),
        ...(line.partner === undefined ? {} : { 'line_ids/partner_id/.id': String(line.partner) }),
        ...(line.analytic === undefined ? {} : { 'line_ids/analytic_distribution': line.analytic }),
      };
    });
    const lineFields = [...new Set(columns.flatMap((column) => Object.keys(column)))];
    const rows = columns.map((column, n) => [
      ...Object.values(head).map((value) => (n === 0 ? value : '')),
      ...lineFields.map((field) => column[field] ?? ''),
    ]);
    return { fields: [...Object.keys(head), ...lineFields], rows };
  }

  load(
    entry: ScriptEntry,
    { context = skipSync, by = this.admin }: { context?: object; by?: OdooClient } = {},
  ): Promise<{ ids: number[] | false; messages: { type: string; message: string }[] }> {
    const { fields, rows } = this.rows(entry);
    const full = { lang: 'en_US', allowed_company_ids: [this.company], ...context };
    return by.call('account.move', 'load', [fields, rows], { context: full });
  }

  /** Loads an entry and expects success. Returns the id of its move. */
  async loaded(entry: ScriptEntry, options: { context?: object; by?: OdooClient } = {}): Promise<number> {
    const { ids, messages } = await this.load(entry, options);
    if (ids === false) throw new OdooSays('load', messages.map(({ message }) => message).join('; '));
    return ids[0]!;
  }

  async posted(entry: ScriptEntry): Promise<number> {
    const id = await this.loaded(entry);
    await this.admin.call('account.move', 'action_post', [[id]], { context: skipSync });
    return id;
  }

  /** A move as one text per line, with its state and date. */
  async told(id: number): Promise<{ is: string; lines: string[] }> {
    const [move] = await this.admin.read<{ state: string; date: string }>('account.move', [id], ['state', 'date']);
    const invert = this.hasInvert ? ['tax_tag_invert'] : [];
    const fields = ['account_id', 'balance', 'name', 'tax_ids', 'tax_tag_ids', 'tax_line_id', 'tax_base_amount'];
    const lines = await this.admin.searchRead<Record<string, never>>(
      'account.move.line',
      [['move_id', '=', id]],
      [...fields, ...invert],
      { order: 'id' },
    );
    return { is: `${move!.state} ${move!.date}`, lines: lines.map((line) => this.#tell(line)) };
  }

  #tell(line: {
    account_id?: [number, string] | false;
    balance?: number;
    name?: string | false;
    tax_ids?: number[];
    tax_tag_ids?: number[];
    tax_line_id?: [number, string] | false;
    tax_base_amount?: number;
    tax_tag_invert?: boolean;
  }): string {
    const { tags } = this.tax;
    const named = (id: number) => (id === tags.base ? 'base' : id === tags.tax ? 'tax' : `#${id}`);
    const parts = [this.codeOf(line.account_id ? line.account_id[0] : 0), (line.balance ?? 0).toFixed(2)];
    if (line.name === 'Automatic Balancing Line') parts.push(line.name);
    if (line.tax_ids?.length) parts.push('taxed');
    if (line.tax_tag_ids?.length) parts.push(`tags ${line.tax_tag_ids.map(named).join('+')}`);
    if (line.tax_line_id) parts.push('tax line');
    if (line.tax_base_amount) parts.push(`of ${line.tax_base_amount.toFixed(2)}`);
    if (line.tax_tag_invert) parts.push('inverted');
    return parts.join(' ');
  }

  /** Sets lock dates of the company while `work` runs. */
  async withLocks<Result>(
    locks: Record<string, string>,
    work: () => Promise<Result>,
    company = this.company,
  ): Promise<Result> {
    await this.admin.call('res.company', 'write', [[company], locks]);
    try {
      return await work();
    } finally {
      const none = Object.fromEntries(Object.keys(locks).map((field) => [field, false]));
      await this.admin.call('res.company', 'write', [[company], none]);
    }
  }
}

/** The outcome of a call: its result, or the exception with its text on one line. */
export async function outcome(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof OdooSays)) throw error;
    // Removes ids of this run, and the action in a warning.
    const text = error.message
      .replace(/\s+/g, ' ')
      .replace(/[A-Z]+\/\d{4}\/(?:\d\d\/)?\d{4,}/g, 'NUMBER')
      .replace(/ \{'.*/, '')
      .replace(/\(Record: ([a-z.]+)\((?!999)\d+,\)/, '(Record: $1(ID,)')
      .trim();
    return `${error.exception}: ${text.replace(/User: \d+/, 'User: N').replace(/Sorry, .*? \(id=\d+\)/, 'Sorry, N')}`;
  }
}
