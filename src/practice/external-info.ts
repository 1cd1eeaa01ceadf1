import { PracticeError } from '../domain/practice-error.ts';
import type { Dialect } from '../records/dialect.ts';
import { externalIdIn } from '../records/external-id.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../records/json.ts';
import { recordId } from '../records/schema.ts';
import { id as idType, text } from '../records/values.ts';
import type { DocumentKind, DocumentRef } from '../terms.ts';
import type { RawRecord } from './raw-record.ts';

/** The requests that writing needs; `id` is the document's. */
export interface ExternalInfoPorts {
  patch(id: number, body: JsonObject): Promise<RawRecord | null>;
  read(id: number): Promise<JsonValue>;
  create(id: number, body: JsonObject): Promise<void>;
  update(id: number, infoId: number, body: JsonObject): Promise<void>;
}

/** A document's record as it was read, and the id that is to stand in it; null: none. */
export interface ExternalIdToWrite {
  kind: DocumentKind;
  record: JsonValue;
  externalId: string | null;
  /** Whether it may take the place of what a read just before shows; always, unless given. */
  mayReplace?: (current: string | null) => boolean;
  /** By the clock's `elapsed`, when the record was read so long ago that it is to be read again: nothing is sent after it. */
  sendUntilMs?: number;
}

/** Another value stands where ours was to be written, and nothing was. */
export class ExternalIdTaken extends Error {
  readonly current: string | null;

  constructor(current: string | null) {
    super('another external id stands there');
    this.current = current;
  }
}

/**
 * Writes `external_id` into the external_info of a document. All existing keys are sent along, because a server may merge or
 * replace (field-notes: Unallocated payment). With the sub-resource the existing record is read first, so that a POST whose
 * outcome is unknown is not repeated. Throws PracticeError; `refused` where the answer has another id than the one written.
 */
export async function writeExternalId(
  dialect: Dialect,
  ports: ExternalInfoPorts,
  { kind, record, externalId, mayReplace = () => true }: ExternalIdToWrite,
): Promise<RawRecord | null> {
  const { mode, field, id_key: idKey } = dialect.external_info;
  const id = recordId(kind, record, dialect.fields[kind].id);
  if (mode === 'patch') {
    const existing = isJsonObject(record) ? record[field] : undefined;
    const body = { [field]: { ...(isJsonObject(existing) ? existing : {}), [idKey]: externalId } };
    const answered = await ports.patch(id, body);
    const written = answered && externalIdIn(dialect, kind, answered.value).value;
    if (answered && written !== externalId) {
      throw new PracticeError(
        'refused',
        `the external id of ${kind} ${id} was accepted, but ${written === null ? 'none' : 'another one'} stands there`,
      );
    }
    return answered;
  }
  const existing = firstOf(kind, await ports.read(id));
  const current = existing === null ? null : (text.read(existing[idKey]) ?? null);
  if (!mayReplace(current)) throw new ExternalIdTaken(current);
  if (existing === null) {
    if (externalId !== null) await ports.create(id, { [idKey]: externalId });
    return null;
  }
  const infoId = idType.read(existing.id);
  if (infoId === undefined) {
    throw new PracticeError('malformed_response', `the external_info of ${kind} ${id} has no usable id`);
  }
  // id and url are set by the server; every other key is sent back unchanged.
  const { id: _id, url: _url, ...kept } = existing;
  await ports.update(id, infoId, { ...kept, [idKey]: externalId });
  return null;
}

/** The external id as the sub-resource has it. Throws PracticeError. */
export async function readExternalId(
  dialect: Dialect,
  ports: Pick<ExternalInfoPorts, 'read'>,
  { kind, id }: DocumentRef,
): Promise<string | null> {
  const existing = firstOf(kind, await ports.read(id));
  return existing === null ? null : (text.read(existing[dialect.external_info.id_key]) ?? null);
}

/** The external_info of a document in an answer: a list page, a bare array or a single object; null when empty. */
function firstOf(kind: DocumentKind, value: JsonValue): JsonObject | null {
  const results = isJsonObject(value) && Array.isArray(value.results) ? value.results : value;
  const first = Array.isArray(results) ? results[0] : results;
  if (first === undefined || first === null) return null;
  if (isJsonObject(first)) return first;
  throw new PracticeError('malformed_response', `the external_info of a ${kind} is no object`);
}
