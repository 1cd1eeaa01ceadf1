import { type Command, InvalidArgumentError, Option } from 'commander';
import { type ReportKind, type ReportName, reports } from '../../reports/index.ts';
import type { ReportOptions } from '../commands/report.ts';
import { type Define, group } from './define.ts';
import { calendarDate, installation, option } from './options.ts';

/** `vetledger report NAME`: a command for each report. */
export function defineReportCommands(program: Command, define: Define): void {
  const parent = group(program, 'report', 'reports of the books, each figure with its documents');
  for (const name of Object.keys(reports) as ReportName[]) {
    const { summary, description, of }: ReportKind = reports[name];
    const when = {
      month: [option('--month <month>', 'the month (YYYY-MM; default: the last one that is over)', month)],
      day: [option('--as-of <date>', 'the state at the end of this day (YYYY-MM-DD; default: today)', calendarDate)],
      start: [],
    }[of];
    const asked = { month: ' --month 2026-01', day: ' --as-of 2026-01-31', start: '' }[of];
    define<ReportOptions>(parent, name, {
      summary,
      description,
      options: [
        ...when,
        installation,
        new Option('--documents', 'print the documents of each figure, too'),
        new Option('--csv', 'print a table with a line for each document of each figure'),
      ],
      examples: [
        [`vetledger report ${name}${asked}`, 'the figures'],
        [`vetledger report ${name}${asked} --documents`, 'and the documents behind each'],
        [`vetledger report ${name}${asked} --csv > ${name}.csv`, 'for a spreadsheet'],
      ],
      action: async (context, options) => (await import('../commands/report.ts')).report(context, name, options),
    });
  }
}

function month(value: string): string {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(value)) throw new InvalidArgumentError('It must be a month like 2026-01.');
  return value;
}
