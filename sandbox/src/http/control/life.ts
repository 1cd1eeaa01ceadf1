// Control endpoints for events in the clinic, and for the messages and webhooks that it sends.
import { z } from 'zod';
import { sendDueReminders } from '../../online/bookings.ts';
import { shownMessages } from '../../online/messages.ts';
import { webhookTargets } from '../../webhooks.ts';
import { control, done } from './route.ts';

const maxEvents = 10_000;
const events = z.coerce
  .number()
  .int(`Send a whole number from 0 to ${maxEvents}.`)
  .min(0)
  .max(maxEvents, `Send a whole number from 0 to ${maxEvents}.`);

const counts = z.object({ requests: z.int(), weight: z.int(), throttled: z.int() });

export const lifeRoutes = [
  control({
    ...{ method: 'POST', path: 'live', summary: 'Make events happen in the clinic now' },
    query: z.object({ events: events.default(1) }),
    answer: z.object({ events: z.array(z.looseObject({ at: z.string(), kind: z.string(), text: z.string() })) }),
    handle: ({ installation, query }) => ({ events: installation.live(query.events) }),
  }),
  control({
    ...{ method: 'GET', path: 'messages', summary: 'SMS messages and e-mails that the clinic would have sent' },
    query: z.object({ after: z.coerce.number().int().min(0).default(0) }),
    answer: z.object({ messages: z.array(z.looseObject({ id: z.int(), channel: z.string(), at: z.string() })) }),
    handle: ({ installation: { clinic, installation }, query, origin }) => {
      sendDueReminders(clinic);
      return { messages: shownMessages(clinic, `${origin}/${installation}/pay`, query.after) };
    },
  }),
  control({
    ...{ method: 'GET', path: 'subscriptions', summary: 'The number of sent record-change webhooks' },
    answer: z.object({ delivered: z.int(), givenUp: z.int(), dropped: z.int(), waiting: z.int() }),
    handle: ({ installation }) => installation.webhooks.counts(),
  }),
  control({
    ...{ method: 'POST', path: 'subscriptions', summary: 'Replace the receivers of record-change webhooks' },
    body: webhookTargets,
    answer: done,
    handle: ({ installation, body }) => installation.webhooks.subscribe(body),
  }),
  control({
    ...{ method: 'GET', path: 'stats', summary: 'The number of requests that the limits allowed and refused' },
    answer: counts.extend({ byAction: z.record(z.string(), counts) }),
    handle: ({ installation }) => installation.stats.read(),
  }),
];
