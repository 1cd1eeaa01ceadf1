// The methods of a path besides those that its endpoints declare: OPTIONS describes it, and every other is refused (practice-api:
// not shown).
// Not shown, and chosen: OPTIONS answers 200 with `Allow` and with a name, a description and the media types, in the manner of Django REST
// Framework, as one request of the action `<resource>.metadata`. HEAD answers as GET without a body and counts as its GET.
import type { Answer } from './answer.ts';
import { methodNotAllowed } from './answer.ts';
import { formTypes } from './body.ts';
import type { Method, RouteSpec } from './route.ts';

/** Every method that a path answers, in the order of `Allow`. */
export const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const described = [...methods, 'TRACE'] as const;

export interface OtherMethods {
  path: string;
  /** An endpoint of the path, whose permission OPTIONS needs. */
  route: RouteSpec;
  refused: string[];
  allow: string;
  metadata: Answer;
}

/** By path, what its endpoints leave open. */
export const otherMethods = (routes: readonly RouteSpec[]): OtherMethods[] =>
  [...Map.groupBy(routes, ({ path }) => path)].map(([path, own]) => {
    const names = methods.filter((method) => own.some((route) => route.method === method));
    const allow = [...names, ...(names.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
    const refused = [...described, 'HEAD'].filter((method) => !allow.split(', ').includes(method));
    const takesForms = own.some(({ form }) => form);
    const [route] = own as [RouteSpec];
    const body = {
      name: nameOf(path),
      description: own.map(({ summary }) => summary).join('. '),
      renders: ['application/json', 'text/html'],
      parses: ['application/json', ...(takesForms ? formTypes : [])],
    };
    return { path, route, refused, allow, metadata: { status: 200, body, headers: { allow } } };
  });

/** As such services name their views: the resource and List or Instance, or the action. */
const nameOf = (path: string): string => {
  const parts = path.split('/').filter((part) => part !== '');
  const last = parts.at(-1) as string;
  const words = last.startsWith(':') ? [...wordsOf(parts.at(-2) ?? ''), 'Instance'] : wordsOf(last);
  return (parts.some((part) => part.startsWith(':')) ? words : [...words, 'List']).join(' ');
};

const wordsOf = (name: string): string[] => name.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));

export const refusal = (method: string, { allow }: OtherMethods): Answer => ({
  ...methodNotAllowed(method),
  headers: { allow },
});
