import { type Dialect, type ListKind, pathOf } from './dialect.ts';

/**
 * Reads which record an address of the source names (practice-api: Conventions, url-references; ACCOUNTING P6).
 * Installation and resource of its path are compared with ours. The host is not compared, since a proxy may answer
 * under another name.
 */

/**
 * The id at the end of an address. `foreign`: the address names another installation or another resource. Undefined: it
 * has no id.
 */
export type Addressed = string | 'foreign' | undefined;

/** A resource of the source, by the path before the id: a list, or another resource. */
export type Resource = ListKind;

/** A longer text is not an address of the source. */
const longestAddress = 2_000;

/** Whether a text is an address, and not only an id. */
export function isAddress(text: string): boolean {
  return text.includes('/') || text.includes('\\');
}

/** Reads an address. If the dialect names no installation, any installation in the address is accepted. */
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

/**
 * The decoded segments of the path, after `.` and `..` are resolved. Null if a decoded segment still contains a
 * separator or an escape.
 */
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

/** Whether a path (without its id) is the resource's path below the API of this installation. */
function isOurs(segments: readonly string[], dialect: Dialect, resource: Resource): boolean {
  const api = split(dialect.paths.api);
  return pathsOf(dialect, resource).some((path) => {
    if (!endsWith(segments, path)) return false;
    const before = segments.slice(0, segments.length - path.length);
    // A relative path that begins below the installation's part names no installation, so it counts as ours.
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

/** The paths of a resource. A department also has a page of settings. */
function pathsOf(dialect: Dialect, resource: Resource): string[][] {
  const paths = [pathOf(dialect, resource)];
  if (resource === 'department') paths.push(dialect.paths.department_settings);
  return paths.map(split);
}

const usualForms = new WeakMap<Dialect, Map<Resource, RegExp>>();

/**
 * A pattern for the usual form of address: scheme, host, plain segments, our installation and the id. It avoids parsing
 * nearly all URLs.
 */
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
