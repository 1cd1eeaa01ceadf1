import { isLosslessNumber } from 'lossless-json';
import { type Money, parseMoney } from '../domain/money.ts';
import { isJsonObject, type JsonValue } from './json.ts';

/**
 * A scalar of the wire, as tolerant as the services of this shape are varied (practice-api: Conventions). `read` takes a value
 * as parseJson gives it, never null or undefined, and gives undefined for what it cannot be; `failure` then ends the
 * sentence "<field> …". Plain functions: a large clinic has tens of millions of fields.
 */
export interface Scalar<T> {
  read(value: JsonValue): T | undefined;
  failure: string;
}

/** The text of a string or number; undefined for anything else. */
function textOf(value: JsonValue): string | undefined {
  if (typeof value === 'string') return value;
  return isLosslessNumber(value) ? value.value : undefined;
}

function integerOf(value: JsonValue): number | undefined {
  const text = textOf(value)?.trim();
  if (text === undefined) return undefined;
  // Nearly all of them; the rest may be written 1.0 or 1e3.
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
    const text = textOf(value);
    return text === undefined ? undefined : (parseMoney(text) ?? undefined);
  },
  failure: 'is no decimal number',
};

/** A record's own id. */
export const id: Scalar<number> = { read: positiveIntegerOf, failure: 'is no positive integer' };

/** A code or a count. */
export const integer: Scalar<number> = { read: integerOf, failure: 'is no integer' };

/** The id that a url-reference names: an absolute URL with or without its last slash or a query, a bare id, an object. */
export const reference: Scalar<number> = { read: referenceOf, failure: 'is no reference to a record' };

export const references: Scalar<number[]> = {
  read: (value) => {
    if (!Array.isArray(value)) return undefined;
    const ids = value.map(referenceOf);
    return ids.every((each) => each !== undefined) ? ids : undefined;
  },
  failure: 'is no list of references to records',
};

export const flag: Scalar<boolean> = {
  read: (value) => {
    if (typeof value === 'boolean') return value;
    const text = textOf(value)?.trim().toLowerCase();
    if (text === 'true' || text === '1') return true;
    return text === 'false' || text === '0' ? false : undefined;
  },
  failure: 'is neither true nor false',
};

/**
 * A text that every store and screen can hold: NUL and lone surrogates become the replacement character (the raw record
 * keeps them). Blank is null.
 */
export const text: Scalar<string | null> = {
  read: (value) => {
    const found = textOf(value)?.toWellFormed().replaceAll('\0', '\ufffd');
    return found === undefined ? undefined : found.trim() === '' ? null : found;
  },
  failure: 'is no text',
};
