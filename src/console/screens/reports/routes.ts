import { dateIn } from '../../../domain/dates.ts';
import { shown } from '../../../languages/language.ts';
import { reportPeriod } from '../../../queries/report.ts';
import { type ReportName, reports } from '../../../reports/index.ts';
import { screenNames } from '../../../texts/console/console.ts';
import { reportFaults, reportNames, reportsTexts as texts } from '../../../texts/console/reports.ts';
import { reportNotes } from '../../../texts/reports/reports.ts';
import { html, local } from '../../html.ts';
import { problem } from '../../parts/fields.ts';
import { table } from '../../parts/table.ts';
import type { Answer, InstallationRequest, PageContent, Route } from '../../route.ts';
import { type Choice, keptFields, readChoice } from './choice.ts';
import { reportForm } from './form.ts';
import { chosenReport, csvLines, mostLines } from './make.ts';
import { readPage } from './narrow.ts';
import { type Place, reportHead, reportNotesView, sectionView } from './view.ts';

const access = { who: 'read_books', in: 'installation' } as const;

/** What do I file, what are the books? Every report of the command line, for any days. */
export const reportsRoutes: readonly Route[] = [
  { method: 'GET', path: '/:installation/reports', access, audit: 'nothing', answer: list },
  { method: 'GET', path: '/:installation/reports/:name', access, audit: 'nothing', isHeavy: true, answer: show },
];

const names = Object.keys(reports) as ReportName[];

async function list({ installation }: InstallationRequest): Promise<Answer> {
  return {
    page: {
      title: () => screenNames.reports,
      body: () =>
        table({
          columns: [{ title: texts.report }, { title: texts.content }],
          rows: names.map((name) => [
            html`<a href=${`/${installation.id}/reports/${name}`}>${reportNames[name]}</a>`,
            shown(reports[name].description),
          ]),
        }),
    },
  };
}

async function show(request: InstallationRequest): Promise<Answer> {
  const { installation, params, query, now, rights } = request;
  const name = names.find((each) => each === params.name);
  if (name === undefined) return { missing: true };
  const choice = readChoice(query);
  const period = reportPeriod(reports[name].of, choice.days, dateIn(installation.timezone, now), installation);
  const place = { installation, path: `/${installation.id}/reports/${name}`, kept: keptFields(query) } satisfies Place;
  const page = (content: PageContent['body']): Answer => ({
    page: {
      title: () => reportNames[name],
      body: () => html`<p class="dim">${shown(reports[name].description)}</p>
        ${reportForm(name, query, choice, period)} ${content()}`,
    },
  });
  if (reports[name].of === 'start' && installation.startDate === null)
    return page(() => html`<p class="empty">${reportNotes.noStartDate}</p>`);
  if (name === 'account' && choice.account === null) {
    const accounts = local(`/${installation.id}/reports/trial-balance`, place.kept);
    return page(
      () => html`<p class="empty">${texts.chooseAccount} <a href=${accounts}>${reportNames['trial-balance']}</a></p>`,
    );
  }
  if (choice.csv !== null) {
    const file = await csvFile(request, name, choice);
    return file ?? page(() => problem(reportFaults.tooLong({ lines: mostLines })) ?? html``);
  }
  const report = await chosenReport(request, name, choice);
  const sections = await readPage(report.sections, choice);
  return page(
    () => html`${reportHead(report)} ${choice.section === null ? null : html`<p><a href=${local(place.path, place.kept)}>${texts.whole}</a></p>`}
      ${sections.map((section) => sectionView(section, place))} ${reportNotesView(rights, report)}`,
  );
}

/** The file of a table. Null if it is too long. */
async function csvFile(request: InstallationRequest, name: ReportName, choice: Choice): Promise<Answer | null> {
  const report = await chosenReport(request, name, { ...choice, section: choice.csv });
  const [table] = report.sections;
  if (table === undefined) return { missing: true };
  const pieces = await csvLines(report);
  if (pieces === null) return null;
  const parts = [request.installation.id, name, table.shape.name, report.period.through];
  return { file: { name: `${parts.join('-')}.csv`, type: 'text/csv; charset=utf-8', pieces } };
}
