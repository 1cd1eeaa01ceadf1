/**
 * The text as PostgreSQL can store it: without NUL, and with lone surrogates replaced. Hash and compare this form,
 * since the database returns it.
 */
export function postgresText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '');
}

/** The text with at most `longest` characters; an ellipsis shows that it was cut. */
export function clip(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
}

/** The text without this character at its end. A regular expression would take quadratic time. */
export function withoutEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}

/**
 * Characters that a terminal executes instead of showing (controls), that end a line, that change the text direction,
 * or that are invisible. Joiners of scripts and emoji are not included.
 */
const unseen =
  /[\p{Cc}\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

const shortEscapes: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escapeOf(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** The text on one line, with visible escapes for characters that a terminal would execute or hide. */
export function visible(text: string): string {
  return text.toWellFormed().replace(unseen, (character) => shortEscapes[character] ?? escapeOf(character));
}

/**
 * Does the same, but keeps line ends; for texts of several lines, and for JSON, where an escape stands for the same
 * character.
 */
export function visibleLines(text: string): string {
  return text.toWellFormed().replace(unseen, (character) => (character === '\n' ? character : escapeOf(character)));
}

/** A plain value with `visible` applied to each text in it. Values other than arrays, maps, objects and texts stay. */
export function visibleIn<Value>(value: Value): Value {
  return shown(value) as Value;
}

function shown(value: unknown): unknown {
  if (typeof value === 'string') return visible(value);
  if (Array.isArray(value)) return value.map(shown);
  if (value instanceof Map) return new Map([...value].map(([key, each]) => [shown(key), shown(each)]));
  if (typeof value !== 'object' || value === null) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shown(each)]));
}
