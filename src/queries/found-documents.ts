import { date, instant, integer, nullable, oneOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import {
  type CalendarDate,
  type DocumentRef,
  type DocumentState,
  documentKinds,
  documentStates,
  type InstallationId,
} from '../terms.ts';

/** A row of the table `document`. */
export interface FoundDocument extends DocumentRef {
  installation: InstallationId;
  state: DocumentState;
  documentDate: CalendarDate | null;
  /** Id of the entry in force. */
  entryId: string | null;
  problem: { code: string; message: string; since: Date | null } | null;
}

const documentColumns = {
  installation: integer,
  kind: oneOf(documentKinds),
  id: integer,
  state: oneOf(documentStates),
  document_date: nullable(date),
  entry_id: nullable(text),
  problem_code: nullable(text),
  problem_message: nullable(text),
  problem_since: nullable(instant),
};

/** The document with this kind and id in each of the installations, by installation. */
export async function findDocuments(
  db: Connection,
  installations: readonly InstallationId[],
  { kind, id }: DocumentRef,
): Promise<FoundDocument[]> {
  const found = await rows(
    db,
    documentColumns,
    `select ${Object.keys(documentColumns).join(', ')} from document
     where installation = any(?) and kind = ? and id = ? order by installation`,
    [installations, kind, id],
  );
  return found.map(({ document_date, entry_id, problem_code, problem_message, problem_since, ...document }) => ({
    ...document,
    documentDate: document_date,
    entryId: entry_id,
    problem:
      problem_code === null ? null : { code: problem_code, message: problem_message ?? '', since: problem_since },
  }));
}
