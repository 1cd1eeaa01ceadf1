import { date, integer, nullable, numeric, oneOf, type RowOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { absenceProblems, declinedProblem, lateProblems } from '../domain/problems.ts';
import {
  type CalendarDate,
  type DocumentKind,
  type DocumentRef,
  documentKinds,
  type InstallationId,
} from '../terms.ts';

/** A document about which the accountant decides (ACCOUNTING "Dates"). */
export interface LateDocument extends DocumentRef {
  problem: string | null;
  message: string;
  documentDate: CalendarDate | null;
  /** The entry in force, if a change of it is late. */
  entryId: string | null;
  /** The version that a decision is about. Null if the document was not judged since decisions are recorded. */
  version: string | null;
  /** The accountant's decision about this version. Null if there is none. */
  decision: string | null;
  /** Amount and VAT as decimals; for a posted document, the differences from its entry. Null if unknown. */
  amount: string | null;
  vat: string | null;
}

const shape = {
  ...{ kind: oneOf(documentKinds), id: integer, problem: nullable(text), message: nullable(text) },
  ...{ documentDate: nullable(date), entryId: nullable(text), version: nullable(text), decision: nullable(text) },
  ...{ amount: nullable(numeric), vat: nullable(numeric) },
};
const columns = `kind, id, problem_code as problem, problem_message as message, document_date as "documentDate",
  entry_id as "entryId", late_version as version, late_decision as decision,
  outside_amount as amount, outside_vat as vat`;

/**
 * The late documents of an installation, and those that the source does not show any more. The oldest dates come first.
 */
export async function lateDocuments(db: Connection, installation: InstallationId): Promise<LateDocument[]> {
  const found = await rows(
    db,
    shape,
    `select ${columns} from document where installation = ? and problem_code is not null and problem_code = any(?)
     order by document_date nulls first, kind, id`,
    [installation, [...lateProblems, declinedProblem, ...absenceProblems]],
  );
  return found.map(lateOf);
}

/** Reads the documents with these ids, late or not. Documents that do not exist are left out. */
export async function lateByIds(
  db: Connection,
  installation: InstallationId,
  documents: readonly DocumentRef[],
): Promise<LateDocument[]> {
  const found = await rows(
    db,
    shape,
    `select ${columns} from document
     where installation = ? and (kind, id) in (select * from unnest(?::text[], ?::bigint[])) order by kind, id`,
    [installation, documents.map(({ kind }) => kind), documents.map(({ id }) => id)],
  );
  return found.map(lateOf);
}

/**
 * Selects these documents and locks them for the transaction in the order of their ids. Documents that do not exist are
 * left out.
 */
export async function lockLate(
  trx: Connection,
  installation: InstallationId,
  kind: DocumentKind,
  ids: readonly number[],
): Promise<LateDocument[]> {
  const found = await rows(
    trx,
    shape,
    `select ${columns} from document where installation = ? and kind = ? and id = any(?) order by id for update`,
    [installation, kind, ids],
  );
  return found.map(lateOf);
}

export function isMissing({ problem }: Pick<LateDocument, 'problem'>): boolean {
  return absenceProblems.some((code) => code === problem);
}

/** The version of a missing document with this entry in force. */
export function versionGone(entryId: string): string {
  return `${entryId} gone`;
}

/** The decision that a missing document is gone concerns its entry in force, so the entry id is part of the version. */
function lateOf({ message, ...found }: RowOf<typeof shape>): LateDocument {
  const version = isMissing(found) ? found.entryId && versionGone(found.entryId) : found.version;
  return { ...found, version, message: message ?? '' };
}
