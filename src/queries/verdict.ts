import type { InstallationConfig } from '../config/load-config.ts';
import { bool, instant, integer, texts } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { leftAsPosted, type Outside, outsideBooks, outsideByKind } from '../documents/outside-books.ts';
import type { InstallationId } from '../terms.ts';

/**
 * The verdict on an installation's books: whether they reconcile, and whether they contain all documents (ACCOUNTING
 * E6).
 */
export interface Verdict {
  /**
   * The result of the last reconciliation; null before the first. Later entries are not checked. `ok` is null if the
   * result is older than the command, so that it does not cover the command's work.
   */
  reconciled: { ok: boolean | null; failing: string[]; checked_at: Date } | null;
  /** Whether every document of the source that requires an entry has an entry. */
  complete: boolean;
  /** Documents that are not in the books, by kind. */
  outside: Outside;
  /** Changes of posted documents that the accountant declined; `complete` does not wait for them. */
  left_as_posted: Outside;
  /** Whether there are no entries yet. */
  empty: boolean;
}

/** The verdict of an installation without any data. */
export const noVerdict: Verdict = { reconciled: null, complete: true, outside: {}, left_as_posted: {}, empty: true };

/** The verdicts on these installations. The number of statements does not depend on the number of installations. */
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
        left_as_posted: leftAsPosted(outside.get(id) ?? [], decimals),
        empty: !withEntries.has(id),
      };
      return [id, verdict];
    }),
  );
}

/** The verdict for a command that began at `began`: an earlier reconciliation does not cover the command's work. */
export function verdictSince(verdict: Verdict, began: Date): Verdict {
  const { reconciled } = verdict;
  if (reconciled === null || reconciled.checked_at >= began) return verdict;
  return { ...verdict, reconciled: { ok: null, failing: [], checked_at: reconciled.checked_at } };
}
