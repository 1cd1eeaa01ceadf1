import { randomUUID } from 'node:crypto';
import { OdooPerson, versionOf } from './odoo.ts';

/** Books of a company: a chart of Odoo's own, and what is added to it. */
export interface OdooBooksPlan {
  /** The template's code, such as generic_coa or fi. */
  chart: string;
  /** Odoo's module that has it, where that is not the accounting's own. */
  module?: string;
  /** ISO code of the company's country; absent, that of the chart. */
  country?: string;
  /** Those of a code that the chart has already are left as they are. */
  accounts: { code: string; name: string; type: string; reconcile?: boolean }[];
  /** Taxes on sales; each has tags of its own for base and tax, and a namesake on purchases. */
  taxes: { name: string; rate: number; account: string | null }[];
  journals: { code: string; name: string }[];
  /** Analytic plans, which all companies share, and accounts in them. */
  plans: { name: string; accounts: { code: string; name: string }[] }[];
  partners: { ref: string; name: string }[];
}

export interface OdooCompany {
  id: number;
  name: string;
  version: number;
  /** The administrator, at work in this company. */
  admin: OdooPerson;
  /** A user as docs/accountants/odoo.md describes vetledger's, with the right to look up external ids unless told otherwise. */
  api(options?: { mayLookUp: boolean }): Promise<OdooPerson>;
  /** Takes the users away; Odoo keeps a company that has entries. */
  release(): Promise<void>;
}

/** The groups of vetledger's user: Billing, and the creation of contacts. */
const apiGroups = ['base.group_user', 'account.group_account_invoice', 'base.group_partner_manager'];

const adminGroups = [
  'account.group_account_user',
  'account.group_account_manager',
  'analytic.group_analytic_accounting',
];

/** Makes a company that no other test has, with these books, in euros. */
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
  // The list of ids comes first, or the chart is silently not loaded: the method is called on records. It sets the currency, too.
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

/** Adds to a company's chart what a plan names. */
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

/** The ids of all accounts by code, after these were added. */
async function addAccounts(admin: OdooPerson, wanted: OdooBooksPlan['accounts']): Promise<Map<string, number>> {
  const company = admin.company!;
  // From 18 on, companies share accounts, each with a code of its own.
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

/** The id of the company's only record with these values, or of a shared one. */
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
 * Makes a tax report with a line for each figure, as the reports of Odoo's country modules have, and so its tags. Up to 18, a figure
 * has a tag for invoices and one for refunds, which counts negative; from 19 on, both have the same, and the report's formula says
 * that a credit counts positive.
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

/** Closes the days up to one, for everybody, or opens them again (null). */
export async function setLock(admin: OdooPerson, through: string | null): Promise<void> {
  await admin.write('res.company', admin.company!, { fiscalyear_lock_date: through ?? false });
}

/** Installs a module unless it is there; it stays. */
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

/** A group that may read external ids and nothing else: Odoo's own that may ("Access Rights") may set lock dates, too. */
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
