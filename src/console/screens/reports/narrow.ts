import { createHash } from 'node:crypto';
import { type Money, zero } from '../../../domain/money.ts';
import { cellText, itemsOf } from '../../../reports/installation-report.ts';
import {
  type Figure,
  type Item,
  type Section,
  type SectionShape,
  sectionOf,
} from '../../../reports/report-sections.ts';
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

/** The chosen table and figure. A search selects figures by the columns that identify them, and lines of a figure by their text. */
export function narrowed(sections: readonly Section[], { section, figure, search }: Narrow): Section[] {
  return sections
    .filter(({ shape }) => section === null || shape.name === section)
    .map((each) => {
      const { shape, figures } = each;
      if (isOfLines(shape))
        return search === ''
          ? each
          : withFigures(
              each,
              figures.map((one) => searched(one, search)),
            );
      if (figure !== null) {
        const chosen = figures.filter((one) => figureId(shape, one) === figure);
        return withFigures(each, search === '' ? chosen : chosen.map((one) => searched(one, search)));
      }
      const found = figures.filter(({ keys }) => contains(Object.values(keys).map(cellText), search));
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

function searched(figure: Figure, search: string): Figure {
  return { ...figure, items: matching(figure, search) };
}

async function* matching(figure: Figure, search: string): AsyncGenerator<Item> {
  for await (const item of itemsOf(figure))
    if (contains([item.document, ...Object.values(item.facts).map(cellText)], search)) yield item;
}

function contains(texts: readonly string[], search: string): boolean {
  const wanted = search.toLowerCase();
  return texts.some((text) => text.toLowerCase().includes(wanted));
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
