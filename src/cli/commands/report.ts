import type { InstallationConfig } from '../../config/load.ts';
import type { Connection } from '../../db/rows.ts';
import { outsideBooks, outsideByKind } from '../../documents/outside.ts';
import { dateIn, daysFrom, monthBounds } from '../../domain/dates.ts';
import { UserError } from '../../domain/errors.ts';
import { prepaymentVatDifferences } from '../../queries/prepayment-vat.ts';
import { type ReportKind, type ReportName, reports } from '../../reports/index.ts';
import type { Period } from '../../reports/report.ts';
import { chosenBooks } from '../books.ts';
import { type CommandContext, usageError } from '../context.ts';
import { type InstallationReport, notedLines, reportCsv, reportDocument, reportText } from '../render/report.ts';
import { withApp } from '../with-app.ts';

export interface ReportOptions {
  installation?: number;
  asOf?: string;
  month?: string;
  csv?: true;
  documents?: true;
}

/** Prints a report of the books of each installation, in one snapshot of the database for each. */
export function report(context: CommandContext, name: ReportName, options: ReportOptions): Promise<number> {
  const kind: ReportKind = reports[name];
  if (options.csv && context.json) throw usageError('--csv and --json are two ways to print it.', `report ${name}`);
  return withApp(context, { temporal: false }, async (app) => {
    const made: InstallationReport[] = [];
    for (const installation of await chosenBooks(app, options.installation)) {
      const { id, timezone, startDate } = installation;
      if (kind.of === 'start' && startDate === null) {
        if (options.installation === undefined) continue;
        throw new UserError(
          'no_start_date',
          `Installation ${id} has no start_date, so there is no cut-over.`,
          'Set `start_date` of the installation if its books begin later than the practice software (docs/CLI.md, "Configuration").',
          1,
        );
      }
      const period = periodOf(kind.of, options, dateIn(timezone, app.clock()), startDate);
      const found = await app.db.transaction(
        async (trx) => ({
          sections: await kind.make(trx, installation, period),
          outside: await outsideOf(trx, installation, kind, period),
          ...(name === 'vat' ? { prepaymentVat: await prepaymentVatDifferences(trx, installation) } : {}),
        }),
        { isolationLevel: 'repeatable read', readOnly: true },
      );
      made.push({ report: name, installation, period, of: kind.of, ...found });
    }
    if (options.csv) {
      for (const piece of reportCsv(made)) await context.writeFile(piece);
      for (const each of made) for (const line of notedLines(each)) context.note(line);
    } else
      await context.result(reportDocument(name, made), () =>
        reportText(made, { documents: options.documents === true }),
      );
    return 0;
  });
}

/** What is not in the books of the kinds that the figures are made of, dated in the period or without a known date. */
async function outsideOf(db: Connection, { id, decimals }: InstallationConfig, kind: ReportKind, period: Period) {
  if (kind.documents.length === 0) return {};
  const groups = await outsideBooks(db, [id], period);
  return outsideByKind(
    groups.filter((group) => kind.documents.includes(group.kind)),
    decimals,
  );
}

/** A month's report is of the last month that is over, and a day's of today, where nothing else is asked for. */
function periodOf(
  of: ReportKind['of'],
  { asOf, month }: ReportOptions,
  today: string,
  startDate: string | null,
): Period {
  if (of === 'start') return { from: null, through: daysFrom(startDate ?? today, -1) };
  if (of === 'month') return monthBounds(month ?? daysFrom(`${today.slice(0, 7)}-01`, -1).slice(0, 7));
  return { from: null, through: asOf ?? today };
}
