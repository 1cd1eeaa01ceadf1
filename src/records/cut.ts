import type { Sliced } from '../domain/slices.ts';
import { isEscaped } from './json.ts';
import type { Extent } from './limits.ts';

/** A part of a JSON text, cut out and not validated: parsing it does that. */
export interface Part extends Extent {
  text: string;
}

export interface Member extends Part {
  /** With its quotes. */
  key: string;
}

const [quote, comma] = [34, 44];
const [openBrace, closeBrace, openBracket, closeBracket] = [123, 125, 91, 93];
const charsBetweenYields = 50_000;

/**
 * Cuts the array `key` of a JSON object into the texts of its elements; `rest` is the object's text with that array empty. Null
 * where there is no such array. `onElement` may throw to stop.
 */
export function* cutArray(
  text: string,
  key: string,
  onElement: (element: Part) => void = () => undefined,
): Sliced<{ rest: string; elements: Part[] } | null> {
  const start = yield* arrayStart(text, key);
  if (start === null) return null;
  const elements: Part[] = [];
  for (let from = start; ; ) {
    const part = yield* partFrom(text, from);
    if (part === null) return null;
    const end = from + part.length;
    const code = text.charCodeAt(end);
    if (code !== comma && code !== closeBracket) return null;
    // Nothing between the brackets is an empty array; any other empty element is left for the parser to refuse.
    if (code === comma || part.text !== '' || elements.length > 0) {
      elements.push(part);
      onElement(part);
    }
    if (code === closeBracket) return { rest: text.slice(0, start) + text.slice(end), elements };
    from = end + 1;
  }
}

/** The members of a JSON object's text, in their order, as far as they can be told; `onMember` is called with each. */
export function* cutObject(text: string, onMember: (member: Member) => void): Sliced<void> {
  let from = text.search(/\S/) + 1;
  if (text.charCodeAt(from - 1) !== openBrace) return;
  for (;;) {
    const opening = text.indexOf('"', from);
    if (opening < 0 || text.slice(from, opening).trim() !== '') return;
    const closing = plainEnd(text, opening) ?? (yield* stringEnd(text, opening));
    const separator = closing === null ? -1 : text.indexOf(':', closing);
    if (closing === null || separator < 0 || text.slice(closing + 1, separator).trim() !== '') return;
    const part = yield* partFrom(text, separator + 1);
    if (part === null) return;
    const { length, ...extent } = part;
    onMember({ key: text.slice(opening, closing + 1), ...extent });
    from = separator + 1 + length;
    if (text.charCodeAt(from) !== comma) return;
    from += 1;
  }
}

/** What a whole JSON text holds. */
export function* extentOf(text: string): Sliced<Extent> {
  let whole: Extent = { chars: text.length, values: 0, depth: 0 };
  for (let from = 0; from <= text.length; ) {
    const part = yield* partFrom(text, from);
    if (part === null) return whole;
    whole = {
      chars: text.length,
      values: whole.values + part.values,
      depth: Math.max(whole.depth, part.depth),
    };
    from += part.length + 1;
  }
  return whole;
}

/**
 * The value that begins at `from`, up to the comma or closing bracket that ends it, or the end of the text; null where the text
 * ends within it. `length` is that of its text with the spaces around it.
 */
function* partFrom(text: string, from: number): Sliced<(Part & { length: number }) | null> {
  let depth = 0;
  let deepest = 0;
  let values = 1;
  let yielded = from;
  let i = from;
  for (; i < text.length; i++) {
    if (i - yielded >= charsBetweenYields) {
      yield i - yielded;
      yielded = i;
    }
    const code = text.charCodeAt(i);
    if (code === quote) {
      const end = plainEnd(text, i) ?? (yield* stringEnd(text, i));
      if (end === null) return null;
      i = end;
      yielded = Math.max(yielded, end);
    } else if (code === openBrace || code === openBracket) {
      depth++;
      values++;
      if (depth > deepest) deepest = depth;
    } else if (code === comma || code === closeBrace || code === closeBracket) {
      if (depth === 0) break;
      if (code === comma) values++;
      else depth--;
    }
  }
  if (depth > 0) return null;
  yield i - yielded;
  const cut = text.slice(from, i).trim();
  return { text: cut, chars: cut.length, values, depth: deepest, length: i - from };
}

/** Index behind the opening bracket of the array `key` of the outermost object; null without it. */
function* arrayStart(text: string, key: string): Sliced<number | null> {
  let depth = 0;
  let yielded = 0;
  for (let i = 0; i < text.length; i++) {
    if (i - yielded >= charsBetweenYields) {
      yield i - yielded;
      yielded = i;
    }
    const code = text.charCodeAt(i);
    if (code === openBrace || code === openBracket) depth++;
    else if (code === closeBrace || code === closeBracket) depth--;
    else if (code === quote) {
      const end = plainEnd(text, i) ?? (yield* stringEnd(text, i));
      if (end === null) return null;
      const isKey = depth === 1 && end - i === key.length + 1 && text.startsWith(key, i + 1);
      i = end;
      yielded = Math.max(yielded, end);
      if (!isKey) continue;
      const opening = /\s*:\s*\[/y;
      opening.lastIndex = end + 1;
      if (opening.test(text)) return opening.lastIndex;
    }
  }
  return null;
}

/** As `stringEnd`, for nearly every string: one without escaped quotes. Null for any other. */
function plainEnd(text: string, start: number): number | null {
  const end = text.indexOf('"', start + 1);
  return end < 0 || isEscaped(text, end) ? null : end;
}

/** Index of the closing quote of the string that begins at `start`; null without one. */
function* stringEnd(text: string, start: number): Sliced<number | null> {
  let yielded = start;
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    if (!isEscaped(text, end)) {
      if (end - yielded >= charsBetweenYields) yield end - yielded;
      return end;
    }
    if (end - yielded >= charsBetweenYields) {
      yield end - yielded;
      yielded = end;
    }
  }
  return null;
}
