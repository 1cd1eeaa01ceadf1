import { daysFrom } from '../../../domain/dates.ts';
import { type ReportName, reports } from '../../../reports/index.ts';
import { html, type Node } from '../../html.ts';
import type { InstallationRequest } from '../../route.ts';
import { readChoice } from '../reports/choice.ts';
import { chosenReport } from '../reports/make.ts';
import { readPage } from '../reports/narrow.ts';
import { reportHead, reportNotesView, sectionView } from '../reports/view.ts';

/** A report for a month, or as of its last day. */
export async function reportPart(request: InstallationRequest, month: string, name: ReportName): Promise<() => Node> {
  const last = daysFrom(`${month}-01`, 31);
  const kept: Record<string, string> =
    reports[name].of === 'month' ? { month } : { as_of: daysFrom(`${last.slice(0, 7)}-01`, -1) };
  const choice = readChoice(kept);
  const report = await chosenReport(request, name, choice);
  const sections = await readPage(report.sections, choice);
  const place = { installation: request.installation, path: `/${request.installation.id}/reports/${name}`, kept };
  return () =>
    html`${reportHead(report)} ${sections.map((section) => sectionView(section, place))} ${reportNotesView(request.rights, report)}`;
}
