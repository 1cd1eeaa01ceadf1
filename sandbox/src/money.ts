// Decimal arithmetic of the sandbox. Records hold amounts as plain decimal text, as the API sends them; calculations
// use Decimal.
import { Decimal } from 'decimal.js';

/** A decimal as plain text, for example `12.50`. Never a JavaScript number. */
export type Amount = string;

export const Money = Decimal.clone({ precision: 34, rounding: Decimal.ROUND_HALF_EVEN, toExpNeg: -30, toExpPos: 40 });

export const dec = (text: Amount | number): Decimal => new Money(text);

/** Rounds half-even to `places` and writes that many decimals; zero has no sign. */
export const fixed = (value: Decimal, places: number): Amount => {
  const text = value.toFixed(places, Decimal.ROUND_HALF_EVEN);
  return value.isZero() || /^-0(\.0*)?$/.test(text) ? text.replace('-', '') : text;
};

/** Formats a row amount with 2 to 4 decimals. */
export const rowAmount = (value: Decimal): Amount => fixed(value, Math.min(4, Math.max(2, value.decimalPlaces())));

/** The negated amount; zero has no sign. */
export const negated = (text: Amount): Amount => {
  if (dec(text).isZero()) return text.replace('-', '');
  return text.startsWith('-') ? text.slice(1) : `-${text}`;
};

export const sumOf = (amounts: Iterable<Amount>): Decimal => {
  let total = dec(0);
  for (const amount of amounts) total = total.plus(amount);
  return total;
};
