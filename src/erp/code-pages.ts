/** Characters with the codes 128 to 255 in code page 437. */
const upper437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0';
/**
 * Characters with the codes 128 to 159 in Windows-1252; `\0` marks the five unused codes. The codes from 160 on are
 * those of Unicode.
 */
const middle1252 = '€\0‚ƒ„…†‡ˆ‰Š‹Œ\0Ž\0\0‘’“”•–—˜™š›œ\0žŸ';

function codesOf(upper: string): ReadonlyMap<string, number> {
  const characters = [...upper].map((character, index): [string, number] => [character, 128 + index]);
  return new Map(characters.filter(([character]) => character !== '\0'));
}

const latin1 = (from: number) => String.fromCharCode(...Array.from({ length: 256 - from }, (_, index) => from + index));
/** ISO 8859-15 has these characters instead of those of Latin-1; `\0` marks the unused codes from 128 to 159. */
const changed15: Record<string, string> = {
  ...{ '¤': '€', '¦': 'Š', '¨': 'š', '´': 'Ž', '¸': 'ž', '¼': 'Œ', '½': 'œ', '¾': 'Ÿ' },
};
const upper15 = '\0'.repeat(32) + latin1(160).replace(/[¤¦¨´¸¼½¾]/g, (character) => changed15[character] ?? character);

const codePages = {
  cp437: codesOf(upper437),
  'windows-1252': codesOf(middle1252 + latin1(160)),
  'iso-8859-15': codesOf(upper15),
};
export type CodePage = keyof typeof codePages;

/** Replacements for characters that do not decompose into a letter and an accent. */
const spelled: Record<string, string> = {
  ...{ Ø: 'O', ø: 'o', Đ: 'D', đ: 'd', Ð: 'D', ð: 'd', Þ: 'Th', þ: 'th', Ł: 'L', ł: 'l', ı: 'i', Œ: 'OE', œ: 'oe' },
  ...{ ẞ: 'SS', ß: 'ss', Æ: 'AE', æ: 'ae', '€': 'EUR', '–': '-', '—': '-', '‐': '-', '‑': '-', '−': '-', '…': '...' },
  ...{ '‘': "'", '’': "'", '‚': "'", '‛': "'", '“': '"', '”': '"', '„': '"', '«': '"', '»': '"', '•': '*', '™': 'TM' },
};

/** Maximum UTF-16 units per visible character. Normalising a letter with very many marks would take quadratic time. */
const longestSegment = 32;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * The text with characters of the code page only. Other letters lose their accents; any other character becomes a
 * question mark.
 */
export function inCodePage(text: string, page: CodePage): string {
  const codes = codePages[page];
  const isKnown = (part: string) => {
    for (const character of part) if (!isAscii(character) && !codes.has(character)) return false;
    return true;
  };
  // Nearly every text ends here. This check is a hundred times faster than the rest.
  if (isKnown(text)) return text;
  let result = '';
  for (const { segment: whole } of graphemes.segment(text)) {
    const segment = whole.slice(0, longestSegment).normalize('NFC');
    const candidates = [segment, spelled[segment], bare(segment), spelled[bare(segment)]];
    result += candidates.find((each) => each !== undefined && each !== '' && isKnown(each)) ?? '?';
  }
  return result;
}

function bare(segment: string): string {
  return segment.normalize('NFKD').replace(/\p{M}/gu, '');
}

function isAscii(character: string): boolean {
  return character.charCodeAt(0) < 128;
}

/** The bytes of a text in a code page. Other characters are replaced as by `inCodePage`. */
export function encode(text: string, page: CodePage): Uint8Array {
  const codes = codePages[page];
  const known = inCodePage(text, page);
  // Every character of a code page is one UTF-16 unit.
  return Uint8Array.from({ length: known.length }, (_, index) => {
    const code = known.charCodeAt(index);
    return code < 128 ? code : (codes.get(known.charAt(index)) ?? 63);
  });
}

/** The text of bytes in a code page. `bytes`: a text with one character for each byte. */
export function decode(bytes: string, page: CodePage): string {
  const characters = new Map([...codePages[page]].map(([character, code]) => [code, character]));
  return bytes.replace(/[\u0080-\u00ff]/g, (byte) => characters.get(byte.charCodeAt(0)) ?? '?');
}

/** Maximum length before any other processing. */
const longestText = 4_000;

/** A text from outside as a field of a file: one line in the code page, at most `longest` characters. */
export function fieldText(text: string, page: CodePage, longest: number): string {
  return plainText(inCodePage(text.slice(0, longestText), page), longest);
}

/** The text as one line without control characters and invisible characters, at most `longest` characters. */
export function plainText(text: string, longest: number): string {
  const line = text
    .toWellFormed()
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim();
  return line.length <= longest ? line : line.slice(0, longest).toWellFormed().trimEnd();
}
