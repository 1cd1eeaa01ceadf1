/** The characters of the codes 128 to 255 in code page 437, as IBM's PC had them. */
const upper437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0';
/** The same of 128 to 159 in Windows-1252; five codes are not used. From 160 on it has the numbers of Unicode. */
const middle1252 = '€\0‚ƒ„…†‡ˆ‰Š‹Œ\0Ž\0\0‘’“”•–—˜™š›œ\0žŸ';

function codesOf(upper: string): ReadonlyMap<string, number> {
  const characters = [...upper].map((character, index): [string, number] => [character, 128 + index]);
  return new Map(characters.filter(([character]) => character !== '\0'));
}

const codePages = {
  cp437: codesOf(upper437),
  'windows-1252': codesOf(middle1252 + String.fromCharCode(...Array.from({ length: 96 }, (_, index) => 160 + index))),
};
export type CodePage = keyof typeof codePages;

/** How letters are written that lose nothing but their form; accents come off by themselves. */
const spelled: Record<string, string> = {
  ...{ Ø: 'O', ø: 'o', Đ: 'D', đ: 'd', Ð: 'D', ð: 'd', Þ: 'Th', þ: 'th', Ł: 'L', ł: 'l', ı: 'i', Œ: 'OE', œ: 'oe' },
  ...{ ẞ: 'SS', ß: 'ss', Æ: 'AE', æ: 'ae', '€': 'EUR', '–': '-', '—': '-', '‐': '-', '‑': '-', '−': '-', '…': '...' },
  ...{ '‘': "'", '’': "'", '‚': "'", '‛': "'", '“': '"', '”': '"', '„': '"', '«': '"', '»': '"', '•': '*', '™': 'TM' },
};

/** Units of a visible character: more marks on a letter take the square of their number to be put in order. */
const longestSegment = 32;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The text in what a code page has: other letters lose their accents, what is left becomes a question mark. */
export function inCodePage(text: string, page: CodePage): string {
  const codes = codePages[page];
  const isKnown = (part: string) => {
    for (const character of part) if (!isAscii(character) && !codes.has(character)) return false;
    return true;
  };
  // Nearly every text, and a hundred times quicker.
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

/** The bytes of a text; what the page lacks is written otherwise (`inCodePage`). */
export function encode(text: string, page: CodePage): Uint8Array {
  const codes = codePages[page];
  const known = inCodePage(text, page);
  // Each character of a code page is one unit of a text.
  return Uint8Array.from({ length: known.length }, (_, index) => {
    const code = known.charCodeAt(index);
    return code < 128 ? code : (codes.get(known.charAt(index)) ?? 63);
  });
}

/** More of a text is not looked at for a field. */
const longestText = 4_000;

/** A text from outside as a field of a file: on one line, in what the code page has, cut to so many characters. */
export function fieldText(text: string, page: CodePage, longest: number): string {
  return plainText(inCodePage(text.slice(0, longestText), page), longest);
}

/** The text on one line, without characters that programs obey or hide, cut to so many characters. */
export function plainText(text: string, longest: number): string {
  const line = text
    .toWellFormed()
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim();
  return line.length <= longest ? line : line.slice(0, longest).toWellFormed().trimEnd();
}
