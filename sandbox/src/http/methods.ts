// The methods of a path that no endpoint declares: OPTIONS describes the path, and all others are refused.
// Choices of the sandbox: OPTIONS answers 200 with `Allow` and with a name, a description and the media types, like
// Django REST Framework. It counts as one request of the action `<resource>.metadata`. HEAD answers like GET without a
// body and counts as a GET.
import type { Answer } from './answer.ts';
import { formTypes } from './body.ts';
import type { Method, RouteSpec } from './route.ts';

/** The methods of endpoints, in the order of `Allow`. */
export const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export interface OtherMethods {
  path: string;
  /** An endpoint of the path. OPTIONS requires its permission. */
  route: RouteSpec;
  /** Matches the addresses of the path for all installations. */
  pattern: RegExp;
  allow: string;
  metadata: Answer;
}

/** For each path, the methods that its endpoints do not declare. */
export const otherMethods = (routes: readonly RouteSpec[]): OtherMethods[] =>
  [...Map.groupBy(routes, ({ path }) => path)].map(([path, own]) => {
    const names = methods.filter((method) => own.some((route) => route.method === method));
    const allow = [...names, ...(names.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
    const pattern = new RegExp(`^/[0-9]+/api/0\\.1/${path.replace(/:[a-z_]+/g, '[0-9]+')}$`);
    const takesForms = own.some(({ form }) => form);
    const [route] = own as [RouteSpec];
    const body = {
      name: nameOf(path),
      description: own.map(({ summary }) => summary).join('. '),
      renders: ['application/json', 'text/html'],
      parses: ['application/json', ...(takesForms ? formTypes : [])],
    };
    return { path, pattern, route, allow, metadata: { status: 200, body, headers: { allow } } };
  });

/** The name of a view in Django REST Framework: the resource and List or Instance, or the action. */
const nameOf = (path: string): string => {
  const parts = path.split('/').filter((part) => part !== '');
  const last = parts.at(-1) as string;
  const words = last.startsWith(':') ? [...wordsOf(parts.at(-2) ?? ''), 'Instance'] : wordsOf(last);
  return (parts.some((part) => part.startsWith(':')) ? words : [...words, 'List']).join(' ');
};

const wordsOf = (name: string): string[] => name.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
