/**
 * The text without NUL and with lone surrogates replaced, as PostgreSQL can store it. Hash and compare this form: it is what
 * is read back.
 */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '');
}
