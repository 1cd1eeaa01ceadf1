import { type Dialect, type ListKind, pathOf } from './dialect.ts';

/**
 * Whose record an address of the source names (practice-api: Conventions, url-references; ACCOUNTING P6). Installation and
 * resource of its path are compared. The host is not: a proxy may answer under another name.
 */

/** The id that an address ends with; `foreign`: it names another installation or another resource. Undefined: it has no id. */
export type Addressed = string | 'foreign' | undefined;

/** What the path may end with before the id: a list of the source, or another resource by its path. */
export type Resource = ListKind;

/** A longer text is no address of the source. */
const longestAddress = 2_000;

/** Whether a text is an address, not a bare id. */
export function isAddress(text: string): boolean {
  return text.includes('/') || text.includes('\\');
}

/** Reads an address; of any installation where the dialect is of none. */
export function readAddress(address: string, dialect: Dialect, resource: Resource): Addressed {
  if (address.length > longestAddress) return 'foreign';
  const text = address.trim();
  const usual = usualForm(dialect, resource).exec(text)?.[1];
  if (usual !== undefined) return usual;
  const segments = segmentsOf(text);
  const id = segments?.at(-1);
  if (segments === null || id === undefined) return 'foreign';
  if (!/^\d+$/.test(id)) return undefined;
  return isOurs(segments.slice(0, -1), dialect, resource) ? id : 'foreign';
}

/** The path's segments, dots resolved and each decoded once; null where a segment then holds what divides paths. */
function segmentsOf(text: string): string[] | null {
  const base = 'http://relative.invalid/';
  if (!URL.canParse(text, base)) return null;
  const { protocol, pathname } = new URL(text, base);
  if (protocol !== 'http:' && protocol !== 'https:') return null;
  const segments = pathname.split('/').filter((segment) => segment !== '');
  try {
    const decoded = segments.map(decodeURIComponent);
    return decoded.some((segment) => /[%/\\\p{Cc}]|^\.{1,2}$/u.test(segment)) ? null : decoded;
  } catch {
    return null;
  }
}

/** Whether a path without its id ends with one of the resource's, and what stands before that is the API of this installation. */
function isOurs(segments: readonly string[], dialect: Dialect, resource: Resource): boolean {
  const api = split(dialect.paths.api);
  return pathsOf(dialect, resource).some((path) => {
    if (!endsWith(segments, path)) return false;
    const before = segments.slice(0, segments.length - path.length);
    // A path that begins below the installation names none.
    if (before.length === 0 || (before.length === api.length && endsWith(before, api))) return true;
    const installation = before.at(-api.length - 1);
    return endsWith(before, api) && (dialect.installation === null || installation === String(dialect.installation));
  });
}

function endsWith(segments: readonly string[], end: readonly string[]): boolean {
  return end.every((segment, at) => segments[segments.length - end.length + at] === segment);
}

function split(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

/** A department has a page of settings, too. */
function pathsOf(dialect: Dialect, resource: Resource): string[][] {
  const paths = [pathOf(dialect, resource)];
  if (resource === 'department') paths.push(dialect.paths.department_settings);
  return paths.map(split);
}

const usualForms = new WeakMap<Dialect, Map<Resource, RegExp>>();

/** Nearly all addresses have this form, which needs no parsing: a scheme, a host, plain segments, ours, and the id. */
function usualForm(dialect: Dialect, resource: Resource): RegExp {
  const known = usualForms.get(dialect) ?? new Map<Resource, RegExp>();
  usualForms.set(dialect, known);
  const found = known.get(resource);
  if (found) return found;
  const path = [...split(dialect.paths.api), ...split(pathOf(dialect, resource))].map(literal).join('/');
  const installation = dialect.installation === null ? '\\d+' : String(dialect.installation);
  const made = new RegExp(`^https?://[\\w.:-]+(?:/[\\w-]+)*/${installation}/${path}/(\\d{1,15})/?(?:[?#]|$)`);
  known.set(resource, made);
  return made;
}

function literal(segment: string): string {
  return segment.replace(/[^\w-]/g, '\\$&');
}
