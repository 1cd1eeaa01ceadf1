import type { Dialect } from '../records/dialect.ts';
import type { SourceRecord } from '../records/types.ts';
import type { Place, Unusable } from '../records/unusable.ts';
import type { RawKeeping, SourceKind } from '../terms.ts';

/** The installation whose records are saved, and the settings for reading them. */
export interface MirrorScope {
  installation: number;
  timezone: string;
  dialect: Dialect;
  keepRaw: RawKeeping;
}

/** A record of a page from which no document can be made (src/records/unusable.ts), and its position. */
export interface UnusableInPage extends Unusable {
  page: string;
  position: number;
  place: Place;
}

/** The records of one answer, as received. */
export interface IncomingPage {
  results: { id: number; value: unknown; record?: SourceRecord | undefined }[];
  unusable?: readonly UnusableInPage[];
  /** Lower bound of the snapshot's time (DESIGN "Source time"). */
  sourceTime: Date;
  /** Upper bound of the snapshot's time, by the same clock. */
  sourceTimeAtMost: Date;
  /** The time span of the request, by the database's clock (ListAnswer). */
  askedAt: Date;
  answeredAt: Date;
  /** Records of the page that cannot be stored (put-aside.ts). They count as received and are left out. */
  aside?: ReadonlySet<number>;
}

/** A received record, with what the mirror stores beside its text. */
export interface IncomingRecord {
  id: number;
  /** The whole record, as received. */
  value: unknown;
  /** The canonical text of the kept fields (src/records/field-map.ts). */
  raw: string;
  /** SHA-256 of that text, so equal content has equal hashes. */
  hash: string;
  parentId: number | null;
  modified: Date | null;
  /**
   * `modified` has no offset and is in the hour that a clock change repeats. The true time may be an hour later than
   * `modified`.
   */
  mayBeLater: boolean;
  needsRows: boolean;
  /** Of an invoice with a number, the key for searches. */
  numberKey: string | null;
  /** Whether the record of a prepayment has the field of the external id, but names none of its entries. */
  idNeedsLook: boolean;
}

export interface SaveResult {
  /** Number of records received, repeats included. */
  received: number;
  /** Number of new or changed versions, without the echoes of our write-back. */
  pulled: number;
  /** Ids received. */
  ids: number[];
  /** Keys of the received records from which no document can be made. */
  unusable: number[];
  /** Ids of the records with a new or changed version. */
  changedIds: number[];
  /** Invoices that the changed rows and payments belong to, or that the changed credit notes credit. */
  changedParents: number[];
}

/** A record's new version and the version that it replaces, as JSON text. */
export interface NewVersion {
  id: number;
  previousRaw: string;
  raw: string;
}

/** Returns the ids of the versions that differ from their predecessors only by our write-back (src/writeback). */
export type FindOwnEchoes = (versions: NewVersion[], kind: SourceKind) => Promise<Set<number>>;
