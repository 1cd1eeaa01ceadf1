import type { Dialect } from '../records/dialect.ts';
import type { SourceRecord } from '../records/types.ts';
import type { Place, Unusable } from '../records/unusable.ts';
import type { DocumentKind, RawKeeping } from '../terms.ts';

/** The installation whose records are saved, and how they are read. */
export interface MirrorScope {
  installation: number;
  timezone: string;
  dialect: Dialect;
  keepRaw: RawKeeping;
}

/** A record of a page that no document can be made of (src/records/unusable.ts), and where it stands. */
export interface UnusableInPage extends Unusable {
  page: string;
  position: number;
  place: Place;
}

/** One answer's records, as received. */
export interface IncomingPage {
  results: { id: number; value: unknown; record?: SourceRecord | undefined }[];
  unusable?: readonly UnusableInPage[];
  /** Lower bound of the snapshot (DESIGN "Source time"). */
  sourceTime: Date;
  /** Upper bound of it, by the same clock. */
  sourceTimeAtMost: Date;
  /** When the request was under way, by the database's clock (ListAnswer). */
  askedAt: Date;
  answeredAt: Date;
  /** Records of the page that cannot be stored: received, and left out (put-aside.ts). */
  aside?: ReadonlySet<number>;
}

/** A received record, with what the mirror stores beside its text. */
export interface IncomingRecord {
  id: number;
  /** All of it, as received. */
  value: unknown;
  /** The canonical text of what is kept (src/records/field-map.ts). */
  raw: string;
  /** SHA-256 of that text: the same content has the same one. */
  hash: string;
  parentId: number | null;
  modified: Date | null;
  /** `modified` has no offset and lies in the hour that clocks tell twice: it may mean an hour later than it is read. */
  mayBeLater: boolean;
  needsRows: boolean;
}

export interface SaveResult {
  /** Records received, repeats included. */
  received: number;
  /** New or changed versions, except the echoes of our own write-back. */
  pulled: number;
  /** Ids received. */
  ids: number[];
  /** What stands for the records received that no document can be made of. */
  unusable: number[];
  /** Records whose version is new or changed, by id. */
  changedIds: number[];
  /** Invoices that the changed records belong to (rows and payments), or credit. */
  changedParents: number[];
}

/** A record's version and the one it replaces, as JSON text. */
export interface NewVersion {
  id: number;
  previousRaw: string;
  raw: string;
}

/** The ids of the versions that differ from their predecessors only by what we wrote back ourselves (src/writeback). */
export type FindOwnEchoes = (versions: NewVersion[], kind: DocumentKind) => Promise<Set<number>>;
