// The journal of requests: what came, what was answered, and whether that is what a test expects.
import { z } from 'zod';
import { exchangeSchema, shownExchange } from '../../journal/exchange.ts';
import { criteria, matching, verdictSchema, verify, verifySchema } from '../../journal/verify.ts';
import { control, done } from './route.ts';

const maxShown = 1000;
/** Of records that come one after another: those after an id, and how many. */
export const page = {
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(maxShown, `Send a whole number from 1 to ${maxShown}.`).default(maxShown),
};

export const journalRoutes = [
  control({
    ...{ method: 'GET', path: 'requests', summary: 'Requests and their answers, oldest first' },
    query: z.strictObject({ ...criteria, status: z.coerce.number().int().optional(), ...page }),
    answer: z.object({ requests: z.array(exchangeSchema) }),
    handle: ({ installation: { requests }, query: { after, limit, ...wanted } }) => ({
      requests: matching(requests.after(after), wanted).slice(0, limit).map(shownExchange),
    }),
  }),
  control({
    ...{ method: 'DELETE', path: 'requests', summary: 'Empty the journal of requests' },
    answer: done,
    handle: ({ installation }) => installation.requests.clear(),
  }),
  control({
    ...{ method: 'POST', path: 'requests/verify', summary: 'Whether as many requests came as a test expects' },
    body: verifySchema,
    answer: verdictSchema,
    handle: ({ installation, body }) => verify(installation.requests.after(0), body),
  }),
];
