import { hash } from 'node:crypto';
import { hasOffset, instantOf, isToldTwice } from '../domain/dates.ts';
import type { ReadSpan } from '../domain/read-at.ts';
import { canonicalJson, readJson } from '../records/json.ts';
import { keepMapped } from '../records/keep.ts';
import { recordOf } from '../records/schema.ts';
import type { SourceRecord } from '../records/types.ts';
import type { RecordKind } from '../terms.ts';
import type { StoredRecord } from './stored-records.ts';
import type { IncomingPage, IncomingRecord, MirrorScope } from './types.ts';

/** Status 3 Finalized: the only one that posts (practice-api: Invoice status). */
const finalStatus = 3;
const hourMs = 3_600_000;

export function incomingRecord(
  scope: MirrorScope,
  kind: RecordKind,
  item: IncomingPage['results'][number],
): IncomingRecord {
  const record = recordOf(kind, item, scope.dialect);
  const stamp = modifiedOf(record);
  const modified = stamp === null ? null : instantOf(stamp, scope.timezone);
  const raw = scope.keepRaw === 'mapped' ? keepMapped(kind, item.raw, scope.dialect) : item.raw;
  return {
    id: item.id,
    raw,
    whole: item.raw,
    hash: hash('sha256', raw),
    parentId: record.kind === 'row' || record.kind === 'payment' ? record.invoiceId : null,
    modified,
    mayBeLater: stamp !== null && modified !== null && !hasOffset(stamp) && isToldTwice(modified, scope.timezone),
    needsRows: record.kind === 'invoice' && record.status === finalStatus,
  };
}

/** A payment without `modified` was last changed when it was added: payments never change (practice-api: Invoice payment). */
function modifiedOf(record: SourceRecord): string | null {
  return record.kind === 'payment' ? (record.modified ?? record.dateAdded) : record.modified;
}

/** A stored text and a received one, as they are compared, and the stored text as it is to be kept from now on. */
export interface Comparable {
  stored: string;
  received: string;
  kept: string;
}

/**
 * What is compared of a stored text and a received record. Either may have been cut to what is mapped where the other is whole,
 * because `keep_raw` was changed between them: what is mapped is then compared, so that the setting makes no version.
 */
export function comparable(
  { keepRaw, dialect }: Pick<MirrorScope, 'keepRaw' | 'dialect'>,
  kind: RecordKind,
  stored: string,
  { raw, whole }: Pick<IncomingRecord, 'raw' | 'whole'>,
): Comparable {
  const cut = keepMapped(kind, stored, dialect);
  if (keepRaw === 'mapped') return { stored: cut, received: raw, kept: cut };
  return { stored, received: cut === stored ? keepMapped(kind, whole, dialect) : whole, kept: stored };
}

/** Whether a record was stored, by this hash, while `keep_raw` was the other one. */
export function isOfOtherKeeping(
  { keepRaw, dialect }: Pick<MirrorScope, 'keepRaw' | 'dialect'>,
  kind: RecordKind,
  contentHash: string,
  { raw, whole }: Pick<IncomingRecord, 'raw' | 'whole'>,
): boolean {
  if (keepRaw === 'mapped' && raw === whole) return false;
  return contentHash === hash('sha256', keepRaw === 'mapped' ? whole : keepMapped(kind, whole, dialect));
}

/** Whether two texts hold the same values: the order of keys and the notation of numbers (1.50, 1.5) do not count. */
export function isSameContent(raw: string, otherRaw: string): boolean {
  return canonicalJson(readJson(raw)) === canonicalJson(readJson(otherRaw));
}

/**
 * Whether a received record replaces the stored one. The answer to a later request does, whatever `modified` says: it goes back
 * where the source was restored from a backup or its clock put right. Of two requests that were under way together, either may
 * have been answered first: then the later `modified` decides.
 */
export function isLater(read: ReadSpan, next: IncomingRecord, stored: StoredRecord): boolean {
  const { sourceTime } = read;
  if (read.askedAt >= stored.answeredAt) return true;
  // A record that an answer no longer held comes back by the answer to a later request only.
  if (read.answeredAt <= stored.askedAt || stored.goneAt !== null) return false;
  // Except in the repeated hour of a change of clocks.
  if (next.modified && stored.modified && next.modified.getTime() !== stored.modified.getTime()) {
    const apart = Math.abs(next.modified.getTime() - stored.modified.getTime());
    if (!next.mayBeLater || apart > hourMs) return next.modified > stored.modified;
  }
  return sourceTime > stored.sourceTime;
}
