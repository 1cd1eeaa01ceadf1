// The models of the fake, with the fields that an accounting client may request. The fields_get of a real server
// returns the same for each (conforms.test.ts).

export type OdooVersion = 17 | 18 | 19;

export interface Field {
  name: string;
  type: string;
  /** The other model of a relation. */
  relation: string | null;
  /** For a one2many, the inverse field of the other model. */
  inverse: string | null;
  required: boolean;
  readonly: boolean;
  isStored: boolean;
  /** The path of a related field's value; null for a field with its own value. */
  related: string | null;
  label: string;
}

export interface Model {
  name: string;
  label: string;
  order: string;
  fields: Map<string, Field>;
}

const logged = `
  create_date datetime ro "Created on"
  write_date datetime ro "Last Updated on"
  display_name char ro ns`;

/**
 * One line per model, and one per field: name, type, relation, inverse, `!` required, `ro` readonly, `ns` not stored,
 * =path, versions.
 */
const text = `
model account.move "Journal Entry" by date desc, name desc, id desc
  name char "Number"
  ref char "Reference"
  date date! "Date"
  state selection! ro "Status"
  move_type selection! ro "Type"
  journal_id many2one account.journal! "Journal"
  company_id many2one res.company "Company"
  partner_id many2one res.partner "Partner"
  line_ids one2many account.move.line move_id "Journal Items"
  reversed_entry_id many2one account.move ro "Reversal of"
  posted_before boolean
  auto_post selection! "Auto-post"
  narration html
  amount_total monetary ro
  currency_id many2one res.currency! "Currency"
  invoice_date date
  payment_state selection ro
  inalterable_hash char ro
  checked boolean @18,19
  to_check boolean @17
  create_uid many2one res.users ro
  write_uid many2one res.users ro${logged}
model account.move.line "Journal Item" by date desc, move_name desc, id
  move_id many2one account.move! ro "Journal Entry"
  name char "Label"
  account_id many2one account.account "Account"
  debit monetary "Debit"
  credit monetary "Credit"
  balance monetary "Balance"
  amount_currency monetary "Amount in Currency"
  currency_id many2one res.currency! "Currency"
  partner_id many2one res.partner "Partner"
  tax_ids many2many account.tax "Taxes"
  tax_tag_ids many2many account.account.tag "Tags"
  tax_repartition_line_id many2one account.tax.repartition.line ro "Originator Tax Distribution Line"
  tax_line_id many2one account.tax ro =tax_repartition_line_id.tax_id
  tax_base_amount monetary ro "Base Amount"
  tax_tag_invert boolean @17,18
  analytic_distribution json "Analytic Distribution"
  date_maturity date "Due Date"
  display_type selection!
  date date ro =move_id.date
  journal_id many2one account.journal ro =move_id.journal_id
  company_id many2one res.company ro =move_id.company_id
  move_name char ro =move_id.name
  parent_state selection ro =move_id.state
  ref char ro =move_id.ref
  reconciled boolean ro
  amount_residual monetary ro
  matching_number char
  full_reconcile_id many2one account.full.reconcile ro
  matched_debit_ids one2many account.partial.reconcile credit_move_id ro
  matched_credit_ids one2many account.partial.reconcile debit_move_id ro
  is_refund boolean ro ns
  sequence integer
  create_uid many2one res.users ro
  write_uid many2one res.users ro${logged}
model account.account "Account" by code, id
  code char! @17
  code char ns @18,19
  name char!
  account_type selection!
  reconcile boolean
  deprecated boolean @17,18
  active boolean @19
  company_id many2one res.company! @17
  company_ids many2many res.company! @18,19
  currency_id many2one res.currency
  tax_ids many2many account.tax
  allowed_journal_ids many2many account.journal @17,18${logged}
model account.journal "Journal" by sequence, type, code
  code char!
  name char!
  type selection!
  active boolean
  company_id many2one res.company! ro
  currency_id many2one res.currency
  default_account_id many2one account.account
  restrict_mode_hash_table boolean
  sequence integer${logged}
model account.tax "Tax" by sequence, id
  name char!
  amount float!
  amount_type selection!
  type_tax_use selection!
  active boolean
  company_id many2one res.company! ro
  country_id many2one res.country!
  invoice_repartition_line_ids one2many account.tax.repartition.line tax_id
  refund_repartition_line_ids one2many account.tax.repartition.line tax_id
  tax_exigibility selection
  children_tax_ids many2many account.tax
  price_include boolean @17
  price_include boolean ro ns @18,19
  sequence integer!${logged}
model account.tax.repartition.line "Tax Repartition Line" by document_type, repartition_type, sequence, id
  tax_id many2one account.tax
  document_type selection!
  repartition_type selection!
  factor_percent float!
  account_id many2one account.account
  tag_ids many2many account.account.tag
  company_id many2one res.company ro =tax_id.company_id
  sequence integer${logged}
model account.account.tag "Account Tag" by id
  name char!
  applicability selection!
  active boolean
  country_id many2one res.country
  color integer
  tax_negate boolean @17,18${logged}
model account.analytic.plan "Analytic Plans" by id
  name char!
  parent_id many2one account.analytic.plan${logged}
model account.analytic.account "Analytic Account" by plan_id, name asc
  name char!
  code char
  plan_id many2one account.analytic.plan!
  root_plan_id many2one account.analytic.plan ro
  active boolean
  company_id many2one res.company
  partner_id many2one res.partner${logged}
model account.analytic.distribution.model "Analytic Distribution Model" by id desc
  account_prefix char
  partner_id many2one res.partner
  company_id many2one res.company
  analytic_distribution json${logged}
model account.partial.reconcile "Partial Reconcile" by id
  debit_move_id many2one account.move.line!
  credit_move_id many2one account.move.line!
  amount monetary
  full_reconcile_id many2one account.full.reconcile
  max_date date ro
  company_id many2one res.company${logged}
model account.full.reconcile "Full Reconcile" by id
  partial_reconcile_ids one2many account.partial.reconcile full_reconcile_id
  reconciled_line_ids one2many account.move.line full_reconcile_id${logged}
model res.partner "Contact" by complete_name ASC, id DESC
  name char "Name"
  complete_name char ro
  ref char "Reference"
  active boolean
  company_id many2one res.company "Company"
  parent_id many2one res.partner "Related Company"
  commercial_partner_id many2one res.partner ro
  vat char "Tax ID"
  country_id many2one res.country "Country"
  lang selection
  is_company boolean "Is a Company"
  partner_latitude float "Geo Latitude"
  company_type selection ns
  email char "Email"${logged}
model res.company "Companies" by sequence, name
  name char!
  sequence integer
  parent_id many2one res.company
  parent_ids many2many res.company ro ns
  child_ids one2many res.company parent_id
  parent_path char
  partner_id many2one res.partner!
  currency_id many2one res.currency!
  country_id many2one res.country ns
  account_fiscal_country_id many2one res.country
  fiscalyear_lock_date date
  tax_lock_date date
  period_lock_date date @17
  sale_lock_date date @18,19
  purchase_lock_date date @18,19
  hard_lock_date date @18,19
  user_fiscalyear_lock_date date ro ns @18,19
  user_tax_lock_date date ro ns @18,19
  user_sale_lock_date date ro ns @18,19
  user_purchase_lock_date date ro ns @18,19
  user_hard_lock_date date ro ns @18,19
  max_tax_lock_date date ro ns @17
  account_journal_suspense_account_id many2one account.account
  check_account_audit_trail boolean @18
  restrictive_audit_trail boolean @19
  active boolean${logged}
model res.users "User" by name, login
  name char ns =partner_id.name
  login char!
  active boolean
  company_id many2one res.company!
  company_ids many2many res.company
  groups_id many2many res.groups @17,18
  group_ids many2many res.groups @19
  lang selection ns =partner_id.lang
  partner_id many2one res.partner!
  password char ns
  api_key_ids one2many res.users.apikeys user_id${logged}
model res.users.apikeys "Users API Keys" by id
  name char! ro
  user_id many2one res.users! ro
  scope char ro
  create_date datetime ro
  expiration_date datetime ro @18,19
  display_name char ro ns
model res.currency "Currency" by active desc, name
  name char!
  active boolean
  decimal_places integer ro
  rounding float
  symbol char!${logged}
model res.country "Country" by name
  name char!
  code char!
model res.groups "Access Groups" by name
  name char!
  full_name char ro ns${logged}
model res.lang "Languages" by active desc,name
  name char!
  code char!
  active boolean
model base.language.install "Install Language" by id
  lang_ids many2many res.lang!
model ir.model.data "Model Data" by module, model, name
  module char!
  name char!
  model char!
  res_id many2one_reference
  noupdate boolean
  complete_name char ro ns${logged}
model ir.module.module "Module" by application desc,sequence,name
  name char! ro
  state selection ro
  latest_version char ro
  installed_version char ro ns
  shortdesc char ro
  application boolean ro
  sequence integer
  display_name char ro ns
model account.lock_exception "Account Lock Exception" by id desc @18,19
  company_id many2one res.company! ro
  user_id many2one res.users
  state selection ro ns
  end_datetime datetime
  reason char
  lock_date_field selection!
  lock_date date
  company_lock_date date
  fiscalyear_lock_date date ro ns
  tax_lock_date date ro ns
  sale_lock_date date ro ns
  purchase_lock_date date ro ns${logged}
`;

export function schemaOf(version: OdooVersion): Map<string, Model> {
  const models = new Map<string, Model>();
  let model: Model | null = null;
  for (const line of text.split('\n')) {
    if (line.trim() === '' || !isOf(version, line)) {
      if (line.startsWith('model ')) model = null;
      continue;
    }
    if (line.startsWith('model ')) {
      const [, name, label, order] = /^model (\S+) "(.*?)" by (.*?)(?: @.*)?$/.exec(line) ?? [];
      if (name === undefined || label === undefined || order === undefined) throw new Error(line);
      model = { name, label, order, fields: new Map() };
      model.fields.set('id', fieldIn('  id integer ro "ID"'));
      models.set(name, model);
    } else if (model !== null) {
      const field = fieldIn(line);
      model.fields.set(field.name, field);
    }
  }
  return models;
}

function isOf(version: OdooVersion, line: string): boolean {
  const versions = /@([\d,]+)$/.exec(line)?.[1];
  return versions === undefined || versions.split(',').includes(String(version));
}

function fieldIn(line: string): Field {
  const label = /"(.*?)"/.exec(line)?.[1];
  const words = line
    .replace(/"(.*?)"/, '')
    .replace(/@[\d,]+$/, '')
    .trim()
    .split(/\s+/);
  const [name = '', typed = ''] = words;
  const marks = words.slice(2);
  const isRequired = words.some((word) => word.endsWith('!'));
  const names = marks
    .filter((word) => word !== 'ro' && word !== 'ns' && !word.startsWith('='))
    .map((word) => word.replace('!', ''));
  return {
    ...{ name, type: typed.replace('!', ''), relation: names[0] ?? null, inverse: names[1] ?? null },
    ...{ required: isRequired, readonly: marks.includes('ro'), isStored: !marks.includes('ns') },
    related: marks.find((word) => word.startsWith('='))?.slice(1) ?? null,
    label: label ?? name,
  };
}
