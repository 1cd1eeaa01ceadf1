import { signed } from '../../../domain/entry.ts';
import { formatMoney } from '../../../domain/money.ts';
import { type CsvSyntax, csvRow } from '../../../ledger/export/csv-cell.ts';
import type { FileEntry, FileLine } from './file-entry.ts';
import { batchCode, type FileFormat } from './format.ts';

export interface CsvSettings {
  dialect: 'international' | 'semicolon';
  currency: string;
  decimals: number;
  /** The ERP's names of the delivered dimensions. Each becomes a column at the end. */
  dimensions: readonly string[];
}

const syntaxes: Record<CsvSettings['dialect'], CsvSyntax> = {
  international: { separator: ',', decimalPoint: '.' },
  semicolon: { separator: ';', decimalPoint: ',' },
};

/** Spreadsheet programs that expect `;` recognise UTF-8 by this mark only. */
const byteOrderMark = '\ufeff';

/** The columns of every file. docs/accountants/files.md describes them. */
export const csvColumns = [
  ...['installation', 'unit', 'key', 'line', 'date', 'document_date', 'journal', 'account', 'role'],
  ...['debit', 'credit', 'amount', 'currency', 'party', 'party_name', 'vat_number', 'country', 'department'],
  ...['vat_group', 'vat_rate', 'vat_code', 'vat_base', 'document_number', 'due_date', 'bank_reference', 'reverses'],
  ...['description', 'rule', 'payment_type', 'documents', 'vat_period', 'late', 'voucher', 'mapping', 'recorded_at'],
] as const;
type Column = (typeof csvColumns)[number];

/** CSV (RFC 4180) with a header, and one row per line of an entry. */
export function csvFormat({ dialect, currency, decimals, dimensions }: CsvSettings): FileFormat {
  const syntax = syntaxes[dialect];
  const utf8 = new TextEncoder();
  const decimal = (text: string) => (syntax.decimalPoint === '.' ? text : text.replace('.', ','));

  const cells = (entry: FileEntry, line: FileLine, number: number): Record<Column, string | null> => {
    const amount = decimal(formatMoney(line.amount, decimals));
    return {
      installation: String(entry.installation),
      unit: entry.unitId,
      key: entry.key,
      line: String(number),
      date: entry.date,
      document_date: entry.documentDate,
      journal: entry.journal,
      account: line.account,
      role: line.role,
      debit: line.side === 'debit' ? amount : null,
      credit: line.side === 'credit' ? amount : null,
      amount: decimal(formatMoney(signed(line), decimals)),
      currency,
      party: line.party.code,
      party_name: line.party.name,
      vat_number: line.party.vatNumber,
      country: line.party.countryCode,
      department: line.departmentId === null ? null : String(line.departmentId),
      vat_group: line.vatGroup,
      vat_rate: line.vatRate === null ? null : decimal(line.vatRate.toFixed()),
      vat_code: line.vatCode,
      vat_base: line.vatBase === null ? null : decimal(formatMoney(line.vatBase, decimals)),
      document_number: line.documentNumber ?? entry.reference,
      due_date: line.dueDate,
      bank_reference: line.bankReference,
      reverses: entry.reverses,
      description: line.description,
      rule: line.rule,
      payment_type: line.paymentType === null ? null : String(line.paymentType),
      documents: line.documents.join(' '),
      vat_period: entry.vatPeriod,
      late: entry.isLate ? 'yes' : null,
      voucher: entry.record?.voucher ?? null,
      mapping: entry.record?.mapping ?? null,
      recorded_at: entry.record?.recordedAt.toISOString() ?? null,
    };
  };

  return {
    periodOf: () => '',
    daysOf: () => null,
    fileName: (batch) => `${batchCode(batch)}.csv`,
    maxRows: Number.MAX_SAFE_INTEGER,
    problemsOf: () => [],
    begin: () => ({
      entry: (entry) => {
        const text = entry.lines.map((line, index) => {
          const row = cells(entry, line, index + 1);
          return csvRow(
            [...csvColumns.map((name) => row[name] ?? ''), ...dimensions.map((name) => line.dimensions[name] ?? '')],
            syntax,
          );
        });
        return {
          bytes: utf8.encode(text.join('')),
          rows: entry.lines.length,
          posted: entry.lines.map((line) => ({ account: line.account, amount: signed(line) })),
        };
      },
      head: () =>
        utf8.encode((dialect === 'semicolon' ? byteOrderMark : '') + csvRow([...csvColumns, ...dimensions], syntax)),
    }),
  };
}
