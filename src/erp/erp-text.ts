import type { Capabilities } from './capabilities.ts';

/** Encodings with one byte per character. Texts in any other encoding, such as UTF-8, may contain every character. */
const singleByteEncodings: Record<string, string> = {
  ascii: 'ascii',
  latin1: 'latin1',
  'iso-8859-1': 'latin1',
  'iso-8859-15': 'iso-8859-15',
  'windows-1252': 'windows-1252',
};
const charactersOf = new Map<string, ReadonlySet<string>>();

/** Control characters, line ends, direction marks and invisible characters (as in src/domain/text.ts). */
const unseen =
  /[\p{Cc}\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/** Maximum length before any other processing, also if the ERP states no limit. */
const longestText = 4_000;
/** Maximum UTF-16 units per visible character. Normalising a letter with very many marks would take quadratic time. */
const longestSegment = 32;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Fields whose length an ERP may limit: the keys of `text.lengths` in a capability record. */
export const textFields = ['description', 'reference', 'line_description', 'party_name'] as const;
export type TextField = (typeof textFields)[number];

/**
 * Makes a text from outside fit for a field of the ERP: one line without control characters and without characters that
 * the ERP forbids or cannot encode. The text is cut to the field's length, between two visible characters.
 */
export function erpText(text: string, field: TextField, { text: limits }: Pick<Capabilities, 'text'>): string {
  const longest = limits.lengths[field] ?? longestText;
  const plain = encodable(text.slice(0, longestText).toWellFormed().replace(unseen, ' '), limits.encoding)
    .replace(forbiddenBy(limits.forbidden), ' ')
    .replace(/\s+/gu, ' ')
    .trim();
  return cut(plain, longest);
}

/** Cuts a text to at most `longest` UTF-16 units, between two visible characters. */
function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  let end = 0;
  for (const { segment, index } of graphemes.segment(text)) {
    if (index + segment.length > longest) break;
    end = index + segment.length;
  }
  return text.slice(0, end).trimEnd();
}

/** `characters`: the inside of a character class of a regular expression. */
function forbiddenBy(characters: string): RegExp {
  return characters === '' ? /(?!)/u : new RegExp(`[${characters}]`, 'gu');
}

/** Characters that the encoding lacks lose their accents, or become a question mark. */
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
  // TextDecoder treats latin1 as windows-1252 (WHATWG), so latin1 is decoded by code here.
  const decoded =
    name === 'latin1'
      ? String.fromCharCode(...codes)
      : new TextDecoder(name === 'ascii' ? 'utf-8' : name).decode(codes);
  const characters = new Set(decoded);
  charactersOf.set(name, characters);
  return characters;
}
