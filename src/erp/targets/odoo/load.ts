import { isJsonObject, type JsonObject, type JsonValue } from '../../../records/json.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import type { ErpEntry } from '../../erp-entry.ts';
import { ErpError, type RequestOptions } from '../../port.ts';
import { explain } from '../api/explain.ts';
import { asList, asRecord, writtenAs } from '../api/form.ts';
import type { OdooCalls } from './calls.ts';
import { odooCapabilities } from './capabilities.ts';
import { asIds } from './wire.ts';

/**
 * The context of every request that writes moves. Without it, Odoo 17 deletes a tax line if no other line has the tax,
 * and adds an "Automatic Balancing Line". Unbalanced entries are still refused.
 */
export const keepLines: JsonObject = { skip_invoice_sync: true };

/** Records in the form of Odoo's import: field paths, and one text per field. */
export interface Table {
  fields: string[];
  data: string[][];
}

/** Runs Odoo's import, which creates all records or none. Returns their ids in order. Throws ErpError. */
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

/** Returns the ids in the import's answer. Throws ErpError if the import created nothing. `entries` were imported. */
export function loadedIds(answer: JsonValue, entries: readonly ErpEntry[]): number[] {
  const { ids, messages } = writtenAs(answer, asRecord);
  if (ids === false) throw refusalIn(messages ?? [], entries);
  return writtenAs(ids ?? null, asIds);
}

/**
 * The error in the import's messages. A message also names a row of the table, but often the row of another move. So
 * with several entries, it is unknown which of them the error concerns.
 */
function refusalIn(messages: JsonValue, entries: readonly ErpEntry[]): ErpError {
  const errors = writtenAs(messages, (list) => asList(list).filter(isJsonObject));
  const first = errors.find(({ type }) => type === 'error') ?? errors[0];
  const text = typeof first?.message === 'string' ? plain(first.message) : '';
  const known = explain(
    { http: 200, code: null, text: text || erpAnswerTexts.importWithoutReason },
    odooCapabilities.errors,
  );
  const keys = entries.length === 1 ? entries.map(({ key }) => key) : [];
  const isUnknown = known.means === 'doubt';
  const isRefusal = isUnknown && text !== '' && !serversOwn.test(text);
  const problem = isRefusal ? 'erp_refused' : known.problem;
  return new ErpError(isRefusal ? 'refused' : known.means, known.message, {
    ...(problem === null ? {} : { problem }),
    keys,
  });
}

/**
 * Messages that do not concern the imported data. The import passes on errors of PostgreSQL and Python as messages;
 * those begin with a small letter, while Odoo's own begin with a capital.
 */
const serversOwn = /^(?:\p{Ll}|Unknown (?:database )?error\b)/u;

/** The message without the heading that Odoo puts before it. */
function plain(text: string): string {
  return text.replace(/^An error has occurred\.\s*/, '').trim();
}
