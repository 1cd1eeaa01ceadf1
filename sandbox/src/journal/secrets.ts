// What the journal shows of requests and answers holds no secret: tokens, passwords and keys are replaced in headers, queries and bodies.

const replaced = '[replaced]';
const secretHeaders = new Set(['authorization', 'proxy-authorization', 'cookie']);
const names = 'client_secret|access_token|refresh_token|verification_salt|customer_password';
/** A member of JSON. Its text may be cut off. */
const jsonMember = new RegExp(
  `("(?:${names})"\\s*:\\s*)(?!null\\b)(?:"(?:[^"\\\\]|\\\\.)*\\\\?(?:"|$)|[^\\s",{}[\\]]+)`,
  'g',
);
const formField = new RegExp(`(^|&)(${names})=[^&]*`, 'g');
const multipartField = new RegExp(`(name="?(?:${names})"?[^\\r\\n]*(?:\\r\\n[^\\r\\n]+)*\\r\\n\\r\\n)[^\\r\\n]*`, 'g');

/** Headers as the journal shows them. */
export const headersWithoutSecrets = (headers: NodeJS.Dict<string | string[]>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, secretHeaders.has(name) ? replaced : String(value)]),
  );

/** A query, or a body of JSON or of a form, as the journal shows it. */
export const withoutSecrets = (text: string): string =>
  text
    .replace(jsonMember, `$1"${replaced}"`)
    .replace(formField, `$1$2=${replaced}`)
    .replace(multipartField, `$1${replaced}`);
