// Whatever comes from outside or from an error passes `redact` before it is cut, stored, logged or shown: in PracticeError,
// UserError and ServiceError, in the failures that go into a history, and in the log's lines.

/** The secrets of this process. They are one list, because any error of any layer may repeat any of them. */
const whole = new Set<string>();
const parts = new Set<string>();

/** A shorter text is more likely an ordinary word than a secret. */
const shortestSecret = 6;
/** Pieces of so many characters are taken out of a text, too: a server may cut what it repeats. */
const pieceLength = 8;
/** Of a shorter secret, only the whole is taken out. */
const shortestInPieces = 12;

const replacement = '…';

/** Makes `redact` take this secret out of every text from now on, as it is, as in a URL, and as in JSON. */
export function keepSecret(secret: string): void {
  if (secret.length < shortestSecret) return;
  for (const form of [secret, encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1)]) {
    whole.add(form);
    if (form.length < shortestInPieces) continue;
    for (let at = 0; at + pieceLength <= form.length; at++) parts.add(form.slice(at, at + pieceLength));
  }
}

/**
 * The text without secrets: those of this process and longer pieces of them, credentials of an authorization header, and
 * passwords in addresses of databases. It must be given the whole text: of a secret that was cut before, a piece may be too short.
 */
export function redact(text: string): string {
  return withoutPieces(withoutWhole(text))
    .replace(/\b(Bearer|Basic) (?!…)[\w.~+/=-]*[\d.~+/=_-][\w.~+/=-]*/gi, `$1 ${replacement}`)
    .replace(/\b(\w+:\/\/[^\s/:@]*:)[^\s@]+(?=@)/g, `$1${replacement}`)
    .replace(/([?&](?:password|token|access_token|client_secret|secret)=)[^\s&]+/gi, `$1${replacement}`);
}

function withoutWhole(text: string): string {
  let left = text;
  for (const secret of whole) left = left.replaceAll(secret, replacement);
  return left;
}

function withoutPieces(text: string): string {
  if (parts.size === 0) return text;
  let kept = '';
  let from = 0;
  for (let at = 0; at + pieceLength <= text.length; at++) {
    if (!parts.has(text.slice(at, at + pieceLength))) continue;
    let end = at + pieceLength;
    while (parts.has(text.slice(end - pieceLength + 1, end + 1)) && end < text.length) end++;
    kept += text.slice(from, at) + replacement;
    from = end;
    at = end - 1;
  }
  return kept + text.slice(from);
}
