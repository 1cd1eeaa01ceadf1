// What may stand nowhere but in PostgreSQL: what the records say of people. And how it is looked for.

/** Everything that the records of a clinic say of people, by the names of their fields. */
export function personalIn(value: unknown, found = new Set<string>(), key = ''): Set<string> {
  if (typeof value === 'string') {
    if (/name|street|address|email|phone|city|info$|description|comment/i.test(key) && value.length >= 6)
      found.add(value);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) personalIn(inner, found, Array.isArray(value) ? key : name);
  }
  return found;
}

/** Every text in a history, those in its payloads too: as JSON they would be base64, which hides them. */
export function textOf(value: unknown, found: string[] = []): string {
  if (typeof value === 'string') found.push(value);
  else if (value instanceof Uint8Array) found.push(Buffer.from(value).toString('utf8'));
  else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) textOf(inner, found);
  return found.join('\n');
}

/** Letters by which texts are found: a shorter text is not looked for. */
const gramLetters = 6;

/**
 * Those of many texts that stand in another one. Each place of the other text is looked up by its next letters, so that the time taken
 * grows with its length and not with the number of texts.
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
