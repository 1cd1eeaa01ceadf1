// Finds personal data of records, which may be only in PostgreSQL, in other texts.

/** Collects all personal data in a clinic's records, by the names of fields. */
export function personalIn(value: unknown, found = new Set<string>(), key = ''): Set<string> {
  if (typeof value === 'string') {
    if (/name|street|address|email|phone|city|info$|description|comment/i.test(key) && value.length >= 6)
      found.add(value);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) personalIn(inner, found, Array.isArray(value) ? key : name);
  }
  return found;
}

/** Every text in a history, including decoded payloads, because base64 would hide them. */
export function textOf(value: unknown, found: string[] = []): string {
  if (typeof value === 'string') found.push(value);
  else if (value instanceof Uint8Array) found.push(Buffer.from(value).toString('utf8'));
  else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) textOf(inner, found);
  return found.join('\n');
}

/** The length of the prefix by which texts are found. Shorter texts are not searched. */
const gramLetters = 6;

/**
 * The texts that occur in another one. Each position of that text is looked up by its next letters, so the time depends
 * on its length and not on the number of texts.
 */
export function thoseWithin(texts: Iterable<string>, within: string): string[] {
  const byGram = Map.groupBy(
    [...texts].filter(({ length }) => length >= gramLetters),
    (text) => text.slice(0, gramLetters),
  );
  const found = new Set<string>();
  for (let at = 0; at + gramLetters <= within.length; at++) {
    for (const text of byGram.get(within.slice(at, at + gramLetters)) ?? []) {
      if (within.startsWith(text, at)) found.add(text);
    }
  }
  return [...found];
}
