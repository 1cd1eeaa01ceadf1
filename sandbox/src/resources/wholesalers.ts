// practice-api: Wholesaler integration: catalog upload URLs, receipts, and the two actions on orders; Errors. Choices
// of the sandbox: the answer to a receipt line without a usable `id` (null), and the detail of 503.
import { z } from 'zod';
import type { Answer } from '../http/answer.ts';
import { answer, date, id, integer, says, text, time, withoutNul } from '../http/fields.ts';
import { type ApiRequest, pathId, type RouteSpec, route } from '../http/route.ts';
import { storageUrl } from '../http/storage.ts';
import { NotFound } from '../records.ts';
import { type Order, orderStatus, type Wholesaler } from '../state/supply.ts';
import { expectedColumns } from '../supply/catalog-csv.ts';
import { integrationOf } from '../supply/events.ts';
import { isOrderOf, markDelivered, orderOf, setReference } from '../supply/orders.ts';
import { lineLengths, quantityPattern, rejections, takeReceipts } from '../supply/receipts.ts';
import { formFields, maxCatalogBytes, objectKey, pendingUpload } from '../supply/uploads.ts';
import { notYours } from './available-wholesalers.ts';

const section = 'Wholesaler integration';
const scope = 'wholesaler';

const fileRequest = z.object({
  filename: z
    .string({ error: says('Not a valid string.') })
    .max(255, 'Ensure this field has no more than 255 characters.')
    .regex(/\.[cC][sS][vV]\s*$/, "The filename must end in '.csv'.")
    .regex(/^[^/\\]*$/, "The filename must not contain '/' or '\\'.")
    .regex(withoutNul, 'Null characters are not allowed.')
    .regex(/^(?![\s\S]*\.\.)/, "The filename must not contain '..'.")
    .transform((name) => name.trim()),
  content_type: z.enum(['text/csv', 'application/csv'], { error: 'Not a valid choice.' }).default('text/csv'),
});

const descriptor = answer({
  upload_id: id(),
  catalog_id: z.uuid(),
  filename: z.string(),
  object_key: z.string(),
  url: z.url(),
  fields: z.record(z.string(), z.string()),
  expected_columns: z.array(z.string()),
  content_type: z.enum(['text/csv', 'application/csv']),
  max_size_bytes: z.literal(maxCatalogBytes),
});

const maxLines = 500;
/** A valid line. It needs `product_number` or `barcode`. */
const receiptLine = z
  .object({
    id: text(lineLengths.id),
    quantity: z.union([z.string().regex(quantityPattern), z.number().min(0)]),
    product_number: text(lineLengths.product_number).nullish(),
    barcode: text(lineLengths.barcode).nullish(),
    product_name: text(lineLengths.product_name).nullish(),
    order_id: integer({ min: 0 }).nullish(),
    invoice_number: text(lineLengths.invoice_number).nullish(),
    invoice_date: date().nullish(),
    batch_number: text(lineLengths.batch_number).nullish(),
    expiry_date: date().nullish(),
  })
  .meta({ examples: [{ id: 'r-1', quantity: '2.000', product_number: 'AB-100', order_id: 6101, batch_number: 'B7' }] });
/** The union has this schema first, so that lines stay unchanged. receipts.ts checks them one by one. */
const anyLine = z.unknown().meta({ description: 'Any other line is rejected by itself.' });
const lines = z.object({
  receipt_lines: z
    .array(z.union([anyLine, receiptLine]), {
      error: says('Expected a list of items.'),
    })
    .min(1, 'This list may not be empty.')
    .max(maxLines, `Ensure this list has no more than ${maxLines} lines.`),
});

const summary = answer({
  lines_total: z.int(),
  lines_accepted: z.int(),
  lines_rejected: z.int(),
  lines_duplicate: z.int(),
  receipt_lines: z.array(
    answer({
      id: z.string().nullable(),
      status: z.enum(['accepted', 'rejected', 'duplicate']),
      reason: z.enum(rejections).optional(),
      order_id: id().nullable(),
      matched_item: z.boolean(),
      matched_by: z.enum(['product_code', 'barcode']).nullable(),
    }),
  ),
});

/**
 * Runs `act` on an active credential set of the caller's integration. Answers 403 for a set of another application, 404
 * for all others.
 */
const own = (request: ApiRequest, act: (wholesaler: Wholesaler) => Answer): Answer => {
  const wholesaler = request.clinic.supply.wholesalers.get(pathId(request));
  const integration = wholesaler && !wholesaler.archived ? integrationOf(request.clinic, wholesaler) : undefined;
  if (!wholesaler || !integration) throw new NotFound();
  return integration.owner === request.application.clientId ? act(wholesaler) : notYours();
};

/** Runs `act` on an order that was sent to the caller's integration. */
const ownOrder = (request: ApiRequest, act: (order: Order) => Answer): Answer => {
  const order = orderOf(request.clinic, pathId(request));
  return isOrderOf(request.clinic, order, request.application.clientId) ? act(order) : notYours();
};

export const wholesalerRoutes: RouteSpec[] = [
  route({
    ...{ method: 'POST', path: 'wholesaler/:wholesaler_pk/catalog_upload_url/', section, scope },
    ...{ action: 'wholesaler.catalog_upload_url', summary: 'A form for uploading the complete catalog' },
    body: fileRequest,
    answers: { 200: descriptor, 503: answer({ detail: z.string() }) },
    handle: (request) =>
      own(request, (wholesaler) => {
        const { clinic, origin } = request;
        if (request.strikes('catalogUrl503')) {
          return { status: 503, body: { detail: 'The upload URL cannot be generated now. Try again.' } };
        }
        const { filename, content_type } = request.body;
        const upload = pendingUpload(clinic, wholesaler, { filename, content_type });
        return {
          status: 200,
          body: {
            ...{ upload_id: upload.id, catalog_id: upload.catalog_id, filename: upload.filename },
            object_key: objectKey(upload),
            url: storageUrl(origin, request.installation),
            fields: formFields(clinic, upload),
            expected_columns: expectedColumns,
            ...{ content_type: upload.content_type, max_size_bytes: maxCatalogBytes },
          },
        };
      }),
  }),
  route({
    ...{ method: 'POST', path: 'wholesaler/:wholesaler_pk/receipts/', section, scope },
    ...{ action: 'wholesaler.receipts', summary: 'Report what was delivered, line by line' },
    body: lines,
    answers: { 200: summary },
    handle: (request) =>
      own(request, (wholesaler) => {
        const receipt_lines = takeReceipts(request.clinic, wholesaler, request.body.receipt_lines);
        const count = (status: string): number => receipt_lines.filter((line) => line.status === status).length;
        return {
          status: 200,
          body: {
            lines_total: receipt_lines.length,
            lines_accepted: count('accepted'),
            lines_rejected: count('rejected'),
            lines_duplicate: count('duplicate'),
            receipt_lines,
          },
        };
      }),
  }),
  route({
    ...{ method: 'POST', path: 'order/:order_id/set_wholesaler_reference_number/', section, scope },
    ...{ action: 'order.set_wholesaler_reference_number', summary: "Set the wholesaler's own number of an order" },
    body: z.object({ wholesaler_reference_number: text(63) }),
    answers: { 200: answer({ status: z.literal('ok'), wholesaler_reference_number: z.string() }) },
    handle: (request) =>
      ownOrder(request, (order) => {
        const { wholesaler_reference_number } = request.body;
        setReference(request.clinic, order, wholesaler_reference_number);
        return { status: 200, body: { status: 'ok', wholesaler_reference_number } };
      }),
  }),
  route({
    ...{ method: 'POST', path: 'order/:order_id/mark_delivered/', section, scope },
    ...{ action: 'order.mark_delivered', summary: 'Mark an order delivered' },
    answers: {
      200: answer({
        status: z.literal('ok'),
        order_status: z.literal(orderStatus.delivered).describe(`${orderStatus.delivered} Delivered`),
        all_delivered: z.boolean(),
        delivery_date: time(),
      }),
    },
    handle: (request) =>
      ownOrder(request, ({ id: order }) => {
        const { status: order_status, delivery_date } = markDelivered(request.clinic, order);
        const when = request.wire.time(delivery_date ?? 0);
        return { status: 200, body: { status: 'ok', order_status, all_delivered: true, delivery_date: when } };
      }),
  }),
];
