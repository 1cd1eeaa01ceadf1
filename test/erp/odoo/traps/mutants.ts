// Targets that omit the measure against one trap of Odoo. The case of the trap must fail for each.

import type { OdooVersion } from '../fake/schema.ts';
import type { SentCall, WireMutant } from './wire.ts';

export interface TrapMutant extends WireMutant {
  case: string;
  version: OdooVersion;
}

interface Table {
  fields: string[];
  data: string[][];
}

const isLoad = ({ model, method }: SentCall) => method === 'load' && model === 'account.move';
const tableOf = ({ named }: SentCall) => named as unknown as Table;

/** Sends an import without some columns. */
function without(...columns: string[]): (call: SentCall) => void {
  return (call) => {
    if (call.method !== 'load') return;
    const table = tableOf(call);
    const kept = table.fields.map((field) => !columns.includes(field));
    table.fields = table.fields.filter((_, at) => kept[at]);
    table.data = table.data.map((row) => row.filter((_, at) => kept[at]));
  };
}

/** Does not receive some lock dates. */
function deaf(...fields: string[]): NonNullable<WireMutant['result']> {
  return ({ model, method }, result) =>
    model === 'res.company' && method === 'search_read'
      ? (result as Record<string, unknown>[]).map((row) => ({
          ...row,
          ...Object.fromEntries(fields.filter((field) => field in row).map((field) => [field, false])),
        }))
      : result;
}

/** Finds only the contact of a client that it has just created. */
function forgetful(): TrapMutant {
  let hasMade = false;
  return {
    ...{ case: 'a client is the same contact, whatever its name', version: 17 },
    request(call) {
      if (call.method !== 'load') return;
      hasMade = call.model === 'res.partner';
      if (hasMade) without('id')(call);
    },
    result: ({ model, method, named }, result) =>
      !hasMade && method === 'search_read' && /partner_|client/.test(JSON.stringify([model, named.domain]))
        ? []
        : result,
  };
}

const sees = 'an entry that is there is not created again, nor written to';

export const trapMutants: Record<string, TrapMutant> = {
  'lets Odoo 17 take the tax line for one too many': {
    ...{ case: 'a sale with VAT is as it was sent', version: 17 },
    request: ({ named: { context } }) => void delete context.skip_invoice_sync,
  },
  'names taxes instead of their tags': {
    ...{ case: 'a sale with VAT is as it was sent', version: 18 },
    request(call) {
      if (!isLoad(call)) return;
      const { fields, data } = tableOf(call);
      const [tags, taxes, part] = ['tax_tag_ids', 'tax_ids', 'tax_repartition_line_id'].map((field) =>
        fields.indexOf(`line_ids/${field}/.id`),
      ) as [number, number, number];
      delete call.named.context.skip_invoice_sync;
      for (const row of data) {
        // This sends the tax of the fake's company, so that Odoo creates the tax line.
        if (row[tags] !== '' && row[part] === '') row[taxes] = '3';
        row[tags] = '';
        row[part] = '';
      }
    },
  },
  'does not say on which side tags count': {
    ...{ case: 'a sale with VAT is as it was sent', version: 17 },
    request: without('line_ids/tax_tag_invert'),
  },
  'leaves out that a line has no taxes': {
    ...{ case: 'an account’s own tax is not added', version: 17 },
    request: without('line_ids/tax_ids/.id'),
  },
  'leaves out that a line has no analytic account': {
    ...{ case: 'a rule for analytic accounts fills nothing in', version: 19 },
    request: without('line_ids/analytic_distribution'),
  },
  'gives lines no external ids': {
    ...{ case: 'a creation that takes effect twice adds no lines', version: 18 },
    request: without('line_ids/id'),
  },
  'does not look whether an entry is there': {
    ...{ case: sees, version: 17 },
    result: ({ model, method }, result) => (model === 'ir.model.data' && method === 'search_read' ? [] : result),
  },
  'has no key that Odoo knows': { ...{ case: sees, version: 19 }, request: without('id', 'line_ids/id', 'ref') },
  'does not read the lock of the fiscal year': {
    ...{ case: 'a locked fiscal year is told', version: 17 },
    result: deaf('fiscalyear_lock_date'),
  },
  'does not read the lock of taxes': {
    ...{ case: 'locked taxes are told', version: 18 },
    result: deaf('tax_lock_date', 'user_tax_lock_date'),
  },
  'does not read the lock of the period': {
    ...{ case: 'a locked period is told', version: 17 },
    result: deaf('period_lock_date'),
  },
  'does not read the lock of sales': {
    ...{ case: 'locked sales are told', version: 18 },
    result: deaf('sale_lock_date', 'user_sale_lock_date'),
  },
  'does not read the hard lock': {
    ...{ case: 'a hard lock is told', version: 19 },
    result: deaf('hard_lock_date', 'user_hard_lock_date'),
  },
  'does not read the locks of the parent company': {
    ...{ case: 'a lock of the parent company is told', version: 17 },
    result: (call, result) =>
      call.model === 'res.company' && call.method === 'search_read'
        ? (result as { id: number }[]).map((row) => (row.id === 1 ? { ...row, fiscalyear_lock_date: false } : row))
        : result,
  },
  'believes that the date is the one that it sent': {
    ...{ case: 'an entry that Odoo has moved to another day differs', version: 19 },
    result: ({ model, method }, result) =>
      model === 'account.move' && method === 'search_read'
        ? (result as object[]).map((row) => ({ ...row, date: '2026-01-30' }))
        : result,
  },
  'does not say in which language it wants errors': {
    ...{ case: 'an error is known whatever the user’s language', version: 18 },
    request: ({ named: { context } }) => void delete context.lang,
  },
  'does not say in which company it works': {
    ...{ case: 'an entry is in the company that the configuration names', version: 18 },
    request: ({ named: { context } }) => void delete context.allowed_company_ids,
  },
  'makes a contact anew where the name is another': forgetful(),
  'takes any key in a text for the entry’s': {
    ...{ case: 'a text that quotes another entry’s key is not taken for it', version: 18 },
    result: ({ model, method }, result) =>
      model === 'account.move' && method === 'search_read'
        ? (result as { ref: string }[]).map((row) => ({ ...row, ref: row.ref.replace(/ \[[A-Z2-7]{20}\]$/, '') }))
        : model === 'account.move' && method === 'get_metadata'
          ? (result as object[]).map((row) => ({ ...row, xmlids: [] }))
          : result,
  },
  'knows entries by their external ids only': {
    ...{ case: 'an entry whose external id is gone is found by its reference', version: 17 },
    request: without('ref'),
  },
  'deletes what was posted with the drafts': {
    ...{ case: 'drafts are deleted although one of them was posted meanwhile', version: 18 },
    request({ model, method, named }) {
      if (model !== 'account.move' || method !== 'search_read') return;
      named.domain = (named.domain as unknown[]).filter((term) => !Array.isArray(term) || term[0] !== 'state');
    },
  },
  'does not look whether lines are posted': {
    ...{ case: 'lines of a draft are not matched', version: 19 },
    result: ({ model, method }, result) =>
      model === 'account.move.line' && method === 'search_read'
        ? (result as object[]).map((row) => ({ ...row, parent_state: 'posted' }))
        : result,
  },
};
