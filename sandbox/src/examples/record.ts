// Sends the example requests to a clinic and records its answers, so that the OpenAPI description shows real ones.
import { SandboxClock } from '../clock.ts';
import { createApp } from '../http/app.ts';
import type { Example, Examples } from '../http/examples.ts';
import type { Method, RouteSpec } from '../http/route.ts';
import { Installation } from '../installation.ts';
import { routes } from '../resources/index.ts';
import { day, exampleSteps, type Step } from './steps.ts';

interface Asked {
  method: Method;
  url: string;
  headers?: Record<string, string>;
  payload?: string | object;
}
/** The credentials of the built-in application that has every permission. */
const authorization = 'Bearer explorer-token';
/** The name of a step in the OpenAPI description. */
const nameOf = (action: string): string => action.replaceAll('.', '_').replace(' ', ' /sandbox/');

/** Requests that the API refuses, one for each status code. */
const refused: readonly Asked[] = [
  { method: 'GET', url: 'client/?id__gt=x' },
  { method: 'GET', url: 'invoice/', headers: { authorization: 'Bearer unknown' } },
  { method: 'GET', url: 'invoice/', headers: { authorization: 'Bearer wholesaler-token' } },
  { method: 'GET', url: 'client/1/' },
  { method: 'PATCH', url: 'client/' },
  { method: 'POST', url: 'client/', headers: { 'content-type': 'text/plain' }, payload: 'x' },
  { method: 'GET', url: 'client/', headers: { 'x-sandbox-fault': 'spurious429' } },
  {
    ...{ method: 'POST', url: 'wholesaler/902/catalog_upload_url/', payload: { filename: 'catalog.csv' } },
    headers: { 'x-sandbox-fault': 'catalogUrl503' },
  },
];

/** The method and path of a step: an endpoint of the API, or a control endpoint for an action of staff. */
const targetOf = (action: string): Pick<RouteSpec, 'method' | 'path'> & { isStaff: boolean } => {
  const route = routes.find((one) => one.action === action);
  if (route) return { method: route.method, path: route.path, isStaff: false };
  const [method, path] = action.split(' ') as [RouteSpec['method'], string];
  return { method, path, isStaff: true };
};

/** Steps for the lists that no other step requests. */
const otherLists = (): Step[] => {
  const asked = new Set(exampleSteps.map(({ action }) => action));
  return routes
    .filter(({ action, path }) => action.endsWith('.list') && !path.includes(':') && !asked.has(action))
    .map(({ action }) => ({ action, request: () => ({}) }));
};

/** Plays all steps in the clinic of seed 1 and returns the requests and answers. Throws if a request is refused. */
const record = async (): Promise<Examples> => {
  const { installation, startsAt, origin } = day;
  const options = { installation, startsAt, clockRuns: false, rateWindowSeconds: 0 };
  const clock = new SandboxClock(() => 0);
  const clinic = new Installation(options, clock);
  // The clinic sends nothing to other machines, and nothing is random, so that the description is always the same.
  clinic.stop();
  Object.assign(clinic.clinic.supply, { uuid: () => '9f6a7a0e-5c1d-4b38-8a51-3f0c2d7e6b14', storageKey: 'example' });
  const app = await createApp({ routes, installations: new Map([[installation, clinic]]), machine: clock.machine });
  const api = `/${installation}/api/0.1/`;
  const ask = async ({ headers, ...rest }: Asked) => {
    const host = origin.replace('http://', '');
    const answer = await app.inject({ ...rest, headers: { host, authorization, ...headers } });
    return { status: answer.statusCode, answer: answer.body === '' ? undefined : answer.json() };
  };
  /** Records the refusal of a body without fields, or else of a body that is plain text. */
  const refusalOf = async (target: Asked) => {
    const headers = { 'content-type': 'application/json' };
    const answers = [
      await ask({ ...target, headers, payload: '{}' }),
      await ask({ ...target, headers, payload: '"x"' }),
    ];
    return answers.find(({ status }) => status === 400)?.answer;
  };
  const operations = new Map<string, Example>();
  const send = async ({ action, request }: Step): Promise<Example> => {
    const { method, path, isStaff } = targetOf(action);
    const after: string[] = [];
    const { ids = [], body } = request((earlier) => {
      const known = operations.get(nameOf(earlier));
      // The description has no examples of actions of staff, so the steps that such an action depends on are listed
      // instead of it.
      after.push(...(targetOf(earlier).isStaff ? (known?.after ?? []) : []), nameOf(earlier));
      return known?.answer;
    });
    const filled = ids.reduce((text: string, id) => text.replace(/:[a-z_]+/, String(id)), path);
    const url = `${isStaff ? '/sandbox/' : api}${filled}${action.endsWith('.list') ? '?page_size=1' : ''}`;
    const { status, answer } = await ask({ method, url, ...(body === undefined ? {} : { payload: body as object }) });
    if (status >= 300) throw new Error(`the example of ${action} was answered ${status}: ${JSON.stringify(answer)}`);
    const own = body === undefined || isStaff ? {} : { body, refusal: await refusalOf({ method, url }) };
    return { ids, ...own, after: [...new Set(after)], answer };
  };
  try {
    for (const step of [...exampleSteps, ...otherLists()]) operations.set(nameOf(step.action), await send(step));
    const errors = new Map<number, unknown>();
    for (const request of refused) {
      const { status, answer } = await ask({ ...request, url: `${api}${request.url}` });
      errors.set(status, answer);
    }
    return { operations, errors };
  } finally {
    await app.close();
  }
};

let recorded: Promise<Examples> | undefined;

/** The recorded examples. They are recorded at the first call. */
export const recordedExamples = (): Promise<Examples> => {
  recorded ??= record();
  return recorded;
};
