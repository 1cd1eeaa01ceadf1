import { isJsonObject, type JsonObject, type JsonValue } from '../../../records/json.ts';
import type { CalendarDate } from '../../../terms.ts';
import { asList, asRecord, asText, wholeNumber, wrongForm } from '../api/form.ts';

/** The form of Xero's values. A function throws FormError if a value has another form. */

const minuteMs = 60_000;

/** An instant in Microsoft's form, such as `/Date(1553126400000+0000)/`. `localMs`: with the offset added. */
function msDateIn(text: string): { ms: number; localMs: number } | null {
  const [, ms, sign, hours = '0', minutes = '0'] = /^\/Date\((-?\d{1,14})(?:([+-])(\d\d)(\d\d))?\)\/$/.exec(text) ?? [];
  if (ms === undefined) return null;
  const offset = (wholeNumber(hours) * 60 + wholeNumber(minutes)) * minuteMs;
  return { ms: wholeNumber(ms), localMs: wholeNumber(ms) + (sign === '-' ? -offset : offset) };
}

/** A day: `/Date(…)/` at midnight, or a text such as `2026-03-05` or `2026-03-05T00:00:00`. */
export function asDay(value: JsonValue): CalendarDate {
  const text = asText(value);
  const found = msDateIn(text);
  const [, day] = /^(\d{4}-\d\d-\d\d)(?:T|$)/.exec(found === null ? text : new Date(found.localMs).toISOString()) ?? [];
  if (day === undefined) throw wrongForm('a date', value);
  return day;
}

export function asInstant(value: JsonValue): Date {
  const text = asText(value);
  const ms = msDateIn(text)?.ms ?? Date.parse(text);
  if (Number.isNaN(ms)) throw wrongForm('a time', value);
  return new Date(ms);
}

export function daysBetweenText(from: CalendarDate, through: CalendarDate): string {
  const day = (date: CalendarDate) => `DateTime(${date.split('-').join(', ')})`;
  return `Date >= ${day(from)} AND Date <= ${day(through)}`;
}

const noId = /^[0-]+$/;

/** An id of a record. Xero writes zeros for a record that it did not create. */
export function asGuid(value: JsonValue): string {
  const text = asText(value).toLowerCase();
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text) || noId.test(text)) throw wrongForm('an id', value);
  return text;
}

/** The records of an answer, such as `{"Accounts": [...]}`. */
export function recordsIn(value: JsonValue, name: string): JsonObject[] {
  return asList(asRecord(value)[name] ?? null).map(asRecord);
}

/** A text that Xero leaves out, or writes as null, if it is empty. */
export function asOptionalText(value: JsonValue): string {
  return value == null ? '' : asText(value);
}

/** The texts of `ValidationErrors` or `Warnings`. */
export function messagesIn(value: JsonValue): string[] {
  const list = Array.isArray(value) ? value : [];
  return list.flatMap((each) => (isJsonObject(each) && typeof each.Message === 'string' ? each.Message : []));
}
