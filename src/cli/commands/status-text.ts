import { labelOf } from '../../domain/installation-name.ts';
import { visible, visibleIn } from '../../domain/text.ts';
import { shown } from '../../languages/language.ts';
import type { MailTrouble } from '../../mail/outbox.ts';
import { healths } from '../../queries/installation-health.ts';
import type { LaneStatus } from '../../queries/lanes.ts';
import type { ReconcileStatus } from '../../queries/reconcile-turns.ts';
import type { ScrubStatus } from '../../queries/scrub.ts';
import type { InstallationStatus, StatusSummary } from '../../queries/status.ts';
import { putOffTexts, statusSummaryTexts as sums, statusTexts as texts } from '../../texts/commands/status.ts';
import { vatReturnTexts } from '../../texts/reports/vat-returns.ts';
import type { TemporalStatus } from '../../windows/temporal-status.ts';
import { deliveryLines } from '../render/delivery.ts';
import { bar, columns, count, duration, instant, type TimeText, table, writtenBackText } from '../render/text.ts';
import { filedReturnLines } from '../render/vat-returns.ts';
import { verdictLines } from '../render/verdict.ts';

/** The text of `status` for several installations: a summary, and a line per installation, the most urgent first. */
export function summaryText(summary: StatusSummary, found: readonly InstallationStatus[]): string {
  const installations = visibleIn([...found]);
  const words = healths.filter((word) => summary.health[word] > 0).map((word) => `${summary.health[word]} ${word}`);
  const lag = summary.longest_lag_seconds;
  const sum = [
    `${count(summary.installations, 'installation')}: ${words.reverse().join(', ')}`,
    ...(summary.late > summary.health.late ? [sums.late({ count: summary.late })] : []),
    lag === null ? sums.noWindow : sums.lag({ lag: duration(lag) }),
    sums.withProblem({ documents: count(summary.problems, 'document') }),
    ...(summary.incomplete > 0 ? [sums.notComplete({ installations: count(summary.incomplete, 'installation') })] : []),
    ...(summary.not_reconciled > 0
      ? [sums.notReconciled({ installations: count(summary.not_reconciled, 'installation') })]
      : []),
    ...(summary.reconcile_old > 0
      ? [sums.reconcileOld({ installations: count(summary.reconcile_old, 'installation') })]
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
      shown(cause?.message ?? ''),
    ]);
  const header = ['installation', 'name', 'lag', 'health', 'cause'];
  return [sum.join('; '), '', columns([header, ...lines], [0, 2]).join('\n'), '', sums.hint].join('\n');
}

/** The first lines of `status` if Temporal does not answer or has lost its data. Otherwise empty. */
export function temporalLines(temporal: TemporalStatus | null): string[] {
  if (temporal === null || temporal.error === null) return [];
  const [message, todo] = [shown(temporal.error.message), shown(temporal.error.todo)];
  const since = temporal.since ? texts.noticed({ at: instant(temporal.since) }) : '';
  return [`${message.charAt(0).toUpperCase()}${message.slice(1).replace(/\.$/, '')}${since}.`, todo, ''];
}

/** The lines of `status` about mail that could not be sent. Otherwise empty. */
export function mailLines(mail: MailTrouble | null): string[] {
  if (mail === null) return [];
  const { waiting, given_up: givenUp, since, error } = mail;
  const reason = visible(error?.message ?? '').replace(/\.$/, '');
  return [`${texts.mailFails({ waiting, givenUp, at: instant(since), reason })}.`, texts.mailTodo, ''];
}

/** The text of `status` for one installation. */
export function statusText(found: InstallationStatus, at: TimeText = instant): string {
  const status = visibleIn(found);
  const { lag_seconds, synced_to, last_window, budgets, states } = status;
  const isSynced = synced_to !== null && lag_seconds !== null;
  const lines = [
    `Installation ${labelOf({ id: status.installation, name: status.name })}`,
    `  health        ${status.health}${status.late && status.health !== 'late' ? ', late' : ''}${status.cause ? `: ${shown(status.cause.message)}` : ''}`,
    `  synced to     ${isSynced ? texts.syncedTo({ at: at(synced_to), lag: duration(lag_seconds) }) : 'never'}`,
    `  last window   ${last_window ? texts.window({ outcome: last_window.outcome, at: at(last_window.opened_at) }) : texts.noWindow}`,
  ];
  if (last_window?.error && last_window.error.message !== status.cause?.message)
    lines.push(`                ${shown(last_window.error.message)}`);
  if (status.cause?.attempts !== undefined && status.cause.since) {
    const attempts = count(status.cause.attempts, 'attempt');
    lines.push(`                ${texts.attempts({ attempts, at: at(status.cause.since) })}`);
  }
  lines.push(...status.lanes.flatMap((lane) => laneLines(lane, at)));
  if (status.daemon === false) lines.push(`  daemon        ${texts.noDaemon}`);
  if (status.untaken_tick) {
    const { since, workflow_id } = status.untaken_tick;
    lines.push(`  untaken       ${texts.untaken({ at: at(since), workflow: workflow_id })}`);
  }
  if (status.paused) {
    const { by, reason, since } = status.paused;
    lines.push(`  paused        ${texts.paused({ at: at(since), by, reason })}`);
  }
  if (status.sign_in) {
    const { refusals, since, ask_again_at } = status.sign_in;
    const times = count(refusals, 'time');
    lines.push(`  sign-in       ${texts.signIn({ times, since: at(since), next: at(ask_again_at) })}`);
  }
  for (const { message } of last_window?.remarks ?? []) lines.push(`  remark        ${shown(message)}`);
  if (status.schedule !== null && status.schedule.missed + status.schedule.dropped > 0) {
    const { missed, dropped, missed_at } = status.schedule;
    const windows = count(missed + dropped, 'window');
    lines.push(`  missed        ${texts.missed({ windows, at: missed_at && at(missed_at) })}`);
  }
  for (const [kind, byState] of Object.entries(states)) {
    const parts = Object.entries(byState).map(([state, n]) => `${n} ${state}`);
    lines.push(`  ${kind.padEnd(12)}  ${parts.join(', ') || texts.none}`);
  }
  lines.push(`  problems      ${status.problems === 0 ? texts.none : count(status.problems, 'document')}`);
  if (status.vat_returns?.filed_through) {
    const through = status.vat_returns.filed_through;
    const all = [vatReturnTexts.filedThrough({ through }), ...filedReturnLines(status.vat_returns)];
    lines.push(...all.map((line, n) => `  ${(n === 0 ? 'VAT returns' : '').padEnd(12)}  ${line}`));
  }
  lines.push(...verdictLines(status.verdict, at), `  reconcile     ${reconcileText(status.reconcile, at)}`);
  const { confirmed, unconfirmed } = status.write_backs;
  if (confirmed + unconfirmed > 0) lines.push(`  written back  ${writtenBackText(confirmed, unconfirmed)}`);
  if (status.delivery) lines.push(...deliveryLines(status.delivery, at));
  if (status.seal) lines.push(`  seals         ${sealText(status.seal, at)}`);
  lines.push(...scrubLines(status.scrub, at));
  if (budgets.length > 0) lines.push('  rate budgets', indent(budgetTable(budgets, at)));
  lines.push(`  next step     ${status.next_step}`);
  return lines.join('\n');
}

/** Example: `live lane     at work since …; waits since … for an answer of the practice API (GET /4711/invoice/)`. */
function laneLines(
  { lane, since, alive, waits_for, waits_since, error, attempts }: LaneStatus,
  at: TimeText,
): string[] {
  const title = `${lane} lane`.padEnd(14);
  const waits = waits_for === null ? '' : texts.waits({ at: at(waits_since), what: waits_for });
  const gone = alive ? '' : texts.noHeartbeat;
  const last = error && texts.lastError({ times: count(attempts, 'time'), message: error.message });
  return [`  ${title}${texts.atWork({ at: at(since) })}${waits}${gone}`, ...(last ? [`                ${last}`] : [])];
}

function sealText({ sealed_at, seq, unsealed }: NonNullable<InstallationStatus['seal']>, at: TimeText): string {
  const last = sealed_at ? texts.seal({ at: at(sealed_at), seq: Number(seq) }) : texts.noSeal;
  return unsealed === 0 ? last : `${last}; ${texts.unsealed({ count: unsealed })}`;
}

/** Example: `3 h ago; next 2026-11-25 01:23:00 UTC`. */
export function reconcileText(
  { age_seconds: age, old, next_at, put_off, error }: ReconcileStatus,
  at: TimeText = instant,
): string {
  const last = age === null ? 'never' : `${duration(age)} ago`;
  const next = next_at === null ? texts.neverAutomatic : `next ${at(next_at)}`;
  const failed = error === null ? '' : texts.failed({ message: error.message.replace(/\.$/, '') });
  return `${last}${old && age !== null ? ', OLD' : ''}${failed}; ${put_off === null ? next : putOffTexts[put_off]}`;
}

function scrubLines(
  { state, days, began_at, finished_at, forecast_at, late, lists, last_pass }: ScrubStatus,
  at: TimeText,
): string[] {
  const title = '  scrub         ';
  const margin = ' '.repeat(title.length);
  if (state === 'off') return [`${title}${texts.scrubOff}`];
  if (began_at === null || lists === null) return [`${title}${texts.scrubToStart({ days: count(days, 'day') })}`];
  const all = Object.values(lists);
  const records = count(
    all.reduce((read, list) => read + list.records, 0),
    'record',
  );
  const expected = all.reduce((records, list) => records + list.of, 0);
  const lines = [
    state === 'done'
      ? `${title}${texts.scrubDone({ records, at: at(finished_at ?? began_at) })}`
      : `${title}${texts.scrubReading({ records, all: expected, at: at(began_at) })}`,
    `${margin}${found(lists)}`,
  ];
  if (state === 'reading' && last_pass) lines.push(`${margin}${texts.previousPass({ found: found(last_pass.lists) })}`);
  if (late) {
    const end = forecast_at && at(forecast_at);
    lines.push(`${margin}${texts.scrubLate({ days: count(days, 'day'), end })}`);
  }
  return lines;
}

/** Example: `changed without notice: 2 invoices; gone from the source: 1 payment`. */
function found(lists: NonNullable<ScrubStatus['lists']>): string {
  const names = (key: 'differing' | 'missing') =>
    Object.entries(lists)
      .filter(([, list]) => list[key] > 0)
      .map(([name, list]) => `${list[key]} ${name}`)
      .join(', ');
  const [differing, missing] = [names('differing'), names('missing')];
  if (differing === '' && missing === '') return texts.noneDiffered;
  return [differing && texts.differed({ records: differing }), missing && texts.gone({ records: missing })]
    .filter(Boolean)
    .join('; ');
}

function budgetTable(budgets: InstallationStatus['budgets'], at: TimeText): string {
  return table(
    ['action', '', 'used', 'free', 'of', ''],
    budgets.map((budget) => [
      budget.action,
      bar(budget),
      budget.used,
      budget.free,
      budget.limit_now,
      [
        budget.limit_now < budget.limit ? texts.lowered(budget) : '',
        budget.blocked_until ? texts.blocked({ at: at(budget.blocked_until) }) : '',
        budget.waiting > 0 ? texts.waiting({ processes: count(budget.waiting, 'process', 'processes') }) : '',
      ]
        .filter(Boolean)
        .join(', '),
    ]),
  );
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ');
}
