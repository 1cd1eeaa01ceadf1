import { formatExact, type Money, zero } from '../domain/money.ts';
import { csvRow } from '../ledger/export/csv-cell.ts';
import { cellText, type InstallationReport } from './installation-report.ts';
import type { Column, Section } from './report-sections.ts';

/** The names of the tables in these reports. A CSV file has one table, so that no amount is added up twice. */
export function tableNames(reports: readonly InstallationReport[]): string[] {
  return [...new Set(reports.flatMap(({ sections }) => sections.map(({ shape }) => shape.name)))];
}

/** The reports with this table alone. */
export function onlyTable(reports: readonly InstallationReport[], table: string): InstallationReport[] {
  return reports.map((each) => ({ ...each, sections: each.sections.filter(({ shape }) => shape.name === table) }));
}

const csvSyntax = { separator: ',', decimalPoint: '.' } as const;

/** The longest text that is kept before it is given on, in characters. */
const pieceLength = 65_536;

/** A line per document of each figure, many lines a piece. Give reports with one table (`onlyTable`). */
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
  let piece = csvRow(
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
        for await (const item of figure.items) {
          piece += csvRow(
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
          if (piece.length < pieceLength) continue;
          yield piece;
          piece = '';
        }
    }
  }
  yield piece;
}
