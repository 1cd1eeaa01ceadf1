import { date, integer, nullable, oneOf, text } from '../db/columns.ts';
import { type Connection, maybeRow, rows } from '../db/rows.ts';
import { lateProblems } from '../domain/problems.ts';
import { type CalendarDate, type DocumentRef, documentKinds, type InstallationId } from '../terms.ts';

/** A document that a person decides about (ACCOUNTING "Dates"). */
export interface LateDocument extends DocumentRef {
  problem: string | null;
  message: string;
  documentDate: CalendarDate | null;
  /** The entry in force, where a change of it is late. */
  entryId: string | null;
  /** What a decision is about; null where it has not been judged since decisions are recorded. */
  version: string | null;
  /** What was decided of that version. */
  decision: string | null;
}

const shape = {
  ...{ kind: oneOf(documentKinds), id: integer, problem: nullable(text), message: nullable(text) },
  ...{ documentDate: nullable(date), entryId: nullable(text), version: nullable(text), decision: nullable(text) },
};
const columns = `kind, id, problem_code as problem, problem_message as message, document_date as "documentDate",
  entry_id as "entryId", late_version as version, late_decision as decision`;

/** The late documents of an installation, the oldest dates first. */
export async function lateDocuments(db: Connection, installation: InstallationId): Promise<LateDocument[]> {
  const found = await rows(
    db,
    shape,
    `select ${columns} from document where installation = ? and problem_code is not null and problem_code = any(?)
     order by document_date nulls first, kind, id`,
    [installation, lateProblems],
  );
  return found.map((each) => ({ ...each, message: each.message ?? '' }));
}

/** A document, locked for the transaction; null where there is none. */
export async function lockLate(
  trx: Connection,
  installation: InstallationId,
  { kind, id }: DocumentRef,
): Promise<LateDocument | null> {
  const found = await maybeRow(
    trx,
    shape,
    `select ${columns} from document where installation = ? and kind = ? and id = ? for update`,
    [installation, kind, id],
  );
  return found && { ...found, message: found.message ?? '' };
}
