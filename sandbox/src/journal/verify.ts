// Searches the journal for exchanges, and compares their number with what a test expects.
import { z } from 'zod';
import { editDistance } from './distance.ts';
import { type Exchange, exchangeSchema, shownExchange } from './exchange.ts';

const text = z.string().min(1).max(1000);
export const criteria = {
  method: z
    .string()
    .regex(/^[A-Za-z]{1,20}$/, 'Send a method, such as "POST".')
    .optional(),
  path: text.optional().meta({
    description: 'With or without `/<installation>/api/0.1`. With `*` at its end: what it begins with.',
  }),
  action: text.optional().meta({ description: 'The endpoint, such as `invoice.list`.' }),
  application: text.optional().meta({ description: 'The name of an application.' }),
};
const count = z.int().min(0).max(1_000_000).optional();

export const verifySchema = z
  .strictObject({
    ...criteria,
    status: z.int().optional(),
    body: z.unknown().optional().meta({
      description: 'JSON that the request body contains: members of objects, elements of arrays, and equal values.',
    }),
    count,
    at_least: count,
    at_most: count,
  })
  .refine(
    (sent) => sent.count === undefined || (sent.at_least === undefined && sent.at_most === undefined),
    'Send "count", or "at_least" and "at_most".',
  );
export type Expected = z.output<typeof verifySchema>;
export type Wanted = Pick<Expected, 'method' | 'path' | 'action' | 'application' | 'status' | 'body'>;

export const verdictSchema = z.object({
  ok: z.boolean(),
  count: z.int().meta({ description: 'How many requests match.' }),
  message: z.string().meta({ description: 'What was expected, and what was found.' }),
  requests: z.array(exchangeSchema).meta({ description: 'The requests that match.' }),
  near_misses: z
    .array(z.object({ request: exchangeSchema, differences: z.array(z.string()) }))
    .meta({ description: 'Where too few match: the requests that differ least, and how.' }),
});

const maxNearMisses = 3;

/** The exchanges that meet all criteria. */
export const matching = (exchanges: readonly Exchange[], wanted: Wanted): Exchange[] =>
  exchanges.filter((exchange) => differences(exchange, wanted).length === 0);

/** Checks whether the expected number of exchanges match. Without a number, at least one match is expected. */
export const verify = (exchanges: readonly Exchange[], expected: Expected): z.output<typeof verdictSchema> => {
  const found = matching(exchanges, expected);
  const { count } = expected;
  const least = count ?? expected.at_least ?? (expected.at_most === undefined ? 1 : 0);
  const most = count ?? expected.at_most ?? Number.POSITIVE_INFINITY;
  const tooFew = found.length < least;
  const message = `Expected ${amount(least, most)} ${words(expected)}; found ${found.length}.`;
  return {
    ok: !tooFew && found.length <= most,
    count: found.length,
    message,
    requests: found.map(shownExchange),
    near_misses: tooFew ? nearMisses(exchanges, expected) : [],
  };
};

const amount = (least: number, most: number): string => {
  if (least === most) return `exactly ${least}`;
  if (most === Number.POSITIVE_INFINITY) return `at least ${least}`;
  return least === 0 ? `at most ${most}` : `${least} to ${most}`;
};

const words = ({ method, path, action, application, status, body }: Wanted): string =>
  [
    `${method?.toUpperCase() ?? 'request of any method'} ${path ?? 'to any path'}`,
    ...(action === undefined ? [] : [`action ${action}`]),
    ...(application === undefined ? [] : [`application ${application}`]),
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(body === undefined ? [] : [`a body with ${short(body)}`]),
  ].join(', ');

/** A criterion that an exchange does not meet. `weight` is from 0 (almost met) to 1 (not met at all). */
interface Difference {
  weight: number;
  says: string;
}

const nearMisses = (exchanges: readonly Exchange[], { count, at_least, at_most, ...wanted }: Expected) => {
  const criteriaCount = Object.values(wanted).filter((one) => one !== undefined).length;
  return exchanges
    .map((exchange) => ({ exchange, all: differences(exchange, wanted) }))
    .map((one) => ({ ...one, weight: one.all.reduce((before, { weight }) => before + weight, 0) }))
    .filter(({ all, weight }) => all.length > 0 && weight <= criteriaCount / 2)
    .sort((a, b) => a.weight - b.weight || b.exchange.id - a.exchange.id)
    .slice(0, maxNearMisses)
    .map(({ exchange, all }) => ({ request: shownExchange(exchange), differences: all.map(({ says }) => says) }));
};

const differences = (exchange: Exchange, wanted: Wanted): Difference[] => {
  const found: Difference[] = [];
  const compare = (name: string, actual: string | number | null, expected: string | number | undefined) => {
    if (expected !== undefined && actual !== expected)
      found.push({ weight: 1, says: `the ${name} is ${actual ?? 'none'}, not ${expected}` });
  };
  compare('method', exchange.method, wanted.method?.toUpperCase());
  if (wanted.path !== undefined && !hasPath(exchange.path, wanted.path)) {
    const weight = pathWeight(exchange.path, wanted.path);
    found.push({ weight, says: `the path is ${exchange.path}, not ${wanted.path}` });
  }
  compare('action', exchange.action, wanted.action);
  compare('application', exchange.application, wanted.application);
  compare('status', exchange.status, wanted.status);
  if (wanted.body !== undefined) {
    const says = bodyDifference(exchange, wanted.body);
    if (says !== null) found.push({ weight: 1, says });
  }
  return found;
};

/** The full path, and the path relative to the API. */
const namesOf = (path: string): string[] => [path, path.replace(/^\/\d+\/api\/0\.1(?=\/)/, '')];

const hasPath = (path: string, wanted: string): boolean => {
  const names = namesOf(path);
  return wanted.endsWith('*') ? names.some((name) => name.startsWith(wanted.slice(0, -1))) : names.includes(wanted);
};

/** The share of the path that differs. From one half on, it counts as a different path. */
const pathWeight = (path: string, wanted: string): number => {
  const shares = namesOf(path).map((name) => editDistance(name, wanted) / Math.max(name.length, wanted.length));
  const share = Math.min(...shares);
  return share < 0.5 ? share : Number.POSITIVE_INFINITY;
};

const bodyDifference = ({ request, headers }: Exchange, wanted: unknown): string | null => {
  if (request.text === null) return 'the request has no body';
  if (request.isCut) return 'the journal keeps only the beginning of the body';
  const body = decoded(request.text, String(headers['content-type'] ?? ''));
  return body === undefined ? 'the body is neither JSON nor a form' : missing(body, wanted, 'body');
};

const decoded = (body: string, type: string): unknown => {
  if (/^application\/x-www-form-urlencoded/i.test(type)) return Object.fromEntries(new URLSearchParams(body));
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};

/** Describes in words the part of the expected JSON that a value lacks; null if it contains everything. */
const missing = (actual: unknown, wanted: unknown, at: string): string | null => {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(actual)) return `${at} is ${short(actual)}, and no array`;
    const lacks = wanted.find((one) => actual.every((has) => missing(has, one, at) !== null));
    return lacks === undefined ? null : `${at} has no element with ${short(lacks)}`;
  }
  if (typeof wanted === 'object' && wanted !== null) {
    if (typeof actual !== 'object' || actual === null || Array.isArray(actual))
      return `${at} is ${short(actual)}, and no object`;
    for (const [name, value] of Object.entries(wanted)) {
      if (!Object.hasOwn(actual, name)) return `${at}.${name} is missing`;
      const lacks = missing((actual as Record<string, unknown>)[name], value, `${at}.${name}`);
      if (lacks !== null) return lacks;
    }
    return null;
  }
  return actual === wanted ? null : `${at} is ${short(actual)}, not ${short(wanted)}`;
};

const short = (value: unknown): string => {
  const json = JSON.stringify(value) ?? 'undefined';
  return json.length > 120 ? `${json.slice(0, 120)}…` : json;
};
