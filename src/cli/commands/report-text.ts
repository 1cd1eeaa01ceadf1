import { localTimeOf } from '../../domain/dates.ts';
import { labelOf } from '../../domain/installation-name.ts';
import { formatExact, zero } from '../../domain/money.ts';
import { inLanguage, shown } from '../../languages/language.ts';
import { type InstallationReport, itemsOf, outsideNotes, shownAmounts } from '../../reports/installation-report.ts';
import type { Column, Figure, Item, Section } from '../../reports/report-sections.ts';
import type { Language } from '../../texts/catalogue.ts';
import { labels } from '../../texts/commands/labels.ts';
import { windowTexts } from '../../texts/commands/windows.ts';
import { columnTitles } from '../../texts/reports/columns.ts';
import { reportNotes, reportTexts } from '../../texts/reports/reports.ts';
import { cellWords, documentWords } from '../../wording/cells.ts';
import { count } from '../../wording/words.ts';
import { columns } from '../render/text.ts';

interface Shown {
  documents: boolean;
  /** The language of the texts. Default: English. */
  language?: Language;
}

/** A table per section with its total, in pieces; with `documents`, also the documents of each figure. */
export async function* reportText(
  reports: readonly InstallationReport[],
  { documents, language = 'en' }: Shown,
): AsyncGenerator<string> {
  if (reports.length === 0) yield inLanguage(language, () => reportNotes.noStartDate);
  for (const [index, report] of reports.entries()) {
    yield `${index > 0 ? '\n\n' : ''}${inLanguage(language, () => heading(report))}`;
    for (const section of report.sections) {
      yield '\n\n';
      yield* sectionText(section, report, { documents, language });
    }
    for (const line of inLanguage(language, () => notedLines(report))) yield `\n\n${line}`;
  }
}

/** Notes beside the figures, such as missing documents. */
export function notedLines(report: InstallationReport): string[] {
  const outside = outsideNotes(report).map(({ text }) => `${text}; \`vetledger problems\``);
  return [...outside, ...(report.notes ?? []).map((note) => shown(note))];
}

function heading({ installation, period: { from, through }, of, recordedBy, headed = [] }: InstallationReport): string {
  const { startDate, timezone } = installation;
  const when =
    of === 'month' || of === 'span'
      ? windowTexts.interval({ from: String(from), to: through })
      : reportNotes.endOf({ through });
  const first = [labels.installation({ label: labelOf(installation) }), when, installation.currency].join(', ');
  if (of !== 'span') return [first, ...headed.map((line) => line())].join('\n');
  const recorded = recordedBy && reportTexts.recordedBy({ time: localTimeOf(recordedBy, timezone) });
  return [first, reportTexts.salesBooks({ startDate }), ...(recorded ? [recorded] : [])].join('\n');
}

/** Rows that are formatted together. Later rows of a long table may be wider. */
const rowsAtOnce = 2_000;

/**
 * A section as text. A figure that is zero in every column is shown only with its documents.
 */
async function* sectionText(
  { shape, figures: all, total }: Section,
  report: InstallationReport,
  { documents, language }: Required<Shown>,
): AsyncGenerator<string> {
  const figures = documents
    ? all
    : all.filter(({ amounts }) => Object.values(amounts).some((amount) => !amount.isZero()));
  const left = all.length - figures.length;
  const zeros = inLanguage(language, () => reportNotes.zeroLines({ lines: count(left, 'line') }));
  const note = left === 0 ? '' : `\n  ${zeros}`;
  if (figures.length === 0) {
    yield `${shown(shape.title, language)}\n  ${inLanguage(language, () => labels.nothing)}${note}`;
    return;
  }
  const { decimals } = report.installation;
  const amounts = shownAmounts(shape, figures);
  const cells = (names: readonly Column[], of: Figure['keys']) =>
    inLanguage(language, () => names.map(({ name }) => cellWords(name, of)));
  const details = documents
    ? [{ name: 'document', title: inLanguage(language, () => columnTitles.document) }, ...shape.facts]
    : [];
  const money = (of: Item['amounts']) => amounts.map(({ name }) => formatExact(of[name] ?? zero, decimals));
  const first = shape.keys.length + details.length;
  const right = [
    ...details.flatMap(({ name }, index) => (name === 'running_balance' ? [shape.keys.length + index] : [])),
    ...amounts.map((_, index) => first + index),
  ];
  yield shown(shape.title, language);
  let kept = [inLanguage(language, () => [...shape.keys, ...details, ...amounts].map(({ title }) => title))];
  const widths: number[] = [];
  const table = () => {
    const lines = columns(kept, right, widths);
    kept = [];
    return lines.map((line) => `\n  ${line}`).join('');
  };
  for (const figure of figures) {
    const { keys, amounts: sum } = figure;
    if (shape.keys.length > 0) kept.push([...cells(shape.keys, keys), ...details.map(() => ''), ...money(sum)]);
    if (!documents) continue;
    for await (const item of itemsOf(figure)) {
      kept.push([
        ...shape.keys.map(() => ''),
        inLanguage(language, () => documentWords(item.document)),
        ...cells(shape.facts, item.facts),
        ...money(item.amounts),
      ]);
      if (kept.length >= rowsAtOnce) yield table();
    }
  }
  if (Object.keys(total).length > 0)
    kept.push([
      inLanguage(language, () => labels.total),
      ...Array.from({ length: first - 1 }, () => ''),
      ...money(total),
    ]);
  yield table() + note;
}
