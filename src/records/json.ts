import { longestNumberDigits } from '../domain/money.ts';

/**
 * A JSON value. A number is a `number` if binary64 holds it exactly, otherwise an ExactNumber. Numbers of equal value
 * are equal values, whatever their notation: 1.50 is 1.5, and 1e3 is 1000. `readVerbatim` keeps the notation instead.
 */
export type JsonValue = unknown;
export type JsonObject = Record<string, JsonValue>;

/** A number that binary64 cannot hold exactly. JSON.stringify writes its digits. */
export interface ExactNumber {
  readonly rawJSON: string;
}

/** Part of the ECMAScript proposal "JSON.parse source text access", which TypeScript does not declare yet. */
const nativeJson = JSON as unknown as {
  rawJSON(text: string): ExactNumber;
  isRawJSON(value: unknown): value is ExactNumber;
};

export const isExactNumber = nativeJson.isRawJSON;

/**
 * Deeper nesting is refused, because recursive readers could overflow the stack. Records of the source are nested three
 * deep.
 */
export const maxDepth = 100;

/** Reads JSON without losing a digit. Throws SyntaxError, also for text that is nested too deeply. */
export function readJson(text: string): JsonValue {
  return readWith(text, {});
}

/** Like `readJson`, but numbers keep their notation (`1.50`), so that the value can be sent back unchanged. */
export function readVerbatim(text: string): JsonValue {
  return readWith(text, { verbatim: 'all' });
}

function readWith(text: string, options: ParseOptions): JsonValue {
  const { value, exact } = parseMarked(text, options);
  if (hasMoreBrackets(text, maxDepth) && isDeeper(value, maxDepth)) throw new SyntaxError('nested too deeply');
  return exact(value);
}

export interface Parsed {
  /** Contains marked texts in place of the numbers that binary64 cannot hold. */
  value: JsonValue;
  /**
   * Replaces the marked texts in a part of the value by numbers. It is recursive, so the caller must have limited the
   * part's depth.
   */
  exact(part: JsonValue): JsonValue;
}

interface ParseOptions {
  /**
   * Reads NaN and Infinity, which are not valid JSON, as texts. The error then concerns one field of a record, not the
   * whole page.
   */
  acceptNaN?: boolean;
  /** Which numbers keep their notation: all, or only those inside members of this name. */
  verbatim?: 'all' | { member: string } | undefined;
}

/** Parses a text of any depth with one call of JSON.parse. Throws SyntaxError. */
export function parseMarked(text: string, { acceptNaN = false, verbatim }: ParseOptions): Parsed {
  const isMarked = holdsUnusualNumber(text) || (verbatim !== undefined && oddInside.test(text));
  if (!isMarked && !(acceptNaN && holdsNoNumber.test(text))) return { value: JSON.parse(text), exact: (part) => part };
  const member = typeof verbatim === 'object' ? verbatim.member : undefined;
  return {
    value: JSON.parse(withUnusualNumbersAsTexts(text, acceptNaN, verbatim !== undefined)),
    exact: (part) => withNumbers(part, verbatim === 'all', member),
  };
}

/**
 * Whether a text may contain a number of more than 15 digits, or one with an exponent. All other numbers survive the
 * conversion to binary64 and back (IEEE 754: DBL_DIG). It may also return true for digits after a comma inside a
 * string, which costs only time.
 */
function holdsUnusualNumber(text: string): boolean {
  return unusualInside.test(text) || unusualAlone.test(text);
}

const unusualInside = /[[,:]\s*-?(?:\d(?:\.?\d){15}|[\d.]+[eE])/;
const unusualAlone = /^\s*-?(?:\d(?:\.?\d){15}|[\d.]+[eE])/;
/** A number that JSON.stringify would write in another notation: one with trailing zeros, or a negative zero. */
const oddInside = /[[,:]\s*-(?:0\s*[,\]}]|0\.0)|[[,:]\s*-?\d+\.\d*0\s*[,\]}]/;
const isOdd = /^-0$|^-?\d+\.\d*0$/;
const holdsNoNumber = /[[,:]\s*-?(?:NaN|Infinity)/;
const isUnusual = /^-?(?:\d(?:\.?\d){15}|[\d.]+[eE])/;
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Matches a number outside of strings, or the quotation mark that opens a string. */
const numberOrText = /"|-?(?:\d[\w.+-]*|\b(?:NaN|Infinity)\b)/g;
/** A private-use character that marks a text as a number. */
const mark = '\ue000';

function withUnusualNumbersAsTexts(text: string, acceptNaN: boolean, isVerbatim: boolean): string {
  let written = '';
  let from = 0;
  numberOrText.lastIndex = 0;
  for (let found = numberOrText.exec(text); found !== null; found = numberOrText.exec(text)) {
    const [token] = found;
    if (token === '"') numberOrText.lastIndex = stringEnd(text, found.index) + 1;
    else {
      const isNumber = (isUnusual.test(token) || (isVerbatim && isOdd.test(token))) && jsonNumber.test(token);
      if (!isNumber && !(acceptNaN && /[NI]/.test(token))) continue;
      written += `${text.slice(from, found.index)}"${isNumber ? mark : ''}${token}"`;
      from = numberOrText.lastIndex;
    }
  }
  return written + text.slice(from);
}

function withNumbers(value: JsonValue, isVerbatim: boolean, member: string | undefined): JsonValue {
  if (typeof value === 'string') return value.startsWith(mark) ? numberOf(value, isVerbatim) : value;
  if (Array.isArray(value)) return value.map((each) => withNumbers(each, isVerbatim, member));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, withNumbers(each, isVerbatim || key === member, member)]),
  );
}

function numberOf(marked: string, isVerbatim: boolean): JsonValue {
  const text = marked.slice(mark.length);
  if (!jsonNumber.test(text)) return marked;
  return isVerbatim ? nativeJson.rawJSON(text) : exactNumber(text);
}

/** A JSON number with exactly these digits, such as `1.10`. Throws TypeError if the text is not a number. */
export function verbatimNumber(text: string): ExactNumber {
  if (!jsonNumber.test(text)) throw new TypeError(`not a JSON number: ${text}`);
  return nativeJson.rawJSON(text);
}

/** Powers of ten up to this are written out as digits. A number beyond it keeps its exponent. */
const longestPower = 100;
/** Maximum number of digits of an exponent that is evaluated. */
const longestExponent = 100;

/** The value of a JSON number of any length. Equal numbers give equal values. 1e999999999 is not expanded. */
export function exactNumber(text: string): number | ExactNumber {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (!parts) throw new TypeError(`not a JSON number: ${text}`);
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts;
  const digits = (whole + fraction).replace(/^0+/, '');
  // The code is a loop, because a regular expression for trailing zeros would take quadratic time.
  let length = digits.length;
  while (digits[length - 1] === '0') length--;
  const significant = digits.slice(0, length);
  if (significant === '') return 0;
  // Two notations of such a number count as different. No real record contains one.
  if (exponent.length > longestExponent) return nativeJson.rawJSON(text);
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  if (power > longestPower || power < -longestPower - significant.length) {
    return nativeJson.rawJSON(`${sign}${significant}e${power}`);
  }
  const written = sign + decimal(significant, Number(power));
  // A number with more digits than an amount may have keeps all of them, so that it is refused later
  // (src/domain/money.ts).
  const digitsWritten = Math.max(0, significant.length + Number(power)) + Math.max(0, -Number(power));
  const isFloat = significant.length <= 15 && digitsWritten <= longestNumberDigits;
  return isFloat ? Number(written) : nativeJson.rawJSON(written);
}

function decimal(significant: string, power: number): string {
  if (power >= 0) return significant + '0'.repeat(power);
  const padded = significant.padStart(1 - power, '0');
  return `${padded.slice(0, power)}.${padded.slice(power)}`;
}

/**
 * Whether a text has more than `most` opening brackets, including those in strings. This is a cheap upper bound of its
 * depth.
 */
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

function isDeeper(value: JsonValue, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return most === 0 || Object.values(value).some((each) => isDeeper(each, most - 1));
}

/** The index of the closing quote of the string that begins at `start`, or the text's length if there is none. */
function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

/**
 * JSON text of a value. Numbers keep their digits; NUL and lone surrogates are escaped. Throws TypeError if the value
 * has no JSON form.
 */
export function stringifyJson(value: JsonValue): string {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError('not a JSON value');
  return text;
}

export function isJsonObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

/**
 * Canonical JSON: equal values give the same text. Keys are sorted and numbers are written by value. Strings are
 * unchanged, so "1.50" differs from "1.5".
 */
export function canonicalJson(value: JsonValue): string {
  return stringifyJson(sorted(value));
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

/** JSON text of a value that is neither object nor array. Numbers are handled first, because it is faster. */
export function scalarJson(value: JsonValue): string {
  return typeof value === 'number' ? String(value) : stringifyJson(value);
}
