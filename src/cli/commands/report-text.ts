import type { InstallationConfig } from '../../config/load-config.ts';
import type { Outside } from '../../documents/outside-books.ts';
import { labelOf } from '../../domain/installation-name.ts';
import { type Money, zero } from '../../domain/money.ts';
import { csvRow } from '../../ledger/export/csv-cell.ts';
import type { ReportedDifference } from '../../reconcile/reconcile-report.ts';
import type { Cell, Column, Item, Period, Section } from '../../reports/report-sections.ts';
import { columns, count } from '../render/text.ts';
import { outsideText } from '../render/verdict.ts';

export interface InstallationReport {
  report: string;
  installation: Pick<InstallationConfig, 'id' | 'name' | 'currency' | 'decimals'>;
  period: Period;
  of: 'month' | 'day' | 'start';
  sections: readonly Section[];
  /** What the figures lack, because it is not in the books. */
  outside: Outside;
  /** Of `vat`: prepayments whose VAT is not that of what is unused; null where no VAT is posted on prepayments. */
  prepaymentVat?: readonly ReportedDifference[] | null;
}

/** With the currency's decimals; sums of the source's rows may have more, and are told as they are. */
function amountText(amount: Money, decimals: number): string {
  return (amount.isZero() ? zero : amount).toFixed(Math.max(decimals, amount.decimalPlaces()));
}

function cellText(cell: Cell | undefined): string {
  return cell === null || cell === undefined ? '' : String(cell);
}

const csvSyntax = { separator: ',', decimalPoint: '.' } as const;

/** What `report NAME --json` prints: each figure with its documents, whose amounts add up to it. */
export function reportDocument(name: string, reports: readonly InstallationReport[]) {
  return {
    report: name,
    installations: reports.map(({ installation, period, sections, outside, prepaymentVat }) => ({
      installation: installation.id,
      name: installation.name,
      currency: installation.currency,
      from: period.from,
      through: period.through,
      not_in_books: outside,
      ...(prepaymentVat ? { prepayment_vat_differences: prepaymentVat } : {}),
      sections: Object.fromEntries(
        sections.map(({ shape, figures, total }) => [
          shape.name,
          {
            figures: figures.map(({ keys, amounts, items }) => ({
              ...keys,
              ...amountsOf(amounts, installation.decimals),
              documents: items.map(({ document, facts, amounts: own }) => ({
                document,
                ...facts,
                ...amountsOf(own, installation.decimals, shape.amounts),
              })),
            })),
            total: amountsOf(total, installation.decimals),
          },
        ]),
      ),
    })),
  };
}

function amountsOf(
  amounts: Readonly<Record<string, Money>>,
  decimals: number,
  all: readonly Column[] = [],
): Record<string, string> {
  const zeros = all.map(({ name }) => [name, amountText(amounts[name] ?? zero, decimals)] as const);
  return Object.fromEntries([
    ...zeros,
    ...Object.entries(amounts).map(([name, amount]) => [name, amountText(amount, decimals)] as const),
  ]);
}

/** A table for each section, with its total; with `documents` each figure's documents below it. */
export function reportText(reports: readonly InstallationReport[], { documents }: { documents: boolean }): string {
  if (reports.length === 0) return 'No installation has a start_date, so there is no cut-over.';
  return reports
    .map((report) =>
      [
        heading(report),
        ...report.sections.map((section) => sectionText(section, report, documents)),
        ...notedLines(report),
      ].join('\n\n'),
    )
    .join('\n\n');
}

/** What is told beside the figures: what they lack, and what may be declared twice in them. */
export function notedLines(report: InstallationReport): string[] {
  return [...missingLines(report), ...prepaymentVatLines(report)];
}

function prepaymentVatLines({ prepaymentVat, installation }: InstallationReport): string[] {
  if (!prepaymentVat || prepaymentVat.length === 0) return [];
  return [
    [
      `VAT on prepayments of ${labelOf(installation)} that is not that of what is unused now (E8); until it is, it may be declared twice. \`vetledger problems match\` proposes matches:`,
      ...prepaymentVat.map(({ document, message }) => `  ${document}: ${message}`),
    ].join('\n'),
  ];
}

/** A line about what is not in the books and so in no figure; none where everything is. */
function missingLines({ outside, period, of, installation }: InstallationReport): string[] {
  if (Object.keys(outside).length === 0) return [];
  const dated = of === 'month' ? `from ${period.from} to ${period.through}` : `up to ${period.through}`;
  return [
    `Not in these figures, because not in the books of ${labelOf(installation)}: ${outsideText(outside)}, dated ${dated} or without a date yet; \`vetledger problems\``,
  ];
}

function heading({ installation, period: { from, through }, of }: InstallationReport): string {
  const when = { month: `${from} to ${through}`, day: `at the end of ${through}`, start: `at the end of ${through}` }[
    of
  ];
  return `Installation ${labelOf(installation)}, ${when}, ${installation.currency}`;
}

function isZero(amount: Money | undefined): boolean {
  return amount === undefined || amount.isZero();
}

/**
 * A section as text. A figure whose documents offset each other in every column stands only with its documents: alone it says nothing.
 */
function sectionText({ shape, figures: all, total }: Section, report: InstallationReport, documents: boolean): string {
  const figures = documents ? all : all.filter(({ amounts }) => !Object.values(amounts).every(isZero));
  const left = all.length - figures.length;
  const note =
    left === 0 ? [] : [`  ${count(left, 'line')} of 0.00 not shown: \`--documents\` has what offsets each other`];
  if (figures.length === 0) return [shape.title, '  nothing', ...note].join('\n');
  const { decimals } = report.installation;
  const amounts = shape.amounts.filter(
    ({ name, isRare }) => !isRare || figures.some(({ items }) => items.some((item) => !isZero(item.amounts[name]))),
  );
  const details = documents ? [{ name: 'document', title: 'document' }, ...shape.facts] : [];
  const money = (of: Item['amounts']) => amounts.map(({ name }) => amountText(of[name] ?? zero, decimals));
  const rows = figures.flatMap(({ keys, amounts: sum, items }) => [
    [...shape.keys.map(({ name }) => cellText(keys[name])), ...details.map(() => ''), ...money(sum)],
    ...(documents ? items : []).map((item) => [
      ...shape.keys.map(() => ''),
      item.document,
      ...shape.facts.map(({ name }) => cellText(item.facts[name])),
      ...money(item.amounts),
    ]),
  ]);
  const first = shape.keys.length + details.length;
  const header = [...shape.keys, ...details, ...amounts].map(({ title }) => title);
  const sums = ['total', ...Array.from({ length: first - 1 }, () => ''), ...money(total)];
  const lines = columns(
    [header, ...rows, sums],
    amounts.map((_, index) => first + index),
  );
  return [shape.title, ...lines.map((line) => `  ${line}`), ...note].join('\n');
}

/** A line for each document of each figure: the documents of a figure add up to it. */
export function* reportCsv(reports: readonly InstallationReport[]): Generator<string> {
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
        shape.amounts.some((column) => column.name === name) ? amountText(amount ?? zero, installation.decimals) : '';
      for (const item of figures.flatMap(({ items }) => items)) {
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
