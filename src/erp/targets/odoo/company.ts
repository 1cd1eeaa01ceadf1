import type { OdooConfig } from '../../../config/erp.ts';
import type { JsonObject } from '../../../records/json.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import { ErpError, type RequestOptions } from '../../port.ts';
import { chooseCompany } from '../api/choose-company.ts';
import { asId, asRecord, asText, readAs, wholeNumber } from '../api/form.ts';
import type { Company, Features } from './calls.ts';
import type { OdooConnection } from './connection.ts';
import { asIds, asRecords, asReference, asTextOrNull } from './wire.ts';

const oldestVersion = 17;
const wantedLocks = [
  ...['fiscalyear_lock_date', 'period_lock_date', 'tax_lock_date', 'max_tax_lock_date'],
  ...['sale_lock_date', 'hard_lock_date'],
  ...['user_fiscalyear_lock_date', 'user_tax_lock_date', 'user_sale_lock_date', 'user_hard_lock_date'],
];

/** Finds the configured company among the user's, and determines what this version of Odoo can do. Throws ErpError. */
export async function openCompany(
  config: OdooConfig,
  connection: OdooConnection,
  request: RequestOptions,
): Promise<Company> {
  const version = await connection.version(request);
  if (version < oldestVersion) {
    const versions = { version, oldest: oldestVersion };
    throw new ErpError('auth', erpAnswerTexts.versionTooOld({ erp: 'Odoo', url: config.url, ...versions }));
  }
  const userId = await connection.userId(request);
  const read = (model: string, domain: unknown[], fields: string[], context: JsonObject = {}) =>
    connection
      .call('reads', { model, method: 'search_read', args: { domain, fields, order: 'id' }, context }, request)
      .then((answer) => readAs(answer, asRecords));
  const [user] = await read('res.users', [['id', '=', userId]], ['company_ids']);
  const mine = readAs(user?.company_ids ?? [], asIds);
  const context = { allowed_company_ids: mine };
  const companies = await read('res.company', [['id', 'in', mine]], ['name', 'currency_id', 'parent_path'], context);
  const named = companies.map((each) => ({ ...each, id: readAs(each.id, asId), name: readAs(each.name, asText) }));
  const company: JsonObject & { id: number } = chooseCompany(named, config, 'Odoo');
  const currency = readAs(company.currency_id ?? null, asReference);
  const [money] = await read('res.currency', [['id', '=', currency?.id ?? 0]], ['name', 'decimal_places']);
  if (money === undefined) throw new ErpError('auth', erpAnswerTexts.currencyUnreadable);
  const companyId = company.id;
  // Ids of the parents and the company, such as `1/5/`. Unlike `parent_ids`, it is readable even if the parents are
  // not.
  const path = readAs(company.parent_path ?? null, asTextOrNull) ?? '';
  const chain = new Set([
    companyId,
    ...path
      .split('/')
      .filter((id) => id !== '')
      .map(wholeNumber),
  ]);
  return {
    id: `${config.database}/${companyId}`,
    companyId,
    chain: [...chain],
    usable: [companyId, ...[...chain].filter((id) => id !== companyId && mine.includes(id))],
    currency: readAs(money.name, asText),
    decimals: readAs(money.decimal_places, asId),
    userId,
    features: await featuresOf(version, connection, request),
  };
}

async function featuresOf(version: number, connection: OdooConnection, request: RequestOptions): Promise<Features> {
  const fieldsOf = async (model: string, wanted: string[]) => {
    const args = { allfields: wanted, attributes: ['type'] };
    const answer = await connection.call('reads', { model, method: 'fields_get', args }, request);
    return readAs(answer, (fields) => new Set(Object.keys(asRecord(fields))));
  };
  const account = await fieldsOf('account.account', ['company_id', 'company_ids', 'deprecated', 'active']);
  const locks = await fieldsOf('res.company', wantedLocks);
  return {
    version,
    hasTagInvert: (await fieldsOf('account.move.line', ['tax_tag_invert'])).has('tax_tag_invert'),
    accountCompany: account.has('company_ids') ? 'company_ids' : 'company_id',
    accountState: account.has('deprecated') ? 'deprecated' : 'active',
    lockFields: wantedLocks.filter((field) => locks.has(field)),
    hasKeyExpiry: (await fieldsOf('res.users.apikeys', ['expiration_date'])).has('expiration_date'),
  };
}
