import {
  bool,
  columnList,
  columnTypes,
  date,
  integer,
  integers,
  nullable,
  numeric,
  oneOf,
  type RowOf,
  text,
} from '../../db/columns.ts';
import { entryReasons, type LedgerEntry, type Line } from '../../domain/entry.ts';
import { Money } from '../../domain/money.ts';
import { documentKinds, lineRoles, postingModes, sides } from '../../terms.ts';

/** The columns of `entry`, without the window that posted it and the time. */
export const entryShape = {
  id: text,
  installation: integer,
  kind: oneOf(documentKinds),
  document_id: integer,
  n: integer,
  seq: integer,
  posting_mode: oneOf(postingModes),
  entry_date: date,
  document_date: date,
  reason: oneOf(entryReasons),
  description: text,
  reverses: nullable(text),
  original_kind: nullable(oneOf(documentKinds)),
  original_id: nullable(integer),
  idempotency_key: text,
  input_hash: text,
  previous_hash: text,
  hash: text,
  vat_period: text,
  is_late: bool,
  mapping_hash: nullable(text),
};

/** The columns of `entry_line`. */
export const lineShape = {
  entry_id: text,
  line: integer,
  account: text,
  role: oneOf(lineRoles),
  side: oneOf(sides),
  amount: numeric,
  rule: text,
  mapped_by: text,
  party_code: nullable(text),
  party_named: bool,
  party_vat_number: nullable(text),
  party_country_code: nullable(text),
  department_id: nullable(integer),
  dimension_1: nullable(text),
  dimension_2: nullable(text),
  dimension_3: nullable(text),
  internal_account: nullable(text),
  internal_dimension_1: nullable(text),
  internal_dimension_2: nullable(text),
  invoice_id: nullable(integer),
  payment_type: nullable(integer),
  document_number: nullable(text),
  due_date: nullable(date),
  bank_reference: nullable(text),
  vat_group: nullable(text),
  vat_rate: nullable(numeric),
  vat_base: nullable(numeric),
  has_vat: bool,
  row_ids: integers,
};

export type EntryRow = RowOf<typeof entryShape>;
export type LineRow = RowOf<typeof lineShape>;

/** A line with the name of its party, which is in another table. */
export const namedLineShape = { ...lineShape, party_name: nullable(text) };

/** The columns as a list for SQL. */
export const entryColumns = columnList(entryShape);
export const lineColumns = columnList(lineShape);

/** The columns with their PostgreSQL types, for inserts. They include the window that posted the entry. */
export const entryInsertTypes = { ...columnTypes(entryShape), window_id: 'bigint' };
export const lineInsertTypes = columnTypes(lineShape);

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
    vat_period: entry.vatPeriod,
    is_late: entry.isLate,
    mapping_hash: entry.mappingHash,
  };
}

/** The names of parties are in `entry_party_name`, so this row does not contain them. */
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
    party_named: line.party?.name != null,
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

export function lineFromRow(row: RowOf<typeof namedLineShape>): Line {
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
    vatPeriod: row.vat_period,
    isLate: row.is_late,
    mappingHash: row.mapping_hash,
    lines,
  };
}
