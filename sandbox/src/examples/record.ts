// Sends the requests of the examples to a clinic, and keeps what it answers, so that the description shows what is real.
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
/** The application that may do everything. */
const authorization = 'Bearer explorer-token';
/** How the description names a step. */
const nameOf = (action: string): string => action.replaceAll('.', '_').replace(' ', ' /sandbox/');

/** One refusal of each status. */
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

/** A step's method and path, below the API or, for staff, below the control endpoints. */
const targetOf = (action: string): Pick<RouteSpec, 'method' | 'path'> & { isStaff: boolean } => {
  const route = routes.find((one) => one.action === action);
  if (route) return { method: route.method, path: route.path, isStaff: false };
  const [method, path] = action.split(' ') as [RouteSpec['method'], string];
  return { method, path, isStaff: true };
};

/** Lists that no step asks for. */
const otherLists = (): Step[] => {
  const asked = new Set(exampleSteps.map(({ action }) => action));
  return routes
    .filter(({ action, path }) => action.endsWith('.list') && !path.includes(':') && !asked.has(action))
    .map(({ action }) => ({ action, request: () => ({}) }));
};

/** What the clinic of seed 1 is asked and answers. Throws where a request is refused. */
const record = async (): Promise<Examples> => {
  const { installation, startsAt, origin } = day;
  const options = { installation, startsAt, clockRuns: false, rateWindowSeconds: 0 };
  const clock = new SandboxClock(() => 0);
  const clinic = new Installation(options, clock);
  // Nothing is sent to other machines, and nothing is random.
  clinic.stop();
  Object.assign(clinic.clinic.supply, { uuid: () => '9f6a7a0e-5c1d-4b38-8a51-3f0c2d7e6b14', storageKey: 'example' });
  const app = await createApp({ routes, installations: new Map([[installation, clinic]]), machine: clock.machine });
  const api = `/${installation}/api/0.1/`;
  const ask = async ({ headers, ...rest }: Asked) => {
    const host = origin.replace('http://', '');
    const answer = await app.inject({ ...rest, headers: { host, authorization, ...headers } });
    return { status: answer.statusCode, answer: answer.body === '' ? undefined : answer.json() };
  };
  /** How a body without fields is refused, or else one that is text. */
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
      // The description has no examples of what staff do: what they need is named in their place.
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

/** The examples; they are recorded once. */
export const recordedExamples = (): Promise<Examples> => {
  recorded ??= record();
  return recorded;
};
