import type { PlainError } from '../../../workflows/messages.ts';
import type { InstallationConfig } from '../../config/load.ts';
import type { App } from '../../runtime/app.ts';
import type { CommandContext } from '../context.ts';
import { bar, count, duration, instant, table } from '../render/text.ts';
import { withApp } from '../with-app.ts';

interface WindowRow {
  outcome: string;
  to_time: Date | null;
  opened_at: Date;
  error: string | null;
}

type States = Record<string, Record<string, number>>;

export function status(context: CommandContext): Promise<number> {
  return withApp(context, { temporal: false }, async (app) => {
    const installations: InstallationStatus[] = [];
    for (const installation of app.config.installations) installations.push(await statusOf(app, installation));
    await context.result({ installations }, () => installations.map(statusText).join('\n\n'));
    return 0;
  });
}

type InstallationStatus = Awaited<ReturnType<typeof statusOf>>;

async function statusOf(app: App, { id }: InstallationConfig) {
  const closed = await newestWindow(app, id, 'closed');
  const last = await newestWindow(app, id, null);
  const { states, problems } = await documentsOf(app, id);
  const lagSeconds = closed?.to_time ? (app.clock().getTime() - closed.to_time.getTime()) / 1000 : null;
  const lastError = last?.outcome === 'failed' && last.error ? (JSON.parse(last.error) as PlainError) : null;
  return {
    installation: id,
    lag_seconds: lagSeconds === null ? null : Math.round(lagSeconds),
    synced_to: closed?.to_time ?? null,
    last_window: last && { outcome: last.outcome, opened_at: last.opened_at, error: lastError },
    budgets: (await app.budget(id).usage()).map((usage) => ({
      action: usage.action,
      limit: usage.limit,
      limit_now: usage.limitNow,
      used: usage.used,
      free: usage.free,
      waiting: usage.waiting,
      blocked_until: usage.blockedUntil,
    })),
    states,
    problems,
    next_step: nextStep({ lagSeconds, lastError, problems, everySeconds: app.config.schedule.everySeconds }),
  };
}

async function newestWindow(app: App, installation: number, outcome: string | null): Promise<WindowRow | null> {
  const { rows } = await app.db.raw<{ rows: WindowRow[] }>(
    `select outcome, to_time, opened_at, error from sync_window
     where installation = ? and kind = 'window' and (?::text is null or outcome = ?) order by id desc limit 1`,
    [installation, outcome, outcome],
  );
  return rows[0] ?? null;
}

async function documentsOf(app: App, installation: number): Promise<{ states: States; problems: number }> {
  const { rows } = await app.db.raw<{ rows: { kind: string; state: string; n: number; problems: number }[] }>(
    `select kind, state, count(*) as n, count(problem_code) as problems from document
     where installation = ? group by kind, state order by kind, state`,
    [installation],
  );
  const states: States = { invoices: {}, payments: {}, prepayments: {} };
  for (const { kind, state, n } of rows) states[`${kind}s`]![state] = n;
  return { states, problems: rows.reduce((sum, row) => sum + row.problems, 0) };
}

/** A lag of so many schedule intervals means that nobody runs the schedule. */
const lateIntervals = 3;

function nextStep(now: {
  lagSeconds: number | null;
  lastError: PlainError | null;
  problems: number;
  everySeconds: number;
}): string {
  if (now.lastError) return now.lastError.todo;
  if (now.lagSeconds === null) return 'Run `vetledger sync` to load everything for the first time.';
  if (now.problems > 0) return 'Run `vetledger problems` to see what is held and what to do.';
  if (now.lagSeconds > now.everySeconds * lateIntervals) {
    return 'No window closed lately: see that `vetledger run` is up, or run `vetledger sync`.';
  }
  return 'Nothing to do.';
}

function statusText(status: InstallationStatus): string {
  const { lag_seconds, synced_to, last_window, budgets, states } = status;
  const lines = [
    `Installation ${status.installation}`,
    `  synced to     ${synced_to ? `${instant(synced_to)}, ${duration(lag_seconds!)} ago` : 'never'}`,
    `  last window   ${last_window ? `${last_window.outcome}, opened ${instant(last_window.opened_at)}` : 'none yet'}`,
  ];
  if (last_window?.error) lines.push(`                ${last_window.error.message}`);
  for (const [kind, byState] of Object.entries(states)) {
    const parts = Object.entries(byState).map(([state, n]) => `${n} ${state}`);
    lines.push(`  ${kind.padEnd(12)}  ${parts.join(', ') || 'none'}`);
  }
  lines.push(`  problems      ${status.problems === 0 ? 'none' : count(status.problems, 'document')}`);
  if (budgets.length > 0) lines.push('  rate budgets', indent(budgetTable(budgets)));
  lines.push(`  next step     ${status.next_step}`);
  return lines.join('\n');
}

function budgetTable(budgets: InstallationStatus['budgets']): string {
  return table(
    ['action', '', 'used', 'free', 'of', ''],
    budgets.map((budget) => [
      budget.action,
      bar(budget),
      budget.used,
      budget.free,
      budget.limit_now,
      [
        budget.limit_now < budget.limit ? `lowered from ${budget.limit} after a 429` : '',
        budget.blocked_until ? `nobody asks before ${instant(budget.blocked_until)}` : '',
        budget.waiting > 0 ? `${count(budget.waiting, 'process', 'processes')} waiting` : '',
      ]
        .filter(Boolean)
        .join(', '),
    ]),
  );
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ');
}
