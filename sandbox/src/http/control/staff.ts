// Control endpoints for actions of staff in the clinic's application, which the API does not have.
import { z } from 'zod';
import { readyConsultation } from '../../care.ts';
import { NotFound } from '../../records.ts';
import type { Order, Wholesaler } from '../../state/supply.ts';
import { productTypes } from '../../supply/catalog-csv.ts';
import { archiveWholesaler, changeCredentials, connectWholesaler, wholesalerOf } from '../../supply/credentials.ts';
import { importProducts, offeredProducts } from '../../supply/imports.ts';
import { draftOrder, markDelivered, orderOf, sendOrder } from '../../supply/orders.ts';
import { acceptBatch, matchReceipt } from '../../supply/receipts.ts';
import { isDate } from '../../zone.ts';
import { type ControlRoute, control } from './route.ts';

const number = z.int().min(0);
const text = z.string().max(1000);
const credentials = z.strictObject({
  customer_number: text.nullish(),
  customer_username: text.nullish(),
  customer_password: text.nullish(),
  department: number.nullish(),
});
const connection = credentials.extend({ available_wholesaler: number });
const run = z.strictObject({
  types: z.array(z.enum(productTypes)),
  search: text.optional(),
  matchBarcodes: z.boolean().optional(),
});
const line = z.strictObject({
  product_number: text.min(1),
  product_name: text.optional(),
  quantity: z.string().regex(/^\d{1,9}(\.\d{1,3})?$/),
  item: number.nullish(),
  unit: text.nullish(),
  barcode: text.nullish(),
  notes: text.nullish(),
});
const changes = z.strictObject({ notes: text.nullish(), lines: z.array(line).min(1).optional() });
const purchase = z.strictObject({
  wholesaler: number,
  department: number.optional(),
  notes: text.nullish(),
  lines: z.array(line).min(1),
  /** False keeps the order in the state Ordering in process; true sends it at once. */
  send: z.boolean().default(true),
});
const match = z.strictObject({ item: number });

/** The answer shows whether there is a password, but not the password. */
const shown = ({ customer_password, ...wholesaler }: Wholesaler) => ({
  ...wholesaler,
  has_password: customer_password !== null,
});

const date = z.string().refine(isDate, 'Send a date as YYYY-MM-DD.');
/** The settings of a department that staff can change. */
const departmentChanges = z.strictObject({
  name: text.min(1),
  financial_period_lock_date: date.nullable(),
  automatic_financial_period_lock_enabled: z.boolean(),
  automatic_financial_period_lock_day: z.int().min(1).max(31),
  payment_cancel_set_date: z.boolean(),
  enable_communication_preferences: z.boolean(),
  allow_nhp_processing: z.boolean(),
  prescription_fee_item: number.nullable(),
});
const invoiceChange = z.strictObject({ status: z.literal([3, 99]) });

const list = z.array(z.looseObject({ id: z.int() }));
const one = z.looseObject({ id: z.int() });

/** The newest thousand records. */
const newest = <T>(records: readonly T[]): readonly T[] => records.slice(-1000);

export const staffRoutes: readonly ControlRoute[] = [
  control({
    ...{ method: 'PATCH', path: 'departments/:id', summary: 'Staff change settings of a department', answer: one },
    body: departmentChanges.partial(),
    handle: ({ installation: { clinic }, id, body }) =>
      clinic.commit(() => {
        const department = clinic.department(id);
        for (const [field, value] of Object.entries(body))
          if (value !== undefined) Object.assign(department, { [field]: value });
        clinic.noteChange('department', id);
        return department;
      }, 'request'),
  }),
  control({
    ...{ method: 'PATCH', path: 'organisation', answer: one },
    summary: 'Staff change the default department of orders and receipts; null for none',
    body: z.strictObject({ default_department: number.nullable() }),
    handle: ({ installation: { clinic }, body: { default_department } }) => {
      if (default_department !== null) clinic.department(default_department);
      const { organisations } = clinic.supply;
      const [organisation] = organisations.all();
      if (!organisation) throw new NotFound();
      return clinic.commit(() => clinic.update(organisations, organisation, { default_department }), 'request');
    },
  }),
  control({
    ...{
      method: 'POST',
      path: 'consultations/:id/ready',
      summary: 'Staff make a consultation ready for discharge (status 5)',
    },
    answer: one,
    handle: ({ installation: { clinic }, id }) => readyConsultation(clinic, id),
  }),
  control({
    ...{
      method: 'PATCH',
      path: 'invoices/:id',
      summary: 'Staff finalise a draft (status 3), or void an invoice (status 99)',
    },
    body: invoiceChange,
    answer: one,
    handle: ({ installation: { clinic }, id, body: { status } }) =>
      status === 3 ? clinic.finaliseDraft(id) : clinic.voidInvoice(id),
  }),
  control({
    ...{ method: 'GET', path: 'wholesalers', summary: "The clinic's credential sets", answer: list },
    handle: ({ installation: { clinic } }) => clinic.supply.wholesalers.all().map(shown),
  }),
  control({
    ...{ method: 'POST', path: 'wholesalers', summary: 'Staff connect a wholesaler', body: connection, answer: one },
    handle: ({ installation: { clinic }, body: { available_wholesaler, ...sent } }) =>
      shown(connectWholesaler(clinic, available_wholesaler, sent)),
  }),
  control({
    ...{
      method: 'PATCH',
      path: 'wholesalers/:id',
      summary: 'Staff change credentials',
      body: credentials,
      answer: one,
    },
    handle: ({ installation: { clinic }, id, body }) => shown(changeCredentials(clinic, id, body)),
  }),
  control({
    ...{ method: 'DELETE', path: 'wholesalers/:id', summary: 'Staff remove a credential set' },
    handle: ({ installation: { clinic }, id }) => archiveWholesaler(clinic, id),
  }),
  control({
    ...{
      method: 'GET',
      path: 'wholesalers/:id/products',
      summary: 'The products that staff can import',
      answer: z.unknown(),
    },
    handle: ({ installation: { clinic }, id }) => offeredProducts(clinic, id),
  }),
  control({
    ...{
      method: 'GET',
      path: 'wholesalers/:id/supplied',
      summary: 'The items that the wholesaler supplies to the clinic',
      answer: list,
    },
    handle: ({ installation: { clinic }, id }) => clinic.supply.suppliedItems.of(wholesalerOf(clinic, id).id),
  }),
  control({
    ...{ method: 'POST', path: 'wholesalers/:id/import', summary: 'Staff import products of its catalog', body: run },
    handle: ({ installation: { clinic }, id, body }) => importProducts(clinic, id, body),
  }),
  control({
    ...{ method: 'POST', path: 'orders', summary: 'Staff order from a wholesaler', body: purchase, answer: one },
    handle: ({ installation: { clinic }, body: { send, ...sent } }): Order => {
      const order = draftOrder(clinic, sent);
      return send ? sendOrder(clinic, order.id) : order;
    },
  }),
  control({
    ...{ method: 'GET', path: 'orders/:id', summary: 'An order as staff see it', answer: one },
    handle: ({ installation: { clinic }, id }) => orderOf(clinic, id),
  }),
  control({
    ...{
      method: 'POST',
      path: 'orders/:id/send',
      summary: 'Staff send an order, or send it again with changes',
      answer: one,
    },
    body: changes,
    handle: ({ installation: { clinic }, id, body: { notes, lines } }) =>
      sendOrder(clinic, id, { ...(notes === undefined ? {} : { notes }), ...(lines === undefined ? {} : { lines }) }),
  }),
  control({
    ...{ method: 'POST', path: 'orders/:id/deliver', summary: 'Staff mark an order delivered', answer: one },
    handle: ({ installation: { clinic }, id }) => markDelivered(clinic, id),
  }),
  control({
    ...{ method: 'GET', path: 'receipts', summary: 'The newest thousand receipt lines', answer: list },
    handle: ({ installation: { clinic } }) => newest(clinic.supply.receiptLines.all()),
  }),
  control({
    ...{ method: 'POST', path: 'receipts/:id/match', summary: 'Staff match a receipt line', body: match, answer: one },
    handle: ({ installation: { clinic }, id, body: { item } }) => matchReceipt(clinic, id, item),
  }),
  control({
    ...{ method: 'POST', path: 'receipts/:id/accept', summary: 'Staff accept a batch into stock', answer: one },
    handle: ({ installation: { clinic }, id }) => acceptBatch(clinic, id),
  }),
  control({
    ...{ method: 'GET', path: 'stock', summary: 'The newest thousand batches in stock', answer: list },
    handle: ({ installation: { clinic } }) => newest(clinic.supply.stock.all()),
  }),
  control({
    ...{
      method: 'GET',
      path: 'webhooks',
      summary: 'Events for wholesalers, with the results of their delivery',
      answer: list,
    },
    handle: ({ installation: { clinic } }) => clinic.supply.events.all(),
  }),
];
