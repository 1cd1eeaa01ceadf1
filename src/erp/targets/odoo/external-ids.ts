import type { JsonObject } from '../../../records/json.ts';
import { ErpError, type RequestOptions } from '../../port.ts';
import { asId, asList, asRecord, asText, readAs } from '../api/form.ts';
import type { OdooCalls } from './calls.ts';
import { asRecords } from './wire.ts';

/**
 * The module of our external ids, which no other module uses. `vetledger.<key>` names a move, and `vetledger.<key>_<n>`
 * its nth line.
 */
const module = 'vetledger';

export function moveIdOf(key: string): string {
  return `${module}.${key}`;
}

export function lineIdOf(key: string, n: number): string {
  return `${module}.${key}_${n}`;
}

const ownPartyId = /^partner_\d+_(\d+)_client_(\d+)$/;
const ownKey = /^[A-Z2-7]{20}$/;

/**
 * The external id of a client such as `4711/client/5`. It contains the company, because external ids are unique in the
 * whole database, while a client belongs to one company. Slashes are not allowed.
 */
export function partyIdOf(companyId: number, code: string): string {
  return `${module}.partner_${companyId}_${code.replaceAll('/', '_')}`;
}

/** The client's code in an external id; null for any other external id. */
export function partyCodeIn(externalId: string): string | null {
  const [, installation, client] = ownPartyId.exec(nameIn(externalId)) ?? [];
  return installation === undefined ? null : `${installation}/client/${client}`;
}

/** The entry's key in an external id; null for any other external id. */
export function keyInExternalId(externalId: string): string | null {
  const name = nameIn(externalId);
  return ownKey.test(name) ? name : null;
}

function nameIn(externalId: string): string {
  return externalId.startsWith(`${module}.`) ? externalId.slice(module.length + 1) : '';
}

/** The external ids of records. Odoo shows them to every user who may read the records. Throws ErpError. */
export async function externalIdsOf(
  calls: OdooCalls,
  model: string,
  ids: readonly number[],
  request: RequestOptions,
): Promise<Map<number, string[]>> {
  if (ids.length === 0) return new Map();
  const answer = await calls.call('reads', { model, method: 'get_metadata', ids }, request);
  return readAs(answer, (records) => new Map(asRecords(records).map((record) => [asId(record.id), namesIn(record)])));
}

function namesIn({ xmlids }: JsonObject): string[] {
  return asList(xmlids ?? []).map((each) => asText(asRecord(each).xmlid));
}

/**
 * Finds records by external id. Most users may not search external ids. For them each id is requested alone, which Odoo
 * allows to every user. Throws ErpError.
 */
export async function findExternalIds(
  calls: OdooCalls,
  model: string,
  externalIds: readonly string[],
  request: RequestOptions,
): Promise<Map<string, number>> {
  if (externalIds.length === 0) return new Map();
  if (!(await maySearch(calls, request))) return oneByOne(calls, model, externalIds, request);
  const domain = [
    ['module', '=', module],
    ['model', '=', model],
    ['name', 'in', externalIds.map(nameIn)],
  ];
  const found = await calls.all('ir.model.data', { domain, fields: ['name', 'res_id'] }, request);
  return readAs(null, () => new Map(found.map(({ name, res_id: id }) => [`${module}.${asText(name)}`, asId(id)])));
}

/** Whether the user may search external ids. It is requested each time, since an administrator may remove the right. */
export function maySearch(calls: OdooCalls, request: RequestOptions): Promise<boolean> {
  return calls.may('ir.model.data', 'read', request);
}

async function oneByOne(
  calls: OdooCalls,
  model: string,
  externalIds: readonly string[],
  request: RequestOptions,
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const externalId of externalIds) {
    const args = { module, xml_id: nameIn(externalId), raise_on_access_error: false };
    // Includes archived records, because an import would find them too.
    const context = { active_test: false };
    const call = { model: 'ir.model.data', method: 'check_object_reference', args, context };
    const answer = await calls.call('reads', call, request).catch((error: unknown) => {
      // Odoo returns this error for an unknown external id.
      if (error instanceof ErpError && notFound.test(error.message)) return null;
      throw error;
    });
    if (answer === null) continue;
    const [ofModel, id] = readAs(answer, asList);
    if (ofModel === model && typeof id === 'number') found.set(externalId, id);
  }
  return found;
}

const notFound = /External ID not found/;
