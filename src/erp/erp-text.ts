import type { Capabilities } from './capabilities.ts';
import { inCodePage } from './code-pages.ts';

/** Control characters, line ends, direction marks and invisible characters (as in src/domain/text.ts). */
const unseen =
  /[\p{Cc}\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/** Maximum length before any other processing, also if the ERP states no limit. */
const longestText = 4_000;
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
  const line = text.slice(0, longestText).toWellFormed().replace(unseen, ' ');
  const plain = (limits.encoding === 'utf-8' ? line : inCodePage(line, limits.encoding))
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
