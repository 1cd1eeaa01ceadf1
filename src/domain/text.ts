/**
 * The text without NUL and with lone surrogates replaced, as PostgreSQL can store it. Hash and compare this form: it is what
 * is read back.
 */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '');
}

/** The text, cut to so many characters at most; what was cut off shows as an ellipsis. */
export function clip(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
}
