import { randomUUID } from 'node:crypto';
import { OdooPerson, versionOf } from './odoo.ts';

/** The books of a company: a chart of Odoo with additions. */
export interface OdooBooksPlan {
  /** The template's code, such as generic_coa or fi. */
  chart: string;
  /** The Odoo module of the chart, if it is not in the accounting module. */
  module?: string;
  /** The ISO code of the company's country; the default is the chart's. */
  country?: string;
  /** Accounts to add. Codes that the chart already has are not changed. */
  accounts: { code: string; name: string; type: string; reconcile?: boolean }[];
  /** Sales taxes. Each has separate tags for base and tax, and a purchase tax of the same name. */
  taxes: { name: string; rate: number; account: string | null }[];
  journals: { code: string; name: string }[];
  /** Analytic plans, which all companies share, with their accounts. */
  plans: { name: string; accounts: { code: string; name: string }[] }[];
  partners: { ref: string; name: string }[];
}

export interface OdooCompany {
  id: number;
  name: string;
  version: number;
  /** The administrator in this company. */
  admin: OdooPerson;
  /** Creates vetledger's user with the rights in docs/accountants/odoo.md. By default it may look up external ids. */
  api(options?: { mayLookUp: boolean }): Promise<OdooPerson>;
  /** Removes the users. Odoo does not delete a company with entries. */
  release(): Promise<void>;
}

/** The groups of vetledger's user: Billing, and the creation of contacts. */
const apiGroups = ['base.group_user', 'account.group_account_invoice', 'base.group_partner_manager'];

const adminGroups = [
  'account.group_account_user',
  'account.group_account_manager',
  'analytic.group_analytic_accounting',
];

/** Creates a new company with these books in euros. */
export async function makeCompany(plan: OdooBooksPlan): Promise<OdooCompany> {
  const anywhere = await OdooPerson.administrator();
  const version = await versionOf(anywhere.login.url);
  await join(anywhere, adminGroups);
  const [euro] = await anywhere.call<number[]>('res.currency', 'search', [[['name', '=', 'EUR']]], {
    context: { active_test: false },
  });
  await anywhere.write('res.currency', euro!, { active: true });
  const name = `Kuusikko Veterinary Group ${randomUUID().slice(0, 8)}`;
  if (plan.module !== undefined) await install(anywhere, plan.module);
  const country = plan.country === undefined ? {} : { country_id: await countryOf(anywhere, plan.country) };
  const id = await anywhere.create('res.company', { name, currency_id: euro, ...country });
  await anywhere.write('res.users', anywhere.uid, { company_ids: [[4, id]] });
  const admin = anywhere.in(id);
  // The first argument must be a list of ids, or Odoo silently loads no chart. The call also sets the currency.
  await admin.call('account.chart.template', 'try_loading', [[], plan.chart, id, false]);
  await admin.write('res.company', id, { currency_id: euro });
  await addBooks(admin, plan);
  const groups = await Promise.all(apiGroups.map((group) => anywhere.refer(group)));
  const users: number[] = [];
  return {
    ...{ id, name, version, admin },
    async api({ mayLookUp } = { mayLookUp: true }) {
      const login = { ...admin.login, user: `vetledger-${randomUUID()}`, password: randomUUID() };
      const user = await anywhere.create('res.users', {
        ...{ name: 'vetledger (API)', login: login.user, password: login.password },
        ...{ company_id: id, company_ids: [[6, 0, [id]]] },
        [await groupField(anywhere)]: [[6, 0, [...groups, ...(mayLookUp ? [await lookUpGroup(anywhere)] : [])]]],
      });
      users.push(user);
      return (await OdooPerson.logIn(login)).in(id);
    },
    release: () => anywhere.write('res.users', users, { active: false }),
  };
}

/** Adds the contents of a plan to a company's chart. */
export async function addBooks(admin: OdooPerson, plan: Omit<OdooBooksPlan, 'chart'>): Promise<void> {
  const company = admin.company!;
  const accounts = await addAccounts(admin, plan.accounts);
  for (const { code, name } of plan.journals) {
    await admin.create('account.journal', { code, name, type: 'general', company_id: company });
  }
  if (plan.taxes.length > 0) await addTaxes(admin, plan.taxes, accounts);
  for (const { name, accounts: values } of plan.plans) {
    const [known] = await admin.search('account.analytic.plan', [
      ['name', '=', name],
      ['parent_id', '=', false],
    ]);
    const root = known ?? (await admin.create('account.analytic.plan', { name }));
    for (const value of values) {
      await admin.create('account.analytic.account', { ...value, plan_id: root, company_id: company });
    }
  }
  for (const partner of plan.partners) await admin.create('res.partner', { ...partner, company_id: company });
}

/** Adds accounts. Returns the ids of all accounts by code. */
async function addAccounts(admin: OdooPerson, wanted: OdooBooksPlan['accounts']): Promise<Map<string, number>> {
  const company = admin.company!;
  // From Odoo 18 on, companies share accounts, each with a separate code.
  const isShared = await admin.hasField('account.account', 'company_ids');
  const owner = isShared ? { company_ids: [[6, 0, [company]]] } : { company_id: company };
  const known = await accountsOf(admin);
  const missing = wanted.filter(({ code }) => !known.has(code));
  const values = missing.map(({ type, ...account }) => ({ ...account, account_type: type, ...owner }));
  if (values.length > 0) await admin.call('account.account', 'create', [values]);
  return accountsOf(admin);
}

/** The ids of a company's accounts by code. */
export async function accountsOf(person: OdooPerson): Promise<Map<string, number>> {
  const isShared = await person.hasField('account.account', 'company_ids');
  const field = isShared ? 'company_ids' : 'company_id';
  const found = await person.read<{ code: string }>('account.account', [[field, 'in', [person.company]]], ['code']);
  return new Map(found.map(({ code, id }) => [code, id]));
}

/** The id of the only record of the company, or the only shared one, with these values. */
export function idIn(person: OdooPerson, model: string, values: Record<string, string>): Promise<number> {
  const wanted = Object.entries(values).map(([field, value]) => [field, '=', value] as const);
  return person.idOf(model, [...wanted, ['company_id', 'in', [person.company, false]]]);
}

async function addTaxes(admin: OdooPerson, taxes: OdooBooksPlan['taxes'], accounts: Map<string, number>) {
  const company = admin.company!;
  const [{ account_fiscal_country_id: fiscal } = {}] = await admin.read<{
    account_fiscal_country_id: [number, string];
  }>('res.company', [['id', '=', company]], ['account_fiscal_country_id']);
  const country = fiscal![0];
  const tags = await addReport(
    admin,
    country,
    taxes.flatMap(({ name }) => [`base ${name}`, `tax ${name}`]),
  );
  const group = await admin.create('account.tax.group', { name: 'VAT', company_id: company, country_id: country });
  for (const { name, rate, account } of taxes) {
    const lines = (document: 'invoice' | 'refund') => [
      [0, 0, { repartition_type: 'base', tag_ids: [[6, 0, [tags.get(`base ${name}`)![document]]]] }],
      [
        0,
        0,
        {
          ...{ repartition_type: 'tax', tag_ids: [[6, 0, [tags.get(`tax ${name}`)![document]]]] },
          ...(account === null ? {} : { account_id: accounts.get(account) }),
        },
      ],
    ];
    const tax = {
      ...{ name, amount: rate, amount_type: 'percent', company_id: company },
      ...{ country_id: country, tax_group_id: group },
    };
    await admin.create('account.tax', { ...tax, type_tax_use: 'purchase' });
    await admin.create('account.tax', {
      ...{ ...tax, type_tax_use: 'sale' },
      ...{ invoice_repartition_line_ids: lines('invoice'), refund_repartition_line_ids: lines('refund') },
    });
  }
}

/**
 * Creates a tax report with a line and tags for each figure, like Odoo's country modules. Up to 18, a figure has one
 * tag for invoices and a negative one for refunds. From 19 on both share a tag, and the report's formula counts credits
 * as positive.
 */
async function addReport(admin: OdooPerson, country: number, figures: string[]) {
  const hasSigns = await admin.hasField('account.account.tag', 'tax_negate');
  const report = `VAT of company ${admin.company}`;
  const formulaOf = (figure: string) => `${admin.company} ${figure}`;
  await admin.create('account.report', {
    ...{ name: report, country_id: country },
    column_ids: [[0, 0, { name: 'Balance', expression_label: 'balance' }]],
    line_ids: figures.map((figure) => {
      const formula = `${hasSigns ? '' : '-'}${formulaOf(figure)}`;
      return [0, 0, { name: figure, expression_ids: [[0, 0, { label: 'balance', engine: 'tax_tags', formula }]] }];
    }),
  });
  const tagOf = (name: string) =>
    admin.idOf('account.account.tag', [
      ['name', '=', name],
      ['applicability', '=', 'taxes'],
      ['country_id', '=', country],
    ]);
  const tags = new Map<string, { invoice: number; refund: number }>();
  for (const figure of figures) {
    const [invoice, refund] = hasSigns ? ['+', '-'] : ['', ''];
    tags.set(figure, {
      invoice: await tagOf(`${invoice}${formulaOf(figure)}`),
      refund: await tagOf(`${refund}${formulaOf(figure)}`),
    });
  }
  return tags;
}

/** Closes the days up to and including one for all users; null opens them. */
export async function setLock(admin: OdooPerson, through: string | null): Promise<void> {
  await admin.write('res.company', admin.company!, { fiscalyear_lock_date: through ?? false });
}

/** Installs a module if it is missing. */
async function install(admin: OdooPerson, name: string): Promise<void> {
  const missing = await admin.search('ir.module.module', [
    ['name', '=', name],
    ['state', '!=', 'installed'],
  ]);
  if (missing.length > 0) await admin.call('ir.module.module', 'button_immediate_install', [missing]);
}

/** Adds a user to groups. */
async function join(person: OdooPerson, groups: string[]): Promise<void> {
  const field = await groupField(person);
  const ids = await Promise.all(groups.map((group) => person.refer(group)));
  await person.write('res.users', person.uid, { [field]: ids.map((id) => [4, id]) });
}

/**
 * Creates a group that may only read external ids, because Odoo's group for that ("Access Rights") may also set lock
 * dates.
 */
async function lookUpGroup(admin: OdooPerson): Promise<number> {
  const name = 'External ids: read';
  const [known] = await admin.search('res.groups', [['name', '=', name]]);
  if (known !== undefined) return known;
  const group = await admin.create('res.groups', { name });
  const model = await admin.idOf('ir.model', [['model', '=', 'ir.model.data']]);
  await admin.create('ir.model.access', { name, model_id: model, group_id: group, perm_read: true });
  return group;
}

const groupField = async (person: OdooPerson) =>
  (await person.hasField('res.users', 'group_ids')) ? 'group_ids' : 'groups_id';

const countryOf = (person: OdooPerson, code: string) => person.idOf('res.country', [['code', '=', code]]);
