import { isJsonObject, type JsonObject, type JsonValue } from '../../../records/json.ts';
import type { ErpEntry } from '../../erp-entry.ts';
import { ErpError, type RequestOptions } from '../../port.ts';
import { explain } from '../api/explain.ts';
import { asList, asRecord, writtenAs } from '../api/form.ts';
import type { OdooCalls } from './calls.ts';
import { odooCapabilities } from './capabilities.ts';
import { asIds } from './wire.ts';

/**
 * With every request that writes moves. Odoo 17 deletes a line with the amount of a tax where no other line has the tax itself, and
 * adds an "Automatic Balancing Line" for it; this leaves lines as they were sent. Entries that do not balance are refused all the same.
 */
export const keepLines: JsonObject = { skip_invoice_sync: true };

/** Records as Odoo's import takes them: the paths of their fields, and a text for each. */
export interface Table {
  fields: string[];
  data: string[][];
}

/** Odoo's import of records: all of them or nothing. Their ids, in order. Throws ErpError. */
export async function load(
  calls: OdooCalls,
  model: string,
  { fields, data }: Table,
  request: RequestOptions,
  entries: readonly ErpEntry[] = [],
): Promise<number[]> {
  const call = { model, method: 'load', args: { fields, data }, context: keepLines };
  return loadedIds(await calls.call('writes', call, request), entries);
}

/** The ids in an answer of the import; throws ErpError for one that took nothing. `entries`: what it was about. */
export function loadedIds(answer: JsonValue, entries: readonly ErpEntry[]): number[] {
  const { ids, messages } = writtenAs(answer, asRecord);
  if (ids === false) throw refusalIn(messages ?? [], entries);
  return writtenAs(ids ?? null, asIds);
}

/**
 * What the import says of why it took nothing. It names a place in the table, too, which is that of another move as often as not: of
 * several entries nobody knows which one it is about.
 */
function refusalIn(messages: JsonValue, entries: readonly ErpEntry[]): ErpError {
  const told = writtenAs(messages, (list) => asList(list).filter(isJsonObject));
  const first = told.find(({ type }) => type === 'error') ?? told[0];
  const text = typeof first?.message === 'string' ? plain(first.message) : '';
  const known = explain({ http: 200, code: null, text: text || unexplained }, odooCapabilities.errors);
  const keys = entries.length === 1 ? entries.map(({ key }) => key) : [];
  const isUnknown = known.means === 'doubt';
  const isRefusal = isUnknown && text !== '' && !serversOwn.test(text);
  const problem = isRefusal ? 'erp_refused' : known.problem;
  return new ErpError(isRefusal ? 'refused' : known.means, known.message, {
    ...(problem === null ? {} : { problem }),
    keys,
  });
}

const unexplained = 'Odoo’s import took nothing, and does not say why';

/**
 * A message that is not about what was sent: the import passes on every error of PostgreSQL and Python, where any other method ends
 * with it. PostgreSQL's begin with a small letter, and Odoo's own sentences with a capital.
 */
const serversOwn = /^(?:\p{Ll}|Unknown (?:database )?error\b)/u;

/** The sentence that says what is wrong, without the heading that Odoo puts above it. */
function plain(text: string): string {
  return text.replace(/^An error has occurred\.\s*/, '').trim();
}
