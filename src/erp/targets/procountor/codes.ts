import { Money } from '../../../domain/money.ts';

/** The only type of receipts that the API creates. It takes the place of the ERP's journal. */
export const receiptType = 'JOURNAL';

/**
 * The VAT status of a receipt, which its lines without VAT inherit. A line with this status and 0 % has no tax code, so
 * a mapping may not use `vat_1 0`.
 */
export const plainStatus = 1;

/** A tax code of the mapping, such as `vat_1 25.5`. */
export function taxCode(status: number, percent: Money): string {
  return `vat_${status} ${percent.toFixed()}`;
}

/** Status and percentage of a tax code; null if it is none. */
export function taxOf(code: string): { status: number; percent: Money } | null {
  const [, status, percent] = /^vat_(\d{1,4}) (\d{1,3}(?:\.\d{1,4})?)$/.exec(code) ?? [];
  return status === undefined || percent === undefined
    ? null
    : { status: Number.parseInt(status, 10), percent: new Money(percent) };
}

/** The ids of a dimension and its item as one text. */
export function dimensionKey({ dimensionId, itemId }: { dimensionId: number; itemId: number }): string {
  return `${dimensionId}/${itemId}`;
}
