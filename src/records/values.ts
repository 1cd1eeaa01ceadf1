import { isLosslessNumber } from 'lossless-json';
import { isTooLongNumber, longestNumberDigits, Money, parseMoney, zero } from '../domain/money.ts';
import { isJsonObject, type JsonValue } from './json.ts';
import type { DefectCode } from './types.ts';

/**
 * How one kind of field is read. Tolerant, because services of this shape differ in how they write numbers, flags and
 * references (practice-api: Conventions). Plain functions rather than a schema library: a large clinic has tens of millions
 * of fields.
 */
export interface Scalar<T> {
  /** `value` is as readJson or parseJson gives it, never null or undefined. Undefined: it cannot be read as this kind. */
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
  return isLosslessNumber(value) ? value.value : undefined;
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

function referenceOf(value: JsonValue): number | undefined {
  if (isJsonObject(value)) return referenceOf(value.id ?? value.url);
  const id = positiveIntegerOf(value);
  if (id !== undefined || typeof value !== 'string') return id;
  const path = value.trim().replace(/[?#].*$/s, '');
  return path.includes('/') ? positiveIntegerOf(/\/(\d+)\/*$/.exec(path)?.[1]) : undefined;
}

/** A decimal, as string or number. */
export const amount: Scalar<Money> = {
  read: (value) => {
    // The number's shortest digits are those of its text: it has no more than 15 (readJson).
    if (typeof value === 'number') return value === 0 ? zero : new Money(value);
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

/** The id in a reference: a URL with or without trailing slash and query, a bare id, or an object with `id` or `url`. */
export const reference: Scalar<number> = {
  read: referenceOf,
  code: 'field_invalid',
  failure: 'is no reference to a record',
};

export const references: Scalar<number[]> = {
  read: (value) => {
    if (!Array.isArray(value)) return undefined;
    const ids = value.map(referenceOf);
    return ids.every((each) => each !== undefined) ? ids : undefined;
  },
  code: 'field_invalid',
  failure: 'is no list of references to records',
};

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

/** A text; NUL and lone surrogates, which PostgreSQL refuses, become the replacement character. A blank text is null. */
export const text: Scalar<string | null> = {
  read: (value) => {
    const found = textOf(value)?.toWellFormed().replaceAll('\0', '\ufffd');
    return found === undefined ? undefined : found.trim() === '' ? null : found;
  },
  code: 'field_invalid',
  failure: 'is no text',
};
