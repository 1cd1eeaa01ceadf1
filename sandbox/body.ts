// Request bodies: JSON with exact decimals, and forms (practice-api: Conventions 3).
import { parse } from 'lossless-json';

/** A body that cannot be read: 400. */
export class BadBody extends Error {}

/** Decodes a body by its content type into named fields. An empty body gives none. */
export const decodeBody = async (bytes: Buffer | undefined, contentType: string): Promise<Record<string, unknown>> => {
  if (!bytes || bytes.length === 0) return {};
  const isForm = /^(application\/x-www-form-urlencoded|multipart\/form-data)/i.test(contentType);
  try {
    if (isForm) {
      const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData();
      return Object.fromEntries([...form].map(([name, value]) => [name, String(value)]));
    }
    const value = parse(bytes.toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch (error) {
    throw new BadBody(`${isForm ? 'Form' : 'JSON'} parse error - ${error instanceof Error ? error.message : error}`);
  }
  throw new BadBody('Invalid data. Expected a dictionary.');
};
