import { formatExact, type Money, zero } from '../../domain/money.ts';
import { type InstallationReport, itemsOf } from '../../reports/installation-report.ts';
import type { Column, Figure, Item, Section } from '../../reports/report-sections.ts';
import { reportTexts } from '../../texts/reports/reports.ts';
import { stepTexts } from '../../texts/steps.ts';
import type { CommandContext } from '../context.ts';
import { isTerminal, ProgressBars } from '../progress.ts';

/** The JSON of `report NAME` in pieces. The amounts of a figure's documents add up to the figure. */
export async function* reportJson(name: string, reports: readonly InstallationReport[]): AsyncGenerator<string> {
  yield `{"report":${JSON.stringify(name)},"installations":[`;
  for (const [index, report] of reports.entries()) {
    yield `${index > 0 ? ',' : ''}${opened(headOf(report))}"sections":{`;
    for (const [at, section] of report.sections.entries()) {
      yield `${at > 0 ? ',' : ''}${JSON.stringify(section.shape.name)}:`;
      yield* sectionJson(section, report.installation.decimals);
    }
    yield '}}';
  }
  yield ']}';
}

/** Reports with fewer lines are printed within seconds, without their progress. */
const progressFrom = 20_000;

/** Prints reports of accounts, and shows on stderr how many of their lines are printed, unless stdout is a terminal. */
export async function withLineProgress(
  { io: { stdout, stderr }, language }: CommandContext,
  lineCount: number,
  reports: readonly InstallationReport[],
  print: (reports: readonly InstallationReport[]) => Promise<void>,
): Promise<void> {
  if (lineCount < progressFrom || isTerminal(stdout)) return print(reports);
  const bars = new ProgressBars(stderr, language);
  let done = 0;
  async function* counted(items: AsyncIterable<Item>): AsyncGenerator<Item> {
    for await (const item of items) {
      done += 1;
      if (done === lineCount || done % 1_000 === 1) bars.show({ step: stepTexts.printing, done, total: lineCount });
      yield item;
    }
  }
  const shown = (figure: Figure): Figure =>
    Symbol.asyncIterator in figure.items ? { ...figure, items: counted(figure.items) } : figure;
  try {
    await print(
      reports.map((report) => ({
        ...report,
        sections: report.sections.map((section) => ({ ...section, figures: section.figures.map(shown) })),
      })),
    );
  } finally {
    bars.end();
  }
}

/** The JSON of an object without its last brace, ready for another member. */
function opened(object: object): string {
  const members = JSON.stringify(object).slice(0, -1);
  return members === '{' ? members : `${members},`;
}

function headOf({ installation, period, of, recordedBy, outside, more }: InstallationReport) {
  const { startDate } = installation;
  return {
    installation: installation.id,
    name: installation.name,
    currency: installation.currency,
    from: period.from,
    through: period.through,
    ...(of === 'span' && {
      basis: reportTexts.salesBooks({ startDate }),
      start_date: startDate,
      recorded_by: recordedBy?.toISOString() ?? null,
    }),
    not_in_books: outside,
    ...more,
  };
}

async function* sectionJson({ shape, figures, total }: Section, decimals: number): AsyncGenerator<string> {
  yield '{"figures":[';
  for (const [index, figure] of figures.entries()) {
    yield `${index > 0 ? ',' : ''}${opened({ ...figure.keys, ...amountsOf(figure.amounts, decimals) })}"documents":[`;
    let isFirst = true;
    for await (const { document, facts, amounts } of itemsOf(figure)) {
      const own = { document, ...facts, ...amountsOf(amounts, decimals, shape.amounts) };
      yield `${isFirst ? '' : ','}${JSON.stringify(own)}`;
      isFirst = false;
    }
    yield ']}';
  }
  yield `],"total":${JSON.stringify(amountsOf(total, decimals))}}`;
}

function amountsOf(
  amounts: Readonly<Record<string, Money>>,
  decimals: number,
  all: readonly Column[] = [],
): Record<string, string> {
  const zeros = all.map(({ name }) => [name, formatExact(amounts[name] ?? zero, decimals)] as const);
  return Object.fromEntries([
    ...zeros,
    ...Object.entries(amounts).map(([name, amount]) => [name, formatExact(amount, decimals)] as const),
  ]);
}
