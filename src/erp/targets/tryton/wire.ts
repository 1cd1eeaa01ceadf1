import { type Money, parseMoney } from '../../../domain/money.ts';
import type { JsonObject, JsonValue } from '../../../records/json.ts';
import type { CalendarDate } from '../../../terms.ts';
import { asId, asList, asRecord, asText, wholeNumber, wrongForm } from '../api/form.ts';

/** Values in Tryton's JSON. Amounts and dates are objects that name their class, so amounts are never JSON numbers. */

export function toDecimal(amount: Money): JsonObject {
  return { __class__: 'Decimal', decimal: amount.toFixed() };
}

export function toDate(date: CalendarDate): JsonObject {
  const [year, month, day] = date.split('-').map(wholeNumber);
  return { __class__: 'date', year, month, day };
}

/** UTC, as Tryton stores times. */
export function toDateTime(at: Date): JsonObject {
  return {
    ...{ __class__: 'datetime', year: at.getUTCFullYear(), month: at.getUTCMonth() + 1, day: at.getUTCDate() },
    ...{ hour: at.getUTCHours(), minute: at.getUTCMinutes(), second: at.getUTCSeconds() },
    microsecond: at.getUTCMilliseconds() * 1_000,
  };
}

export function asTextOrNull(value: JsonValue): string | null {
  return value === null ? null : asText(value);
}

/** On SQLite, Tryton answers booleans as 0 and 1. */
export function asFlag(value: JsonValue): boolean {
  if (value === true || value === 1) return true;
  if (value === false || value === 0 || value === null) return false;
  throw wrongForm('a flag', value);
}

export function asDecimal(value: JsonValue): Money {
  const { __class__: name, decimal } = asRecord(value);
  const amount = name === 'Decimal' && typeof decimal === 'string' ? parseMoney(decimal) : null;
  if (amount === null) throw wrongForm('a decimal', value);
  return amount;
}

export function asDate(value: JsonValue): CalendarDate {
  const { __class__: name, year, month, day } = asRecord(value);
  if (name !== 'date') throw wrongForm('a date', value);
  const digits = (part: JsonValue, length: number) => String(asId(part)).padStart(length, '0');
  return `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}`;
}

export function asDateOrNull(value: JsonValue): CalendarDate | null {
  return value === null ? null : asDate(value);
}

/** The record that a field refers to, with the fields that were requested (`party.code`). Null if there is none. */
export function related(record: JsonObject, field: string): JsonObject | null {
  const value = record[`${field}.`];
  return value === null || value === undefined ? null : asRecord(value);
}

/** The records of a list field, with the fields that were requested (`lines.debit`). */
export function relatedList(record: JsonObject, field: string): JsonObject[] {
  const value = record[`${field}.`];
  return value === null || value === undefined ? [] : asList(value).map(asRecord);
}
