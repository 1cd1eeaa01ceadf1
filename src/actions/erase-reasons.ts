import { integer, text } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import type { InstallationId } from '../terms.ts';

/**
 * Erases the reasons of an installation's actions that name somebody: every word of one of the names stands in them. Returns the ids of
 * the actions, which are to be recorded with the erasure: a reason that is missing without is damage.
 */
export async function eraseReasons(
  trx: Connection,
  installation: InstallationId,
  names: readonly string[],
): Promise<number[]> {
  const wanted = names.map(wordsOf).filter(({ length }) => length > 0);
  if (wanted.length === 0) return [];
  const found = await rows(
    trx,
    { id: integer, reason: text },
    `select r.action_id as id, r.reason from action_reason r join action a on a.id = r.action_id
     where a.installation = ? order by r.action_id`,
    [installation],
  );
  const naming = found.flatMap(({ id, reason }) => {
    const words = wordsOf(reason);
    return wanted.some((name) => name.every((word) => words.includes(word))) ? id : [];
  });
  await execute(trx, 'delete from action_reason where action_id = any(?)', [naming]);
  return naming;
}

/** The words of a text, so that case, order and punctuation make no difference. */
function wordsOf(content: string): string[] {
  return (
    content
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  );
}
