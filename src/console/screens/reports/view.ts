import type { InstallationConfig } from '../../../config/load-config.ts';
import { localTimeOf } from '../../../domain/dates.ts';
import { formatExact, zero } from '../../../domain/money.ts';
import { shown } from '../../../languages/language.ts';
import { type InstallationReport, outsideNotes, shownAmounts } from '../../../reports/installation-report.ts';
import type { Column, Figure, Item } from '../../../reports/report-sections.ts';
import { windowTexts } from '../../../texts/commands/windows.ts';
import { consoleTexts, screenNames } from '../../../texts/console/console.ts';
import { reportsTexts as texts } from '../../../texts/console/reports.ts';
import { columnTitles } from '../../../texts/reports/columns.ts';
import { reportNotes, reportTexts } from '../../../texts/reports/reports.ts';
import { plainWords } from '../../../wording/cells.ts';
import { type Content, html, local, type Node } from '../../html.ts';
import { documentLink } from '../../parts/document-link.ts';
import { stepsIn, withReports } from '../../parts/next-step.ts';
import { table } from '../../parts/table.ts';
import type { Rights } from '../../users/rights.ts';
import { figureId, isOfLines, type ShownSection } from './narrow.ts';

/** Where links of a report lead. */
export interface Place {
  installation: Pick<InstallationConfig, 'id' | 'decimals'>;
  /** The address of the report. Null for figures without links. */
  path: string | null;
  /** The fields of the form, which links keep. */
  kept: Readonly<Record<string, string>>;
}

/** The days of the figures, and what entries they cover. */
export function reportHead({
  installation,
  period: { from, through },
  of,
  recordedBy,
  headed = [],
}: InstallationReport): Node {
  const { currency, startDate, timezone } = installation;
  const days =
    of === 'month' || of === 'span'
      ? windowTexts.interval({ from: String(from), to: through })
      : reportNotes.endOf({ through });
  return html`<p>${days}, ${currency}</p>
    ${of === 'span' ? html`<p class="dim">${reportTexts.salesBooks({ startDate })}</p>` : null}
    ${recordedBy === null ? null : html`<p>${reportTexts.recordedBy({ time: localTimeOf(recordedBy, timezone) })}</p>`}
    ${headed.map((line) => html`<p>${line()}</p>`)}`;
}

/** Notes beside the figures. Missing documents link to the screen where people decide about them. */
export function reportNotesView(rights: Rights, report: InstallationReport): Node {
  const decide = html`<a href=${`/${report.installation.id}/decide`}>${screenNames.decide}</a>`;
  return html`${outsideNotes(report).map(({ text, isNext }) =>
    isNext ? html`<p>${text}</p>` : html`<p><span class="needed">${text}</span> ${decide}</p>`,
  )}
  ${(report.notes ?? []).map((note) => {
    const { links } = stepsIn(rights, report.installation.id, note);
    return html`${shown(note)
      .split('\n')
      .map((line) => html`<p>${withReports(rights, report.installation.id, line)}</p>`)}<p>${links}</p>`;
  })}`;
}

/** A table of figures with links to their documents, or of the lines of one figure. */
export function sectionView(section: ShownSection, place: Place): Node {
  const { shape } = section;
  const isLines = 'items' in section;
  const own = {
    ...place.kept,
    section: shape.name,
    ...(isLines && !isOfLines(shape) ? { figure: figureId(shape, section.figure) } : {}),
  };
  return html`<section>
    <h2>${shown(shape.title)}</h2>
    ${isLines ? linesTable(section, place) : figuresTable(section, place)}
    ${place.path === null ? null : pageLinks(section, place.path, own)}
  </section>`;
}

function pageLinks({ shape, next, isFirst }: ShownSection, path: string, own: Record<string, string>): Node {
  return html`<p class="pages">
    ${isFirst ? null : html`<a href=${local(path, own)}>${consoleTexts.firstPage}</a>`}
    ${next === null ? null : html`<a href=${local(path, { ...own, ...next })} rel="next">${consoleTexts.nextPage}</a>`}
    <a href=${local(path, { ...own, csv: shape.name })}>${consoleTexts.csv}</a>
  </p>`;
}

function figuresTable(
  section: ShownSection & { figures: readonly Figure[] },
  { installation, path, kept }: Place,
): Node {
  const { shape, figures, total } = section;
  const amounts = shownAmounts(shape, figures);
  const open = (figure: Figure) =>
    local(path ?? '/', { ...kept, section: shape.name, figure: figureId(shape, figure) });
  return table({
    columns: [...titles(shape.keys), ...numbers(amounts)],
    rows: figures.map((figure) => {
      const cells = shape.keys.map(({ name }) => plainWords(name, figure.keys));
      // The first cell with a text is the link.
      const at = cells.findIndex((cell) => cell !== '');
      const linked: Content[] = cells.map((cell, index) =>
        path !== null && index === Math.max(at, 0)
          ? html`<a href=${open(figure)}>${cell || texts.documents}</a>`
          : cell,
      );
      return [...linked, ...money(figure.amounts, amounts, installation.decimals)];
    }),
    ...totalOf(total, shape.keys.length, amounts, installation.decimals),
  });
}

function linesTable(section: ShownSection & { figure: Figure; items: readonly Item[] }, { installation }: Place): Node {
  const { shape, figure, items, total } = section;
  const { id, decimals } = installation;
  const amounts = shownAmounts(shape, [figure]);
  const rows = items.map((item) => [
    documentLink(id, item.document),
    ...shape.facts.map(({ name }) => plainWords(name, item.facts)),
    ...money(item.amounts, amounts, decimals),
  ]);
  return html`${shape.keys.length === 0 ? null : figureHead(shape.keys, figure)}
  ${table({
    columns: [
      { title: columnTitles.document, isWhole: true },
      ...shape.facts.map(({ name, title }) => ({
        ...{ title, isNumber: name === 'running_balance', isWhole: !['text', 'name'].includes(name) },
      })),
      ...numbers(amounts),
    ],
    rows,
    ...totalOf(total, shape.facts.length + 1, amounts, decimals),
  })}`;
}

function figureHead(keys: readonly Column[], figure: Figure): Node {
  const given = keys.filter(({ name }) => plainWords(name, figure.keys) !== '');
  return html`<dl>${given.map(({ name, title }) => html`<dt>${title}</dt><dd>${plainWords(name, figure.keys)}</dd>`)}</dl>`;
}

function titles(columns: readonly Column[]) {
  return columns.map(({ title }) => ({ title }));
}

function numbers(columns: readonly Column[]) {
  return columns.map(({ title }) => ({ title, isNumber: true }));
}

function money(of: Item['amounts'], amounts: readonly Column[], decimals: number): string[] {
  return amounts.map(({ name }) => formatExact(of[name] ?? zero, decimals));
}

function totalOf(
  total: Item['amounts'],
  before: number,
  amounts: readonly Column[],
  decimals: number,
): { total?: Content[] } {
  if (Object.keys(total).length === 0) return {};
  const blanks = Array.from({ length: before - 1 }, () => '');
  return { total: [consoleTexts.total, ...blanks, ...money(total, amounts, decimals)] };
}
