import { consoleTexts } from '../../texts/console/console.ts';
import { type Content, html, type Node } from '../html.ts';

export interface Column {
  title: string;
  /** Amounts and counts stand at the right, with digits of one width. */
  isNumber?: boolean;
  /** Dates, numbers of documents and codes stay on one line. */
  isWhole?: boolean;
}

interface Table {
  columns: readonly Column[];
  rows: readonly (readonly Content[])[];
  /** Cells of the last line, under the same columns. */
  total?: readonly Content[];
  caption?: string;
  /** The text without rows. */
  empty?: string;
}

/** A table with a head that stays visible. */
export function table({ columns, rows, total, caption, empty }: Table): Node {
  if (rows.length === 0) return html`<p class="empty">${empty ?? consoleTexts.nothing}</p>`;
  const cells = (row: readonly Content[]) =>
    row.map((cell, at) => html`<td class=${classOf(columns[at])}>${cell}</td>`);
  return html`<div class="table" tabindex="0" role="region" aria-label=${caption ?? columns[0]?.title ?? ''}>
    <table>
      ${caption === undefined ? null : html`<caption>${caption}</caption>`}
      <thead>
        <tr>
          ${columns.map(({ title, isNumber }) => html`<th scope="col" class=${isNumber ? 'number' : undefined}>${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => html`<tr>${cells(row)}</tr>`)}
      </tbody>
      ${total === undefined ? null : html`<tfoot><tr>${cells(total)}</tr></tfoot>`}
    </table>
  </div>`;
}

function classOf(column: Column | undefined): string | undefined {
  if (column?.isNumber) return 'number';
  return column?.isWhole ? 'whole' : undefined;
}
