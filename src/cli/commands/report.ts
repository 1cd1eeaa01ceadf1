import { InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import type { InstallationConfig } from '../../config/load-config.ts';
import type { Connection } from '../../db/rows.ts';
import { outsideBooks, outsideByKind } from '../../documents/outside-books.ts';
import { dateIn, daysFrom, monthBounds } from '../../domain/dates.ts';
import { UserError } from '../../domain/errors.ts';
import { prepaymentVatDifferences } from '../../queries/prepayment-vat.ts';
import { type ReportKind, type ReportName, reports } from '../../reports/index.ts';
import type { Period } from '../../reports/report-sections.ts';
import { usageTexts } from '../../texts/commands/usage.ts';
import { commandErrors } from '../../texts/errors/commands.ts';
import { amount, date } from '../answer.ts';
import { chosenBooks } from '../books.ts';
import type { Definition } from '../command.ts';
import { calendarDate, installation, option } from '../command.ts';
import { type CommandContext, usageError } from '../context.ts';
import { outsideAnswer } from '../render/verdict.ts';
import { withApp } from '../with-app.ts';
import { type InstallationReport, notedLines, reportCsv, reportDocument, reportText } from './report-text.ts';

interface Options {
  installation?: number;
  asOf?: string;
  month?: string;
  csv?: true;
  documents?: true;
}

const cell = z.union([z.string(), z.number(), z.null()]);

/** Each report adds its keys, facts and amounts to these fields. */
const answer = z.strictObject({
  report: z.string(),
  installations: z.array(
    z.strictObject({
      installation: z.number(),
      name: z.string().nullable(),
      currency: z.string(),
      from: date.nullable(),
      through: date,
      not_in_books: outsideAnswer,
      prepayment_vat_differences: z
        .array(z.strictObject({ document: z.string(), difference: z.string(), message: z.string() }))
        .optional(),
      sections: z.record(
        z.string(),
        z.strictObject({
          figures: z.array(
            z.object({ documents: z.array(z.object({ document: z.string() }).catchall(cell)) }).catchall(cell),
          ),
          total: z.record(z.string(), amount),
        }),
      ),
    }),
  ),
});

/** `vetledger report NAME`. */
export function reportCommand(name: ReportName): { command: Definition<Options> } {
  const { description, of }: ReportKind = reports[name];
  const when = {
    month: [option('--month <month>', 'the month (YYYY-MM; default: the last one that is over)', month)],
    day: [option('--as-of <date>', 'the state at the end of this day (YYYY-MM-DD; default: today)', calendarDate)],
    start: [],
  }[of];
  const asked = { month: ' --month 2026-01', day: ' --as-of 2026-01-31', start: '' }[of];
  const command: Definition<Options> = {
    description,
    options: [
      ...when,
      installation,
      new Option('--documents', 'also print the documents of each figure'),
      new Option('--csv', 'print a table with a line for each document of each figure'),
    ],
    examples: [
      [`vetledger report ${name}${asked}`, 'the figures'],
      [`vetledger report ${name}${asked} --documents`, 'with the documents of each figure'],
      [`vetledger report ${name}${asked} --csv > ${name}.csv`, 'for a spreadsheet'],
    ],
    answer,
    run: (context, options) => report(context, name, options),
  };
  return { command };
}

function month(value: string): string {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(value)) throw new InvalidArgumentError('It must be a month like 2026-01.');
  return value;
}

/** Prints a report per installation. Each report reads one snapshot of the database. */
function report(context: CommandContext, name: ReportName, options: Options): Promise<number> {
  const kind: ReportKind = reports[name];
  if (options.csv && context.json) throw usageError(usageTexts.csvOrJson, `report ${name}`);
  return withApp(context, { temporal: false }, async (app) => {
    const made: InstallationReport[] = [];
    for (const installation of await chosenBooks(app, options.installation)) {
      const { id, timezone, startDate } = installation;
      if (kind.of === 'start' && startDate === null) {
        if (options.installation === undefined) continue;
        throw new UserError(commandErrors.noStartDate({ installation: id }), 1);
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

/** Documents outside the books that would belong to the figures: dated in the period, or without a known date. */
async function outsideOf(db: Connection, { id, decimals }: InstallationConfig, kind: ReportKind, period: Period) {
  if (kind.documents.length === 0) return {};
  const groups = await outsideBooks(db, [id], period);
  return outsideByKind(
    groups.filter((group) => kind.documents.includes(group.kind)),
    decimals,
  );
}

/** The period of a report. Default: the last full month, or today. */
function periodOf(of: ReportKind['of'], { asOf, month }: Options, today: string, startDate: string | null): Period {
  if (of === 'start') return { from: null, through: daysFrom(startDate ?? today, -1) };
  if (of === 'month') return monthBounds(month ?? daysFrom(`${today.slice(0, 7)}-01`, -1).slice(0, 7));
  return { from: null, through: asOf ?? today };
}
