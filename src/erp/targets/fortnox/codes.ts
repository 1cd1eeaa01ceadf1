import { visible } from '../../../domain/text.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import { ErpError } from '../../port.ts';
import { wholeNumber } from '../api/form.ts';

/** What identifies a voucher: numbers restart in each series and financial year. */
export interface VoucherNumber {
  series: string;
  number: number;
  /** Id of the financial year. */
  year: number;
}

export function voucherId({ series, number, year }: VoucherNumber): string {
  return `${series}/${number}/${year}`;
}

/** Throws ErpError if the id is not one of a voucher. */
export function voucherOf(id: string): VoucherNumber {
  const [, series, number, year] = /^([^/]{1,10})\/(\d{1,9})\/(\d{1,9})$/.exec(id) ?? [];
  if (series === undefined || number === undefined || year === undefined)
    throw new ErpError('refused', erpAnswerTexts.notAnId({ id: visible(id), erp: 'Fortnox' }), {
      problem: 'erp_refused',
    });
  return { series, number: wholeNumber(number), year: wholeNumber(year) };
}

/**
 * A tax code of the mapping, such as `MP1/U1`: the VAT codes that Fortnox’s chart gives to the accounts of the sales and
 * of their VAT. Without a slash, only the account of the sales has one.
 */
export function vatCodes(code: string): { base: string; tax: string | null } {
  const [base = '', tax] = code.split('/');
  return { base, tax: tax ?? null };
}

export const dimensionFields = ['CostCenter', 'Project'] as const;
export type DimensionField = (typeof dimensionFields)[number];
