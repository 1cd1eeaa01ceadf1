import { Option } from 'commander';
import { z } from 'zod';
import type { InstallationConfig } from '../../config/load-config.ts';
import { loadVatForm, type VatFormCountry, vatFormCountries, vatFormOfCountry } from '../../config/vat-forms.ts';
import { dateIn } from '../../domain/dates.ts';
import type { VatForm } from '../../mapping/vat-form.ts';
import { amount, instant } from '../../queries/answer.ts';
import { lastMonth } from '../../queries/report.ts';
import { type VatReport, vatReport } from '../../queries/vat-report.ts';
import { fileReturn, type ReturnChoice, vatPeriodOfMonth } from '../../queries/vat-returns.ts';
import type { InstallationReport } from '../../reports/installation-report.ts';
import type { App } from '../../runtime/app.ts';
import { usageTexts } from '../../texts/commands/usage.ts';
import { reportDescriptions, vatReportTexts } from '../../texts/reports/reports.ts';
import { actedBy, statedBy } from '../acting.ts';
import { chosenBooks } from '../books.ts';
import { by, type Definition, installation, sha256 } from '../command.ts';
import { type CommandContext, usageError } from '../context.ts';
import { withApp } from '../with-app.ts';
import { csvOfTable, documentsOption, lastMonthOption, printReports, reportOfInstallation } from './report.ts';
import { reportText } from './report-text.ts';

interface Options {
  installation?: number;
  month?: string;
  /** The name of the table, if one is given. */
  csv?: true | string;
  documents?: true;
  form?: VatFormCountry | true;
  markFiled?: true;
  correction?: true;
  takeLate?: string[];
  dryRun?: true;
  shown?: string;
  by?: string;
  reason?: string;
}

const answer = z.strictObject({
  report: z.string(),
  installations: z.array(
    reportOfInstallation.extend({
      vat_return: z.strictObject({
        period: z.string(),
        is_closed: z.boolean(),
        filed: z.array(
          z.strictObject({
            version: z.number(),
            filed_at: instant,
            by: z.string(),
            reason: z.string(),
            shown: z.string(),
          }),
        ),
        to_file: z
          .strictObject({
            version: z.number(),
            shown: z.string(),
            lines: z.number(),
            late: z.array(z.string()),
            obstacle: z.strictObject({ code: z.string(), message: z.string(), todo: z.string() }).nullable(),
          })
          .nullable(),
      }),
      unused_prepayments_without_vat: z.strictObject({ prepayments: z.number(), amount }),
      prepayment_vat_differences: z
        .array(z.strictObject({ document: z.string(), difference: z.string(), message: z.string() }))
        .optional(),
    }),
  ),
});

export const command: Definition<Options> = {
  description: reportDescriptions.vat,
  options: [
    lastMonthOption,
    installation,
    documentsOption,
    csvOfTable,
    new Option('--form [country]', 'also the boxes of the return form (default: the mapping’s country)').choices(
      vatFormCountries,
    ),
    new Option('--mark-filed', 'file the return of the VAT period with the month: store its figures for good'),
    new Option('--correction', 'with --mark-filed: the next version of a filed return, with what has changed since'),
    new Option('--take-late <entries...>', 'with --mark-filed: entries whose late lines the return takes, or `none`'),
    new Option('--dry-run', 'with --mark-filed: only show what would be filed, and its hash'),
    new Option('--shown <hash>', 'with --mark-filed: the hash that --dry-run showed; no question is asked').argParser(
      sha256,
    ),
    new Option('--reason <text>', 'with --mark-filed: the reason; it is recorded'),
    by,
  ],
  examples: [
    ['vetledger report vat --month 2026-01', 'the figures'],
    ['vetledger report vat --month 2026-01 --documents', 'with the documents of each figure'],
    ['vetledger report vat --month 2026-01 --csv vat > vat.csv', 'for a spreadsheet'],
    ['vetledger report vat --month 2026-01 --form fi', 'with the boxes of the Finnish return'],
    ['vetledger report vat --month 2026-01 --mark-filed --dry-run', 'what would be filed'],
    ['vetledger report vat --month 2026-01 --mark-filed --by "M. Virtanen" --reason "OmaVero"', 'file it'],
    [
      'vetledger report vat --month 2026-01 --mark-filed --correction --by "M. Virtanen" --reason "late credit note"',
      'a correction return',
    ],
  ],
  answer,
  run: reportVat,
};

async function reportVat(context: CommandContext, options: Options): Promise<number> {
  const isFiling = options.markFiled === true;
  if (options.csv && context.json) throw usageError(usageTexts.csvOrJson, 'report vat');
  if (!isFiling && (options.correction || options.takeLate || options.dryRun || options.shown || options.reason)) {
    throw usageError(usageTexts.onlyWithMarkFiled, 'report vat');
  }
  if (isFiling && !options.dryRun && options.reason === undefined) {
    throw usageError(usageTexts.fileNeedsReason, 'report vat');
  }
  return withApp(context, { temporal: false }, async (app) => {
    const chosen = await chosenBooks(app, options.installation);
    const [one] = chosen;
    if (isFiling && !options.dryRun) {
      if (one === undefined || chosen.length > 1) throw usageError(usageTexts.oneInstallation, 'report vat');
      if (!(await file(context, app, one, options))) {
        await context.result({ report: 'vat', installations: [] }, () => vatReportTexts.notFiled);
        return 0;
      }
    }
    const made: InstallationReport[] = [];
    for (const each of chosen) {
      made.push((await reportOf(app, each, options, isFiling && options.dryRun === true)).report);
    }
    await printReports(context, 'vat', made, { ...options, documents: options.documents === true });
    return 0;
  });
}

/** Shows the return, asks, and files it. Returns false if the answer is no. */
async function file(context: CommandContext, app: App, of: InstallationConfig, options: Options): Promise<boolean> {
  const by = await actedBy(app.db, statedBy({ by: options.by, reason: options.reason ?? '' }, 'report vat'));
  const choice = choiceOf(options);
  const period = await vatPeriodOfMonth(app.db, of, monthOf(app, of, options));
  let { shown } = options;
  let text = '';
  if (shown === undefined) {
    const { report, prepared } = await reportOf(app, of, options, true);
    if (prepared.obstacle !== null) throw prepared.obstacle;
    for await (const piece of reportText([report], {
      documents: options.documents === true,
      language: context.language,
    }))
      text += piece;
    context.note(`${text}\n`);
    const answer = await context.confirm(
      vatReportTexts.question({ period: period.name, version: prepared.version, installation: of.id }),
    );
    if (answer === null) throw usageError(usageTexts.showBeforeFiling, 'report vat');
    if (!answer) return false;
    shown = prepared.shown;
  }
  const agreed = shown;
  await app.db.transaction((trx) => fileReturn(trx, of, period, choice, { shown: agreed, by }));
  return true;
}

/** The report of one snapshot of the database. `isPreview`: with what would be filed. */
function reportOf(app: App, of: InstallationConfig, options: Options, isPreview: boolean): Promise<VatReport> {
  const choice = { month: monthOf(app, of, options), choice: choiceOf(options), form: formOf(of, options), isPreview };
  return app.db.transaction((trx) => vatReport(trx, of, choice), { isolationLevel: 'repeatable read', readOnly: true });
}

function formOf({ id, mapping }: InstallationConfig, { form }: Options): VatForm | null {
  if (form === undefined) return null;
  const country = form === true ? vatFormOfCountry(mapping.country) : form;
  if (country !== null) return loadVatForm(country);
  throw usageError(usageTexts.noFormOfCountry({ installation: id, forms: vatFormCountries.join(' | ') }), 'report vat');
}

function choiceOf({ correction, takeLate }: Options): ReturnChoice {
  const take = takeLate === undefined ? null : takeLate.filter((entry) => entry !== 'none');
  return { isCorrection: correction === true, take };
}

function monthOf({ clock }: App, { timezone }: InstallationConfig, { month }: Options): string {
  return month ?? lastMonth(dateIn(timezone, clock()));
}
