import { isLosslessNumber } from 'lossless-json';
import { z } from 'zod';
import { parseMoney } from '../domain/money.ts';
import { isJsonObject, type JsonValue } from './json.ts';

/**
 * The scalars of the wire, as tolerant as the services of this shape are varied (practice-api: Conventions): each takes
 * a value as parseJson gives it, never null or undefined. A failure's message ends the sentence "<field> …".
 */
function scalar<T>(read: (value: JsonValue) => T | undefined, failure: string) {
  return z.unknown().transform((value, context): T => {
    const result = read(value);
    if (result !== undefined) return result;
    context.addIssue({ code: 'custom', message: failure });
    return z.NEVER;
  });
}

/** The text of a string or number; undefined for anything else. */
function textOf(value: JsonValue): string | undefined {
  if (typeof value === 'string') return value;
  return isLosslessNumber(value) ? value.value : undefined;
}

function integerOf(value: JsonValue): number | undefined {
  const text = textOf(value)?.trim();
  if (text === undefined) return undefined;
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
export const amount = scalar((value) => {
  const text = textOf(value);
  return text === undefined ? undefined : (parseMoney(text) ?? undefined);
}, 'is no decimal number');

/** A record's own id. */
export const id = scalar(positiveIntegerOf, 'is no positive integer');

/** A code or a count. */
export const integer = scalar(integerOf, 'is no integer');

/** The id that a url-reference names: an absolute URL with or without its last slash or a query, a bare id, an object. */
export const reference = scalar(referenceOf, 'is no reference to a record');

export const references = scalar((value) => {
  if (!Array.isArray(value)) return undefined;
  const ids = value.map(referenceOf);
  return ids.every((each) => each !== undefined) ? ids : undefined;
}, 'is no list of references to records');

export const flag = scalar((value) => {
  const text = typeof value === 'boolean' ? String(value) : textOf(value)?.trim().toLowerCase();
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : undefined;
}, 'is neither true nor false');

/**
 * A text that every store and screen can hold: NUL and lone surrogates become the replacement character (the raw record
 * keeps them). Blank is null.
 */
export const text = scalar((value) => {
  const found = textOf(value)?.toWellFormed().replaceAll('\0', '\ufffd');
  return found === undefined ? undefined : found.trim() === '' ? null : found;
}, 'is no text');
