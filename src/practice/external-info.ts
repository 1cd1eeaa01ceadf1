import { PracticeError } from '../domain/practice-error.ts';
import type { Dialect } from '../records/dialect.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../records/json.ts';
import { parseRecord, recordId } from '../records/schema.ts';
import { id as idType } from '../records/values.ts';
import type { RawRecord } from './raw-record.ts';

/** The requests that writing needs; `id` is the prepayment's. */
export interface ExternalInfoPorts {
  patchPrepayment(id: number, body: JsonObject): Promise<RawRecord | null>;
  read(id: number): Promise<JsonValue>;
  create(id: number, body: JsonObject): Promise<void>;
  update(id: number, infoId: number, body: JsonObject): Promise<void>;
}

/**
 * Writes `external_id` into the external_info of a prepayment. All existing keys are sent along, because a server may merge or
 * replace (field-notes: Unallocated payment). With the sub-resource the existing record is read first, so that a POST whose
 * outcome is unknown is not repeated. Throws PracticeError; `refused` where the answer has another id than the one written.
 */
export async function writeExternalId(
  dialect: Dialect,
  ports: ExternalInfoPorts,
  prepayment: JsonValue,
  externalId: string,
): Promise<RawRecord | null> {
  const { mode, field, id_key: idKey } = dialect.external_info;
  const id = recordId('prepayment', prepayment, dialect.fields.prepayment.id);
  if (mode === 'patch') {
    const existing = isJsonObject(prepayment) ? prepayment[field] : undefined;
    const body = { [field]: { ...(isJsonObject(existing) ? existing : {}), [idKey]: externalId } };
    const record = await ports.patchPrepayment(id, body);
    const written = record && parseRecord('prepayment', record.value, dialect).externalId;
    if (record && written !== externalId) {
      throw new PracticeError(
        'refused',
        `the external id of prepayment ${id} was accepted, but ${written === null ? 'none' : 'another one'} stands there`,
      );
    }
    return record;
  }
  const existing = firstOf(await ports.read(id));
  if (existing === null) {
    await ports.create(id, { [idKey]: externalId });
    return null;
  }
  const infoId = idType.read(existing.id);
  if (infoId === undefined) {
    throw new PracticeError('malformed_response', `the external_info of prepayment ${id} has no usable id`);
  }
  // id and url are set by the server; every other key is sent back unchanged.
  const { id: _id, url: _url, ...kept } = existing;
  await ports.update(id, infoId, { ...kept, [idKey]: externalId });
  return null;
}

/** The external_info of a prepayment in an answer: a list page, a bare array or a single object; null when empty. */
function firstOf(value: JsonValue): JsonObject | null {
  const results = isJsonObject(value) && Array.isArray(value.results) ? value.results : value;
  const first = Array.isArray(results) ? results[0] : results;
  if (first === undefined || first === null) return null;
  if (isJsonObject(first)) return first;
  throw new PracticeError('malformed_response', 'the external_info of a prepayment is no object');
}
