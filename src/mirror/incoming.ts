import { hash } from 'node:crypto';
import { hasOffset, instantOf, occursTwice } from '../domain/dates.ts';
import type { ReadSpan } from '../domain/read-at.ts';
import { externalIdField, externalIdIn } from '../records/external-id.ts';
import { fieldMapOf, keptText } from '../records/field-map.ts';
import type { JsonValue } from '../records/json.ts';
import { numberKey } from '../records/printed-number.ts';
import { recordOf } from '../records/schema.ts';
import { finalStatus } from '../records/source-codes.ts';
import type { SourceRecord } from '../records/types.ts';
import type { RecordKind } from '../terms.ts';
import type { StoredRecord } from './stored-records.ts';
import type { IncomingPage, IncomingRecord, MirrorScope } from './types.ts';

const hourMs = 3_600_000;

export function incomingRecord(
  scope: MirrorScope,
  kind: RecordKind,
  item: IncomingPage['results'][number],
): IncomingRecord {
  const record = recordOf(kind, item, scope.dialect);
  const stamp = modifiedOf(record);
  const modified = stamp === null ? null : instantOf(stamp, scope.timezone);
  const raw = keptText(item.value, fieldMapOf(scope.dialect, kind, scope.keepRaw));
  return {
    id: item.id,
    value: item.value,
    raw,
    hash: contentHash(raw),
    parentId: invoiceOf(record),
    modified,
    mayBeLater: stamp !== null && modified !== null && !hasOffset(stamp) && occursTwice(modified, scope.timezone),
    needsRows: record.kind === 'invoice' && record.status === finalStatus,
    numberKey: record.kind === 'invoice' && record.number !== null ? numberKey(record.number) || null : null,
    idNeedsLook: kind === 'prepayment' && needsLook(scope, item),
  };
}

/** Whether the record has the field of the external id (a field without a parent is always there), but not the id of one of its entries. */
function needsLook({ installation, dialect }: MirrorScope, { id, value }: IncomingPage['results'][number]): boolean {
  const { isCarried, value: found } = externalIdIn(dialect, 'prepayment', value as JsonValue);
  if (!isCarried) return !externalIdField(dialect, 'prepayment').includes('.');
  const own = `${installation}/prepayment/${id}/`;
  return found === null || !found.startsWith(own) || !/^\d+$/.test(found.slice(own.length));
}

/** The invoice that a row or payment belongs to, or that a credit note credits. */
function invoiceOf(record: SourceRecord): number | null {
  switch (record.kind) {
    case 'row':
    case 'payment':
      return record.invoiceId;
    case 'invoice':
      return record.creditNote ? record.originalInvoiceId : null;
    case 'prepayment':
      return null;
  }
}

export function contentHash(raw: string): string {
  return hash('sha256', raw);
}

/**
 * Payments never change, so a payment without `modified` uses the time when it was added (practice-api: Invoice
 * payment).
 */
function modifiedOf(record: SourceRecord): string | null {
  return record.kind === 'payment' ? (record.modified ?? record.dateAdded) : record.modified;
}

/**
 * Whether a received record replaces the stored one. The answer to a later request always does, even with an earlier
 * `modified`. This happens after the source was restored from a backup or its clock was corrected. If two requests were
 * under way at the same time, either may have been answered first. The later `modified` then decides.
 */
export function isLater(read: ReadSpan, next: IncomingRecord, stored: StoredRecord): boolean {
  const { sourceTime } = read;
  if (read.askedAt >= stored.answeredAt) return true;
  // After an answer without the record, only the answer to a later request shows that the record is in the source
  // again.
  if (read.answeredAt <= stored.askedAt || stored.goneAt !== null) return false;
  // In the hour that a clock change repeats, `modified` cannot decide.
  if (next.modified && stored.modified && next.modified.getTime() !== stored.modified.getTime()) {
    const apart = Math.abs(next.modified.getTime() - stored.modified.getTime());
    if (!next.mayBeLater || apart > hourMs) return next.modified > stored.modified;
  }
  return sourceTime > stored.sourceTime;
}
