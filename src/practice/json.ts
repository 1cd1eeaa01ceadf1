import { isLosslessNumber, parse, stringify } from 'lossless-json';

/** A JSON value as parsed here: every number is a LosslessNumber, which keeps the wire's digits. */
export type JsonValue = unknown;
export type JsonObject = Record<string, JsonValue>;

/**
 * JSON text to a value without losing digits (ACCOUNTING "Amounts"). A repeated key takes its last value, as everywhere
 * in JSON. Throws SyntaxError, also for text nested too deeply to read.
 */
export function parseJson(text: string): JsonValue {
  try {
    return parse(text, null, { onDuplicateKey: ({ newValue }) => newValue });
  } catch (error) {
    if (error instanceof RangeError) throw new SyntaxError('nested too deeply');
    throw error;
  }
}

/** A value to JSON text; numbers with the digits they came with, odd characters (NUL, lone surrogates) as escapes. */
export function stringifyJson(value: JsonValue): string {
  const text = stringify(value);
  if (text === undefined) throw new TypeError('not a JSON value');
  return text;
}

/** Whether it is a JSON object: no array, number or null. */
export function isJsonObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

/**
 * One text for equal values, for content hashes: keys sorted; numbers by their value (1.50 is 1.5, -0.0 is 0), strings
 * as they are ("1.50" is not "1.5").
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

/** Digits without zeros at either end, and a power of ten: no length limit, and 1e999999999 costs nothing. */
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
