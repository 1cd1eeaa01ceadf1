import { labelOf } from '../../domain/installation-name.ts';
import { visible, visibleIn } from '../../domain/text.ts';
import { shown } from '../../languages/language.ts';
import type { MailTrouble } from '../../mail/outbox.ts';
import { healths } from '../../queries/installation-health.ts';
import type { LaneStatus } from '../../queries/lanes.ts';
import type { ReconcileStatus } from '../../queries/reconcile-turns.ts';
import type { ScrubStatus } from '../../queries/scrub.ts';
import type { InstallationStatus, StatusSummary } from '../../queries/status.ts';
import { labels, fieldTitles as titles } from '../../texts/commands/labels.ts';
import { putOffTexts, statusSummaryTexts as sums, statusTexts as texts } from '../../texts/commands/status.ts';
import { vatReturnTexts } from '../../texts/reports/vat-returns.ts';
import type { TemporalStatus } from '../../windows/temporal-status.ts';
import { codeWord, type TimeText } from '../../wording/words.ts';
import { deliveryFields } from '../render/delivery.ts';
import {
  bar,
  columns,
  count,
  duration,
  type Field,
  fieldLines,
  heads,
  instant,
  table,
  writtenBackText,
} from '../render/text.ts';
import { filedReturnLines } from '../render/vat-returns.ts';
import { verdictFields } from '../render/verdict.ts';

/** The text of `status` for several installations: a summary, and a line per installation, the most urgent first. */
export function summaryText(summary: StatusSummary, found: readonly InstallationStatus[]): string {
  const installations = visibleIn([...found]);
  const words = healths
    .filter((word) => summary.health[word] > 0)
    .map((word) => `${summary.health[word]} ${codeWord(word)}`);
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
      healthText(health, late),
      shown(cause?.message ?? ''),
    ]);
  const header = heads('installation', 'name', 'lag', 'health', 'cause');
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
  const fields: Field[] = [
    [
      titles.health,
      `${healthText(status.health, status.late)}${status.cause ? `: ${shown(status.cause.message)}` : ''}`,
    ],
    [titles.syncedTo, isSynced ? texts.syncedTo({ at: at(synced_to), lag: duration(lag_seconds) }) : labels.never],
    [
      titles.lastWindow,
      last_window
        ? texts.window({ outcome: codeWord(last_window.outcome), at: at(last_window.opened_at) })
        : texts.noWindow,
    ],
  ];
  if (last_window?.error && last_window.error.message !== status.cause?.message)
    fields.push(['', shown(last_window.error.message)]);
  if (status.cause?.attempts !== undefined && status.cause.since) {
    const attempts = count(status.cause.attempts, 'attempt');
    fields.push(['', texts.attempts({ attempts, at: at(status.cause.since) })]);
  }
  fields.push(...status.lanes.flatMap((lane) => laneFields(lane, at)));
  if (status.daemon === false) fields.push([titles.daemon, texts.noDaemon]);
  if (status.untaken_tick) {
    const { since, workflow_id } = status.untaken_tick;
    fields.push([titles.untaken, texts.untaken({ at: at(since), workflow: workflow_id })]);
  }
  if (status.paused) {
    const { by, reason, since } = status.paused;
    fields.push([titles.paused, texts.paused({ at: at(since), by, reason })]);
  }
  if (status.sign_in) {
    const { refusals, since, ask_again_at } = status.sign_in;
    const times = count(refusals, 'time');
    fields.push([titles.signIn, texts.signIn({ times, since: at(since), next: at(ask_again_at) })]);
  }
  for (const { message } of last_window?.remarks ?? []) fields.push([titles.remark, shown(message)]);
  if (status.schedule !== null && status.schedule.missed + status.schedule.dropped > 0) {
    const { missed, dropped, missed_at } = status.schedule;
    const windows = count(missed + dropped, 'window');
    fields.push([titles.missed, texts.missed({ windows, at: missed_at && at(missed_at) })]);
  }
  for (const [kind, byState] of Object.entries(states)) {
    const parts = Object.entries(byState).map(([state, n]) => `${n} ${codeWord(state)}`);
    fields.push([codeWord(kind), parts.join(', ') || texts.none]);
  }
  fields.push([titles.problems, status.problems === 0 ? texts.none : count(status.problems, 'document')]);
  if (status.vat_returns?.filed_through) {
    const through = status.vat_returns.filed_through;
    const all = [vatReturnTexts.filedThrough({ through }), ...filedReturnLines(status.vat_returns)];
    fields.push(...all.map((line, n): Field => [n === 0 ? titles.vatReturns : '', line]));
  }
  fields.push(...verdictFields(status.verdict, at), [titles.reconcile, reconcileText(status.reconcile, at)]);
  const { confirmed, unconfirmed } = status.write_backs;
  if (confirmed + unconfirmed > 0) fields.push([titles.writtenBack, writtenBackText(confirmed, unconfirmed)]);
  if (status.delivery) fields.push(...deliveryFields(status.delivery, at));
  if (status.seal) fields.push([titles.seals, sealText(status.seal, at)]);
  fields.push(...scrubLines(status.scrub, at).map((line, n): Field => [n === 0 ? titles.scrub : '', line]));
  const lines = fieldLines([...fields, [titles.nextStep, shown(status.next_step)]]);
  const table = budgets.length > 0 ? [`  ${titles.rateBudgets}`, indent(budgetTable(budgets, at))] : [];
  return [
    labels.installation({ label: labelOf({ id: status.installation, name: status.name }) }),
    ...lines.slice(0, -1),
    ...table,
    ...lines.slice(-1),
  ].join('\n');
}

function healthText(health: InstallationStatus['health'], isLate: boolean): string {
  return `${codeWord(health)}${isLate && health !== 'late' ? labels.late : ''}`;
}

/** Example: `live lane     at work since …; waits since … for an answer of the practice API (GET /4711/invoice/)`. */
function laneFields(
  { lane, since, alive, waits_for, waits_since, error, attempts }: LaneStatus,
  at: TimeText,
): Field[] {
  const waits = waits_for === null ? '' : texts.waits({ at: at(waits_since), what: shown(waits_for) });
  const gone = alive ? '' : texts.noHeartbeat;
  const last = error && texts.lastError({ times: count(attempts, 'time'), message: shown(error.message) });
  const title = titles.lane({ lane: codeWord(lane) });
  return [[title, `${texts.atWork({ at: at(since) })}${waits}${gone}`], ...(last ? [['', last] as const] : [])];
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
  const last = age === null ? labels.never : labels.ago({ time: duration(age) });
  const next = next_at === null ? texts.neverAutomatic : labels.next({ at: at(next_at) });
  const failed = error === null ? '' : texts.failed({ message: shown(error.message).replace(/\.$/, '') });
  return `${last}${old && age !== null ? labels.old : ''}${failed}; ${put_off === null ? next : putOffTexts[put_off]}`;
}

function scrubLines(
  { state, days, began_at, finished_at, forecast_at, late, lists, last_pass }: ScrubStatus,
  at: TimeText,
): string[] {
  if (state === 'off') return [texts.scrubOff];
  if (began_at === null || lists === null) return [texts.scrubToStart({ days: count(days, 'day') })];
  const all = Object.values(lists);
  const records = count(
    all.reduce((read, list) => read + list.records, 0),
    'record',
  );
  const expected = all.reduce((records, list) => records + list.of, 0);
  const lines = [
    state === 'done'
      ? texts.scrubDone({ records, at: at(finished_at ?? began_at) })
      : texts.scrubReading({ records, all: expected, at: at(began_at) }),
    found(lists),
  ];
  if (state === 'reading' && last_pass) lines.push(texts.previousPass({ found: found(last_pass.lists) }));
  if (late) {
    const end = forecast_at && at(forecast_at);
    lines.push(texts.scrubLate({ days: count(days, 'day'), end }));
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
    heads('endpoint', '', 'used', 'free', 'limit', ''),
    budgets.map((budget) => [
      budget.action,
      bar(budget),
      budget.used,
      budget.free,
      budget.limit_now,
      [
        budget.limit_now < budget.limit ? texts.lowered(budget) : '',
        budget.blocked_until ? texts.blocked({ at: at(budget.blocked_until) }) : '',
        budget.waiting > 0 ? texts.waiting({ processes: count(budget.waiting, 'process') }) : '',
      ]
        .filter(Boolean)
        .join(', '),
    ]),
  );
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ');
}
