// Request bodies: JSON and forms (practice-api: Conventions 3). JSON numbers are read as the service reads them, as doubles.

/** Whether a body is text by names. */
export const isForm = ({ headers }: { headers: { 'content-type'?: string | undefined } }): boolean =>
  /^(application\/x-www-form-urlencoded|multipart\/form-data)/i.test(headers['content-type'] ?? '');

/** A body that cannot be read: 400. */
export class BadBody extends Error {}

/** Decodes a JSON body. An empty one gives an empty object. */
export const decodeJson = (bytes: Buffer): unknown => {
  if (bytes.length === 0) return {};
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return value;
  } catch (error) {
    throw new BadBody(`JSON parse error - ${error instanceof Error ? error.message : error}`);
  }
};

/** Decodes a form, URL-encoded or multipart, into named text. */
export const decodeForm = async (bytes: Buffer, contentType: string): Promise<Record<string, string>> => {
  if (bytes.length === 0) return {};
  try {
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData();
    return Object.fromEntries([...form].map(([name, value]) => [name, String(value)]));
  } catch (error) {
    throw new BadBody(`Form parse error - ${error instanceof Error ? error.message : error}`);
  }
};
