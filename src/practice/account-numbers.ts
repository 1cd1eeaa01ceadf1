import type { Dialect } from '../records/dialect.ts';
import { isJsonObject, type JsonValue } from '../records/json.ts';
import type { AccountNumber } from '../records/types.ts';
import { flag, readReference, text } from '../records/values.ts';
import type { PracticeClient } from './client.ts';

/** A limit against a list that never ends. No chart of accounts has so many pages. */
const maxPages = 200;

/**
 * Reads all pages of the practice software's account numbers. A page of the default size has weight 1, and most charts
 * fit on one page. Throws PracticeError: `forbidden` if the application lacks the permission "Financial: Invoices"
 * (practice-api: Permissions).
 */
export async function listAccountNumbers(client: PracticeClient, dialect: Dialect): Promise<AccountNumber[]> {
  const found = new Map<number, AccountNumber>();
  let received = 0;
  for (let page = 1; page <= maxPages; page++) {
    const answer = await client.list('accountnumber', {}, dialect.default_page_size, { page });
    for (const { id, value } of answer.results) {
      const account = read(value, dialect);
      if (account) found.set(id, account);
    }
    received += answer.results.length;
    // The list is not proven complete, because a record may move between pages during the reading. A proposal does not
    // need a proof.
    if (answer.results.length === 0 || received >= answer.count) break;
  }
  return [...found.values()].sort(
    (a, b) => compare(a.number, b.number) || (a.departmentId ?? 0) - (b.departmentId ?? 0),
  );
}

function read(value: JsonValue, dialect: Dialect): AccountNumber | null {
  if (!isJsonObject(value)) return null;
  const department = readReference(value.department, dialect, 'department');
  const number = text.read(value.number ?? '')?.trim();
  if (!number) return null;
  return {
    number,
    description: text.read(value.description ?? '')?.trim() || null,
    departmentId: typeof department === 'number' ? department : null,
    archived: value.archived == null ? false : (flag.read(value.archived) ?? false),
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
