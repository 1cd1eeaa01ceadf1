import { signed } from '../../domain/entry.ts';
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
/** Columns of the entry. They are last, so that earlier columns keep their positions. */
const lastColumns = ['vat_period', 'late', 'voucher', 'mapping', 'recorded_at', 'window'];
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
  'installation',
  'line',
  'amount',
  ...lastColumns,
];

/**
 * One row per line, RFC 4180, with a header (docs/accountants/files.md describes the columns). `amount` and `vat_base` are signed, debit
 * positive, so that columns add up.
 */
export const csv: ExportFormat = {
  head: () => record(columns),
  comment: null,

  entry: (entry, { id: installation, currency, decimals }) => {
    const entryFacts = new Map([...entry.facts, ...entry.recorded]);
    return entry.lines
      .map((line, index) => {
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
          ...factColumns.map((name) => (name === 'vat_base' ? signedBase(line.side, facts) : (facts.get(name) ?? ''))),
          String(installation),
          String(index + 1),
          formatMoney(signed(line), decimals),
          ...lastColumns.map((name) => entryFacts.get(name) ?? ''),
        ]);
      })
      .join('');
  },
};

/**
 * The base in an entry has the side of its line. This function makes a base on the debit side positive, and one on the
 * credit side negative.
 */
function signedBase(side: 'debit' | 'credit', facts: ReadonlyMap<string, string>): string {
  const base = facts.get('vat_base') ?? '';
  if (base === '' || side === 'debit' || /^0(\.0*)?$/.test(base)) return base;
  return base.startsWith('-') ? base.slice(1) : `-${base}`;
}

function record(cells: string[]): string {
  return csvRow(cells, { separator: ',', decimalPoint: '.' });
}
