import { Money, parseMoney, zero } from '../../../domain/money.ts';
import { isExactNumber, type JsonObject, type JsonValue, stringifyJson } from '../../../records/json.ts';
import type { CalendarDate } from '../../../terms.ts';
import { asId, asList, asRecord, asText, wrongForm } from '../api/form.ts';

/** Values in Odoo's JSON. An empty value of any type is `false`. A reference is `[id, name]`. Amounts are numbers. */

export function asTextOrNull(value: JsonValue): string | null {
  return value === false || value === null || value === undefined ? null : asText(value);
}

export function asFlag(value: JsonValue): boolean {
  if (typeof value !== 'boolean') throw wrongForm('a flag', value);
  return value;
}

const date = /^(\d{1,4})(-\d{2}-\d{2})$/;

/** Odoo writes its value for "never", the first date of Python, as `1-01-01`. */
export function asDateOrNull(value: JsonValue): CalendarDate | null {
  const text = asTextOrNull(value);
  if (text === null) return null;
  const [, year, rest] = date.exec(text) ?? [];
  if (year === undefined) throw wrongForm('a date', value);
  return `${year.padStart(4, '0')}${rest}`;
}

export function asDate(value: JsonValue): CalendarDate {
  const found = asDateOrNull(value);
  if (found === null) throw wrongForm('a date', value);
  return found;
}

/** The id and name of a reference; null if it is empty. */
export function asReference(value: JsonValue): { id: number; name: string } | null {
  if (value === false || value === null || value === undefined) return null;
  const [id, name] = asList(value);
  return { id: asId(id ?? null), name: asTextOrNull(name ?? null) ?? '' };
}

export function asIds(value: JsonValue): number[] {
  return asList(value).map(asId);
}

/** Odoo adds up binary floating-point numbers, so a sum may be wrong by less than this. No amount is this small. */
const noise = 1e-6;

/**
 * Reads an amount. Odoo stores decimals and writes the nearest binary number, whose digits are those of the decimal.
 * Rounding errors of sums are removed. An amount with more decimals for another reason is not rounded, so the
 * comparison shows it.
 */
export function asAmount(value: JsonValue, decimals: number): Money {
  const text = typeof value === 'number' || isExactNumber(value) ? stringifyJson(value) : '';
  const isNoise = text !== '' && new Money(text).abs().lessThan(noise);
  // No real amount needs an exponent.
  const amount = isNoise ? zero : parseMoney(/e/i.test(text) ? '' : text);
  if (amount === null) throw wrongForm('an amount', value);
  const rounded = amount.toDecimalPlaces(decimals);
  return amount.minus(rounded).abs().lessThan(noise) ? rounded : amount;
}

/** UTC, with whole seconds rounded down, as Odoo stores and compares times. */
export function toDateTime(at: Date): string {
  return at.toISOString().slice(0, 19).replace('T', ' ');
}

/** A time of Odoo, in UTC; null if it is empty. */
export function asTimeOrNull(value: JsonValue): Date | null {
  const text = asTextOrNull(value);
  if (text === null) return null;
  const at = new Date(`${text.slice(0, 19).replace(' ', 'T')}Z`);
  if (Number.isNaN(at.getTime())) throw wrongForm('a time', value);
  return at;
}

export function asRecords(value: JsonValue): JsonObject[] {
  return asList(value).map((record) => {
    const read = asRecord(record);
    asId(read.id ?? null);
    return read;
  });
}
