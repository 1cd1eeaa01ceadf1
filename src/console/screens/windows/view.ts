import type { InstallationConfig } from '../../../config/load-config.ts';
import type { ShownStep } from '../../../db/open-steps.ts';
import { shown } from '../../../languages/language.ts';
import type { RunningWork } from '../../../queries/running-work.ts';
import type { InstallationCondition } from '../../../queries/status.ts';
import type { DrawnWindow, RecordedWindow, WindowState } from '../../../queries/windows.ts';
import type { GapReport } from '../../../sync/replay/gaps.ts';
import type { WatchedSchedule } from '../../../sync/schedule-state.ts';
import { fieldTitles } from '../../../texts/commands/labels.ts';
import { windowListTexts } from '../../../texts/commands/windows.ts';
import { consoleTexts } from '../../../texts/console/console.ts';
import { effectTexts, runningStepNames, windowActionTexts } from '../../../texts/console/operating.ts';
import { windowsTexts as texts } from '../../../texts/console/windows.ts';
import { columnTitles as columns } from '../../../texts/reports/columns.ts';
import { gapText, readingOf, remedyOf } from '../../../wording/gaps.ts';
import { budgetNote, scrubLines, windowFields } from '../../../wording/status.ts';
import { codeWord, count, type TimeText, timeIn } from '../../../wording/words.ts';
import type { ConsoleContext } from '../../context.ts';
import { type Content, html, local, type Node } from '../../html.ts';
import { facts } from '../../parts/facts.ts';
import { choice, field } from '../../parts/fields.ts';
import { nextStep } from '../../parts/next-step.ts';
import { pageLinks } from '../../parts/pages.ts';
import { table } from '../../parts/table.ts';
import { temporalLink } from '../../parts/temporal-link.ts';
import { seen } from '../../parts/times.ts';
import type { Rights } from '../../users/rights.ts';
import { readingFields, windowForms } from '../actions/windows.ts';
import { stateView } from '../machine/view.ts';
import { type LineSpan, lineDays, windowKinds } from './filter.ts';
import { legend, timeLine } from './time-line.ts';

/** The number of windows on a time line. */
export const drawnAtMost = 1000;

interface Shown {
  installation: InstallationConfig;
  query: Readonly<Record<string, string>>;
  status: InstallationCondition;
  now: Date;
  span: LineSpan;
  from: Date;
  rights: Rights;
  context: ConsoleContext;
  schedule: WatchedSchedule | undefined;
  running: readonly RunningWork[];
  /** Steps with a wait, a failed attempt or a long run time. */
  steps: readonly ShownStep[];
  /** One more than are drawn if there are more. */
  drawn: readonly DrawnWindow[];
  gaps: GapReport;
  totals: Record<WindowState, number>;
  page: { rows: readonly RecordedWindow[]; next: string | null };
}

export function windowsView(of: Shown): Node {
  const { installation, query, status, page, rights } = of;
  const at = timeIn(installation.timezone);
  const path = `/${installation.id}/windows`;
  const fields = windowFields(status, at);
  return html`${facts([...fields, [fieldTitles.nextStep, nextStep(rights, installation.id, status.next_step)]])}
    <section><h2>${texts.running}</h2>${runningView(of, at)}</section>
    <section><h2>${texts.schedule}</h2>${scheduleView(of, at)}</section>
    <section>${lineView(of, path, at)}</section>
    <section><h2>${texts.gaps}</h2>${gapsView(of, at)}</section>
    <section><h2>${texts.budgets}</h2>${budgetsView(status, at)}</section>
    <section>
      <h2>${texts.scrub}</h2>
      ${scrubLines(status.scrub, at).map((line) => html`<p>${line}</p>`)}
    </section>
    <section>
      <h2>${texts.list}</h2>
      ${filterForm(query)}
      ${totalsView(of, path)} ${listView(of, at)} ${pageLinks(path, query, page.next)}
    </section>`;
}

function lineView({ drawn, from, now, span, query }: Shown, path: string, at: TimeText): Node {
  const { after, ...kept } = query;
  const spans = Object.keys(lineDays) as LineSpan[];
  return html`<h2>${texts.timeLine}</h2>
    <p class="pages">
      ${spans.map(
        (each) =>
          html`<a href=${local(path, { ...kept, span: each })} aria-current=${each === span ? 'true' : undefined}>${texts.spans[each]}</a>`,
      )}
    </p>
    ${timeLine({ windows: drawn.slice(-drawnAtMost), from, to: now, at })} ${legend()}
    ${drawn.length > drawnAtMost ? html`<p class="dim">${texts.cut({ windows: drawnAtMost })}</p>` : null}`;
}

/** The running work with its open steps: what each waits for, and why its last attempt failed. */
function runningView({ context, running, steps, rights, installation: { id } }: Shown, at: TimeText): Content {
  if (running.length === 0) return html`<p>${texts.nothingRuns}</p>`;
  const titles = [
    texts.kind,
    texts.workflow,
    texts.step,
    texts.attempt,
    texts.waitsFor,
    texts.since,
    texts.cause,
    texts.noted,
  ];
  return table({
    columns: titles.map((title) => ({ title, isNumber: title === texts.attempt })),
    rows: running.flatMap(({ kind, workflowId: workflow, runId: run }) => {
      const heads = [codeWord(kind), html`${workflow} ${temporalLink(context, { workflow, run })}`];
      const open = steps.filter((step) => step.runId === run);
      if (open.length === 0) return [[...heads, ...Array<string>(6).fill('')]];
      return open.map(({ step, attempt, waitsFor, waitsSince, trouble, notedAt }) => [
        ...heads,
        // A step without progress waits for its own end, which the row shows already.
        ...[
          stepName(step),
          attempt,
          waitsFor?.includes(step) ? '' : waitsFor && shown(waitsFor),
          at(waitsSince ?? trouble?.since ?? notedAt),
        ],
        trouble &&
          html`<span class="needed">${shown(trouble.error.message)}</span><br />${nextStep(rights, id, trouble.error.todo)}`,
        at(notedAt),
      ]);
    }),
  });
}

/** The name of an activity, or the text of its progress. */
function stepName(step: string): string {
  return Object.hasOwn(runningStepNames, step) ? runningStepNames[step as keyof typeof runningStepNames] : shown(step);
}

function scheduleView({ schedule, status, now }: Shown, at: TimeText): Node {
  return facts([
    [texts.schedule, stateView(schedule)],
    // While the windows are paused, the Schedule may run for some seconds, and no window opens.
    [texts.next, schedule?.nextAt && (status.paused === null ? at(schedule.nextAt) : null)],
    [texts.seen, schedule?.seenAt && seen(schedule.seenAt, now)],
  ]);
}

function gapsView({ installation: { id }, rights, gaps: { since, gaps } }: Shown, at: TimeText): Content {
  if (since === null) return html`<p class="empty">${windowListTexts.noneRecorded({ installation: id })}</p>`;
  if (gaps.length === 0) return html`<p>${texts.noGap({ since: at(since) })}</p>`;
  return html`<ul>
    ${gaps.map((gap) => {
      const text = texts.gap({ what: gapText(gap, at), command: remedyOf(id, gap) });
      const link = windowForms.price_windows.link(rights, id, readingFields(readingOf(gap)));
      return html`<li><span class="needed">${text}</span> ${link ?? effectTexts.askOperator}</li>`;
    })}
  </ul>`;
}

function budgetsView({ budgets }: InstallationCondition, at: TimeText): Node {
  const number = (title: string) => ({ title, isNumber: true });
  return table({
    columns: [
      { title: columns.endpoint },
      ...[columns.used, columns.free, columns.limit].map(number),
      { title: columns.remarks },
    ],
    rows: budgets.map((budget) => [
      ...[budget.action, budget.used, budget.free, budget.limit_now],
      budgetNote(budget, at),
    ]),
  });
}

function filterForm(query: Readonly<Record<string, string>>): Node {
  const all = { value: '', text: consoleTexts.all };
  const kinds = windowKinds.map((value) => ({ value, text: codeWord(value) }));
  return html`<form method="get" class="filters">
    ${query.span === undefined ? null : html`<input type="hidden" name="span" value=${query.span} />`}
    ${choice({
      ...{ name: 'outcome', label: texts.outcome, value: query.outcome ?? '' },
      options: [all, { value: 'failed', text: codeWord('failed') }],
    })}
    ${choice({ name: 'kind', label: texts.kind, value: query.kind ?? '', options: [all, ...kinds] })}
    ${field({ name: 'from', label: texts.from, type: 'date', value: query.from ?? '' })}
    ${field({ name: 'to', label: texts.to, type: 'date', value: query.to ?? '' })}
    <button>${consoleTexts.filter}</button>
  </form>`;
}

function totalsView({ totals, query }: Shown, path: string): Node {
  const { after, csv, ...kept } = query;
  const text = texts.totals(totals);
  return html`<p>${totals.failed === 0 ? text : html`<a href=${local(path, { ...kept, outcome: 'failed' })}>${text}</a>`}</p>`;
}

function listView({ context, page: { rows: windows }, rights, installation: { id } }: Shown, at: TimeText): Node {
  const titles = ['window', 'kind', 'opened', 'from', 'to', 'outcome', 'covered_by', 'error', 'remarks'] as const;
  return table({
    columns: titles.map((name) => ({ title: columns[name], isNumber: name === 'window' })),
    rows: windows.map((window) => [
      html`<span id=${`w${window.id}`}>${window.id}</span>`,
      `${codeWord(window.kind)} (${codeWord(window.trigger)})`,
      ...[at(window.opened_at), at(window.from), at(window.to)],
      html`${outcomeView(window)} ${window.outcome === 'closed' ? null : temporalLink(context, { workflow: window.workflow_id, run: null })}`,
      window.outcome === 'failed' ? html`${coverageView(window)} ${replayLink(rights, id, window)}` : '',
      window.error &&
        html`${window.error.code}: ${shown(window.error.message)}${window.covered_by === null ? html`<br />${nextStep(rights, id, window.error.todo)}` : null}`,
      window.remarks.map(({ message }) => html`<div>${shown(message)}</div>`),
    ]),
  });
}

function outcomeView({ outcome, covered_by: by, idle_windows: idle }: RecordedWindow): Content {
  const text = [codeWord(outcome), ...(idle === null ? [] : [count(idle, 'idleWindow')])].join(', ');
  return outcome === 'failed' && by === null ? html`<span class="needed">${text}</span>` : text;
}

/** A link that reads a failed window again. Later windows cover a first load and a backfill. */
function replayLink(rights: Rights, installation: number, { id, kind, covered_by: by }: RecordedWindow): Content {
  if (by !== null || kind !== 'window') return null;
  const { titles } = windowActionTexts;
  return windowForms.price_windows.link(
    rights,
    installation,
    { read: 'windows', windows: String(id) },
    titles.replay_windows,
  );
}

function coverageView({ covered_by: by }: RecordedWindow): Content {
  if (by === null) return windowListTexts.notCovered;
  return by.map((id, n) => html`${n === 0 ? '' : ', '}<a href=${`#w${id}`}>${id}</a>`);
}
