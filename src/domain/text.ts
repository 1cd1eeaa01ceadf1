/**
 * Text as PostgreSQL can keep it: without NUL and lone surrogates, which it would refuse or change, so that what is
 * hashed or compared is what is read back.
 */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '');
}
