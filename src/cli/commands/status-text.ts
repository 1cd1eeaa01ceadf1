import { labelOf } from '../../domain/installation-name.ts';
import { visibleIn } from '../../domain/text.ts';
import { healths } from '../../queries/installation-health.ts';
import type { LaneStatus } from '../../queries/lanes.ts';
import type { PutOff, ReconcileStatus } from '../../queries/reconcile-turns.ts';
import type { ScrubStatus } from '../../queries/scrub.ts';
import type { InstallationStatus, StatusSummary } from '../../queries/status.ts';
import type { TemporalStatus } from '../../windows/temporal-status.ts';
import { deliveryLines } from '../render/delivery.ts';
import { bar, columns, count, duration, instant, table, writtenBackText } from '../render/text.ts';
import { verdictLines } from '../render/verdict.ts';

/** The text of `status` for several installations: a summary, and a line per installation, the most urgent first. */
export function summaryText(summary: StatusSummary, found: readonly InstallationStatus[]): string {
  const installations = visibleIn([...found]);
  const words = healths.filter((word) => summary.health[word] > 0).map((word) => `${summary.health[word]} ${word}`);
  const lag = summary.longest_lag_seconds;
  const sum = [
    `${count(summary.installations, 'installation')}: ${words.reverse().join(', ')}`,
    ...(summary.late > summary.health.late ? [`${summary.late} late`] : []),
    lag === null ? 'no window has closed yet' : `lag at most ${duration(lag)}`,
    `${count(summary.problems, 'document')} with a problem`,
    ...(summary.incomplete > 0 ? [`${count(summary.incomplete, 'installation')} NOT complete`] : []),
    ...(summary.not_reconciled > 0
      ? [`${count(summary.not_reconciled, 'installation')} NOT reconciled when last checked`]
      : []),
    ...(summary.reconcile_old > 0
      ? [`${count(summary.reconcile_old, 'installation')} never reconciled, or not for two days`]
      : []),
  ];
  const severity = ({ health }: InstallationStatus) => healths.indexOf(health);
  const lines = installations
    .sort((a, b) => severity(a) - severity(b) || (b.lag_seconds ?? 0) - (a.lag_seconds ?? 0))
    .map(({ installation, name, lag_seconds, health, late, cause }) => [
      String(installation),
      name ?? '',
      lag_seconds === null ? '-' : duration(lag_seconds),
      late && health !== 'late' ? `${health}, late` : health,
      cause?.message ?? '',
    ]);
  const header = ['installation', 'name', 'lag', 'health', 'cause'];
  const hint = 'Details and next step of one installation: vetledger status --installation ID';
  return [sum.join('; '), '', columns([header, ...lines], [0, 2]).join('\n'), '', hint].join('\n');
}

/** The first lines of `status` if Temporal does not answer or has lost its data. Otherwise empty. */
export function temporalLines(temporal: TemporalStatus | null): string[] {
  if (temporal === null || temporal.error === null) return [];
  const { message, todo } = temporal.error;
  const since = temporal.since ? `; the daemon noticed it ${instant(temporal.since)}` : '';
  return [`${message.charAt(0).toUpperCase()}${message.slice(1).replace(/\.$/, '')}${since}.`, todo, ''];
}

/** The text of `status` for one installation. */
export function statusText(found: InstallationStatus): string {
  const status = visibleIn(found);
  const { lag_seconds, synced_to, last_window, budgets, states } = status;
  const isSynced = synced_to !== null && lag_seconds !== null;
  const lines = [
    `Installation ${labelOf({ id: status.installation, name: status.name })}`,
    `  health        ${status.health}${status.late && status.health !== 'late' ? ', late' : ''}${status.cause ? `: ${status.cause.message}` : ''}`,
    `  synced to     ${isSynced ? `${instant(synced_to)}, ${duration(lag_seconds)} ago` : 'never'}`,
    `  last window   ${last_window ? `${last_window.outcome}, opened ${instant(last_window.opened_at)}` : 'none yet'}`,
  ];
  if (last_window?.error && last_window.error.message !== status.cause?.message)
    lines.push(`                ${last_window.error.message}`);
  if (status.cause?.attempts !== undefined && status.cause.since) {
    lines.push(`                ${count(status.cause.attempts, 'attempt')} since ${instant(status.cause.since)}`);
  }
  lines.push(...status.lanes.flatMap(laneLines));
  if (status.daemon === false) lines.push('  daemon        none: `vetledger run` is not running');
  if (status.untaken_tick) {
    const { since, workflow_id } = status.untaken_tick;
    lines.push(
      `  untaken       the window that Temporal began ${instant(since)}, which no daemon has started (${workflow_id})`,
    );
  }
  if (status.paused) {
    const { by, reason, since } = status.paused;
    lines.push(`  paused        ${instant(since)} by ${by}: ${reason}`);
  }
  if (status.sign_in) {
    const { refusals, since, ask_again_at } = status.sign_in;
    lines.push(
      `  sign-in       refused ${count(refusals, 'time')} since ${instant(since)}; the next request is sent ${instant(ask_again_at)}, or when the secret changes`,
    );
  }
  for (const { message } of last_window?.remarks ?? []) lines.push(`  remark        ${message}`);
  if (status.schedule !== null && status.schedule.missed + status.schedule.dropped > 0) {
    const { missed, dropped, missed_at } = status.schedule;
    lines.push(
      `  missed        ${count(missed + dropped, 'window')} that Temporal could not open in time${missed_at ? `, last seen ${instant(missed_at)}` : ''}`,
    );
  }
  for (const [kind, byState] of Object.entries(states)) {
    const parts = Object.entries(byState).map(([state, n]) => `${n} ${state}`);
    lines.push(`  ${kind.padEnd(12)}  ${parts.join(', ') || 'none'}`);
  }
  lines.push(`  problems      ${status.problems === 0 ? 'none' : count(status.problems, 'document')}`);
  lines.push(...verdictLines(status.verdict), `  reconcile     ${reconcileText(status.reconcile)}`);
  const { confirmed, unconfirmed } = status.write_backs;
  if (confirmed + unconfirmed > 0) lines.push(`  written back  ${writtenBackText(confirmed, unconfirmed)}`);
  if (status.delivery) lines.push(...deliveryLines(status.delivery));
  if (status.seal) lines.push(`  seals         ${sealText(status.seal)}`);
  lines.push(...scrubLines(status.scrub));
  if (budgets.length > 0) lines.push('  rate budgets', indent(budgetTable(budgets)));
  lines.push(`  next step     ${status.next_step}`);
  return lines.join('\n');
}

/** Example: `live lane     at work since …; waits since … for an answer of the practice API (GET /4711/invoice/)`. */
function laneLines({ lane, since, alive, waits_for, waits_since, error, attempts }: LaneStatus): string[] {
  const title = `${lane} lane`.padEnd(14);
  const waits = waits_for === null ? '' : `; waits since ${instant(waits_since)} for ${waits_for}`;
  const gone = alive ? '' : '; its process sends no heartbeat';
  const failed = error === null ? [] : [`                last error, ${count(attempts, 'time')}: ${error.message}`];
  return [`  ${title}at work since ${instant(since)}${waits}${gone}`, ...failed];
}

function sealText({ sealed_at, seq, unsealed }: NonNullable<InstallationStatus['seal']>): string {
  const last = sealed_at ? `the last of ${instant(sealed_at)}, at link ${seq}` : 'none yet';
  const links = count(unsealed, 'link of the chains is', 'links of the chains are');
  return unsealed === 0 ? last : `${last}; ${links} not sealed until the next window ends`;
}

const putOffTexts: Record<PutOff, string> = {
  paused: 'not while its windows are paused',
  first_load: 'after its first load',
  identity_changed: 'not while its configuration contradicts its books',
};

/** Example: `3 h ago; next 2026-11-25 01:23:00 UTC`. */
export function reconcileText({ age_seconds: age, old, next_at, put_off, error }: ReconcileStatus): string {
  const last = age === null ? 'never' : `${duration(age)} ago`;
  const next = next_at === null ? 'never automatically (reconcile.between: never)' : `next ${instant(next_at)}`;
  const failed = error === null ? '' : `; the last attempt failed: ${error.message.replace(/\.$/, '')}`;
  return `${last}${old && age !== null ? ', OLD' : ''}${failed}; ${put_off === null ? next : putOffTexts[put_off]}`;
}

function scrubLines({
  state,
  days,
  began_at,
  finished_at,
  forecast_at,
  late,
  lists,
  last_pass,
}: ScrubStatus): string[] {
  const title = '  scrub         ';
  const margin = ' '.repeat(title.length);
  if (state === 'off') return [`${title}off (scrub_days: 0)`];
  if (began_at === null || lists === null)
    return [`${title}not started; the daemon reads everything again every ${count(days, 'day')}`];
  const all = Object.values(lists);
  const records = all.reduce((read, list) => read + list.records, 0);
  const lines = [
    state === 'done'
      ? `${title}${count(records, 'record')} read again by ${instant(finished_at ?? began_at)}`
      : `${title}${count(records, 'record')} of about ${all.reduce((expected, list) => expected + list.of, 0)} read again since ${instant(began_at)}`,
    `${margin}${found(lists)}`,
  ];
  if (state === 'reading' && last_pass) lines.push(`${margin}the previous pass: ${found(last_pass.lists)}`);
  if (late) {
    const end = forecast_at ? `will end about ${instant(forecast_at)}` : 'has read nothing yet';
    lines.push(`${margin}it ${end}, not within ${count(days, 'day')}`);
  }
  return lines;
}

/** Example: `differed unseen: 2 invoices; gone from the source: 1 payment`. */
function found(lists: NonNullable<ScrubStatus['lists']>): string {
  const names = (key: 'differing' | 'missing') =>
    Object.entries(lists)
      .filter(([, list]) => list[key] > 0)
      .map(([name, list]) => `${list[key]} ${name}`)
      .join(', ');
  const [differing, missing] = [names('differing'), names('missing')];
  if (differing === '' && missing === '') return 'nothing differed from the mirror';
  return [differing && `differed unseen: ${differing}`, missing && `gone from the source: ${missing}`]
    .filter(Boolean)
    .join('; ');
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
        budget.blocked_until
          ? `blocked until ${instant(budget.blocked_until)}: the source asked for it (Retry-After)`
          : '',
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
