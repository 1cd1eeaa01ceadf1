// Control endpoints, for this machine only: events, statistics, quirks and faults of a sandbox in another process.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Clinic } from '../clinic.ts';
import type { Faults } from '../faults.ts';
import type { LiveEvent } from '../live.ts';
import type { Quirks } from '../quirks.ts';
import { triggerTypes, type WebhookCounts, type WebhookTarget } from '../webhooks.ts';
import { decodeJson } from './body.ts';
import { registerStaffControls } from './control-supply.ts';
import type { Stats } from './stats.ts';

export interface Controls {
  clinic: Clinic;
  live: (events: number) => LiveEvent[];
  stats: () => Stats;
  setQuirks: (quirks: Partial<Quirks>) => void;
  setFaults: (faults: Partial<Faults>) => void;
  setWebhooks: (targets: readonly WebhookTarget[]) => void;
  webhookCounts: () => WebhookCounts;
  messages: (origin: string, after: number) => object[];
}

const maxEvents = 10_000;
const eventsQuery = z.object({
  events: z.coerce.number().int().min(0).max(maxEvents, `A whole number from 0 to ${maxEvents}.`).default(1),
});

/** Subscriptions to webhooks for record changes. */
const subscriptions = z
  .array(
    z.strictObject({
      url: z.url({ protocol: /^https?$/ }),
      format: z.enum(['form', 'json']).default('form'),
      triggers: z.array(z.literal(triggerTypes)).min(1).max(triggerTypes.length).optional(),
    }),
  )
  .max(20);

const messagesQuery = z.object({ after: z.coerce.number().int().min(0).default(0) });

/**
 * POST live?events=N, GET messages?after=ID, GET stats, POST quirks, POST faults, POST subscriptions (to record changes), GET subscriptions (their
 * counts), and what staff do; unknown to every other machine.
 */
export const registerControls = (app: FastifyInstance, controls: Controls): void => {
  const hidden = { hide: true } as const;
  app.register(
    async (scope) => {
      scope.addHook('onRequest', async (request, reply) => {
        if (!isLoopback(request.ip)) return reply.callNotFound();
      });
      scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
        decodeJson(body),
      );
      scope.post('/live', { schema: { ...hidden, querystring: eventsQuery } as never }, async (request) => ({
        events: controls.live((request.query as z.output<typeof eventsQuery>).events),
      }));
      scope.get('/messages', { schema: { ...hidden, querystring: messagesQuery } as never }, async (request) => {
        const { after } = request.query as z.output<typeof messagesQuery>;
        return { messages: controls.messages(`http://${request.headers.host ?? 'localhost'}`, after) };
      });
      scope.get('/subscriptions', { schema: hidden as never }, async () => controls.webhookCounts());
      scope.post('/subscriptions', { schema: { ...hidden, body: subscriptions } as never }, async (request) => {
        controls.setWebhooks(request.body as readonly WebhookTarget[]);
        return {};
      });
      scope.get('/stats', { schema: hidden as never }, async () => controls.stats());
      scope.post('/quirks', { schema: hidden as never }, async (request) => {
        controls.setQuirks((request.body ?? {}) as Partial<Quirks>);
        return {};
      });
      scope.post('/faults', { schema: hidden as never }, async (request) => {
        controls.setFaults((request.body ?? {}) as Partial<Faults>);
        return {};
      });
      registerStaffControls(scope, controls.clinic);
    },
    { prefix: '/sandbox' },
  );
};

export const isLoopback = (address: string): boolean => /^(127\.|::1$|::ffff:127\.)/.test(address);
