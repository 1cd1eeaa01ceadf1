import type { InstallationConfig } from '../config/load-config.ts';
import { bool, instant, integer, texts } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { type Outside, outsideBooks, outsideByKind } from '../documents/outside-books.ts';
import type { InstallationId } from '../terms.ts';

/** Whether an installation's books are right, and whether all of it is in them: two questions (ACCOUNTING E6). */
export interface Verdict {
  /**
   * What the last reconcile found; null before the first. Entries posted since then are not checked. `ok` null: it is older than the
   * command that asks, which says nothing of it but when it was.
   */
  reconciled: { ok: boolean | null; failing: string[]; checked_at: Date } | null;
  /** Whether every document of the source that asks for an entry has it. */
  complete: boolean;
  /** What is not in the books, by kind of document. */
  outside: Outside;
  /** Nothing was ever posted: there is nothing that could be right. */
  empty: boolean;
}

/** Of an installation that nothing is known of. */
export const noVerdict: Verdict = { reconciled: null, complete: true, outside: {}, empty: true };

/** The verdicts on these installations, as last found and as things stand; as many statements for a thousand as for one. */
export async function verdicts(
  db: Connection,
  installations: readonly Pick<InstallationConfig, 'id' | 'decimals'>[],
): Promise<Map<InstallationId, Verdict>> {
  const ids = installations.map(({ id }) => id);
  const found = await rows(
    db,
    { installation: integer, ok: bool, failing: texts, checked_at: instant },
    'select installation, ok, failing, checked_at from reconcile_verdict where installation = any(?)',
    [ids],
  );
  const reconciled = new Map(found.map(({ installation, ...verdict }) => [installation, verdict]));
  const outside = Map.groupBy(await outsideBooks(db, ids), ({ installation }) => installation);
  const posted = await rows(
    db,
    { installation: integer },
    'select installation from unnest(?::bigint[]) as i(installation) where exists (select from entry e where e.installation = i.installation)',
    [ids],
  );
  const withEntries = new Set(posted.map(({ installation }) => installation));
  return new Map(
    installations.map(({ id, decimals }) => {
      const of = outsideByKind(outside.get(id) ?? [], decimals);
      const verdict: Verdict = {
        reconciled: reconciled.get(id) ?? null,
        complete: Object.keys(of).length === 0,
        outside: of,
        empty: !withEntries.has(id),
      };
      return [id, verdict];
    }),
  );
}

/** A verdict as a command that began then may tell it: one from before says nothing of what the command has done. */
export function verdictSince(verdict: Verdict, began: Date): Verdict {
  const { reconciled } = verdict;
  if (reconciled === null || reconciled.checked_at >= began) return verdict;
  return { ...verdict, reconciled: { ok: null, failing: [], checked_at: reconciled.checked_at } };
}
