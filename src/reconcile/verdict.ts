import { type Connection, execute } from '../db/rows.ts';
import type { InstallationReport } from './reconcile-report.ts';

/**
 * Keeps what was found of each installation (table `reconcile_verdict`). Only reading the ERP's books back says anything of E7:
 * a difference that was found there stands until they are read again.
 */
export async function saveVerdicts(db: Connection, reports: readonly InstallationReport[]): Promise<void> {
  for (const { installation, equations } of reports) {
    const failing = Object.entries(equations).flatMap(([name, equation]) => (equation.ok ? [] : [name]));
    await execute(
      db,
      `insert into reconcile_verdict as v (installation, ok, failing)
       select installation, cardinality(failing) = 0, failing from (
         select f.installation, f.failing || coalesce((
           select '{E7}'::text[] from reconcile_verdict r
           where r.installation = f.installation and not f.reads_erp and 'E7' = any(r.failing)), '{}') as failing
         from (values (?::bigint, ?::text[], ?::boolean)) as f(installation, failing, reads_erp)
       ) as found
       on conflict (installation) do update
         set ok = excluded.ok, failing = excluded.failing, checked_at = clock_timestamp()`,
      [installation, failing, equations.E7 !== undefined],
    );
  }
}
