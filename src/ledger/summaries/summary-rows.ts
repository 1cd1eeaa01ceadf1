import {
  bool,
  columnList,
  columnTypes,
  date,
  instant,
  integer,
  nullable,
  numeric,
  oneOf,
  type RowOf,
  text,
  texts,
} from '../../db/columns.ts';
import { Money } from '../../domain/money.ts';
import { lineRoles, sides } from '../../terms.ts';
import type { ChainedSummary, SummaryLine } from './summary.ts';

/** The columns of `summary_entry` that are inserted, without the window that made it. The database sets the time. */
export const summaryShape = {
  id: text,
  installation: integer,
  summary_date: date,
  department_id: nullable(integer),
  n: integer,
  seq: integer,
  previous_hash: text,
  hash: text,
  vat_period: text,
  is_late: bool,
  is_correction: bool,
  fiscal_year: integer,
  voucher_number: integer,
};

/** The columns of `summary_entry` that are read. */
export const storedSummaryShape = { ...summaryShape, window_id: nullable(integer), created_at: instant };

/** The columns of `summary_line`. */
export const summaryLineShape = {
  summary_id: text,
  line: integer,
  account: text,
  role: oneOf(lineRoles),
  side: oneOf(sides),
  amount: numeric,
  rule: text,
  dimension_1: nullable(text),
  dimension_2: nullable(text),
  dimension_3: nullable(text),
  internal_account: nullable(text),
  internal_dimension_1: nullable(text),
  internal_dimension_2: nullable(text),
  payment_type: nullable(integer),
  vat_group: nullable(text),
  vat_rate: nullable(numeric),
  vat_base: nullable(numeric),
  has_vat: bool,
  vat_number: nullable(text),
  country_code: nullable(text),
  entry_ids: texts,
};

/** The columns of `summary_member`. */
export const memberShape = { entry_id: text, summary_id: text };

export type SummaryRow = RowOf<typeof summaryShape>;
export type StoredSummaryRow = RowOf<typeof storedSummaryShape>;
export type SummaryLineRow = RowOf<typeof summaryLineShape>;

/** The columns as a list for SQL. */
export const summaryColumns = columnList(storedSummaryShape);
export const summaryLineColumns = columnList(summaryLineShape);

/** The columns with their PostgreSQL types, for inserts. They include the window that made the summary. */
export const summaryInsertTypes = { ...columnTypes(summaryShape), window_id: 'bigint' };
export const summaryLineInsertTypes = columnTypes(summaryLineShape);
export const memberInsertTypes = columnTypes(memberShape);

export function summaryRow(summary: ChainedSummary): SummaryRow {
  return {
    id: summary.id,
    installation: summary.installation,
    summary_date: summary.date,
    department_id: summary.departmentId,
    n: summary.n,
    seq: summary.seq,
    previous_hash: summary.previousHash,
    hash: summary.hash,
    vat_period: summary.vatPeriod,
    is_late: summary.isLate,
    is_correction: summary.isCorrection,
    fiscal_year: summary.fiscalYear,
    voucher_number: summary.voucherNumber,
  };
}

export function summaryLineRow(summaryId: string, index: number, line: SummaryLine): SummaryLineRow {
  return {
    summary_id: summaryId,
    line: index + 1,
    account: line.account,
    role: line.role,
    side: line.side,
    amount: line.amount.toFixed(),
    rule: line.rule,
    dimension_1: line.dimensions[0],
    dimension_2: line.dimensions[1],
    dimension_3: line.dimensions[2],
    internal_account: line.internal.account,
    internal_dimension_1: line.internal.dimension1,
    internal_dimension_2: line.internal.dimension2,
    payment_type: line.paymentType,
    vat_group: line.vat?.group ?? null,
    vat_rate: line.vat?.rate?.toFixed() ?? null,
    vat_base: line.vat?.base?.toFixed() ?? null,
    has_vat: line.vat !== null,
    vat_number: line.buyer?.vatNumber ?? null,
    country_code: line.buyer?.countryCode ?? null,
    entry_ids: line.entryIds,
  };
}

export function summaryLineFromRow(row: SummaryLineRow): SummaryLine {
  return {
    account: row.account,
    role: row.role,
    side: row.side,
    amount: new Money(row.amount),
    rule: row.rule,
    dimensions: [row.dimension_1, row.dimension_2, row.dimension_3],
    internal: {
      account: row.internal_account,
      dimension1: row.internal_dimension_1,
      dimension2: row.internal_dimension_2,
    },
    paymentType: row.payment_type,
    vat: row.has_vat
      ? {
          group: row.vat_group,
          rate: row.vat_rate === null ? null : new Money(row.vat_rate),
          base: row.vat_base === null ? null : new Money(row.vat_base),
        }
      : null,
    buyer: row.vat_number === null ? null : { vatNumber: row.vat_number, countryCode: row.country_code },
    entryIds: row.entry_ids,
  };
}
