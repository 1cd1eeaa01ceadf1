import { instant, texts } from '../db/columns.ts';
import { type Connection, execute, maybeRow } from '../db/rows.ts';
import type { InstallationId } from '../terms.ts';
import type { InstallationReport } from './reconcile-report.ts';

/** Names of failed checks of `ledger verify`: a changed chain, and seals that do not match it. */
export const chainNames = ['chain', 'seals'] as const;

/**
 * Stores the results of each installation (table `reconcile_verdict`). The result of E7 is replaced only after a
 * reading of the ERP's books, and the results of the chains only after a check of the chains.
 */
export async function saveVerdicts(db: Connection, reports: readonly InstallationReport[]): Promise<void> {
  for (const { installation, equations } of reports) {
    const failing = Object.entries(equations).flatMap(([name, equation]) => (equation.ok ? [] : [name]));
    await execute(
      db,
      `insert into reconcile_verdict as v (installation, ok, failing)
       select installation, cardinality(failing) = 0, failing from (
         select f.installation, f.failing || coalesce((
           select array_agg(name order by place) from reconcile_verdict r, unnest(r.failing) with ordinality o(name, place)
           where r.installation = f.installation and name = any(f.not_looked_at)), '{}') as failing
         from (values (?::bigint, ?::text[], ?::text[])) as f(installation, failing, not_looked_at)
       ) as found
       on conflict (installation) do update
         set ok = excluded.ok, failing = excluded.failing, checked_at = clock_timestamp()`,
      [installation, failing, [...(equations.E7 === undefined ? ['E7'] : []), ...chainNames]],
    );
  }
}

/** Stores the result of a check of the chains, beside the results of the equations. */
export async function saveChainVerdict(
  db: Connection,
  installation: InstallationId,
  failing: readonly (typeof chainNames)[number][],
): Promise<void> {
  await execute(
    db,
    `update reconcile_verdict v set failing = found.failing, ok = cardinality(found.failing) = 0,
       chains_checked_at = clock_timestamp()
     from (select array(select name from unnest(failing) with ordinality o(name, place)
             where name <> all(?::text[]) order by place) || ?::text[] as failing
           from reconcile_verdict where installation = ?) as found
     where v.installation = ?`,
    [[...chainNames], [...failing], installation, installation],
  );
}

/** The stored result of the last check of an installation's chains and seals. Null before the first check. */
export function chainVerdict(
  db: Connection,
  installation: InstallationId,
): Promise<{ checkedAt: Date; failing: string[] } | null> {
  return maybeRow(
    db,
    { checkedAt: instant, failing: texts },
    `select chains_checked_at as "checkedAt", array(select name from unnest(failing) name where name = any(?)) as failing
     from reconcile_verdict where installation = ? and chains_checked_at is not null`,
    [[...chainNames], installation],
  );
}
