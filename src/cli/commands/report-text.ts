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
  /** Documents that are missing in the figures, because they are not in the books. */
  outside: Outside;
  /** Only of `vat`: differences between the VAT on prepayments and their unused amounts. Null if no VAT is posted on prepayments. */
  prepaymentVat?: readonly ReportedDifference[] | null;
}

/** Formats an amount with the currency's decimals, or more: sums of the source's rows are not rounded. */
function amountText(amount: Money, decimals: number): string {
  return (amount.isZero() ? zero : amount).toFixed(Math.max(decimals, amount.decimalPlaces()));
}

function cellText(cell: Cell | undefined): string {
  return cell === null || cell === undefined ? '' : String(cell);
}

const csvSyntax = { separator: ',', decimalPoint: '.' } as const;

/** The JSON of `report NAME`. The amounts of a figure's documents add up to the figure. */
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

/** A table per section with its total; with `documents`, also the documents of each figure. */
export function reportText(reports: readonly InstallationReport[], { documents }: { documents: boolean }): string {
  if (reports.length === 0) return 'No installation has a start_date, so there are no opening balances.';
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

/** Notes beside the figures: missing documents, and VAT that may be declared twice. */
export function notedLines(report: InstallationReport): string[] {
  return [...missingLines(report), ...prepaymentVatLines(report)];
}

function prepaymentVatLines({ prepaymentVat, installation }: InstallationReport): string[] {
  if (!prepaymentVat || prepaymentVat.length === 0) return [];
  return [
    [
      `VAT on prepayments of ${labelOf(installation)} differs from the VAT of the unused amounts (E8) and may be declared twice. \`vetledger problems match\` proposes matches:`,
      ...prepaymentVat.map(({ document, message }) => `  ${document}: ${message}`),
    ].join('\n'),
  ];
}

/** A line about documents that are not in the books. Empty if there are none. */
function missingLines({ outside, period, of, installation }: InstallationReport): string[] {
  if (Object.keys(outside).length === 0) return [];
  const dated = of === 'month' ? `from ${period.from} to ${period.through}` : `up to ${period.through}`;
  return [
    `Missing in these figures, because not in the books of ${labelOf(installation)}: ${outsideText(outside)}, dated ${dated} or without a date yet; \`vetledger problems\``,
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
 * A section as text. A figure that is zero in every column is shown only with its documents.
 */
function sectionText({ shape, figures: all, total }: Section, report: InstallationReport, documents: boolean): string {
  const figures = documents ? all : all.filter(({ amounts }) => !Object.values(amounts).every(isZero));
  const left = all.length - figures.length;
  const note = left === 0 ? [] : [`  ${count(left, 'line')} of 0.00 not shown; \`--documents\` shows them`];
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

/** A line per document. The documents of a figure add up to the figure. */
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
