// Texts from outside and from errors pass `redact` before they are stored, logged or shown: in PracticeError, UserError
// and ServiceError, in failures of a workflow history, and in log lines.

/** The secrets of this process, in one list, because an error of any layer may contain any of them. */
const whole = new Set<string>();
/** Parts of secrets, with the number of secrets that have them. */
const parts = new Map<string, number>();
/** Length of the longest secret, in characters. */
let longestForm = 0;
/** The tokens among the secrets, the newest last. */
const tokens = new Set<string>();
/** A daemon gets new tokens for months. Only so many are live at once, and those before are worth nothing. */
const mostTokens = 200;

/** A shorter text is probably an ordinary word, not a secret. */
const shortestSecret = 6;
/** Parts of this many characters are also removed, because a server may shorten a text that it repeats. */
const pieceLength = 8;
/** Parts of a secret are also removed if the secret has at least this many characters. */
const shortestInPieces = 12;

const replacement = '…';

/** Makes `redact` remove this secret from all texts from now on: as it is, URL-encoded, and JSON-encoded. */
export function keepSecret(secret: string): void {
  if (secret.length < shortestSecret) return;
  for (const form of formsOf(secret)) {
    if (whole.has(form)) continue;
    whole.add(form);
    longestForm = Math.max(longestForm, form.length);
    for (const piece of piecesOf(form)) parts.set(piece, (parts.get(piece) ?? 0) + 1);
  }
}

/** Does the same for a token of a server, which others replace later: only the latest ones are kept. */
export function keepToken(token: string): void {
  const isLasting = whole.has(token) && !tokens.has(token);
  if (isLasting) return;
  tokens.delete(token);
  tokens.add(token);
  keepSecret(token);
  const [oldest = ''] = tokens;
  if (tokens.size <= mostTokens) return;
  tokens.delete(oldest);
  for (const form of formsOf(oldest)) {
    if (!whole.delete(form)) continue;
    for (const piece of piecesOf(form)) {
      const left = (parts.get(piece) ?? 1) - 1;
      if (left > 0) parts.set(piece, left);
      else parts.delete(piece);
    }
  }
}

function formsOf(secret: string): Set<string> {
  return new Set([secret, encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1)]);
}

function* piecesOf(form: string): Generator<string> {
  if (form.length < shortestInPieces) return;
  for (let at = 0; at + pieceLength <= form.length; at++) yield form.slice(at, at + pieceLength);
}

/** Default limit in characters; longer texts are cut. */
const longestText = 64 * 1024;

/**
 * The text without secrets: those of this process and long parts of them, credentials of an authorization header, and
 * passwords in database addresses. The result has at most `longest` characters; an ellipsis replaces the rest. Pass the
 * complete text, because a secret that was already cut may not be recognised. The cost is proportional to `longest`.
 */
export function redact(text: string, longest = longestText): string {
  // The extra length shows a secret completely if it begins before the cut.
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

/** Start and end of a text to hide. */
type Span = [start: number, end: number];

/** The spans in order, with overlapping and adjacent ones joined. */
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

/** The token after `Bearer` or `Basic`, unless it may be an ordinary word, and the values of secret URL parameters. */
function* credentialsIn(text: string): Generator<Span> {
  // The expression uses a lookahead, so that the next match may begin inside this word.
  for (const { index, 0: scheme, 1: token = '' } of text.matchAll(/\b(?:Bearer|Basic) (?=([\w.~+/=-]+))/gi)) {
    const start = index + scheme.length;
    if (/[\d.~+/=_-]/.test(token)) yield [start, start + token.length];
  }
  const parameters = /[?&](?:password|token|access_token|client_secret|secret)=([^\s&]+)/gi;
  for (const { index, 0: found, 1: value = '' } of text.matchAll(parameters)) {
    yield [index + found.length - value.length, index + found.length];
  }
}

/** The password in each `scheme://user:password@`. The cost is linear in the text's length. */
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

/** Index of the first match at or after `from`; the text's length if there is none. */
function indexFrom(text: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}
