import { instant, integer, nullable, oneOf, text } from '../db/columns.ts';
import { type Connection, row, rows } from '../db/rows.ts';
import { erpProblemCatalogue } from '../domain/erp-problems.ts';
import { problemCatalogue } from '../domain/problems.ts';
import { type InstallationId, recordKinds } from '../terms.ts';

/** A document with a problem, as `problems --json` prints it (DESIGN "Commands"). */
export interface DocumentProblem {
  /** `<installation>/<kind>/<id>`, which `problems retry` takes. */
  id: string;
  installation: InstallationId;
  document: string;
  code: string;
  message: string;
  todo: string;
  since: Date | null;
}

/** The documents of these installations that have a problem, the oldest problem first. */
export async function documentProblems(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<DocumentProblem[]> {
  const found = await rows(
    db,
    {
      installation: integer,
      // A row that was put aside and names no invoice holds no document, and stands here by itself.
      kind: oneOf(recordKinds),
      id: integer,
      problem_code: text,
      problem_message: nullable(text),
      problem_since: nullable(instant),
    },
    `select installation, kind, id, problem_code, problem_message, problem_since
     from document where installation = any(?) and problem_code is not null
     union all
     select installation, kind, record::bigint, code, message, since from put_aside
     where installation = any(?) and kind = 'row' and parent_id is null
     union all
     select installation, kind, document_id, error_code, error, error_since
     from erp_number_write_back where installation = any(?) and error_code is not null
     order by problem_since, installation, kind, id`,
    [installations, installations, installations],
  );
  return found.map(({ installation, kind, id, problem_code, problem_message, problem_since }) => ({
    id: `${installation}/${kind}/${id}`,
    installation,
    document: `${kind} ${id}`,
    code: problem_code,
    message: problem_message ?? '',
    todo: todoOf(problem_code),
    since: problem_since,
  }));
}

/** How many problems are reported beside posted documents. */
export async function countReports(db: Connection, installations: readonly InstallationId[]): Promise<number> {
  const { n } = await row(db, { n: integer }, 'select count(*) as n from document_report where installation = any(?)', [
    installations,
  ]);
  return n;
}

/** What to do about a stored problem; a code of an earlier release is not in the catalogue. */
export function todoOf(code: string): string {
  const known: Partial<Record<string, { todo: string }>> = { ...problemCatalogue, ...erpProblemCatalogue };
  return (
    (Object.hasOwn(known, code) ? known[code]?.todo : undefined) ??
    'Run `vetledger problems retry` with its id: it is then judged by this release.'
  );
}
