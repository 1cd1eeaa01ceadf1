import { isTooLongNumber, longestNumberDigits, Money, moneyOfDigits, parseMoney, zero } from '../domain/money.ts';
import type { Dialect } from './dialect.ts';
import { isExactNumber, isJsonObject, type JsonValue } from './json.ts';
import { isAddress, type Resource, readAddress } from './tenant.ts';
import type { DefectCode } from './types.ts';

/**
 * How one kind of field is read. Tolerant, because services of this shape differ in how they write numbers, flags and
 * references (practice-api: Conventions). Plain functions rather than a schema library: a large clinic has tens of millions
 * of fields.
 */
export interface Scalar<T> {
  /** `value` is as readJson gives it, never null or undefined. Undefined: it cannot be read as this kind. */
  read(value: JsonValue): T | undefined;
  /** The code and message of the defect when `read` gives undefined; the message ends the sentence "<field> …". */
  code: DefectCode;
  failure: string | ((value: JsonValue) => string);
}

/** Why `read` gave undefined for a value; ends the sentence "<field> …". */
export function failureOf(type: Scalar<unknown>, value: JsonValue): string {
  return typeof type.failure === 'string' ? type.failure : type.failure(value);
}

/** The text of a string or number; undefined for anything else. */
function textOf(value: JsonValue): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return textOfNumber(value);
  return isExactNumber(value) ? value.rawJSON : undefined;
}

/** The digits of a number as `readJson` gives it, never with an exponent, which no text field should show. */
function textOfNumber(value: number): string {
  const text = String(value);
  return text.includes('e') ? new Money(value).toFixed() : text;
}

function integerOf(value: JsonValue): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value + 0 : undefined;
  const text = textOf(value)?.trim();
  if (text === undefined) return undefined;
  // Fast path for plain digits; the rest may be written 1.0 or 1e3.
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const exact = parseMoney(text);
  const number = exact?.isInteger() ? exact.toNumber() : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

function positiveIntegerOf(value: JsonValue): number | undefined {
  const number = integerOf(value);
  return number !== undefined && number > 0 ? number : undefined;
}

/** Objects in objects beyond this are no reference. */
const deepestReference = 4;

/**
 * The id in a reference to a resource: an address, a bare id, or an object with `id`, `url` or both. `foreign` where an address names
 * another installation or another resource (tenant.ts); undefined where there is no id, or two that differ.
 */
export function readReference(
  value: JsonValue,
  dialect: Dialect,
  resource: Resource,
  depth = 0,
): number | 'foreign' | undefined {
  if (isJsonObject(value)) {
    if (depth > deepestReference) return undefined;
    const named = [value.id, value.url].filter((each) => each != null);
    const read = named.map((each) => readReference(each, dialect, resource, depth + 1));
    if (read.includes('foreign')) return 'foreign';
    return read.every((each) => each === read[0]) ? read[0] : undefined;
  }
  if (typeof value !== 'string' || !isAddress(value)) return positiveIntegerOf(value);
  const id = readAddress(value, dialect, resource);
  return id === 'foreign' ? id : positiveIntegerOf(id);
}

/** A decimal, as string or number. */
export const amount: Scalar<Money> = {
  read: (value) => {
    // The number's shortest digits are those of its text: it has no more than 15 (readJson).
    if (typeof value === 'number') return value === 0 ? zero : moneyOfDigits(value);
    const text = textOf(value);
    return text === undefined ? undefined : (parseMoney(text) ?? undefined);
  },
  code: 'amount_invalid',
  failure: (value) =>
    isTooLongNumber(textOf(value) ?? '')
      ? `is a number of more than ${longestNumberDigits} digits`
      : 'is no decimal number',
};

/** A record's own id. */
export const id: Scalar<number> = { read: positiveIntegerOf, code: 'field_invalid', failure: 'is no positive integer' };

/** A code or a count. */
export const integer: Scalar<number> = { read: integerOf, code: 'field_invalid', failure: 'is no integer' };

export const flag: Scalar<boolean> = {
  read: (value) => {
    if (typeof value === 'boolean') return value;
    const text = textOf(value)?.trim().toLowerCase();
    if (text === 'true' || text === '1') return true;
    return text === 'false' || text === '0' ? false : undefined;
  },
  code: 'field_invalid',
  failure: 'is neither true nor false',
};

/** NUL and lone surrogates, which PostgreSQL refuses, become the replacement character. */
export function replaceUnstorable(text: string): string {
  if (text.isWellFormed() && !text.includes('\0')) return text;
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** A text that can be stored. A blank text is null. */
export const text: Scalar<string | null> = {
  read: (value) => {
    const found = textOf(value);
    if (found === undefined) return undefined;
    return found.trim() === '' ? null : replaceUnstorable(found);
  },
  code: 'field_invalid',
  failure: 'is no text',
};
