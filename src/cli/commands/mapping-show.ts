import { resolve } from 'node:path';
import { z } from 'zod';
import { mappingName } from '../../bookkeeping/mapping-versions.ts';
import type { InstallationConfig } from '../../config/load-config.ts';
import { loadChart, loadMapping } from '../../config/mapping-files.ts';
import { dateIn } from '../../domain/dates.ts';
import { accountsNamed } from '../../mapping/accounts-written.ts';
import type { Chart } from '../../mapping/chart.ts';
import { checkAgainstChart, sharedAccounts } from '../../mapping/check-chart.ts';
import { money } from '../../mapping/propose-text.ts';
import { mappingTargets } from '../../mapping/targets.ts';
import { storedSourceAccounts } from '../../mirror/source-accounts.ts';
import { compareMapping } from '../../queries/mapping-check.ts';
import type { App } from '../../runtime/app.ts';
import type { CalendarDate } from '../../terms.ts';
import { mappingShowTexts as texts } from '../../texts/commands/mapping.ts';
import { date } from '../answer.ts';
import { chosenBooks } from '../books.ts';
import { type Definition, installation } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { remarksOf } from '../render/mapping-check.ts';
import { shownTargets, targetsAnswer, targetsText } from '../render/mapping-targets.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
}

const shownAnswer = z.strictObject({
  installation: z.number(),
  mapping: z.string(),
  since: date,
  ...targetsAnswer,
  warnings: z.array(z.string()),
});
const answer = z.strictObject({ installations: z.array(shownAnswer) });
type Shown = z.infer<typeof shownAnswer>;

export const command: Definition<Options> = {
  description:
    'Shows to which accounts the mapping in force, or a file, posts the records of the last 12 months. It lists revenue accounts, VAT groups and payment types by department, with account, name, number of records and amounts. Below are the accounts of roles, and warnings. Names come from the chart of the mapping, and for the practice’s own numbers from its list. Nothing is written to the books.',
  options: [installation],
  examples: [
    ['vetledger mapping show', 'the mapping in force'],
    ['vetledger mapping show mappings/new.yaml --installation 4711', 'a proposal, for one installation'],
  ],
  answer,
  run: show,
};

function show(context: CommandContext, options: Options, [file]: readonly string[]): Promise<number> {
  return withApp(context, { temporal: false, handlesSignal: true }, async (app) => {
    const path = file === undefined ? null : resolve(file);
    const replaced = path === null ? {} : { mappingPath: path, ...(await loadMapping(path)) };
    const installations: Shown[] = [];
    for (const configured of await chosenBooks(app, options.installation)) {
      installations.push(await shown(app, { ...configured, ...replaced }));
    }
    await context.result({ installations }, () => installations.map(shownText).join('\n\n'));
    return 0;
  });
}

async function shown(app: App, books: InstallationConfig): Promise<Shown> {
  const { id, mapping, mappingPath, timezone } = books;
  const since = yearBefore(dateIn(timezone, app.clock()));
  const compared = await compareMapping(app, books, mapping, since);
  const chart = await loadChart(mapping, mappingPath);
  const practice = new Map((await storedSourceAccounts(app.db, id))?.map((one) => [one.number, one.description]));
  const names = { chart: chart?.chart ?? null, practice };
  const written = [...accountsNamed(mapping), ...compared.accounts];
  return {
    installation: id,
    mapping: mappingName(books),
    since,
    ...shownTargets(mappingTargets(compared.usage, mapping), names),
    warnings: [
      ...compared.gaps.map(({ message, count, gross }) => texts.gap({ message, count, gross: money(gross) })),
      ...remarksOf(compared).map(({ message }) => message),
      ...sharedAccounts(written),
      ...faultsOf(written, names.chart).map(({ path, message }) => texts.fault({ path, message })),
    ],
  };
}

function faultsOf(written: ReturnType<typeof accountsNamed>, chart: Chart | null) {
  return chart === null ? [] : checkAgainstChart(written, chart);
}

function yearBefore(day: CalendarDate): CalendarDate {
  const [year = '', rest = ''] = [day.slice(0, 4), day.slice(4)];
  return `${Number(year) - 1}${rest === '-02-29' ? '-02-28' : rest}`;
}

function shownText({ installation: id, mapping, since, warnings, ...targets }: Shown): string {
  return [
    texts.title({ installation: id, mapping, since }),
    ...targetsText(targets),
    ...(warnings.length === 0 ? [texts.noWarnings] : [texts.warnings, ...warnings.map((warning) => `  ${warning}`)]),
  ].join('\n');
}
