import { createHash } from 'node:crypto';
import { type Money, zero } from '../../../domain/money.ts';
import { inLanguage } from '../../../languages/language.ts';
import { cellText, itemsOf } from '../../../reports/installation-report.ts';
import {
  type Cell,
  type Figure,
  type Item,
  type Section,
  type SectionShape,
  sectionOf,
} from '../../../reports/report-sections.ts';
import type { Language } from '../../../texts/catalogue.ts';
import { plainWords } from '../../../wording/cells.ts';
import { type Choice, placeText } from './choice.ts';

/** Lines of a table on one page. */
export const linesOfPage = 500;

/** A table of figures, or the lines of one figure, on a page. Totals are those of all pages. */
export type ShownSection = {
  shape: SectionShape;
  total: Section['total'];
  /** The fields of the query that lead to the next page. Null on the last page. */
  next: Record<string, string | number> | null;
  isFirst: boolean;
} & ({ figures: readonly Figure[] } | { figure: Figure; items: readonly Item[] });

/** The id of a figure in a link. It contains no name of a client, because browsers store addresses. */
export function figureId({ keys }: SectionShape, figure: Figure): string {
  const values = keys.map(({ name }) => figure.keys[name] ?? null);
  return createHash('sha256').update(JSON.stringify(values)).digest('hex').slice(0, 16);
}

type Narrow = Pick<Choice, 'section' | 'figure' | 'search'>;

/** The chosen table and figure. A search selects figures by the columns that identify them, and lines of a figure by their text, in the language of the reader. */
export function narrowed(
  sections: readonly Section[],
  { section, figure, search }: Narrow,
  language: Language,
): Section[] {
  const matches = matcher(search, language);
  const searched = (one: Figure): Figure => ({ ...one, items: matching(one, matches) });
  return sections
    .filter(({ shape }) => section === null || shape.name === section)
    .map((each) => {
      const { shape, figures } = each;
      if (isOfLines(shape)) return search === '' ? each : withFigures(each, figures.map(searched));
      if (figure !== null) {
        const chosen = figures.filter((one) => figureId(shape, one) === figure);
        return withFigures(each, search === '' ? chosen : chosen.map(searched));
      }
      const found = figures.filter(({ keys }) => matches(keys));
      return search === '' ? each : withFigures(each, found);
    });
}

/** Whether the lines of the table are its content, because it has one figure. */
export function isOfLines({ keys, name }: SectionShape): boolean {
  return keys.length === 0 || name === 'account';
}

function withFigures({ shape, total }: Section, figures: readonly Figure[]): Section {
  return Object.keys(total).length === 0 ? { shape, figures, total } : sectionOf(shape, figures);
}

type Matches = (cells: Readonly<Record<string, Cell>>, document?: string) => boolean;

async function* matching(figure: Figure, matches: Matches): AsyncGenerator<Item> {
  for await (const item of itemsOf(figure)) if (matches(item.facts, item.document)) yield item;
}

/** Whether a line has the text: in its codes, or in the words that the page shows for them. */
function matcher(search: string, language: Language): Matches {
  const wanted = search.toLowerCase();
  const has = (text: string) => text.toLowerCase().includes(wanted);
  return (cells, document = '') =>
    [document, ...Object.values(cells).map(cellText)].some(has) ||
    inLanguage(language, () => Object.keys(cells).some((name) => has(plainWords(name, cells))));
}

/** Reads a page of each narrowed table. */
export async function readPage(
  sections: readonly Section[],
  { section, figure, search, skipped, after }: Narrow & Pick<Choice, 'skipped' | 'after'>,
): Promise<ShownSection[]> {
  const shown: ShownSection[] = [];
  for (const { shape, figures, total } of sections) {
    const from = section === null && !isOfLines(shape) ? 0 : skipped;
    const [first] = figures;
    if (first !== undefined && (figure !== null || isOfLines(shape))) {
      const { items, next, amounts } = await readLines(first, from, search !== '');
      const isFirst = from === 0 && after === null;
      shown.push({ shape, total: amounts ?? first.amounts, next, isFirst, figure: first, items });
      continue;
    }
    const until = from + linesOfPage;
    const next = figures.length > until ? { line: until } : null;
    shown.push({ shape, total, next, isFirst: from === 0, figures: figures.slice(from, until) });
  }
  return shown;
}

/** The lines of a page. A search needs all lines for their sum, which is `amounts`. */
async function readLines(figure: Figure, from: number, isSummed: boolean) {
  const items: Item[] = [];
  const sums: Record<string, Money> = {};
  let n = 0;
  for await (const item of itemsOf(figure)) {
    if (n >= from && n < from + linesOfPage) items.push(item);
    n += 1;
    if (n > from + linesOfPage && !isSummed) break;
    if (isSummed)
      for (const [name, amount] of Object.entries(item.amounts)) sums[name] = (sums[name] ?? zero).plus(amount);
  }
  const place = isSummed ? undefined : items.at(-1)?.at;
  const next = place === undefined ? { line: from + linesOfPage } : { after: placeText(place) };
  return { items, next: n > from + linesOfPage ? next : null, amounts: isSummed ? sums : null };
}
