import type { Capabilities } from './capabilities.ts';

/** Characters of one byte in an encoding. UTF-8 and UTF-16 hold every character. */
const singleByteEncodings: Record<string, string> = {
  ascii: 'ascii',
  latin1: 'latin1',
  'iso-8859-1': 'latin1',
  'iso-8859-15': 'iso-8859-15',
  'windows-1252': 'windows-1252',
};
const charactersOf = new Map<string, ReadonlySet<string>>();

/** Controls, what ends a line, what turns the direction of what follows, and what cannot be seen (as in src/domain/text.ts). */
const unseen =
  /[\p{Cc}\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/** Longer texts are cut before anything else is done with them; also where the ERP states no limit. */
const longestText = 4_000;
/** Units of a visible character: more marks on a letter take the square of their number to be put in order. */
const longestSegment = 32;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The fields of an entry that ERPs limit; keys of `text.lengths` of a capability record, in UTF-16 units. */
export const textFields = ['description', 'reference', 'line_description', 'party_name'] as const;
export type TextField = (typeof textFields)[number];

/**
 * A text from outside as the ERP's field takes it: one line without controls, without what the ERP forbids or cannot encode, cut
 * to its length between two visible characters.
 */
export function erpText(text: string, field: TextField, { text: limits }: Pick<Capabilities, 'text'>): string {
  const longest = limits.lengths[field] ?? longestText;
  const plain = encodable(text.slice(0, longestText).toWellFormed().replace(unseen, ' '), limits.encoding)
    .replace(forbiddenBy(limits.forbidden), ' ')
    .replace(/\s+/gu, ' ')
    .trim();
  return cut(plain, longest);
}

/** The longest beginning of whole visible characters that is at most so long. */
function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  let end = 0;
  for (const { segment, index } of graphemes.segment(text)) {
    if (index + segment.length > longest) break;
    end = index + segment.length;
  }
  return text.slice(0, end).trimEnd();
}

/** `characters` is the inside of a character class of a regular expression. */
function forbiddenBy(characters: string): RegExp {
  return characters === '' ? /(?!)/u : new RegExp(`[${characters}]`, 'gu');
}

/** What the encoding lacks loses its accents, or becomes a question mark. */
function encodable(text: string, encoding: string): string {
  const known = knownCharacters(encoding.toLowerCase());
  if (known === null) return text;
  const all = (part: string) => [...part].every((character) => known.has(character));
  let result = '';
  for (const { segment: whole } of graphemes.segment(text)) {
    const segment = whole.slice(0, longestSegment).normalize('NFC');
    const bare = segment.normalize('NFKD').replace(/\p{M}/gu, '');
    result += all(segment) ? segment : bare !== '' && all(bare) ? bare : '?';
  }
  return result;
}

function knownCharacters(encoding: string): ReadonlySet<string> | null {
  const name = Object.hasOwn(singleByteEncodings, encoding) ? singleByteEncodings[encoding] : undefined;
  if (name === undefined) return null;
  const cached = charactersOf.get(name);
  if (cached) return cached;
  const codes = Uint8Array.from({ length: name === 'ascii' ? 128 : 256 }, (_, code) => code);
  // WHATWG calls windows-1252 latin1, too.
  const decoded =
    name === 'latin1'
      ? String.fromCharCode(...codes)
      : new TextDecoder(name === 'ascii' ? 'utf-8' : name).decode(codes);
  const characters = new Set(decoded);
  charactersOf.set(name, characters);
  return characters;
}
