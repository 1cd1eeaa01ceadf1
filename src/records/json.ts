import { isLosslessNumber, LosslessNumber, parse, stringify } from 'lossless-json';

/**
 * A JSON value. A number is a `number` where that holds it exactly, digit for digit of its value, and a LosslessNumber
 * otherwise; from `parseJson` every number is a LosslessNumber.
 */
export type JsonValue = unknown;
export type JsonObject = Record<string, JsonValue>;

/** Nesting beyond this is refused: records of the source nest three deep, and readers that recurse have a stack to lose. */
export const maxDepth = 100;

/**
 * Parses JSON with every number as it was written (`1.0` stays `1.0`): for what is sent back or shown. Of a repeated key the
 * last value counts, as in JSON.parse. Throws SyntaxError, also for text that is nested too deeply.
 */
export function parseJson(text: string): JsonValue {
  return losslessly(text, (number) => new LosslessNumber(number));
}

/**
 * Parses JSON without losing a digit of any value: `1.50` becomes 1.5. It accepts and refuses what `parseJson` does, and costs
 * a fraction of it where no number needs more than binary64 holds, as nearly always (docs/DECISIONS.md "Reading JSON").
 */
export function readJson(text: string): JsonValue {
  if (!mayHoldLongNumber.test(text)) {
    refuseDepth(text);
    return JSON.parse(text);
  }
  return losslessly(text, (number) => (isLongNumber.test(number) ? new LosslessNumber(number) : Number(number)));
}

/**
 * A number of more than 15 digits, or with an exponent: any other survives binary64 and back (IEEE 754: DBL_DIG). Tells too
 * much where a text has such digits behind a comma; digits of a plain text are not looked at.
 */
const mayHoldLongNumber = /(?:^|[[,:])\s*-?(?:\d(?:\.?\d){15}|[\d.]+[eE])/;
const isLongNumber = /^-?(?:\d(?:\.?\d){15}|[\d.]+[eE])/;

function losslessly(text: string, parseNumber: (number: string) => JsonValue): JsonValue {
  refuseDepth(text);
  return parse(text, null, { parseNumber, onDuplicateKey: ({ newValue }) => newValue });
}

function refuseDepth(text: string): void {
  if (hasMoreBrackets(text, maxDepth) && depthOf(text) > maxDepth) throw new SyntaxError('nested too deeply');
}

/** Whether a text has more opening brackets than `most`, those in its strings included: a cheap bound of its depth. */
function hasMoreBrackets(text: string, most: number): boolean {
  let found = 0;
  for (const bracket of '{[') {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      found += 1;
      if (found > most) return true;
    }
  }
  return false;
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) i = stringEnd(text, i);
    else if (code === openBrace || code === openBracket) deepest = Math.max(deepest, ++depth);
    else if (code === closeBrace || code === closeBracket) depth--;
  }
  return deepest;
}

const quote = 34;
const [openBrace, closeBrace, openBracket, closeBracket] = [123, 125, 91, 93];

/** Index of the closing quote of the string that begins at `start`; the text's length without one. */
export function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    if (!isEscaped(text, end)) return end;
  }
  return text.length;
}

/** Whether an odd number of backslashes stands before the character at `index`, within a string. */
export function isEscaped(text: string, index: number): boolean {
  let escapes = 0;
  while (text[index - 1 - escapes] === '\\') escapes++;
  return escapes % 2 === 1;
}

/** JSON text of a value; numbers keep their digits, NUL and lone surrogates are escaped. Throws TypeError. */
export function stringifyJson(value: JsonValue): string {
  const text = stringify(value);
  if (text === undefined) throw new TypeError('not a JSON value');
  return text;
}

const unstorableEscape = /\\u(?:0000|d[89a-f][\da-f]{2})/i;
const replacementEscape = '\\ufffd';

/**
 * JSON text in which escaped NULs and escaped lone surrogates are the replacement character. PostgreSQL stores them in a json
 * column, and then refuses every question about a field of that record.
 */
export function storableJson(text: string): string {
  if (!unstorableEscape.test(text)) return text;
  const kept: string[] = [];
  let from = 0;
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at)) {
    const code = escapedCode(text, at);
    const isPair = isHigh(code) && isLow(escapedCode(text, at + 6));
    if (!isPair && (code === 0 || isHigh(code) || isLow(code))) {
      kept.push(text.slice(from, at), replacementEscape);
      from = at + 6;
    }
    at += code === null ? 2 : isPair ? 12 : 6;
  }
  return kept.join('') + text.slice(from);
}

/** The UTF-16 unit that an escape of four digits at this place stands for; null where there is none. */
function escapedCode(text: string, at: number): number | null {
  if (text.charCodeAt(at) !== backslash || text.charCodeAt(at + 1) !== letterU) return null;
  let unit = 0;
  for (let place = at + 2; place < at + 6; place++) {
    const digit = hexDigit(text.charCodeAt(place));
    if (digit < 0) return null;
    unit = unit * 16 + digit;
  }
  return unit;
}

/** The value of a hexadecimal digit by its code; -1 for anything else. By codes, since a text may hold a hundred thousand escapes. */
function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

const [backslash, letterU] = [92, 117];

function isHigh(code: number | null): boolean {
  return code !== null && code >= 0xd800 && code < 0xdc00;
}

function isLow(code: number | null): boolean {
  return code !== null && code >= 0xdc00 && code < 0xe000;
}

/** Whether it is a JSON object: not an array, number or null. */
export function isJsonObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

/**
 * Canonical text for content hashes: equal values give the same text. Keys are sorted, numbers written by value (1.50 as 1.5,
 * -0.0 as 0); strings are unchanged ("1.50" is not "1.5").
 */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (isJsonObject(value)) {
    const members = Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
    return `{${members.join(',')}}`;
  }
  if (isLosslessNumber(value)) return canonicalNumber(value.value);
  if (typeof value === 'number') return canonicalNumber(String(value));
  return stringifyJson(value);
}

/** Digits of an exponent that is reckoned with. */
const longestExponent = 100;

/** Significant digits and a power of ten. Works on text: numbers of any length, and 1e999999999 is not expanded. */
function canonicalNumber(text: string): string {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (!parts) throw new TypeError(`not a JSON number: ${text}`);
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts;
  const digits = (whole + fraction).replace(/^0+/, '');
  // Not by a regular expression: looking for the zeros at the end takes the square of their number.
  let length = digits.length;
  while (digits[length - 1] === '0') length--;
  const significant = digits.slice(0, length);
  if (significant === '') return '0';
  // No record of a practice has such a number: two notations of it count as different.
  if (exponent.length > longestExponent) return `${sign}${significant}e${exponent}${fraction && `,${fraction.length}`}`;
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return power === 0n ? sign + significant : `${sign}${significant}e${power}`;
}
