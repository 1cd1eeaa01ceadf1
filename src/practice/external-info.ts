import { PracticeError } from '../domain/practice-error.ts';
import type { Dialect } from '../records/dialect.ts';
import { externalIdIn } from '../records/external-id.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../records/json.ts';
import { recordId } from '../records/schema.ts';
import { id as idType, text } from '../records/values.ts';
import type { SourceKind, SourceRef } from '../terms.ts';
import { practiceTexts } from '../texts/errors/practice.ts';
import type { RawRecord } from './raw-record.ts';

/** The requests that reading and writing external_info needs; `id` is the document's. */
export interface ExternalInfoPorts {
  patch(id: number, body: JsonObject): Promise<RawRecord | null>;
  read(id: number): Promise<JsonValue>;
  create(id: number, body: JsonObject): Promise<void>;
  update(id: number, infoId: number, body: JsonObject): Promise<void>;
}

/** A document's record as it was read, and the external id to write. Null removes the id. */
export interface ExternalIdToWrite {
  kind: SourceKind;
  record: JsonValue;
  externalId: string | null;
  /** Whether the id may replace the one that was read just before. By default it may replace any. */
  mayReplace?: (current: string | null) => boolean;
  /** A time by the clock's `elapsed`. After it the record is too old, so nothing is sent. */
  sendUntilMs?: number;
}

/** The source has another value that must not be replaced. Nothing was written. */
export class ExternalIdTaken extends Error {
  readonly current: string | null;

  constructor(current: string | null) {
    super(practiceTexts.externalIdTaken);
    this.current = current;
  }
}

/**
 * Writes `external_id` into the external_info of a document. All existing keys are sent too, because a server may merge
 * or replace (field-notes: Unallocated payment). With the sub-resource, the existing record is read first, so that a
 * POST whose outcome is unknown is not repeated. Throws PracticeError: `refused` if the answer has another id than the
 * one written.
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
        written === null
          ? practiceTexts.externalIdMissing({ kind, id })
          : practiceTexts.externalIdDiffers({ kind, id }),
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
    throw new PracticeError('malformed_response', practiceTexts.externalInfoWithoutId({ kind, id }));
  }
  // The server sets id and url. Every other key is sent back unchanged.
  const { id: _id, url: _url, ...kept } = existing;
  await ports.update(id, infoId, { ...kept, [idKey]: externalId });
  return null;
}

/** The external id in the sub-resource. Throws PracticeError. */
export async function readExternalId(
  dialect: Dialect,
  ports: Pick<ExternalInfoPorts, 'read'>,
  { kind, id }: SourceRef,
): Promise<string | null> {
  const existing = firstOf(kind, await ports.read(id));
  return existing === null ? null : (text.read(existing[dialect.external_info.id_key]) ?? null);
}

/** The external_info of a document in an answer: a list page, a bare array or a single object. Null if it is empty. */
function firstOf(kind: SourceKind, value: JsonValue): JsonObject | null {
  const results = isJsonObject(value) && Array.isArray(value.results) ? value.results : value;
  const first = Array.isArray(results) ? results[0] : results;
  if (first === undefined || first === null) return null;
  if (isJsonObject(first)) return first;
  throw new PracticeError('malformed_response', practiceTexts.externalInfoNotAnObject({ kind }));
}
