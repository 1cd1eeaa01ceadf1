import { kindOfError } from '../db/database-errors.ts';
import { type Connection, execute } from '../db/rows.ts';
import type { DocumentRef } from '../terms.ts';
import type { FoundProblem } from './save.ts';

/** Why a document is held that something failed for unexpectedly; says what failed and how, and quotes nothing. */
export function internalError(
  { kind, id }: DocumentRef,
  what: string,
  error: unknown,
): FoundProblem & { code: 'internal_error' } {
  return { code: 'internal_error', message: `${kind} ${id}: ${what} failed unexpectedly (${kindOfError(error)})` };
}

/**
 * Holds a document without having judged it, and unmarks it unless it was marked since `mark`. One with an entry in force stays
 * posted, with the problem.
 */
export async function holdDocument(
  db: Connection,
  installation: number,
  { kind, id, mark }: DocumentRef & { mark: number },
  { code, message }: FoundProblem,
): Promise<void> {
  await execute(
    db,
    `update document set state = case when entry_id is null then 'held' else state end, dirty = dirty_mark > ?,
       refetch = 'no', judged_at = clock_timestamp(), problem_message = ?,
       outside_amount = null, outside_vat = null, problem_details = null,
       problem_since = case when problem_code = ? then problem_since else clock_timestamp() end, problem_code = ?
     where installation = ? and kind = ? and id = ?`,
    [mark, message, code, code, installation, kind, id],
  );
}
