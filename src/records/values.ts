import { isTooLongNumber, longestNumberDigits, Money, moneyOfDigits, parseMoney, zero } from '../domain/money.ts';
import { recordTexts } from '../texts/findings/records.ts';
import { isAddress, type Resource, readAddress } from './addresses.ts';
import type { Dialect } from './dialect.ts';
import { isExactNumber, isJsonObject, type JsonValue } from './json.ts';
import type { DefectCode } from './types.ts';

/**
 * How one kind of field is read. Reading is tolerant, because services differ in how they write numbers, flags and
 * references (practice-api: Conventions). Plain functions are used for speed, since a large clinic has tens of millions
 * of fields.
 */
export interface Scalar<T> {
  /** `value` comes from readJson and is never null or undefined. Undefined: it cannot be read as this kind. */
  read(value: JsonValue): T | undefined;
  /** The code and message of the defect if `read` returns undefined. The message ends the sentence "<field> …". */
  code: DefectCode;
  failure: string | ((value: JsonValue) => string);
}

/** The reason why `read` returned undefined for a value. The text ends the sentence "<field> …". */
export function failureOf(type: Scalar<unknown>, value: JsonValue): string {
  return typeof type.failure === 'string' ? type.failure : type.failure(value);
}

/** The text of a string or number. Undefined for anything else. */
function textOf(value: JsonValue): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return textOfNumber(value);
  return isExactNumber(value) ? value.rawJSON : undefined;
}

/** The digits of a number without an exponent. */
function textOfNumber(value: number): string {
  const text = String(value);
  return text.includes('e') ? new Money(value).toFixed() : text;
}

function integerOf(value: JsonValue): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value + 0 : undefined;
  const text = textOf(value)?.trim();
  if (text === undefined) return undefined;
  // A fast path for plain digits. Other texts may be like 1.0 or 1e3.
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const exact = parseMoney(text);
  const number = exact?.isInteger() ? exact.toNumber() : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

function positiveIntegerOf(value: JsonValue): number | undefined {
  const number = integerOf(value);
  return number !== undefined && number > 0 ? number : undefined;
}

/** A reference that is nested deeper than this cannot be read. */
const deepestReference = 4;

/**
 * The id in a reference to a resource: an address, a bare id, or an object with `id`, `url` or both. `foreign`: an
 * address names another installation or another resource (addresses.ts). Undefined: there is no id, or there are two
 * different ones.
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

/** A decimal number, as string or number. */
export const amount: Scalar<Money> = {
  read: (value) => {
    // A `number` has at most 15 digits here (readJson), so its shortest form has the digits of the source's text.
    if (typeof value === 'number') return value === 0 ? zero : moneyOfDigits(value);
    const text = textOf(value);
    return text === undefined ? undefined : (parseMoney(text) ?? undefined);
  },
  code: 'amount_invalid',
  failure: (value) =>
    isTooLongNumber(textOf(value) ?? '')
      ? recordTexts.tooManyDigits({ most: longestNumberDigits })
      : recordTexts.notADecimal,
};

export const id: Scalar<number> = { read: positiveIntegerOf, code: 'field_invalid', failure: recordTexts.notAnId };

export const integer: Scalar<number> = { read: integerOf, code: 'field_invalid', failure: recordTexts.notAnInteger };

export const flag: Scalar<boolean> = {
  read: (value) => {
    if (typeof value === 'boolean') return value;
    const text = textOf(value)?.trim().toLowerCase();
    if (text === 'true' || text === '1') return true;
    return text === 'false' || text === '0' ? false : undefined;
  },
  code: 'field_invalid',
  failure: recordTexts.notAFlag,
};

/** Replaces NUL and lone surrogates, which PostgreSQL refuses, by the replacement character. */
export function replaceUnstorable(text: string): string {
  if (text.isWellFormed() && !text.includes('\0')) return text;
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** A text that PostgreSQL can store. A blank text is read as null. */
export const text: Scalar<string | null> = {
  read: (value) => {
    const found = textOf(value);
    if (found === undefined) return undefined;
    return found.trim() === '' ? null : replaceUnstorable(found);
  },
  code: 'field_invalid',
  failure: recordTexts.notAText,
};
