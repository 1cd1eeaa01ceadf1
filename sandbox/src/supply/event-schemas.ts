// The payloads of wholesalers' events (practice-api: Events) for the OpenAPI description. Tests compare them with sent
// events.
import { z } from 'zod';
import { catalogErrorCodes } from './catalog-csv.ts';

const id = () => z.int().min(0);
const orNull = () => z.string().nullable();
const count = () => z.int().min(0);

const event = <const T extends string>(name: T) => ({ event: z.literal(name), event_id: z.uuid() });
const sender = z.strictObject({ id: id(), name: z.string() });
const fullSender = sender.extend({ email: orNull(), register_number: orNull() });

const credentials = z.strictObject({
  id: id().describe('The wholesaler_pk of the paths'),
  customer_number: orNull(),
  customer_username: orNull(),
  customer_password: orNull(),
  department: z
    .strictObject({ id: id(), name: z.string() })
    .nullable()
    .describe('The clinic location that the credentials are of; null for the whole clinic'),
});

const order = z.strictObject({
  id: id(),
  notes: orNull(),
  customer: z.strictObject({
    ...{ name: z.string(), department: z.string(), postal_address: z.string() },
    ...{ postal_code: z.string(), city: z.string(), country_code: z.string() },
  }),
  purchaser: z.strictObject({ name: z.string(), phone: z.string(), email: z.string() }),
  items: z.array(
    z.strictObject({
      product_number: z.string(),
      product_name: z.string(),
      quantity: z.string().regex(/^\d+(\.\d+)?$/),
      ...{ unit: orNull(), barcode: orNull(), notes: orNull() },
    }),
  ),
});

const code = z.enum(catalogErrorCodes);
const upload = z.strictObject({
  ...{ id: id(), catalog_id: z.uuid(), filename: z.string() },
  status: z.enum(['accepted', 'partially_accepted', 'rejected']),
  ...{ rows_total: count(), rows_accepted: count(), rows_rejected: count() },
  errors: z
    .array(
      z.strictObject({
        row: z.int().min(1).nullable().describe('The line of the file, from 1; null for the whole file'),
        ...{ code, field: orNull(), detail: z.string() },
      }),
    )
    .nullable()
    .describe('Every rejected row; null where errors are too many'),
  errors_truncated: z.boolean(),
  error_summary: z
    .array(z.strictObject({ code, count: count() }))
    .optional()
    .describe('The number of errors by code, where they are too many'),
  error_report_url: z.url().optional().describe('Where to download all errors, where they are too many'),
});

/** The payloads by the names of their components. Each description says when the event is sent. */
export const eventSchemas = {
  WholesalerCreated: z
    .strictObject({ ...event('wholesaler.created'), available_wholesaler: fullSender, wholesaler: credentials })
    .describe('A clinic connects the wholesaler: one event per credential set'),
  WholesalerUpdated: z
    .strictObject({ ...event('wholesaler.updated'), available_wholesaler: fullSender, wholesaler: credentials })
    .describe('Clinic staff change credentials or their location: one event per credential set'),
  WholesalerDeleted: z
    .strictObject({
      ...event('wholesaler.deleted'),
      available_wholesaler: fullSender,
      wholesaler: z.strictObject({ id: id() }),
    })
    .describe('Clinic staff remove a credential set'),
  OrderPlaced: z
    .strictObject({
      ...event('order.placed'),
      available_wholesaler: sender,
      wholesaler: z.strictObject({ id: id(), customer_number: orNull() }),
      order,
    })
    .describe('Staff send an order, or send it again with changes'),
  CatalogProcessed: z
    .strictObject({
      ...event('catalog.processed'),
      available_wholesaler: sender,
      wholesaler: z.strictObject({ id: id() }),
      upload,
    })
    .describe('An uploaded catalog was checked'),
} as const;
