// Request bodies: JSON and forms (practice-api: Conventions 3). JSON numbers are read as doubles, as the service does.
// Choices of the sandbox: a body is UTF-8 without a byte-order mark, of at most 5 MB; JSON is nested at most 32 levels
// deep and has at most 100,000 values, a form at most 1,000 fields.

/** The maximum size of a body in bytes; fastify answers 413 for a larger one. */
export const bodyLimit = 5_000_000;
const maxDepth = 32;
const maxValues = 100_000;
const maxFields = 1000;

export const formTypes = ['application/x-www-form-urlencoded', 'multipart/form-data'];

/** True if the body is a form: named texts. */
export const isForm = ({ headers }: { headers: { 'content-type'?: string | undefined } }): boolean =>
  /^(application\/x-www-form-urlencoded|multipart\/form-data)/i.test(headers['content-type'] ?? '');

/** The body cannot be read; the answer is 400. */
export class BadBody extends Error {}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes a JSON body. An empty body becomes an empty object. */
export const decodeJson = (bytes: Buffer): unknown => {
  if (bytes.length === 0) return {};
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    const problem = problemOf(value);
    if (problem !== null) throw new RangeError(problem);
    return value;
  } catch (error) {
    throw new BadBody(`JSON parse error - ${error instanceof Error ? error.message : error}`);
  }
};

/** Describes why a JSON value is too deep or too large, or has invalid text; null if it is acceptable. */
export const problemOf = (value: unknown, depthLimit = maxDepth, valueLimit = maxValues): string | null => {
  let level: unknown[] = [value];
  let values = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > depthLimit) return `nested more than ${depthLimit} levels deep`;
    const below: unknown[] = [];
    for (const one of level) {
      if (typeof one === 'number' && !Number.isFinite(one)) return 'a number is out of range';
      if (typeof one === 'string' && !one.isWellFormed()) return 'text is not Unicode';
      if (typeof one !== 'object' || one === null) continue;
      if (!Array.isArray(one) && Object.keys(one).some((key) => !key.isWellFormed())) return 'text is not Unicode';
      const inner: unknown[] = Array.isArray(one) ? one : Object.values(one);
      values += inner.length;
      if (values > valueLimit) return `more than ${valueLimit} values`;
      for (const member of inner) below.push(member);
    }
    level = below;
  }
  return null;
};

/** Decodes a form, URL-encoded or multipart, into named text. */
export const decodeForm = async (bytes: Buffer, contentType: string): Promise<Record<string, string>> => {
  if (bytes.length === 0) return {};
  try {
    const text = decoder.decode(bytes);
    if (/^application/i.test(contentType)) decodeURIComponent(text.replaceAll('+', ' '));
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData();
    const fields = [...form];
    if (fields.length > maxFields) throw new RangeError(`more than ${maxFields} fields`);
    return Object.fromEntries(fields.map(([name, value]) => [name, String(value)]));
  } catch (error) {
    throw new BadBody(`Form parse error - ${error instanceof Error ? error.message : error}`);
  }
};
