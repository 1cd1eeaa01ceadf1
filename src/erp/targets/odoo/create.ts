import { clip, visible } from '../../../domain/text.ts';
import type { ErpEntry, ErpParty } from '../../entry.ts';
import { ErpError, type RequestOptions, type WriteOptions } from '../../port.ts';
import { throwFirst } from '../resolved.ts';
import type { Company, OdooCalls } from './calls.ts';
import { partyIdOf } from './external-ids.ts';
import { load } from './load.ts';
import { type ResolvedEntry, toTable } from './moves.ts';
import type { OdooNames } from './names.ts';
import { resolveEntries } from './resolve.ts';

const longestPartyName = 200;

/** What creating needs of the target. */
export interface Creating {
  calls: OdooCalls;
  names: OdooNames;
  /** Whether an entry with one of these keys may be there already, as far as a quick search tells. */
  present(entries: readonly ErpEntry[], request: RequestOptions): Promise<string[]>;
}

/**
 * Creates drafts by Odoo's import, which gives each move and each line its external id in one transaction. A key that Odoo has
 * already is not sent: its import would write to the move that is there. Throws ErpError.
 */
export async function createDrafts(
  { calls, names, present }: Creating,
  entries: readonly ErpEntry[],
  request: WriteOptions,
): Promise<Map<string, string>> {
  const company = await calls.company(request);
  const resolve = () => resolveEntries(entries, { names, request });
  let resolved = await resolve();
  if (resolved.problems.length > 0) {
    // What is remembered may be what somebody has corrected since.
    names.clear();
    resolved = await resolve();
    throwFirst(resolved.problems);
  }
  if (resolved.missingParties.size > 0) {
    await createParties(calls, company, [...resolved.missingParties.values()], request);
    names.clear();
    resolved = await resolve();
    throwFirst(resolved.problems);
  }
  const moves = entries.map((entry) => ({ entry, resolved: resolvedOf(entry, resolved.entries) }));
  const known = await present(entries, request);
  if (known.length > 0) throw new ErpError('duplicate', 'Odoo has it already', { keys: known });
  const ids = await load(calls, 'account.move', toTable(moves, company.features), request, entries);
  if (ids.length !== entries.length) {
    throw new ErpError('doubt', `Odoo answered ${ids.length} ids to ${entries.length} entries`);
  }
  return new Map(entries.map(({ key }, index) => [key, String(ids[index])]));
}

function resolvedOf(entry: ErpEntry, entries: ReadonlyMap<string, ResolvedEntry>): ResolvedEntry {
  const found = entries.get(entry.key);
  if (found === undefined) {
    throw new ErpError('unsent', `a partner of ${visible(entry.unitId)} was made, and is not found in Odoo`);
  }
  return found;
}

/** Clients of ours that Odoo lacks, with our id as external id and as reference. After a doubt they are looked up again before. */
async function createParties(
  calls: OdooCalls,
  { companyId }: Company,
  parties: readonly ErpParty[],
  request: WriteOptions,
): Promise<void> {
  const table = {
    fields: ['id', 'name', 'ref', 'company_id/.id'],
    data: parties.map(({ code, name }) => [
      partyIdOf(companyId, code),
      clip(visible(name?.trim() ? name : `Client ${code.split('/').at(-1)}`), longestPartyName),
      code,
      String(companyId),
    ]),
  };
  await load(calls, 'res.partner', table, request);
}
