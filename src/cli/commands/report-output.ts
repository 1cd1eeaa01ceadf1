import type { InstallationConfig } from '../../config/load-config.ts';
import type { Outside } from '../../documents/outside-books.ts';
import { formatExact, type Money, zero } from '../../domain/money.ts';
import { csvRow } from '../../ledger/export/csv-cell.ts';
import type { Cell, Column, Figure, Item, Period, Section } from '../../reports/report-sections.ts';
import { reportTexts } from '../../texts/reports/reports.ts';

export interface InstallationReport {
  report: string;
  installation: Pick<InstallationConfig, 'id' | 'name' | 'currency' | 'decimals' | 'timezone' | 'startDate'>;
  period: Period;
  of: 'month' | 'day' | 'start' | 'span';
  /** The report contains only entries recorded by this time. Null for all entries. */
  recordedBy: Date | null;
  sections: readonly Section[];
  /** Documents that are missing in the figures, because they are not in the books. */
  outside: Outside;
  /** Further fields of the JSON. */
  more?: object;
  /** Lines below the heading. */
  headed?: readonly string[];
  /** Further notes beside the figures. */
  notes?: readonly string[];
}

export function cellText(cell: Cell | undefined): string {
  return cell === null || cell === undefined ? '' : String(cell);
}

/** The items of a figure, read while they are printed. */
export async function* itemsOf({ items }: Figure): AsyncGenerator<Item> {
  yield* items;
}

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

/** The names of the tables in these reports. A CSV file has one table, so that no amount is added up twice. */
export function tableNames(reports: readonly InstallationReport[]): string[] {
  return [...new Set(reports.flatMap(({ sections }) => sections.map(({ shape }) => shape.name)))];
}

/** The reports with this table alone. */
export function onlyTable(reports: readonly InstallationReport[], table: string): InstallationReport[] {
  return reports.map((each) => ({ ...each, sections: each.sections.filter(({ shape }) => shape.name === table) }));
}

const csvSyntax = { separator: ',', decimalPoint: '.' } as const;

/** A line per document of each figure. Give reports with one table (`onlyTable`). */
export async function* reportCsv(reports: readonly InstallationReport[]): AsyncGenerator<string> {
  const all = reports.flatMap(({ sections }) => sections);
  const names = (of: (section: Section) => readonly Column[]) => [
    ...new Set(all.flatMap((section) => of(section).map(({ name }) => name))),
  ];
  const [keys, facts, amounts] = [
    names(({ shape }) => shape.keys),
    names(({ shape }) => shape.facts),
    names(({ shape }) => shape.amounts),
  ];
  const clashes = new Set(keys.filter((name) => facts.includes(name)));
  const factTitle = (name: string) => (clashes.has(name) ? `document_${name}` : name);
  yield csvRow(
    [
      'installation',
      'from',
      'through',
      'currency',
      'section',
      ...keys,
      'document',
      ...facts.map(factTitle),
      ...amounts,
    ],
    csvSyntax,
  );
  for (const { installation, period, sections } of reports) {
    const own = [String(installation.id), period.from ?? '', period.through, installation.currency];
    for (const { shape, figures } of sections) {
      const money = (amount: Money | undefined, name: string) =>
        shape.amounts.some((column) => column.name === name) ? formatExact(amount ?? zero, installation.decimals) : '';
      for (const figure of figures)
        for await (const item of itemsOf(figure)) {
          yield csvRow(
            [
              ...own,
              shape.name,
              ...keys.map((name) => cellText(item.keys[name])),
              item.document,
              ...facts.map((name) => cellText(item.facts[name])),
              ...amounts.map((name) => money(item.amounts[name], name)),
            ],
            csvSyntax,
          );
        }
    }
  }
}
