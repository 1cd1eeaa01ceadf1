// Whatever comes from outside or from an error passes `redact`, which cuts it, too, before it is stored, logged or shown: in
// PracticeError, UserError and ServiceError, in the failures that go into a history, and in the log's lines.

/** The secrets of this process. They are one list, because any error of any layer may repeat any of them. */
const whole = new Set<string>();
const parts = new Set<string>();
/** Characters of the longest of them. */
let longestForm = 0;

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
    longestForm = Math.max(longestForm, form.length);
    if (form.length < shortestInPieces) continue;
    for (let at = 0; at + pieceLength <= form.length; at++) parts.add(form.slice(at, at + pieceLength));
  }
}

/** What is longer is no message that anybody reads. */
const longestText = 64 * 1024;

/**
 * The text without secrets: those of this process and longer pieces of them, credentials of an authorization header, and
 * passwords in addresses of databases. Cut to `longest` characters, what was cut off shows as an ellipsis: it must be given the
 * whole text, because of a secret that was cut before, a piece may be too short. Takes time in proportion to `longest`.
 */
export function redact(text: string, longest = longestText): string {
  // A secret that begins before the cut is seen whole.
  const seen = text.slice(0, longest + longestForm);
  const hidden = merged([...wholeIn(seen), ...piecesIn(seen), ...credentialsIn(seen), ...passwordsIn(seen)]);
  let kept = '';
  let from = 0;
  for (const [start, end] of hidden) {
    if (start >= longest) break;
    kept += seen.slice(from, start) + replacement;
    from = end;
  }
  if (text.length <= longest) return kept + seen.slice(from);
  if (from >= longest) return kept;
  return `${kept}${seen.slice(from, longest).toWellFormed()}${replacement}`;
}

/** Where a text to be hidden begins, and where it ends. */
type Span = [start: number, end: number];

/** The spans in order; those that overlap or touch are one. */
function merged(spans: Span[]): Span[] {
  const found: Span[] = [];
  for (const [start, end] of spans.sort((a, b) => a[0] - b[0])) {
    const last = found.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else found.push([start, end]);
  }
  return found;
}

function* wholeIn(text: string): Generator<Span> {
  for (const secret of whole) {
    for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length)) {
      yield [at, at + secret.length];
    }
  }
}

function* piecesIn(text: string): Generator<Span> {
  if (parts.size === 0) return;
  for (let at = 0; at + pieceLength <= text.length; at++) {
    if (parts.has(text.slice(at, at + pieceLength))) yield [at, at + pieceLength];
  }
}

/** What follows `Bearer` or `Basic`, unless it may be an ordinary word; and the values of secret parameters of an address. */
function* credentialsIn(text: string): Generator<Span> {
  // Looked ahead at, so that a word that is none may itself begin one.
  for (const { index, 0: scheme, 1: token = '' } of text.matchAll(/\b(?:Bearer|Basic) (?=([\w.~+/=-]+))/gi)) {
    const start = index + scheme.length;
    if (/[\d.~+/=_-]/.test(token)) yield [start, start + token.length];
  }
  const parameters = /[?&](?:password|token|access_token|client_secret|secret)=([^\s&]+)/gi;
  for (const { index, 0: found, 1: value = '' } of text.matchAll(parameters)) {
    yield [index + found.length - value.length, index + found.length];
  }
}

/** The password in each `scheme://user:password@`. Each character is looked at a few times at most. */
function* passwordsIn(text: string): Generator<Span> {
  const [isWord, endsUser, endsPassword] = [/\w/, /[\s/:@]/g, /[\s@]/g];
  let stop = -1;
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', at + 3)) {
    if (!isWord.test(text.charAt(at - 1))) continue;
    const colon = indexFrom(text, endsUser, at + 3);
    if (text.charAt(colon) !== ':') continue;
    if (stop <= colon) stop = indexFrom(text, endsPassword, colon + 1);
    if (text.charAt(stop) === '@' && stop > colon + 1) yield [colon + 1, stop];
  }
}

/** Index of the first match at or behind `from`; the text's length without one. */
function indexFrom(text: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}
