import { InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import type { Connection } from '../../db/rows.ts';
import { instantOf } from '../../domain/dates.ts';
import { UserError } from '../../domain/errors.ts';
import { type Split, splits } from '../../ledger/account-days.ts';
import { amount, date, instant } from '../../queries/answer.ts';
import { makeReport } from '../../queries/report.ts';
import { countLines } from '../../reports/book-lines.ts';
import { type ReportKind, type ReportName, reports } from '../../reports/index.ts';
import type { InstallationReport } from '../../reports/installation-report.ts';
import { onlyTable, reportCsv, tableNames } from '../../reports/report-csv.ts';
import { usageTexts, valueTexts } from '../../texts/commands/usage.ts';
import { commandErrors } from '../../texts/errors/commands.ts';
import { chosenBooks } from '../books.ts';
import type { Definition } from '../command.ts';
import { calendarDate, installation, month, option } from '../command.ts';
import { type CommandContext, refuseBackwards, usageError } from '../context.ts';
import { outsideAnswer } from '../render/verdict.ts';
import { withApp } from '../with-app.ts';
import { reportJson, withLineProgress } from './report-output.ts';
import { notedLines, reportText } from './report-text.ts';

interface Options {
  installation?: number;
  asOf?: string;
  month?: string;
  from?: string;
  to?: string;
  by?: Split;
  recordedBy?: string;
  /** The name of the table, if one is given. */
  csv?: true | string;
  documents?: true;
}

const cell = z.union([z.string(), z.number(), z.null()]);

/** Each report adds its keys, facts and amounts to these fields. */
export const reportOfInstallation = z.strictObject({
  installation: z.number(),
  name: z.string().nullable(),
  currency: z.string(),
  from: date.nullable(),
  through: date,
  /** For reports of accounts: the entries that the figures cover. */
  basis: z.string().optional(),
  start_date: date.nullable().optional(),
  recorded_by: instant.nullable().optional(),
  not_in_books: outsideAnswer,
  sections: z.record(
    z.string(),
    z.strictObject({
      figures: z.array(
        z.object({ documents: z.array(z.object({ document: z.string() }).catchall(cell)) }).catchall(cell),
      ),
      total: z.record(z.string(), amount),
    }),
  ),
});
const answer = z.strictObject({ report: z.string(), installations: z.array(reportOfInstallation) });

const monthOption = (about: string) => option('--month <month>', about, month);
export const lastMonthOption = monthOption('the month (YYYY-MM; default: the last one that is over)');
export const documentsOption = new Option('--documents', 'also print the documents of each figure');
export const csvOfTable = new Option(
  '--csv [table]',
  'print a table with a line for each document of each figure; name the table if there are several',
);
const asOfOption = (about: string) => option('--as-of <date>', about, calendarDate);

/** The options for the days of a report. */
const daysOf: Record<ReportKind['of'], readonly Option[]> = {
  month: [lastMonthOption],
  day: [asOfOption('the state at the end of this day (YYYY-MM-DD; default: today)')],
  start: [],
  span: [
    asOfOption('from the start of the fiscal year to this day (YYYY-MM-DD; default: today)'),
    monthOption('the month (YYYY-MM)'),
    option('--from <date>', 'from this day on (with --to)', calendarDate),
    option('--to <date>', 'to the end of this day (with --from)', calendarDate),
    new Option('--by <part>', 'split each account by department or dimension').choices(splits),
    option(
      '--recorded-by <time>',
      'the books as they were then: only entries recorded by this time, in the clinic’s zone (a day, or `2026-02-03 14:30`)',
      time,
    ),
  ],
};
const asked = { month: ' --month 2026-01', day: ' --as-of 2026-01-31', start: '', span: ' --month 2026-01' };

/** `vetledger report NAME`. */
export function reportCommand(name: Exclude<ReportName, 'vat'>): { command: Definition<Options> } {
  const { description, of, isOfLines, table }: ReportKind = reports[name];
  const line = `vetledger report ${name}${name === 'account' ? ' 1700' : ''}`;
  const command: Definition<Options> = {
    description,
    options: [
      ...daysOf[of].filter(({ long }) => !(isOfLines && long === '--by')),
      installation,
      ...(isOfLines ? [] : [documentsOption]),
      isOfLines || of === 'span' ? new Option('--csv', 'print a table') : csvOfTable,
    ],
    examples: [
      [`${line}${asked[of]}`, isOfLines ? 'the lines' : 'the figures'],
      isOfLines
        ? [`${line} --from 2026-01-01 --to 2026-03-31`, 'the lines of a quarter']
        : [`${line}${asked[of]} --documents`, 'with the documents of each figure'],
      [`${line}${asked[of]} --csv${table === undefined ? '' : ` ${table}`} > ${name}.csv`, 'for a spreadsheet'],
    ],
    answer,
    run: (context, options, [account = null]) => report(context, name, options, account),
  };
  return { command };
}

function time(value: string): string {
  if (instantOf(value, 'UTC') === null) throw new InvalidArgumentError(valueTexts.time);
  return value;
}

/** Prints a report per installation, all from one snapshot of the database. */
function report(context: CommandContext, name: ReportName, options: Options, account: string | null): Promise<number> {
  const kind: ReportKind = reports[name];
  if (options.csv && context.json) throw usageError(usageTexts.csvOrJson, `report ${name}`);
  refuseDays(options, `report ${name}`);
  const documents = options.documents ?? kind.isOfLines ?? false;
  return withApp(context, { temporal: false }, async (app) => {
    const chosen = await chosenBooks(app, options.installation);
    return app.db.transaction(
      async (trx) => {
        const made: InstallationReport[] = [];
        for (const installation of chosen) {
          const { id, startDate } = installation;
          if (kind.of === 'start' && startDate === null) {
            if (options.installation === undefined) continue;
            throw new UserError(commandErrors.noStartDate({ installation: id }), 1);
          }
          made.push(
            await makeReport(trx, name, installation, {
              ...{ days: options, split: options.by ?? null, recordedBy: options.recordedBy ?? null },
              ...{ documents, account, now: app.clock() },
            }),
          );
        }
        if (account !== null && made.every(({ sections }) => sections.every(({ figures }) => figures.length === 0)))
          throw new UserError(commandErrors.accountUnused({ account }), 1);
        const lines = kind.of === 'span' && documents ? await linesOf(trx, made, account) : 0;
        await withLineProgress(context, lines, made, (shown) =>
          printReports(context, name, shown, { ...options, documents }),
        );
        return 0;
      },
      { isolationLevel: 'repeatable read', readOnly: true },
    );
  });
}

async function linesOf(db: Connection, made: readonly InstallationReport[], account: string | null): Promise<number> {
  let lines = 0;
  for (const { installation, period } of made) lines += await countLines(db, installation.id, period, account);
  return lines;
}

/** Prints reports as a table, as JSON or as text. */
export async function printReports(
  context: CommandContext,
  name: ReportName,
  made: readonly InstallationReport[],
  { csv, documents }: { csv?: true | string; documents: boolean },
): Promise<void> {
  if (csv === undefined)
    return print(
      context,
      context.json ? reportJson(name, made) : reportText(made, { documents, language: context.language }),
    );
  const tables = tableNames(made);
  const table = csv === true && tables.length < 2 ? tables[0] : tables.find((each) => each === csv);
  if (table === undefined && tables.length > 0)
    throw usageError(usageTexts.oneTable({ tables: tables.join(', ') }), `report ${name}`);
  for await (const piece of reportCsv(onlyTable(made, table ?? ''))) await context.writeFile(piece);
  for (const each of made) {
    const { installation, sections } = each;
    if (table !== undefined && !sections.some(({ shape }) => shape.name === table))
      context.note(usageTexts.tableMissing({ table, installation: installation.id }));
    for (const line of notedLines(each)) context.note(line);
  }
}

const flushAt = 65_536;

/** Prints a long result while it is read. The first 64 KB are buffered, so that after an early error stdout contains only the error. */
async function print(context: CommandContext, pieces: AsyncIterable<string>): Promise<void> {
  let kept = '';
  for await (const piece of pieces) {
    kept += piece;
    if (kept.length < flushAt) continue;
    await context.write(kept);
    kept = '';
  }
  await context.write(`${kept}\n`);
}

/** Throws ConfigError if the options name more than one span of days. */
function refuseDays({ asOf, month, from, to }: Options, command: string): void {
  if ((from === undefined) !== (to === undefined)) throw usageError(usageTexts.fromAndTo, command);
  if ([asOf, month, from].filter((each) => each !== undefined).length > 1)
    throw usageError(usageTexts.oneSpan, command);
  refuseBackwards({ ...(from && { from }), ...(to && { to }) }, command);
}
