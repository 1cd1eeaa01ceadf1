/** Longer words are not compared, since no known word is nearly as long. */
const longestWord = 100;

/**
 * The known word closest to `word`, for hints in error messages. If several are equally close, the one with the same
 * beginning. Null if none is close.
 */
export function nearest(word: string, known: Iterable<string>): string | null {
  if (word.length > longestWord) return null;
  let best: string | null = null;
  let bestDistance = Math.max(2, Math.floor(word.length / 2)) + 1;
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase().replaceAll('-', '_'), candidate.toLowerCase());
    const isCloser =
      distance === bestDistance && best !== null && sameLetters(word, candidate) > sameLetters(word, best);
    if (distance < bestDistance || isCloser) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** The number of equal letters at the beginning of two words. */
function sameLetters(word: string, other: string): number {
  const at = [...word].findIndex((letter, index) => letter !== other[index]);
  return at === -1 ? word.length : at;
}

/** Whether two words differ by one letter at most, or by upper and lower case. */
export function isNear(word: string, other: string): boolean {
  return Math.abs(word.length - other.length) <= 1 && editDistance(word.toLowerCase(), other.toLowerCase()) <= 1;
}

/** Levenshtein distance: letters to insert, remove or replace. */
function editDistance(a: string, b: string): number {
  const letters = [...b];
  let row = Array.from({ length: letters.length + 1 }, (_, index) => index);
  for (const letter of a) {
    let [diagonal = 0, ...above] = row;
    let left = diagonal + 1;
    const next = [left];
    for (const [index, up] of above.entries()) {
      left = Math.min(left + 1, up + 1, diagonal + (letter === letters[index] ? 0 : 1));
      next.push(left);
      diagonal = up;
    }
    row = next;
  }
  return row.at(-1) ?? letters.length;
}
