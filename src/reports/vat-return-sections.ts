import { zero } from '../domain/money.ts';
import { type FilledBox, fillForm, type VatForm } from '../mapping/vat-form.ts';
import { reportTexts, sectionTitles, vatParts } from '../texts/reports/reports.ts';
import { type Cell, columnsOf, type Item, type Section, type SectionShape, section } from './report-sections.ts';
import type { VatPeriod } from './vat-lines.ts';
import { type ReturnLine, tieOf, type VatReturnView } from './vat-return.ts';

const groupKeys = columnsOf('period', 'documents_of', 'kind', 'code', 'group', 'rate');
const facts = columnsOf('date', 'entries');
const amounts = columnsOf('base', 'tax');
const shape = (name: string, title: string, own: SectionShape['keys']): SectionShape => ({
  ...{ name, title, facts, amounts },
  keys: [...own, ...groupKeys],
});
const shapes = {
  filed: shape('filed', sectionTitles.vatFiled, columnsOf('version', 'is_late')),
  to_file: shape('to_file', sectionTitles.vatToFile, columnsOf('is_late')),
  since: shape('since', sectionTitles.vatSince, columnsOf('is_late')),
  late: shape('late', sectionTitles.vatLateOpen, []),
  taken_elsewhere: shape('taken_elsewhere', sectionTitles.vatTakenElsewhere, columnsOf('return')),
  cancelled_out: shape('cancelled_out', sectionTitles.vatSettled, columnsOf('entry')),
};

/** The sections of a return: its own lines, `since`, open late lines, and other amounts on the VAT accounts. */
export function returnSections(
  period: VatPeriod,
  view: VatReturnView,
  { toFile, form }: { toFile: readonly ReturnLine[] | null; form: VatForm | null },
): Section[] {
  const isFiled = view.filed.length > 0 || toFile === null;
  const filing = new Set(toFile);
  const left = (lines: readonly ReturnLine[]) => lines.filter((line) => !filing.has(line));
  const declared = [...view.filed, ...(toFile ?? [])];
  return [
    ...(form === null ? [] : formSections(form, declared)),
    ...(isFiled ? [sectionOf('filed', view.filed)] : []),
    ...(toFile === null ? [sectionOf('since', view.since)] : [sectionOf('to_file', toFile)]),
    sectionOf('late', left(view.late)),
    ...ifAny('taken_elsewhere', view.takenElsewhere),
    ...ifAny('cancelled_out', view.cancelledOut),
    ...(toFile === null ? [tieSection(period, view)] : []),
  ];
}

function ifAny(name: keyof typeof shapes, lines: readonly ReturnLine[]): Section[] {
  return lines.length === 0 ? [] : [sectionOf(name, lines)];
}

function sectionOf(name: keyof typeof shapes, lines: readonly ReturnLine[]): Section {
  const { keys } = shapes[name];
  const items = lines.map((line): Item => {
    const all = keysOf(line);
    const own = Object.fromEntries(keys.map(({ name: key }) => [key, all[key] ?? null]));
    return { ...documentOf(line), keys: own, amounts: { base: line.base, tax: line.tax } };
  });
  const text = (item: Item) => keys.map(({ name: key }) => String(item.keys[key] ?? '')).join('\u0000');
  return section(
    shapes[name],
    items.toSorted((a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0)),
  );
}

function documentOf({ kindOfDocument, documentId, day, entry }: ReturnLine): Pick<Item, 'document' | 'facts'> {
  return { document: `${kindOfDocument} ${documentId}`, facts: { date: day, entries: entry } };
}

function keysOf(line: ReturnLine): Record<string, Cell> {
  const { period, kindOfDocument, kind, code, group, rate, isLate, version, takenBy, entry } = line;
  return {
    ...{
      period,
      documents_of: kindOfDocument === 'vat_due' ? 'payments' : `${kindOfDocument}s`,
      kind,
      code,
      group,
      rate,
    },
    ...{ is_late: isLate ? 'late' : null, version, return: takenBy, entry },
  };
}

/**
 * The boxes with bases and the boxes with tax; these two have no common total. Each box has the exact amounts of its documents,
 * and its last item is the difference that the form's rounding makes.
 */
export function formSections(form: VatForm, lines: readonly ReturnLine[]): Section[] {
  const filled = fillForm(form, lines);
  return (['base', 'tax'] as const).flatMap((of): Section[] => {
    const boxes = filled.filter((box) => box.of === of);
    const formShape: SectionShape = {
      ...{ name: `form_${of}`, title: sectionTitles.vatForm({ form: form.name, of }), facts },
      ...{ keys: columnsOf('box', 'title'), amounts: columnsOf('form', 'books', 'rounding') },
    };
    return boxes.length === 0 ? [] : [section(formShape, boxes.flatMap(itemsOfBox))];
  });
}

function itemsOfBox({ box, title, of, form, books, lines }: FilledBox<ReturnLine>): Item[] {
  const [first] = lines;
  const noBox = reportTexts.noBox({ kind: first?.kind ?? null, rate: first?.rate ?? null });
  const keys = { box, title: title ?? noBox };
  const own = lines.map((line): Item => {
    const amount = line[of];
    const [onForm, differs] = form === null ? [zero, amount.negated()] : [amount, zero];
    return { ...documentOf(line), keys, amounts: { form: onForm, books: amount, rounding: differs } };
  });
  const rounded = form?.minus(books) ?? zero;
  if (rounded.isZero()) return own;
  return [
    ...own,
    { keys, document: reportTexts.rounding, facts: {}, amounts: { form: rounded, books: zero, rounding: rounded } },
  ];
}

function tieSection(period: VatPeriod, view: VatReturnView): Section {
  const tieShape: SectionShape = {
    ...{ name: 'accounts', title: sectionTitles.vatAccounts, facts: [] },
    ...{ keys: columnsOf('part'), amounts: columnsOf('tax') },
  };
  const items = tieOf(period, view).map(({ part, tax }): Item => {
    return { keys: { part: vatParts[part] }, document: reportTexts.everyEntry, facts: {}, amounts: { tax } };
  });
  return section(tieShape, items);
}
