import { longestNumberDigits } from '../domain/money.ts';

/**
 * A JSON value. A number is a `number` where that holds it digit for digit of its value, and an ExactNumber otherwise. Equal
 * numbers are equal values, however they were written: 1.50 is 1.5, and 1e3 is 1000. Read verbatim, they keep their notation.
 */
export type JsonValue = unknown;
export type JsonObject = Record<string, JsonValue>;

/** A number that binary64 does not hold; JSON.stringify writes its digits. */
export interface ExactNumber {
  readonly rawJSON: string;
}

/** Of ECMAScript's source text access, which TypeScript does not declare yet. */
const nativeJson = JSON as unknown as {
  rawJSON(text: string): ExactNumber;
  isRawJSON(value: unknown): value is ExactNumber;
};

export const isExactNumber = nativeJson.isRawJSON;

/** Nesting beyond this is refused: records of the source nest three deep, and readers that recurse have a stack to lose. */
export const maxDepth = 100;

/** Reads JSON without losing a digit. Throws SyntaxError, also for text that is nested too deeply. */
export function readJson(text: string): JsonValue {
  return readWith(text, {});
}

/** As `readJson`; numbers keep their notation, too (`1.50`): for what is sent back. */
export function readVerbatim(text: string): JsonValue {
  return readWith(text, { verbatim: 'all' });
}

function readWith(text: string, options: ParseOptions): JsonValue {
  const { value, exact } = parseMarked(text, options);
  if (hasMoreBrackets(text, maxDepth) && isDeeper(value, maxDepth)) throw new SyntaxError('nested too deeply');
  return exact(value);
}

export interface Parsed {
  /** Numbers that binary64 does not hold are marked texts in it. */
  value: JsonValue;
  /** A part of the value with its numbers; it recurses, so that the part's depth must be known. */
  exact(part: JsonValue): JsonValue;
}

interface ParseOptions {
  /** NaN and Infinity, which some servers write and which are no JSON, become texts: the field is then a defect of its record, not of the page. */
  mend?: boolean;
  /** Whose numbers keep their notation: all, or those in members of this name. */
  verbatim?: 'all' | { member: string } | undefined;
}

/** One native parse of a text of any depth. Throws SyntaxError. */
export function parseMarked(text: string, { mend = false, verbatim }: ParseOptions): Parsed {
  const isMarked = holdsUnusualNumber(text) || (verbatim !== undefined && oddInside.test(text));
  if (!isMarked && !(mend && holdsNoNumber.test(text))) return { value: JSON.parse(text), exact: (part) => part };
  const member = typeof verbatim === 'object' ? verbatim.member : undefined;
  return {
    value: JSON.parse(withUnusualNumbersAsTexts(text, mend, verbatim !== undefined)),
    exact: (part) => withNumbers(part, verbatim === 'all', member),
  };
}

/**
 * Whether a text may have a number of more than 15 digits, or with an exponent: any other survives binary64 and back (IEEE 754:
 * DBL_DIG). Tells too much where a text has such digits behind a comma; digits of a plain text are not looked at.
 */
function holdsUnusualNumber(text: string): boolean {
  return unusualInside.test(text) || unusualAlone.test(text);
}

const unusualInside = /[[,:]\s*-?(?:\d(?:\.?\d){15}|[\d.]+[eE])/;
const unusualAlone = /^\s*-?(?:\d(?:\.?\d){15}|[\d.]+[eE])/;
/** A number that JSON.stringify would write otherwise: with zeros at its end, or a negative zero. */
const oddInside = /[[,:]\s*-(?:0\s*[,\]}]|0\.0)|[[,:]\s*-?\d+\.\d*0\s*[,\]}]/;
const isOdd = /^-0$|^-?\d+\.\d*0$/;
const holdsNoNumber = /[[,:]\s*-?(?:NaN|Infinity)/;
const isUnusual = /^-?(?:\d(?:\.?\d){15}|[\d.]+[eE])/;
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** What stands for a number outside texts, and the quotation marks that begin one. */
const numberOrText = /"|-?(?:\d[\w.+-]*|\b(?:NaN|Infinity)\b)/g;
/** Before the digits of a number that stands as a text: a character for private use. */
const mark = '\ue000';

function withUnusualNumbersAsTexts(text: string, mend: boolean, isVerbatim: boolean): string {
  let written = '';
  let from = 0;
  numberOrText.lastIndex = 0;
  for (let found = numberOrText.exec(text); found !== null; found = numberOrText.exec(text)) {
    const [token] = found;
    if (token === '"') numberOrText.lastIndex = stringEnd(text, found.index) + 1;
    else {
      const isNumber = (isUnusual.test(token) || (isVerbatim && isOdd.test(token))) && jsonNumber.test(token);
      if (!isNumber && !(mend && /[NI]/.test(token))) continue;
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

/** Powers of ten that are written out; beyond them a number keeps an exponent. */
const longestPower = 100;
/** Digits of an exponent that is reckoned with. */
const longestExponent = 100;

/** The number of a JSON text, which may have any length: equal numbers give equal values. 1e999999999 is not expanded. */
export function exactNumber(text: string): number | ExactNumber {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (!parts) throw new TypeError(`not a JSON number: ${text}`);
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts;
  const digits = (whole + fraction).replace(/^0+/, '');
  // Not by a regular expression: looking for the zeros at the end takes the square of their number.
  let length = digits.length;
  while (digits[length - 1] === '0') length--;
  const significant = digits.slice(0, length);
  if (significant === '') return 0;
  // No record of a practice has such a number: two notations of it count as different.
  if (exponent.length > longestExponent) return nativeJson.rawJSON(text);
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  if (power > longestPower || power < -longestPower - significant.length) {
    return nativeJson.rawJSON(`${sign}${significant}e${power}`);
  }
  const written = sign + decimal(significant, Number(power));
  // One of more digits than an amount may have keeps them, so that it is refused as such (src/domain/money.ts).
  const digitsWritten = Math.max(0, significant.length + Number(power)) + Math.max(0, -Number(power));
  const isFloat = significant.length <= 15 && digitsWritten <= longestNumberDigits;
  return isFloat ? Number(written) : nativeJson.rawJSON(written);
}

function decimal(significant: string, power: number): string {
  if (power >= 0) return significant + '0'.repeat(power);
  const padded = significant.padStart(1 - power, '0');
  return `${padded.slice(0, power)}.${padded.slice(power)}`;
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

function isDeeper(value: JsonValue, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return most === 0 || Object.values(value).some((each) => isDeeper(each, most - 1));
}

/** Index of the closing quote of the string that begins at `start`; the text's length without one. */
function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

/** JSON text of a value; numbers keep their digits, NUL and lone surrogates are escaped. Throws TypeError. */
export function stringifyJson(value: JsonValue): string {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError('not a JSON value');
  return text;
}

/** Whether it is a JSON object: not an array, number or null. */
export function isJsonObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

/** Canonical text: equal values give the same text. Keys are sorted, numbers written by value; strings are unchanged ("1.50" is not "1.5"). */
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

/** JSON text of a value that holds no other. Numbers are told apart first: most need no escape. */
export function scalarJson(value: JsonValue): string {
  return typeof value === 'number' ? String(value) : stringifyJson(value);
}
