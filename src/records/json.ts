import { isLosslessNumber, parse, stringify } from 'lossless-json';

/** A JSON value as parseJson returns it: every number is a LosslessNumber, which keeps its digits. */
export type JsonValue = unknown;
export type JsonObject = Record<string, JsonValue>;

/**
 * Parses JSON without losing digits (ACCOUNTING "Amounts"). Of a repeated key the last value counts, as in JSON.parse. Throws
 * SyntaxError, also for text that is nested too deeply.
 */
export function parseJson(text: string): JsonValue {
  try {
    return parse(text, null, { onDuplicateKey: ({ newValue }) => newValue });
  } catch (error) {
    if (error instanceof RangeError) throw new SyntaxError('nested too deeply');
    throw error;
  }
}

/** JSON text of a value; numbers keep their digits, NUL and lone surrogates are escaped. Throws TypeError. */
export function stringifyJson(value: JsonValue): string {
  const text = stringify(value);
  if (text === undefined) throw new TypeError('not a JSON value');
  return text;
}

const unstorableEscape = /\\u(?:0000|d[89a-f][\da-f]{2})/i;
const escapes = /\\(?:u(?<high>d[89ab][\da-f]{2})\\u(?<low>d[c-f][\da-f]{2})|u(?<code>[\da-f]{4})|.)/gis;

/**
 * JSON text in which escaped NULs and escaped lone surrogates are the replacement character. PostgreSQL stores them in a json
 * column, and then refuses every question about a field of that record.
 */
export function storableJson(text: string): string {
  if (!unstorableEscape.test(text)) return text;
  return text.replace(escapes, (found, _high, _low, code: string | undefined) =>
    code !== undefined && /^(?:0000|d[89a-f])/i.test(code) ? '\\ufffd' : found,
  );
}

/**
 * Cuts the array `key` of a JSON object into the texts of its elements; `rest` is the object's text with that array empty. Null
 * where there is no such array. The parts are not validated: parseJson does that.
 */
export function splitArray(text: string, key: string): { rest: string; elements: string[] } | null {
  const start = arrayStart(text, key);
  if (start === null) return null;
  const elements: string[] = [];
  let depth = 0;
  let from = start;
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) i = stringEnd(text, i);
    else if (code === openBrace || code === openBracket) depth++;
    else if (depth > 0) {
      if (code === closeBrace || code === closeBracket) depth--;
    } else if (code === comma || code === closeBracket) {
      const element = text.slice(from, i).trim();
      from = i + 1;
      // Nothing between the brackets is an empty array; any other empty element is left for parseJson to refuse.
      if (code === comma || element !== '' || elements.length > 0) elements.push(element);
      if (code === closeBracket) return { rest: text.slice(0, start) + text.slice(i), elements };
    }
  }
  return null;
}

const [quote, backslash, comma] = [34, 92, 44];
const [openBrace, closeBrace, openBracket, closeBracket] = [123, 125, 91, 93];

/** Index behind the opening bracket of the array `key` of the outermost object; null without it. */
function arrayStart(text: string, key: string): number | null {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === openBrace || code === openBracket) depth++;
    else if (code === closeBrace || code === closeBracket) depth--;
    else if (code === quote) {
      const end = stringEnd(text, i);
      const isKey = depth === 1 && end - i === key.length + 1 && text.startsWith(key, i + 1);
      i = end;
      if (!isKey) continue;
      const opening = /\s*:\s*\[/y;
      opening.lastIndex = end + 1;
      if (opening.test(text)) return opening.lastIndex;
    }
  }
  return null;
}

/** Index of the closing quote of the string that begins at `start`; the text's length without one. */
function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
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

/** Significant digits and a power of ten. Works on text: numbers of any length, and 1e999999999 is not expanded. */
function canonicalNumber(text: string): string {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (!parts) throw new TypeError(`not a JSON number: ${text}`);
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return power === 0n ? sign + significant : `${sign}${significant}e${power}`;
}
