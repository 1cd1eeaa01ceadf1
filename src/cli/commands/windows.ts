import type { PlainError } from '../../../workflows/messages.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import type { CommandContext } from '../context.ts';
import { instant, table } from '../render/text.ts';
import { withApp } from '../with-app.ts';

interface WindowRow {
  id: number;
  installation: number;
  kind: string;
  trigger: string;
  from_time: Date | null;
  to_time: Date | null;
  outcome: string;
  error: string | null;
  opened_at: Date;
  closed_at: Date | null;
  workflow_id: string;
}

/** The windows table: the truth that outlives Temporal's retention. */
export function windows(
  context: CommandContext,
  options: { installation?: number; failed?: true; limit: number },
): Promise<number> {
  return withApp(context, { temporal: false }, async ({ db, config }) => {
    const ids = chosenInstallations(config, options.installation).map(({ id }) => id);
    const { rows } = await db.raw<{ rows: WindowRow[] }>(
      `select id, installation, kind, trigger, from_time, to_time, outcome, error, opened_at, closed_at, workflow_id
       from sync_window where installation = any(?) and (not ? or outcome = 'failed') order by id desc limit ?`,
      [ids, options.failed === true, options.limit],
    );
    const found = rows.map(({ error, from_time, to_time, ...row }) => ({
      ...row,
      from: from_time,
      to: to_time,
      error: error === null ? null : (JSON.parse(error) as PlainError),
    }));
    await context.result({ windows: found }, () => {
      if (found.length === 0)
        return options.failed ? 'No window failed.' : 'No window has run yet; start with `vetledger sync`.';
      return table(
        ['window', 'installation', 'kind', 'opened', 'from', 'to', 'outcome', 'error'],
        found.map((row) => [
          row.id,
          row.installation,
          `${row.kind} (${row.trigger})`,
          instant(row.opened_at),
          instant(row.from),
          instant(row.to),
          row.outcome,
          row.error ? `${row.error.code}: ${row.error.message}` : '',
        ]),
      );
    });
    return 0;
  });
}
