import { isCalendarDate } from '../../../domain/dates.ts';
import { Money, parseMoney } from '../../../domain/money.ts';
import type { CalendarDate } from '../../../terms.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import { FormError } from '../api/form.ts';

/** Netvisor's notation of amounts, dates and VAT codes. */

/** An amount such as `-17,18`. Its digits never pass through binary64. */
export function amountIn(text: string): Money {
  const amount = /^[+-]?\d+(?:[.,]\d+)?$/.test(text) ? parseMoney(text.replace(',', '.').replace('+', '')) : null;
  if (amount === null) throw new FormError(erpAnswerTexts.expected({ expected: 'an amount', got: text.slice(0, 40) }));
  return amount;
}

/** An amount with a decimal comma, and at least these decimals. */
export function toAmount(amount: Money, decimals: number): string {
  return amount.toFixed(Math.max(decimals, amount.decimalPlaces())).replace('.', ',');
}

/** A date such as `1.1.2000` or `2000-01-01`, perhaps with a time of day. */
export function dateIn(text: string): CalendarDate {
  const [, day = '', month = '', year = ''] = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?:\s|$)/.exec(text) ?? [];
  const date = year === '' ? text.slice(0, 10) : `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  if (!isCalendarDate(date))
    throw new FormError(erpAnswerTexts.expected({ expected: 'a date', got: text.slice(0, 40) }));
  return date;
}

/** The code of a line without VAT. It is always sent: without it, Netvisor takes the code of the account. */
export const noCode = 'NONE';
/** The ledger's notation of `NONE`. */
const noCodeRead = '-';

/** Netvisor's VAT codes of sales, from the document type of vouchers. */
const salesCodes = new Set(['KOMY', 'EUMY', 'EUUM', 'EUPM312', 'EUPM309', 'MUUL', 'RAMY']);

/** A tax code of the mapping, such as `KOMY 25.5`: Netvisor's code and a percentage. */
export function taxCode(code: string, percent: Money): string {
  return `${code} ${percent.toFixed()}`;
}

/** Netvisor's code and the percentage of a tax code of the mapping. Null if it is not one of sales. */
export function taxOf(code: string): { code: string; percent: Money } | null {
  const [, name = '', percent = ''] = /^([A-Z0-9]{2,10}) (\d{1,3}(?:\.\d{1,2})?)$/.exec(code) ?? [];
  return salesCodes.has(name) ? { code: name, percent: new Money(percent) } : null;
}

/** The tax code of a line in the ledger; null if it has none. */
export function taxRead(code: string, percent: Money): string | null {
  const name = code === noCodeRead || code === '' ? noCode : code;
  return name === noCode && percent.isZero() ? null : taxCode(name, percent);
}
