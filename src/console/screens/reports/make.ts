import { loadVatForm } from '../../../config/vat-forms.ts';
import { dateIn } from '../../../domain/dates.ts';
import { lastMonth, makeReport } from '../../../queries/report.ts';
import { vatReport } from '../../../queries/vat-report.ts';
import { type ReportName, reports } from '../../../reports/index.ts';
import type { InstallationReport } from '../../../reports/installation-report.ts';
import { reportCsv } from '../../../reports/report-csv.ts';
import type { InstallationRequest } from '../../route.ts';
import type { Choice } from './choice.ts';
import { narrowed } from './narrow.ts';

type Reader = Pick<InstallationRequest, 'db' | 'installation' | 'now' | 'language'>;

/** A report with the chosen tables and figures. The figures are read from the transaction of the request. */
export async function chosenReport(
  { db, installation, now, language }: Reader,
  name: ReportName,
  choice: Choice,
): Promise<InstallationReport> {
  const report = name === 'vat' ? await vatOf({ db, installation, now, language }, choice) : await madeOf();
  return { ...report, sections: narrowed(report.sections, choice, language) };

  async function madeOf(): Promise<InstallationReport> {
    const { days, split, recordedBy, figure } = choice;
    const account = choice.account ?? (await accountOf({ db, installation, now, language }, name, choice));
    // The sum of a search and a file need all lines.
    const after = choice.search === '' && choice.csv === null ? choice.after : null;
    const documents = figure !== null || name === 'account' || name === 'journal';
    return makeReport(db, name, installation, { days, split, recordedBy, documents, account, after, now });
  }
}

/** The account of the chosen figure, so that only its lines are read. Null if the figure is of no account. */
async function accountOf(reader: Reader, name: ReportName, choice: Choice): Promise<string | null> {
  if (choice.figure === null || reports[name].of !== 'span') return null;
  const { days, split, recordedBy } = choice;
  const { sections } = await makeReport(reader.db, name, reader.installation, {
    ...{ days, split, recordedBy, documents: false, account: null, now: reader.now },
  });
  const [figure] = narrowed(sections, choice, reader.language).flatMap(({ figures }) => figures);
  return typeof figure?.keys.account === 'string' ? figure.keys.account : null;
}

async function vatOf({ db, installation, now }: Reader, { days, form }: Choice): Promise<InstallationReport> {
  const { report } = await vatReport(db, installation, {
    month: days.month ?? lastMonth(dateIn(installation.timezone, now)),
    choice: { isCorrection: false, take: null },
    form: form && loadVatForm(form),
    isPreview: false,
  });
  return report;
}

/** Lines of a file. A longer one is made by the command line, which does not keep it in memory. */
export const mostLines = 100_000;

/** The lines of the CSV of a report with one table. Null if there are too many. */
export async function csvLines(report: InstallationReport): Promise<string[] | null> {
  const lines: string[] = [];
  for await (const piece of reportCsv([report])) {
    lines.push(...piece.split(/(?<=\r\n)/));
    // One more line has the names of the columns.
    if (lines.length > mostLines + 1) return null;
  }
  return lines;
}
