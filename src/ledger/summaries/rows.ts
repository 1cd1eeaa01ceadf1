import { Money } from '../../domain/money.ts';
import type { CalendarDate, LineRole, Side } from '../../terms.ts';
import type { SummaryEntry, SummaryLine } from './summary.ts';

/** A row of table `summary_entry`, dates as text. */
export interface SummaryRow {
  id: string;
  installation: number;
  summary_date: CalendarDate;
  department_id: number | null;
  n: number;
  seq: number;
  previous_hash: string;
  hash: string;
}

/** A row of table `summary_line`, numerics as text. */
export interface SummaryLineRow {
  summary_id: string;
  line: number;
  account: string;
  role: LineRole;
  side: Side;
  amount: string;
  dimension_1: string | null;
  dimension_2: string | null;
  dimension_3: string | null;
  internal_account: string | null;
  internal_dimension_1: string | null;
  internal_dimension_2: string | null;
  payment_type: number | null;
  vat_group: string | null;
  vat_rate: string | null;
  vat_base: string | null;
  has_vat: boolean;
  vat_number: string | null;
  country_code: string | null;
  entry_ids: string[];
}

/** The columns of `summary_entry` and their types, but for the window that posted it. */
export const summaryTypes = {
  id: 'text',
  installation: 'bigint',
  summary_date: 'date',
  department_id: 'bigint',
  n: 'int',
  seq: 'bigint',
  previous_hash: 'text',
  hash: 'text',
} as const satisfies Record<keyof SummaryRow, string>;

export const summaryLineTypes = {
  summary_id: 'text',
  line: 'int',
  account: 'text',
  role: 'text',
  side: 'text',
  amount: 'numeric',
  dimension_1: 'text',
  dimension_2: 'text',
  dimension_3: 'text',
  internal_account: 'text',
  internal_dimension_1: 'text',
  internal_dimension_2: 'text',
  payment_type: 'int',
  vat_group: 'text',
  vat_rate: 'numeric',
  vat_base: 'numeric',
  has_vat: 'boolean',
  vat_number: 'text',
  country_code: 'text',
  entry_ids: 'text[]',
} as const satisfies Record<keyof SummaryLineRow, string>;

/** Column names, as a query lists them. */
export const summaryColumns = Object.keys(summaryTypes).join(', ');
export const summaryLineColumns = Object.keys(summaryLineTypes).join(', ');

export function summaryRow(summary: SummaryEntry): SummaryRow {
  return {
    id: summary.id,
    installation: summary.installation,
    summary_date: summary.date,
    department_id: summary.departmentId,
    n: summary.n,
    seq: summary.seq,
    previous_hash: summary.previousHash,
    hash: summary.hash,
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
