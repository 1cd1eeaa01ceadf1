import { integer, text } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import type { InstallationId } from '../terms.ts';

/**
 * Erases the reasons of an installation's actions that contain all words of one of the names. Returns the ids of these actions.
 * The caller must record them with the erasure, because a missing reason without an erasure counts as damage.
 */
export async function eraseReasons(
  trx: Connection,
  installation: InstallationId,
  names: readonly string[],
): Promise<number[]> {
  const searched = names.map(wordsOf).filter(({ length }) => length > 0);
  if (searched.length === 0) return [];
  const found = await rows(
    trx,
    { id: integer, reason: text },
    `select r.action_id as id, r.reason from action_reason r join action a on a.id = r.action_id
     where a.installation = ? order by r.action_id`,
    [installation],
  );
  const naming = found.flatMap(({ id, reason }) => {
    const words = wordsOf(reason);
    return searched.some((name) => name.every((word) => words.includes(word))) ? id : [];
  });
  await execute(trx, 'delete from action_reason where action_id = any(?)', [naming]);
  return naming;
}

/** The words of a text in lower case and without punctuation. */
function wordsOf(content: string): string[] {
  return (
    content
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  );
}
