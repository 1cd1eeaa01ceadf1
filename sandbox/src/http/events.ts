// The `webhooks` of the OpenAPI description: the events of wholesalers, and the webhooks for record changes.
import { z } from 'zod';
import { eventSchemas } from '../supply/event-schemas.ts';
import { idFields, triggers } from '../webhooks.ts';
import { type Components, nounOf } from './components.ts';

/** A webhook of the description. */
interface Webhook {
  /** The name of the webhook's schema among the components. */
  component: string;
  schema: z.ZodType;
  summary: string;
  isSigned: boolean;
}

const ofWholesalers = Object.entries(eventSchemas).map(([component, schema]): [string, Webhook] => [
  schema.shape.event.value,
  { component, schema, summary: schema.description ?? '', isSigned: true },
]);

const idSchemas = Object.fromEntries(
  Object.values(idFields).map((field) => [field, z.strictObject({ [field]: z.int().min(0) })]),
);

const ofRecords = (Object.keys(triggers) as (keyof typeof triggers)[]).map((name): [string, Webhook] => {
  const field = idFields[name];
  const component = `${nounOf(field.replace(/_id$/, '.webhook'))}Webhook`;
  const summary = `Trigger ${triggers[name]}. Repeated until the answer is 200, at most ten times`;
  return [`record_change.${name}`, { component, schema: idSchemas[field] as z.ZodType, summary, isSigned: false }];
});

const webhooks = [...ofWholesalers, ...ofRecords];

/** The schemas of all webhooks, by the names of their components. */
export const webhookSchemas: Readonly<Record<string, z.ZodType>> = Object.fromEntries(
  webhooks.map(([, { component, schema }]) => [component, schema]),
);

const header = (name: string, description: string) => ({
  ...{ in: 'header', name, required: true, description },
  schema: { type: 'string' },
});

const signature = [
  header('X-Webhook-Timestamp', 'Seconds since 1970'),
  header(
    'X-Webhook-Signature',
    "'v1=' and the HMAC-SHA256, in hex, of the timestamp, a dot and the body; the key is the verification_salt in UTF-8",
  ),
];

/** The webhooks by name, as the description shows them. */
export const describedWebhooks = (components: Components): object =>
  Object.fromEntries(
    webhooks.map(([name, { schema, summary, isSigned }]) => {
      const content = { schema: components.refTo(schema) };
      const post = {
        tags: ['Events'],
        summary,
        security: [],
        ...(isSigned ? { parameters: signature } : {}),
        requestBody: {
          required: true,
          content: {
            'application/json': content,
            ...(isSigned ? {} : { 'application/x-www-form-urlencoded': content }),
          },
        },
        responses: { [isSigned ? '2XX' : '200']: { description: 'Received; any other answer is a failed attempt' } },
      };
      return [name, { post }];
    }),
  );
