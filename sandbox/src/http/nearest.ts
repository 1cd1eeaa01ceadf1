// Finds the known endpoint that is most similar to an unmatched request, because wrong paths and methods are common
// mistakes.
import { editDistance } from '../journal/distance.ts';

export interface Endpoint {
  method: string;
  /** The URL pattern of fastify, for example `/:installation/api/0.1/invoice/:id/`. */
  url: string;
}

const writes = new Set(['POST', 'PUT', 'PATCH']);
const methodDistance = (one: string, other: string): number => {
  if (one === other) return 0;
  return writes.has(one) && writes.has(other) ? 1 : 2;
};

/** Replaces parameters and numbers in a path, so that ids do not affect the comparison. */
const shapeOf = (path: string): string => path.replace(/:[a-z]+/g, '0').replace(/(?<=\/)\d+(?=\/|$)/g, '0');
const apiShape = '/0/api/0.1';

/**
 * Returns method and path of the most similar endpoint for that installation; null if none is similar enough. The path
 * may lack the installation and `api/0.1`.
 */
export const nearest = (known: readonly Endpoint[], method: string, path: string, installation: number) => {
  const asked = shapeOf(path);
  let best: { endpoint: Endpoint; distance: number } | null = null;
  for (const endpoint of known) {
    const shape = shapeOf(endpoint.url);
    const isApi = shape.startsWith(apiShape);
    const own = isApi ? shape.slice(apiShape.length) : shape;
    const extra = methodDistance(method, endpoint.method);
    // At least half of the endpoint's characteristic part must match.
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
