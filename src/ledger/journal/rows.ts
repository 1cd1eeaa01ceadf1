import type { EntryReason, LedgerEntry, Line } from '../../domain/entry.ts';
import { Money } from '../../domain/money.ts';
import type { DocumentKind, LineRole, PostingMode, Side } from '../../terms.ts';

/** A row of table `entry`, dates and numerics as text. */
export interface EntryRow {
  id: string;
  installation: number;
  kind: DocumentKind;
  document_id: number;
  n: number;
  seq: number;
  posting_mode: PostingMode;
  entry_date: string;
  document_date: string;
  reason: EntryReason;
  description: string;
  reverses: string | null;
  original_kind: DocumentKind | null;
  original_id: number | null;
  idempotency_key: string;
  input_hash: string;
  previous_hash: string;
  hash: string;
}

/** A row of table `entry_line`. */
export interface LineRow {
  entry_id: string;
  line: number;
  account: string;
  role: LineRole;
  side: Side;
  amount: string;
  rule: string;
  mapped_by: string;
  party_code: string | null;
  party_name: string | null;
  party_vat_number: string | null;
  party_country_code: string | null;
  department_id: number | null;
  dimension_1: string | null;
  dimension_2: string | null;
  dimension_3: string | null;
  internal_account: string | null;
  internal_dimension_1: string | null;
  internal_dimension_2: string | null;
  invoice_id: number | null;
  payment_type: number | null;
  document_number: string | null;
  due_date: string | null;
  bank_reference: string | null;
  vat_group: string | null;
  vat_rate: string | null;
  vat_base: string | null;
  has_vat: boolean;
  row_ids: number[];
}

/** The columns of `entry_line` and their types. */
export const lineTypes = {
  entry_id: 'text',
  line: 'int',
  account: 'text',
  role: 'text',
  side: 'text',
  amount: 'numeric',
  rule: 'text',
  mapped_by: 'text',
  party_code: 'text',
  party_name: 'text',
  party_vat_number: 'text',
  party_country_code: 'text',
  department_id: 'bigint',
  dimension_1: 'text',
  dimension_2: 'text',
  dimension_3: 'text',
  internal_account: 'text',
  internal_dimension_1: 'text',
  internal_dimension_2: 'text',
  invoice_id: 'bigint',
  payment_type: 'int',
  document_number: 'text',
  due_date: 'date',
  bank_reference: 'text',
  vat_group: 'text',
  vat_rate: 'numeric',
  vat_base: 'numeric',
  has_vat: 'boolean',
  row_ids: 'bigint[]',
} as const satisfies Record<keyof LineRow, string>;

/** The columns of `entry` and their types, but for the window that posted it. */
export const entryTypes = {
  id: 'text',
  installation: 'bigint',
  kind: 'text',
  document_id: 'bigint',
  n: 'int',
  seq: 'bigint',
  posting_mode: 'text',
  entry_date: 'date',
  document_date: 'date',
  reason: 'text',
  description: 'text',
  reverses: 'text',
  original_kind: 'text',
  original_id: 'bigint',
  idempotency_key: 'text',
  input_hash: 'text',
  previous_hash: 'text',
  hash: 'text',
} as const satisfies Record<keyof EntryRow, string>;

/** Column names, as a query lists them. */
export const entryColumns = Object.keys(entryTypes).join(', ');
export const lineColumns = Object.keys(lineTypes).join(', ');

export function entryRow(entry: LedgerEntry): EntryRow {
  return {
    id: entry.id,
    installation: entry.installation,
    kind: entry.document.kind,
    document_id: entry.document.id,
    n: entry.n,
    seq: entry.seq,
    posting_mode: entry.postingMode,
    entry_date: entry.date,
    document_date: entry.documentDate,
    reason: entry.reason,
    description: entry.description,
    reverses: entry.reverses,
    original_kind: entry.original?.kind ?? null,
    original_id: entry.original?.id ?? null,
    idempotency_key: entry.idempotencyKey,
    input_hash: entry.inputHash,
    previous_hash: entry.previousHash,
    hash: entry.hash,
  };
}

export function lineRow(entryId: string, index: number, line: Line): LineRow {
  return {
    entry_id: entryId,
    line: index + 1,
    account: line.account,
    role: line.role,
    side: line.side,
    amount: line.amount.toFixed(),
    rule: line.rule,
    mapped_by: line.mappedBy,
    party_code: line.party?.code ?? null,
    party_name: line.party?.name ?? null,
    party_vat_number: line.party?.vatNumber ?? null,
    party_country_code: line.party?.countryCode ?? null,
    department_id: line.departmentId,
    dimension_1: line.dimensions[0],
    dimension_2: line.dimensions[1],
    dimension_3: line.dimensions[2],
    internal_account: line.internal.account,
    internal_dimension_1: line.internal.dimension1,
    internal_dimension_2: line.internal.dimension2,
    invoice_id: line.invoiceId,
    payment_type: line.paymentType,
    document_number: line.documentNumber,
    due_date: line.dueDate,
    bank_reference: line.bankReference,
    vat_group: line.vat?.group ?? null,
    vat_rate: line.vat?.rate?.toFixed() ?? null,
    vat_base: line.vat?.base?.toFixed() ?? null,
    has_vat: line.vat !== null,
    row_ids: line.rowIds,
  };
}

export function lineFromRow(row: LineRow): Line {
  return {
    account: row.account,
    role: row.role,
    side: row.side,
    amount: new Money(row.amount),
    rule: row.rule,
    mappedBy: row.mapped_by,
    party:
      row.party_code === null
        ? null
        : {
            code: row.party_code,
            name: row.party_name,
            vatNumber: row.party_vat_number,
            countryCode: row.party_country_code,
          },
    departmentId: row.department_id,
    dimensions: [row.dimension_1, row.dimension_2, row.dimension_3],
    internal: {
      account: row.internal_account,
      dimension1: row.internal_dimension_1,
      dimension2: row.internal_dimension_2,
    },
    invoiceId: row.invoice_id,
    paymentType: row.payment_type,
    documentNumber: row.document_number,
    dueDate: row.due_date,
    bankReference: row.bank_reference,
    vat: row.has_vat
      ? {
          group: row.vat_group,
          rate: row.vat_rate === null ? null : new Money(row.vat_rate),
          base: row.vat_base === null ? null : new Money(row.vat_base),
        }
      : null,
    rowIds: row.row_ids,
  };
}

export function entryFromRow(row: EntryRow, lines: Line[]): LedgerEntry {
  return {
    id: row.id,
    installation: row.installation,
    document: { kind: row.kind, id: row.document_id },
    n: row.n,
    seq: row.seq,
    postingMode: row.posting_mode,
    date: row.entry_date,
    documentDate: row.document_date,
    reason: row.reason,
    description: row.description,
    reverses: row.reverses,
    original:
      row.original_kind === null || row.original_id === null ? null : { kind: row.original_kind, id: row.original_id },
    idempotencyKey: row.idempotency_key,
    inputHash: row.input_hash,
    previousHash: row.previous_hash,
    hash: row.hash,
    lines,
  };
}
