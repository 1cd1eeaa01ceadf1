// References between records: absolute URLs of the form `{api}/<resource>/<id>/` (practice-api: Conventions 2).
// Choices of the sandbox: a reference names this installation and the resource. Any host, any path before the
// installation, http or https, and an optional query are accepted. Everything else is refused, in the words of Django
// REST Framework. A bare id is accepted only with the quirk `bareIds`. A filter by a record accepts its id or a
// reference.
import { z } from 'zod';
import { dependent, type Reading } from './forms.ts';

/** The resources that references in requests can name. */
export type Resource =
  | 'appointment'
  | 'client'
  | 'consultation'
  | 'department'
  | 'invoice'
  | 'invoicerow'
  | 'item'
  | 'listitem'
  | 'onlinebookingclient'
  | 'patient'
  | 'reason'
  | 'unallocatedpayment'
  | 'user';

const noMatch = 'Invalid hyperlink - No URL match.';
const otherMatch = 'Invalid hyperlink - Incorrect URL match.';
const missing = 'Invalid hyperlink - Object does not exist.';
const maxLength = 2000;

const group = '[0-9A-Fa-f]{1,4}';
const ipv6 = `\\[(?:(?:${group}:){7}${group}|(?:${group}:){1,5}(?::${group}){1,2}|::(?:${group}(?::${group}){0,5})?)\\]`;
const port = '(?:[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])';
const host = `(?:[A-Za-z0-9.-]+|${ipv6})(?::${port})?`;

/** Matches `{api}/` of an installation at any address. */
const apiPattern = (installation: number): string =>
  `https?://${host}(?:/[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)*/${installation}/api/0\\.1/`;
const queryPattern = "(?:\\?(?:[A-Za-z0-9._~!$&'()*+;=:@/?-]|%[0-9A-Fa-f]{2})*)?";

/** The pattern of the references to a resource, without anchors. */
export const referencePattern = (installation: number, resource: Resource): string =>
  `${apiPattern(installation)}${resource}/[0-9]{1,15}/${queryPattern}`;

/** The id in a reference, or the message about what is wrong. */
export const idOfReference = (text: string, installation: number, resource: Resource): number | string => {
  if (text.length > maxLength) return noMatch;
  const path = new RegExp(`^${apiPattern(installation)}((?:[a-z_]+/|[0-9]+/)+)${queryPattern}$`).exec(text)?.[1];
  if (path === undefined) return noMatch;
  const id = new RegExp(`^${resource}/([0-9]+)/$`).exec(path)?.[1];
  return id === undefined ? otherMatch : Number(id);
};

/** A reference to an existing record of the resource. The handler gets its id. */
export const reference = (resource: Resource): z.ZodType<number> =>
  dependent((reading) =>
    z
      .unknown()
      .transform((given, { addIssue }): number => {
        const id = idOf(given, resource, reading);
        if (typeof id === 'number') return id;
        addIssue({ code: 'custom', message: id, input: given });
        return z.NEVER;
      })
      .meta(described(resource, reading)),
  );

const idOf = (given: unknown, resource: Resource, { installation, exists, bareIds }: Reading): number | string => {
  if (given === undefined) return 'This field is required.';
  if (given === null || given === '') return 'This field may not be null.';
  if (bareIds && /^\d{1,15}$/.test(String(given)) && typeof given !== 'object') {
    return exists(resource, Number(given)) ? Number(given) : `Invalid pk "${given}" - object does not exist.`;
  }
  if (typeof given !== 'string') return `Incorrect type. Expected URL string, received ${typeName(given)}.`;
  const id = idOfReference(given, installation, resource);
  return typeof id === 'number' && !exists(resource, id) ? missing : id;
};

/** The JSON Schema of a reference for the description. */
const described = (resource: Resource, { installation, bareIds }: Reading): Record<string, unknown> => {
  const url = { type: 'string', format: 'uri', pattern: `^${referencePattern(installation, resource)}$` };
  const id = { type: 'integer', minimum: 0 };
  return bareIds ? { anyOf: [url, id, { type: 'string', pattern: '^[0-9]{1,15}$' }] } : url;
};

/** The names of JSON types in Django REST Framework's messages. */
const typeName = (value: unknown): string => {
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return typeof value === 'boolean' ? 'bool' : 'dict';
};
