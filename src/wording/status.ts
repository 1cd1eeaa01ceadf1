import { shown } from '../languages/language.ts';
import type { LaneStatus } from '../queries/lanes.ts';
import type { ScrubStatus } from '../queries/scrub.ts';
import type { InstallationCondition } from '../queries/status.ts';
import { labels, fieldTitles as titles } from '../texts/commands/labels.ts';
import { statusTexts as texts } from '../texts/commands/status.ts';
import { codeWord, count, duration, type Field, type TimeText } from './words.ts';

/** The state of windows in words: health, last window, running work, pauses and missed windows. */
export function windowFields(status: InstallationCondition, at: TimeText): Field[] {
  const { lag_seconds, synced_to, last_window } = status;
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
  return fields;
}

/** The health in words. */
export function healthText(health: InstallationCondition['health'], isLate: boolean): string {
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

/** What limits a rate budget now. Empty if nothing does. */
export function budgetNote(budget: InstallationCondition['budgets'][number], at: TimeText): string {
  return [
    budget.limit_now < budget.limit ? texts.lowered(budget) : '',
    budget.blocked_until ? texts.blocked({ at: at(budget.blocked_until) }) : '',
    budget.waiting > 0 ? texts.waiting({ processes: count(budget.waiting, 'process') }) : '',
  ]
    .filter(Boolean)
    .join(', ');
}

/** The progress of the scrub, and what it found. */
export function scrubLines(
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
