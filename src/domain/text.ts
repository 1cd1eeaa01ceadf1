/**
 * The text without NUL and with lone surrogates replaced, as PostgreSQL can store it. Hash and compare this form: it is what
 * is read back.
 */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '');
}

/** The text, cut to so many characters at most; what was cut off shows as an ellipsis. */
export function clip(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
}

/** The text without these characters at its end. Not by a regular expression: that takes the square of their number. */
export function withoutEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}

/**
 * Characters that a terminal obeys instead of showing (controls), that end a line there, that turn the direction of what
 * follows, or that cannot be seen. The joiners of scripts and emoji are not among them.
 */
const unseen =
  /[\p{Cc}\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

const shortEscapes: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escapeOf(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** The text with visible escapes for what a terminal would obey or hide: one line, whatever it contains. */
export function visible(text: string): string {
  return text.toWellFormed().replace(unseen, (character) => shortEscapes[character] ?? escapeOf(character));
}

/** The same for a text of several lines, or for JSON, in which every escape stands for the same character. */
export function visibleLines(text: string): string {
  return text.toWellFormed().replace(unseen, (character) => (character === '\n' ? character : escapeOf(character)));
}

/** A plain value whose texts are each on one line, as `visible` makes them; what is no array, table or text stays. */
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
