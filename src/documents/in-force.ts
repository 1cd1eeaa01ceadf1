import { integer } from '../db/columns.ts';
import { type Binding, type Connection, row } from '../db/rows.ts';
import type { CalendarDate, DocumentKind, DocumentRef } from '../terms.ts';
import { type DocumentCursor, type StoredDocument, selectDocuments } from './document.ts';

/** Documents in the books by id, or by document date (both days inclusive). Null means no limit. */
export interface DocumentSelection {
  documents: DocumentRef[] | null;
  from: CalendarDate | null;
  to: CalendarDate | null;
}

export const everything: DocumentSelection = { documents: null, from: null, to: null };

export interface InForceOptions {
  kinds: readonly DocumentKind[];
  after: DocumentCursor;
  limit: number;
  /** Whether to lock the documents for this transaction. */
  lock: boolean;
}

/** The next documents of these kinds with an entry in force. */
export function documentsInForce(
  db: Connection,
  installation: number,
  selection: DocumentSelection,
  { kinds, after, limit, lock }: InForceOptions,
): Promise<StoredDocument[]> {
  const { sql, bindings } = inForce(installation, selection);
  return selectDocuments(
    db,
    `${sql} and kind = any(?) and (kind, id) > (?::text, ?::bigint) order by kind, id limit ? ${lock ? 'for update' : ''}`,
    [...bindings, kinds, after?.kind ?? '', after?.id ?? 0, limit],
  );
}

/** The number of documents of a selection with an entry in force. */
export async function countInForce(
  db: Connection,
  installation: number,
  selection: DocumentSelection,
): Promise<number> {
  const { sql, bindings } = inForce(installation, selection);
  const { n } = await row(db, { n: integer }, `select count(*) as n from document where ${sql}`, bindings);
  return n;
}

function inForce(
  installation: number,
  { documents, from, to }: DocumentSelection,
): { sql: string; bindings: Binding[] } {
  const inDates = `installation = ? and entry_id is not null and
    document_date between coalesce(?::date, '-infinity') and coalesce(?::date, 'infinity')`;
  const bindings = [installation, from, to];
  if (documents === null) return { sql: inDates, bindings };
  return {
    sql: `${inDates} and (kind, id) in (select * from unnest(?::text[], ?::bigint[]))`,
    bindings: [...bindings, documents.map(({ kind }) => kind), documents.map(({ id }) => id)],
  };
}
