import { labelOf } from '../../domain/installation-name.ts';
import { visible, visibleIn } from '../../domain/text.ts';
import { shown } from '../../languages/language.ts';
import type { MailTrouble } from '../../mail/outbox.ts';
import { healths } from '../../queries/installation-health.ts';
import type { ReconcileStatus } from '../../queries/reconcile-turns.ts';
import type { InstallationStatus, StatusSummary } from '../../queries/status.ts';
import { labels, fieldTitles as titles } from '../../texts/commands/labels.ts';
import { putOffTexts, statusSummaryTexts as sums, statusTexts as texts } from '../../texts/commands/status.ts';
import { vatReturnTexts } from '../../texts/reports/vat-returns.ts';
import type { TemporalStatus } from '../../windows/temporal-status.ts';
import { deliveryFields } from '../../wording/delivery.ts';
import { filedReturnLines } from '../../wording/filed-returns.ts';
import { budgetNote, healthText, scrubLines, windowFields } from '../../wording/status.ts';
import { codeWord, count, duration, type Field, type TimeText } from '../../wording/words.ts';
import { bar, columns, fieldLines, heads, instant, table, writtenBackText } from '../render/text.ts';
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
  const { budgets, states } = status;
  const fields: Field[] = [...windowFields(status, at)];
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

function sealText({ sealed_at, seq, unsealed }: NonNullable<InstallationStatus['seal']>, at: TimeText): string {
  const last = sealed_at ? texts.seal({ at: at(sealed_at), seq: Number(seq) }) : texts.noSeal;
  return unsealed === 0 ? last : `${last}; ${texts.unsealed({ count: unsealed })}`;
}

/** Examples: `3 h ago; next 2026-11-25 01:23:00 UTC`, `2 d 4 h ago; due since 2026-11-25 01:23:00 UTC`. */
export function reconcileText(
  { age_seconds: age, old, next_at, put_off, error }: ReconcileStatus,
  at: TimeText = instant,
  now = new Date(),
): string {
  const last = age === null ? labels.never : labels.ago({ time: duration(age) });
  const next = next_at === null ? texts.neverAutomatic : nextText(next_at, at, now);
  const failed = error === null ? '' : texts.failed({ message: shown(error.message).replace(/\.$/, '') });
  return `${last}${old && age !== null ? labels.old : ''}${failed}; ${put_off === null ? next : putOffTexts[put_off]}`;
}

function nextText(next: Date, at: TimeText, now: Date): string {
  return next <= now ? labels.dueSince({ at: at(next) }) : labels.next({ at: at(next) });
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
      budgetNote(budget, at),
    ]),
  );
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ');
}
