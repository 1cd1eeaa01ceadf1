import { rowsAsArrays } from '../db/bulk.ts';
import { integer } from '../db/columns.ts';
import { type Connection, execute, row, rows } from '../db/rows.ts';
import { absenceProblems } from '../domain/problems.ts';
import type { DocumentKind } from '../terms.ts';
import { documentRefTypes } from './document.ts';
import { markKnown } from './mark.ts';
import type { FoundProblem } from './save.ts';

/**
 * The documents among these that have an entry in force. With `lock`, no other transaction can change that until this
 * transaction ends.
 */
export async function inForceOf(
  db: Connection,
  installation: number,
  kind: DocumentKind,
  ids: readonly number[],
  { lock }: { lock: boolean },
): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  const found = await rows(
    db,
    { id: integer },
    `select id from document where installation = ? and kind = ? and id = any(?) and entry_id is not null
     order by id ${lock ? 'for update' : ''}`,
    [installation, kind, ids],
  );
  return new Set(found.map(({ id }) => id));
}

/** The number of documents of a kind with an entry in force. */
export async function countPosted(db: Connection, installation: number, kind: DocumentKind): Promise<number> {
  const sql = 'select count(*) as n from document where installation = ? and kind = ? and entry_id is not null';
  return (await row(db, { n: integer }, sql, [installation, kind])).n;
}

/**
 * Gives posted documents that the source does not show their problem at once, and marks them. The next window judges
 * them and finds the same problem. A document with another problem keeps its problem until then.
 */
export async function reportMissing(
  trx: Connection,
  installation: number,
  kind: DocumentKind,
  missing: readonly (FoundProblem & { id: number })[],
): Promise<void> {
  if (missing.length === 0) return;
  await markKnown(
    trx,
    installation,
    kind,
    missing.map(({ id }) => id),
  );
  const { from, bindings } = rowsAsArrays(
    'missing',
    { ...documentRefTypes, code: 'text', message: 'text' },
    missing.map(({ id, code, message }) => ({ kind, id, code, message })),
  );
  await execute(
    trx,
    `update document d set problem_code = missing.code, problem_message = missing.message,
       problem_since = case when d.problem_code = missing.code then d.problem_since else clock_timestamp() end
     from ${from} where d.installation = ? and d.kind = missing.kind and d.id = missing.id and d.entry_id is not null
       and (d.problem_code is null or d.problem_code = any(?))`,
    [...bindings, installation, absenceProblems],
  );
}
