import { Decimal } from 'decimal.js';

// 40 digits hold any sum of amounts exactly; half-even is the source's rounding (field-notes: Invoice row).
export const Money = Decimal.clone({ precision: 40, rounding: Decimal.ROUND_HALF_EVEN, toExpNeg: -30, toExpPos: 40 });
export type Money = Decimal;

export const zero = new Money(0);

const currencies = new Set(Intl.supportedValuesOf('currency'));

/** Whether the runtime knows this currency code of ISO 4217. */
export function isCurrency(code: string): boolean {
  return currencies.has(code);
}

/** Decimals of a currency's minor unit (ISO 4217): 2 for EUR, 0 for JPY, 3 for KWD. Throws RangeError for an unknown code. */
export function minorUnitDecimals(currency: string): number {
  // Intl would give 2 for an unknown code.
  if (!isCurrency(currency)) throw new RangeError(`unknown currency ${currency}`);
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
}

const minorUnits = new Map<number, Money>();

/** The minor unit as an amount: 0.01 for 2 decimals. Cached, because every row needs it and powers are slow. */
export function minorUnit(decimals: number): Money {
  const known = minorUnits.get(decimals);
  if (known) return known;
  const unit = new Money(10).pow(-decimals);
  minorUnits.set(decimals, unit);
  return unit;
}

export function sum(amounts: Iterable<Money>): Money {
  let total: Money | undefined;
  // Most sums have one term that is not zero; this avoids a new object for them.
  for (const amount of amounts) if (!amount.isZero()) total = total?.plus(amount) ?? amount;
  return total ?? zero;
}

/** Limit of cached amounts. Rates and prices occur again in nearly every document, and parsing an amount is slow. */
const keptAtMost = 10_000;
/** The longest text that is cached, in characters. */
const longestKept = 40;
const kept = new Map<string | number, Money>();

/** Parses like `new Money(digits)`, but equal digits share one object, since amounts are immutable. */
export function moneyOfDigits(digits: string | number): Money {
  const known = kept.get(digits);
  if (known !== undefined) return known;
  const amount = new Money(digits);
  if (kept.size >= keptAtMost) kept.clear();
  if (typeof digits === 'number' || digits.length <= longestKept) kept.set(digits, amount);
  return amount;
}

/** `amount` rounded half-even to `decimals` places. */
export function roundHalfEven(amount: Money, decimals: number): Money {
  return amount.toDecimalPlaces(decimals, Decimal.ROUND_HALF_EVEN);
}

/** `amount` with exactly `decimals` places, never `-0.00`. Throws RangeError when digits would be lost. */
export function formatMoney(amount: Money, decimals: number): string {
  if (amount.decimalPlaces() > decimals)
    throw new RangeError(`${amount.toString()} has more than ${decimals} decimals`);
  return (amount.isZero() ? zero : amount).toFixed(decimals);
}

/** `amount` with `decimals` places, or with more if it has more: amounts of the source may. Never `-0.00`. */
export function formatExact(amount: Money, decimals: number): string {
  return (amount.isZero() ? zero : amount).toFixed(Math.max(decimals, amount.decimalPlaces()));
}

/**
 * A number may have at most this many digits, before and after the point together. Then sums and products stay exact.
 */
export const longestNumberDigits = 30;

/** Matches nearly all amounts: short, without exponent. */
const plainDecimal = /^-?\d{1,15}(?:\.\d{1,15})?$/;
const decimalPattern = /^[+-]?(?:(?<whole>\d+)(?:\.(?<fraction>\d*))?|\.(?<only>\d+))(?:e(?<exponent>[+-]?\d+))?$/i;

/**
 * Parses a decimal text of the source exactly (`"12.50"`, `-0.0`, `1e2`). Null if it is not a decimal or has more than
 * 30 digits. `-0.0` is zero (ACCOUNTING "Amounts").
 */
export function parseMoney(text: string): Money | null {
  const trimmed = text.trim();
  if (!plainDecimal.test(trimmed)) {
    const digits = digitsOf(trimmed);
    if (digits === null || digits > longestNumberDigits) return null;
  }
  const amount = moneyOfDigits(trimmed);
  return amount.isZero() ? zero : amount;
}

/** Whether the text is a decimal number that only has too many digits. */
export function isTooLongNumber(text: string): boolean {
  return (digitsOf(text.trim()) ?? 0) > longestNumberDigits;
}

/** The number of digits of a decimal text without exponent and leading zeros. Null if it is not a decimal. */
function digitsOf(text: string): number | null {
  const parts = decimalPattern.exec(text)?.groups;
  if (!parts) return null;
  const { whole = '', fraction = parts.only ?? '', exponent = '0' } = parts;
  const power = Number(exponent);
  return Math.max(0, whole.replace(/^0+/, '').length + power) + Math.max(0, fraction.length - power);
}
