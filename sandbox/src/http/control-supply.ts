// Control endpoints of the clinic's purchasing: what staff do in the clinic's own program, which no endpoint of the API does.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Clinic } from '../clinic.ts';
import type { Order, Wholesaler } from '../state/supply.ts';
import { productTypes } from '../supply/catalog-csv.ts';
import { archiveWholesaler, changeCredentials, connectWholesaler, wholesalerOf } from '../supply/credentials.ts';
import { importProducts, offeredProducts } from '../supply/imports.ts';
import { draftOrder, markDelivered, orderOf, sendOrder } from '../supply/orders.ts';
import { acceptBatch, matchReceipt } from '../supply/receipts.ts';

const number = z.int().min(0);
const text = z.string().max(1000);
const params = z.object({ id: z.coerce.number().int().min(0) });
const credentials = z.object({
  customer_number: text.nullish(),
  customer_username: text.nullish(),
  customer_password: text.nullish(),
  department: number.nullish(),
});
const connection = credentials.extend({ available_wholesaler: number });
const run = z.object({
  types: z.array(z.enum(productTypes)),
  search: text.optional(),
  matchBarcodes: z.boolean().optional(),
});
const line = z.object({
  product_number: text.min(1),
  product_name: text.optional(),
  quantity: z.string().regex(/^\d{1,9}(\.\d{1,3})?$/),
  item: number.nullish(),
  unit: text.nullish(),
  barcode: text.nullish(),
  notes: text.nullish(),
});
const changes = z.object({ notes: text.nullish(), lines: z.array(line).min(1).optional() });
const purchase = z.object({
  wholesaler: number,
  department: number.optional(),
  notes: text.nullish(),
  lines: z.array(line).min(1),
  /** Whether it is sent at once; otherwise it stays in Ordering in process. */
  send: z.boolean().default(true),
});
const match = z.object({ item: number });

/** Staff see that there is a password, and not which. */
const shown = ({ customer_password, ...wholesaler }: Wholesaler) => ({
  ...wholesaler,
  has_password: customer_password !== null,
});

/** Registers them in the scope of the other control endpoints, for this machine only. */
export const registerStaffControls = (scope: FastifyInstance, clinic: Clinic): void => {
  const { supply } = clinic;
  const add = <Q extends z.ZodType = z.ZodUnknown>(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    body: Q | null,
    act: (body: z.output<Q>, id: number) => unknown,
  ): void => {
    const schema = { hide: true, ...(url.includes(':id') ? { params } : {}), ...(body === null ? {} : { body }) };
    scope.route({
      ...{ method, url, schema: schema as never },
      handler: async (request) => act(request.body as z.output<Q>, (request.params as { id?: number }).id ?? 0) ?? {},
    });
  };

  add('GET', '/wholesalers', null, () => supply.wholesalers.all().map(shown));
  add('POST', '/wholesalers', connection, ({ available_wholesaler, ...sent }) =>
    shown(connectWholesaler(clinic, available_wholesaler, sent)),
  );
  add('PATCH', '/wholesalers/:id', credentials, (sent, id) => shown(changeCredentials(clinic, id, sent)));
  add('DELETE', '/wholesalers/:id', null, (_, id) => archiveWholesaler(clinic, id));
  add('GET', '/wholesalers/:id/products', null, (_, id) => offeredProducts(clinic, id));
  add('GET', '/wholesalers/:id/supplied', null, (_, id) => supply.suppliedItems.of(wholesalerOf(clinic, id).id));
  add('POST', '/wholesalers/:id/import', run, (sent, id) => importProducts(clinic, id, sent));
  add('POST', '/orders', purchase, ({ send, ...sent }): Order => {
    const order = draftOrder(clinic, sent);
    return send ? sendOrder(clinic, order.id) : order;
  });
  add('GET', '/orders/:id', null, (_, id) => orderOf(clinic, id));
  add('POST', '/orders/:id/send', changes, ({ notes, lines }, id) =>
    sendOrder(clinic, id, { ...(notes === undefined ? {} : { notes }), ...(lines === undefined ? {} : { lines }) }),
  );
  add('POST', '/orders/:id/deliver', null, (_, id) => markDelivered(clinic, id));
  add('GET', '/receipts', null, () => supply.receiptLines.all().slice(-1000));
  add('POST', '/receipts/:id/match', match, ({ item }, id) => matchReceipt(clinic, id, item));
  add('POST', '/receipts/:id/accept', null, (_, id) => acceptBatch(clinic, id));
  add('GET', '/stock', null, () => supply.stock.all().slice(-1000));
  add('GET', '/webhooks', null, () => supply.events.all());
};
