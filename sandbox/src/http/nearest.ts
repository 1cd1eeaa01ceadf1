// Names the known endpoint that an unmatched request is most like: a wrong path or method is the commonest mistake of an integration.
import { editDistance } from '../journal/distance.ts';

export interface Endpoint {
  method: string;
  /** As fastify takes it, for example `/:installation/api/0.1/invoice/:id/`. */
  url: string;
}

const writes = new Set(['POST', 'PUT', 'PATCH']);
const methodDistance = (one: string, other: string): number => {
  if (one === other) return 0;
  return writes.has(one) && writes.has(other) ? 1 : 2;
};

/** Paths with one word for each parameter or number, so that ids do not count. */
const shapeOf = (path: string): string => path.replace(/:[a-z]+/g, '0').replace(/(?<=\/)\d+(?=\/|$)/g, '0');
const apiShape = '/0/api/0.1';

/**
 * The endpoint that is most like a request, as method and path of that installation; null where none is much like it. The path may also lack the
 * installation and `api/0.1`.
 */
export const nearest = (known: readonly Endpoint[], method: string, path: string, installation: number) => {
  const asked = shapeOf(path);
  let best: { endpoint: Endpoint; distance: number } | null = null;
  for (const endpoint of known) {
    const shape = shapeOf(endpoint.url);
    const isApi = shape.startsWith(apiShape);
    const own = isApi ? shape.slice(apiShape.length) : shape;
    const extra = methodDistance(method, endpoint.method);
    // Half of what sets an endpoint apart has to fit.
    const limit = Math.min(best?.distance ?? Number.POSITIVE_INFINITY, own.length / 2 + extra) - extra;
    const distance = Math.min(
      editDistance(asked, shape, limit),
      ...(isApi && !asked.startsWith(apiShape) ? [editDistance(asked, own, limit) + 1] : []),
    );
    if (distance < limit) best = { endpoint, distance: distance + extra };
  }
  if (best === null) return null;
  const filled = best.endpoint.url.replace(':installation', String(installation)).replace(/:([a-z]+)/g, '{$1}');
  return `${best.endpoint.method} ${filled}`;
};
