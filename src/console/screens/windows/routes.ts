import { openSteps } from '../../../db/open-steps.ts';
import { runningWork } from '../../../queries/running-work.ts';
import { installationConditions } from '../../../queries/status.ts';
import { countWindows, drawnWindows, type RecordedWindow, recordedWindows } from '../../../queries/windows.ts';
import { gapsOf } from '../../../sync/replay/gaps.ts';
import { watchedSchedules } from '../../../sync/schedule-state.ts';
import type { InstallationId } from '../../../terms.ts';
import { screenNames } from '../../../texts/console/console.ts';
import { html, type Node } from '../../html.ts';
import { csvFile, fileRows, numberAfter, pageOf, pageRows } from '../../parts/pages.ts';
import type { Answer, InstallationRequest, Route } from '../../route.ts';
import type { Rights } from '../../users/rights.ts';
import { pauseLink } from '../actions/pauses.ts';
import { windowForms } from '../actions/windows.ts';
import { lineDays, readFilter, readSpan } from './filter.ts';
import { drawnAtMost, windowsView } from './view.ts';

/** What ran, what failed, what covers it? */
export const windowsRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/:installation/windows',
    access: { who: 'read_operations', in: 'installation' },
    audit: 'nothing',
    answer: show,
  },
];

async function show(request: InstallationRequest): Promise<Answer> {
  const { context, db, installation, query, rights, now } = request;
  const { id, timezone } = installation;
  const filter = readFilter(query, timezone);
  if (query.csv !== undefined) {
    const found = await recordedWindows(db, [id], { ...filter, limit: fileRows });
    return csvFile(`windows-${id}.csv`, csvHeading, found.map(csvCells));
  }
  const { config } = context;
  const [status] = await installationConditions(
    {
      ...{ db, now, schedule: config.schedule, taskQueue: config.temporal.taskQueue },
      ...{ seals: false, reconcileBetween: config.reconcileBetween },
    },
    [installation],
  );
  if (status === undefined) return { missing: true };
  const span = readSpan(query);
  const from = new Date(now.getTime() - lineDays[span] * 86_400_000);
  const after = numberAfter(query);
  const page = pageOf(await recordedWindows(db, [id], { ...filter, after, limit: pageRows + 1 }), (window) =>
    String(window.id),
  );
  const shown = {
    ...{ installation, query, status, now, span, from, page, rights },
    drawn: await drawnWindows(db, id, from, drawnAtMost + 1),
    gaps: await gapsOf(db, id),
    context,
    schedule: (await watchedSchedules(db, [id], config.temporal.taskQueue))[0],
    running: await runningWork(db, id),
    steps: await openSteps(db, id),
    totals: await countWindows(db, id, filter),
  };
  const pause = await pauseLink(request, 'windows');
  return {
    page: {
      title: () => screenNames.windows,
      body: () => html`${actionsView(rights, id, pause())} ${windowsView(shown)}`,
    },
  };
}

const csvHeading = [
  ...['id', 'kind', 'trigger', 'opened_at', 'closed_at', 'from', 'to', 'outcome', 'covered_by', 'error', 'remarks'],
  ...['idle_windows', 'workflow_id'],
];

function csvCells(window: RecordedWindow): (string | number | Date | null)[] {
  const { id, kind, trigger, opened_at, closed_at, from, to, outcome, covered_by, error, remarks } = window;
  return [
    ...[id, kind, trigger, opened_at, closed_at, from, to, outcome, covered_by?.join(' ') ?? null],
    ...[error && `${error.code}: ${error.message}`, remarks.map(({ code }) => code).join(' ')],
    ...[window.idle_windows, window.workflow_id],
  ];
}

function actionsView(rights: Rights, id: InstallationId, pause: Node | null): Node {
  const { nudge_windows: nudge, price_windows: price, cancel_windows: cancel } = windowForms;
  return html`<p class="pages">${nudge.link(rights, id)} ${price.link(rights, id, { read: 'failed' })} ${cancel.link(rights, id)} ${pause}</p>`;
}
