import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import pdfmake, { type Content } from 'pdfmake';
import { formatExact, zero } from '../domain/money.ts';
import { clip, visible } from '../domain/text.ts';
import { inLanguage, shown } from '../languages/language.ts';
import { cellText } from '../reports/installation-report.ts';
import type { Column, SectionShape } from '../reports/report-sections.ts';
import type { Language } from '../texts/catalogue.ts';
import { binderTexts } from '../texts/reports/binder.ts';
import type { TableRow, TableSums } from './tally.ts';

/** A table with its CSV file. */
export interface BinderTable extends TableSums {
  file: string;
  /** Lines of the CSV file. */
  lines: number;
}

export interface BinderPages {
  title: string;
  /** The text on each page: installation, month and the kind of books. */
  header: string;
  /** A warning on each page; null if there is none. */
  warning: string | null;
  /** The first page: facts by their names, then the files with lines and SHA-256. */
  facts: readonly (readonly [name: string, value: string])[];
  files: readonly { name: string; lines: number | null; sha256: string }[];
  tables: readonly BinderTable[];
  language: Language;
  decimals: number;
  /** The date of the document, so that the same binder has the same bytes. */
  madeAt: Date;
}

/** A longer text is whole only in the CSV file. */
const longestText = 300;
const [grey, margin] = ['#555555', 36];

const fontFile = createRequire(import.meta.url).resolve('pdfmake/fonts/Roboto/Roboto-Regular.ttf');
const boldFile = createRequire(import.meta.url).resolve('pdfmake/fonts/Roboto/Roboto-Medium.ttf');

/** The binder as a PDF: A4, with a first page of facts and a table for each section. */
export async function binderPdf({
  title,
  header,
  warning,
  facts,
  files,
  tables,
  language,
  decimals,
  madeAt,
}: BinderPages): Promise<Buffer> {
  pdfmake.setFonts({ Roboto: { normal: fontFile, bold: boldFile, italics: fontFile, bolditalics: boldFile } });
  // The pages need no other file or address than these fonts.
  pdfmake.setLocalAccessPolicy((path) => dirname(path) === dirname(fontFile));
  pdfmake.setUrlAccessPolicy(() => false);
  const content = inLanguage<Content[]>(language, () => [
    { text: title, fontSize: 18, bold: true, margin: [0, 0, 0, 10] },
    factsTable(facts),
    { text: binderTexts.filesTitle, style: 'heading' },
    filesTable(files),
    ...tables.flatMap((table, index) => tableContent(table, decimals, index === 0)),
  ]);
  const document = pdfmake.createPdf({
    ...{ pageSize: 'A4', pageOrientation: 'landscape', pageMargins: [margin, 50, margin, 40], content },
    info: { title: `${title}, ${header}`, creationDate: madeAt, modDate: madeAt },
    defaultStyle: { font: 'Roboto', fontSize: 8 },
    styles: { heading: { fontSize: 11, bold: true, margin: [0, 14, 0, 4] } },
    header: () => ({
      margin: [margin, 20, margin, 0],
      columns: [
        { text: safe(header), color: grey },
        { text: safe(warning ?? ''), bold: true, alignment: 'right', width: 'auto' },
      ],
    }),
    footer: (page, pages) => ({
      ...{ text: inLanguage(language, () => binderTexts.page({ page, pages })), color: grey },
      ...{ alignment: 'right', margin: [margin, 10, margin, 0] },
    }),
  });
  return document.getBuffer();
}

/** A zero-width blank after each run of letters of this length lets long words break. */
const longWord = /\S{28}(?=\S)/g;

function safe(text: string): string {
  return clip(visible(text), longestText).replace(longWord, '$&\u200b');
}

function factsTable(facts: BinderPages['facts']): Content {
  return {
    layout: 'noBorders',
    table: {
      widths: [130, '*'],
      body: facts.map(([name, value]) => [{ text: name, color: grey }, { text: visible(value) }]),
    },
  };
}

function filesTable(files: BinderPages['files']): Content {
  const { name: file, lines: count, sha256: digest } = binderTexts.fileHeads;
  const head = [file, count, digest].map((text) => ({ text, bold: true }));
  const lines = files.map(({ name, lines: own, sha256 }) => [
    ...[name, { text: own === null ? '' : String(own), alignment: 'right' }, sha256],
  ]);
  return { layout: layoutBelow(0), table: { headerRows: 1, widths: ['auto', 'auto', '*'], body: [head, ...lines] } };
}

/** A table: its lines, or only its sums if it is long. */
function tableContent({ shape, rows, total, file, lines }: BinderTable, decimals: number, isFirst: boolean): Content[] {
  const isLong = rows === null;
  const sums = Object.keys(total).length === 0 ? null : amountsOf(shape.amounts, total, decimals);
  const listed = isLong ? [] : rowsOf(shape, rows, decimals);
  const title = {
    text: [shown(shape.title), { text: `   ${file}`, fontSize: 8, bold: false, color: grey }],
    style: 'heading',
  };
  const note = isLong ? binderTexts.onlySums({ lines, file }) : listed.length === 0 ? binderTexts.nothing : null;
  const body = [...listed, ...(sums === null || (listed.length === 0 && !isLong) ? [] : [totalRow(shape, sums)])];
  return [
    ...(isFirst ? [{ text: '', pageBreak: 'after' }] : []),
    ...(body.length === 0 ? [title] : [table(shape, title, body)]),
    ...(note === null ? [] : [{ text: note, margin: [0, 2, 0, 0] }]),
  ];
}

/** The columns of a table: its keys; without keys, the document and its facts. Amounts follow. */
function textColumns(shape: SectionShape): readonly Column[] {
  if (shape.keys.length > 0) return shape.keys;
  const hasDocuments = shape.amounts.length > 0 || shape.name === 'decisions';
  return [...(hasDocuments ? [{ name: 'document', title: binderTexts.document }] : []), ...shape.facts];
}

function rowsOf(shape: SectionShape, rows: readonly TableRow[], decimals: number): Content[][] {
  const columns = textColumns(shape);
  return rows.map(({ cells, amounts }) => [
    ...columns.map(({ name }): Content => ({ text: safe(cellText(cells[name])), noWrap: short.has(name) })),
    ...amountsOf(shape.amounts, amounts, decimals),
  ]);
}

function amountsOf(columns: readonly Column[], amounts: TableSums['total'], decimals: number): Content[] {
  return columns.map(({ name }) => ({
    text: formatExact(amounts[name] ?? zero, decimals),
    alignment: 'right',
    noWrap: true,
  }));
}

function totalRow(shape: SectionShape, sums: Content[]): Content[] {
  const texts = textColumns(shape).map((_, index) => ({ text: index === 0 ? binderTexts.total : '', bold: true }));
  return [...texts, ...sums.map((cell) => ({ ...(cell as object), bold: true }) as Content)];
}

/** Columns that take the rest of the width, because their texts are long. */
const wide = new Set(['detail', 'name', 'text', 'reason', 'request']);

/** Columns whose texts are short and stay on one line. */
const short = new Set(['document', 'date', 'document_date', 'time', 'entry', 'by', 'second', 'account', 'customer']);

/** The title and the heads are repeated on each page. */
function table(shape: SectionShape, title: Content, body: Content[][]): Content {
  const texts = textColumns(shape);
  const { amounts } = shape;
  const head = [
    ...texts.map(({ title: text }): Content => ({ text, bold: true })),
    ...amounts.map(({ title: text }): Content => ({ text, bold: true, alignment: 'right', noWrap: true })),
  ];
  const titleRow = head.map((_, index): Content => (index === 0 ? { ...(title as object), colSpan: head.length } : ''));
  const widths = [...texts.map(({ name }) => (wide.has(name) ? '*' : 'auto')), ...amounts.map(() => 'auto')];
  const rows = { headerRows: 2, keepWithHeaderRows: 1, dontBreakRows: true };
  return { layout: layoutBelow(1), table: { ...rows, widths, body: [titleRow, head, ...body] } };
}

/** Draws lines above and below the heads and between rows. Titles and columns have no lines. */
function layoutBelow(titles: number) {
  const ofHeads = (line: number) => line === titles || line === titles + 1;
  return {
    hLineWidth: (line: number) => (line < titles ? 0 : ofHeads(line) ? 0.8 : 0.2),
    vLineWidth: () => 0,
    hLineColor: (line: number) => (ofHeads(line) ? '#000000' : '#bbbbbb'),
    paddingTop: () => 1.5,
    paddingBottom: () => 1.5,
  };
}
