import { formatMoney } from '../../domain/money.ts';
import { visible } from '../../domain/text.ts';
import type { ExportFormat } from './format.ts';

const factColumns = [
  'party',
  'party_name',
  'vat_number',
  'country',
  'department',
  'dimension_1',
  'dimension_2',
  'dimension_3',
  'internal_account',
  'internal_dimension_1',
  'internal_dimension_2',
  'invoice',
  'payment_type',
  'document_number',
  'due_date',
  'bank_reference',
  'vat_group',
  'vat_rate',
  'vat_base',
  'rule',
  'mapped_by',
  'documents',
];
const entryColumns = ['document_date', 'document', 'reason', 'reverses', 'original'];
const columns = [
  'entry',
  'seq',
  'date',
  ...entryColumns,
  'description',
  'account',
  'role',
  'currency',
  'debit',
  'credit',
  ...factColumns,
];

/** One row per line, RFC 4180, with a header. */
export const csv: ExportFormat = {
  head: () => record(columns),
  comment: null,

  entry: (entry, { currency, decimals }) => {
    const entryFacts = new Map(entry.facts);
    return entry.lines
      .map((line) => {
        const amount = formatMoney(line.amount, decimals);
        const facts = new Map(line.facts);
        return record([
          entry.id,
          String(entry.seq),
          entry.date,
          ...entryColumns.map((name) => entryFacts.get(name) ?? ''),
          entry.description,
          line.account,
          line.role,
          currency,
          line.side === 'debit' ? amount : '',
          line.side === 'credit' ? amount : '',
          ...factColumns.map((name) => facts.get(name) ?? ''),
        ]);
      })
      .join('');
  },
};

function record(cells: string[]): string {
  return `${cells.map(cell).join(',')}\r\n`;
}

/** A character that begins a formula, also in its full-width form, at the start of a cell or of what follows `;` or `|`. */
const formula = /(^|[;|])(?=[\s"']*[=+\-@＝＋－＠])/g;

/**
 * A text as a cell that runs nowhere: an apostrophe stands before each formula. Spreadsheets take the separator of their country,
 * so that a cell of ours may be several of theirs. Tabs and line ends show as escapes; numbers stay as they are.
 */
function cell(value: string): string {
  if (/^-?\d+(\.\d+)?$/.test(value)) return value;
  const safe = visible(value).replace(formula, "$1'");
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
