import { kindOfError } from '../db/database-errors.ts';
import { type Connection, execute } from '../db/rows.ts';
import type { DocumentRef } from '../terms.ts';
import { mirrorTexts } from '../texts/findings/mirror.ts';
import type { FoundProblem } from './save.ts';

/** The problem of a document for which `step` failed unexpectedly. The message contains no data of the document. */
export function internalError(
  { kind, id }: DocumentRef,
  step: string,
  error: unknown,
): FoundProblem & { code: 'internal_error' } {
  const message = mirrorTexts.failedUnexpectedly({ kind, id, step, reason: kindOfError(error) });
  return { code: 'internal_error', message };
}

/**
 * Holds a document without judging it, and removes its mark unless it was marked again since `mark`. A document with an
 * entry in force stays posted and gets the problem.
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
