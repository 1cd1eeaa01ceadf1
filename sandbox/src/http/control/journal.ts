// Control endpoints for the journals: requests with their answers, checks against what a test expects, and webhook
// attempts.
import { z } from 'zod';
import { attemptSchema } from '../../journal/attempts.ts';
import { exchangeSchema, shownExchange } from '../../journal/exchange.ts';
import { criteria, matching, verdictSchema, verify, verifySchema } from '../../journal/verify.ts';
import { control, done } from './route.ts';

const maxShown = 1000;
/** The query of a journal: records with an id above `after`, and their maximum number. */
const page = {
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
    ...{ method: 'POST', path: 'requests/verify', summary: 'Check that the expected number of requests arrived' },
    body: verifySchema,
    answer: verdictSchema,
    handle: ({ installation, body }) => verify(installation.requests.after(0), body),
  }),
  control({
    ...{
      method: 'GET',
      path: 'webhook_attempts',
      summary: 'Attempts to deliver webhooks, oldest first: record changes and events for wholesalers',
    },
    query: z.strictObject({
      trigger: z.coerce.number().int().optional().meta({ description: 'A trigger type of record changes.' }),
      event: z.string().max(100).optional().meta({ description: 'An event for wholesalers, such as `order.placed`.' }),
      ...page,
    }),
    answer: z.object({ webhook_attempts: z.array(attemptSchema) }),
    handle: ({ installation: { attempts }, query: { after, limit, trigger, event } }) => ({
      webhook_attempts: attempts
        .list(after)
        .filter(
          (one) => (trigger === undefined || one.trigger === trigger) && (event === undefined || one.event === event),
        )
        .slice(0, limit),
    }),
  }),
  control({
    ...{ method: 'DELETE', path: 'webhook_attempts', summary: 'Empty the journal of webhook attempts' },
    answer: done,
    handle: ({ installation }) => installation.attempts.clear(),
  }),
  control({
    ...{ method: 'POST', path: 'webhook_attempts/:id/redeliver', answer: attemptSchema },
    summary: 'Send the body of an attempt again, with a new signature if it has one',
    handle: ({ installation, id }) => installation.attempts.redeliver(id),
  }),
];
