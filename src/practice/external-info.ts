import { PracticeError } from '../domain/practice-error.ts';
import type { Dialect } from '../records/dialect.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../records/json.ts';
import { parseRecord, recordId } from '../records/schema.ts';
import { id as idType } from '../records/values.ts';
import type { RawRecord } from './raw-record.ts';

/** The requests that external_info is written with; `id` is the prepayment's. */
export interface ExternalInfoPorts {
  patchPrepayment(id: number, body: JsonObject): Promise<RawRecord | null>;
  read(id: number): Promise<JsonValue>;
  create(id: number, body: JsonObject): Promise<void>;
  update(id: number, infoId: number, body: JsonObject): Promise<void>;
}

/**
 * Writes `external_id` into the external_info of a prepayment with every key it has sent along, since a server may merge or
 * replace (field-notes: Unallocated payment). Where only the sub-resource exists, what stands there is read first, so a
 * repetition after a doubtful POST finds it. Throws PracticeError, `refused` where the answer shows another id than written.
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
    const existing = (prepayment as JsonObject)[field];
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
  // Its address is the server's; everything else goes back as it came.
  const { id: _id, url: _url, ...kept } = existing;
  await ports.update(id, infoId, { ...kept, [idKey]: externalId });
  return null;
}

/** The one external_info of a prepayment: from a list with or without an envelope, or alone. */
function firstOf(value: JsonValue): JsonObject | null {
  const results = isJsonObject(value) && Array.isArray(value.results) ? value.results : value;
  const first = Array.isArray(results) ? results[0] : results;
  if (first === undefined || first === null) return null;
  if (isJsonObject(first)) return first;
  throw new PracticeError('malformed_response', 'the external_info of a prepayment is no object');
}
