// Removes secrets from the journal: tokens, passwords and keys in headers, queries and bodies are replaced.

const replaced = '[replaced]';
const secretHeaders = new Set(['authorization', 'proxy-authorization', 'cookie']);
const names = 'client_secret|access_token|refresh_token|verification_salt|customer_password';
/** Matches a member of JSON. The text may be cut off within it. */
const jsonMember = new RegExp(
  `("(?:${names})"\\s*:\\s*)(?!null\\b)(?:"(?:[^"\\\\]|\\\\.)*\\\\?(?:"|$)|[^\\s",{}[\\]]+)`,
  'g',
);
const formField = new RegExp(`(^|&)(${names})=[^&]*`, 'g');
const multipartField = new RegExp(`(name="?(?:${names})"?[^\\r\\n]*(?:\\r\\n[^\\r\\n]+)*\\r\\n\\r\\n)[^\\r\\n]*`, 'g');

/** Headers with their secrets replaced. */
export const headersWithoutSecrets = (headers: NodeJS.Dict<string | string[]>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, secretHeaders.has(name) ? replaced : String(value)]),
  );

/** A query, or a JSON or form body, with its secrets replaced. */
export const withoutSecrets = (text: string): string =>
  text
    .replace(jsonMember, `$1"${replaced}"`)
    .replace(formField, `$1$2=${replaced}`)
    .replace(multipartField, `$1${replaced}`);
