import { formatMoney } from '../../domain/money.ts';
import { csvRow } from './csv-cell.ts';
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
  return csvRow(cells, { separator: ',', decimalPoint: '.' });
}
