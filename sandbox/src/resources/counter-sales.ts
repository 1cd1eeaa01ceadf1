// practice-api: Invoice (`countersale`); Online prescriptions: the counter sale that collects the prescription fee. The
// specification names the calls but does not show their paths and payloads; the sandbox chose these: create a counter
// sale (a draft invoice), add items, finalize, and record the payment at `/invoicepayment/`. A sale without a client is
// anonymous. Only items that the clinic sells over its counter can be added. The item of the fee is in
// `/department/{id}/settings/`.
import { z } from 'zod';
import { addToCounterSale, finaliseCounterSale, openCounterSale } from '../counter-sales.ts';
import { decimal } from '../http/fields.ts';
import { reference } from '../http/references.ts';
import { pathId, type RouteSpec, route } from '../http/route.ts';
import { invoiceRecord, rowRecord } from './invoices.ts';

const base = { section: 'Online prescriptions', permission: 'Financial: Invoices' } as const;

export const counterSaleRoutes: RouteSpec[] = [
  route({
    ...{ method: 'POST', path: 'countersale/', action: 'countersale.create', ...base },
    summary: 'Begin a sale over the counter: a draft invoice',
    body: z.object({ department: reference('department'), client: reference('client').nullish() }),
    answers: { 201: invoiceRecord },
    handle: ({ body, clinic, wire }) => {
      const sale = openCounterSale(clinic, body.department, body.client ?? null);
      return { status: 201, body: wire.invoice(sale) };
    },
  }),
  route({
    ...{ method: 'POST', path: 'countersale/:id/items/', action: 'countersale.add_item', ...base },
    summary: 'Add an item to a counter sale that is a draft',
    body: z.object({
      item: reference('item'),
      quantity: decimal(4, 'aboveZero'),
      vat_percentage: decimal(2).optional(),
    }),
    answers: { 201: rowRecord },
    handle: (request) => {
      const { item, quantity, vat_percentage } = request.body;
      const row = addToCounterSale(request.clinic, pathId(request), {
        ...{ item, quantity },
        ...(vat_percentage === undefined ? {} : { vat_percentage }),
      });
      return { status: 201, body: request.wire.invoiceRow(row, false) };
    },
  }),
  route({
    ...{ method: 'POST', path: 'countersale/:id/finalize/', action: 'countersale.finalize', ...base },
    summary: 'Finalize a counter sale: it gets its number',
    answers: { 200: invoiceRecord },
    handle: (request) => ({
      status: 200,
      body: request.wire.invoice(finaliseCounterSale(request.clinic, pathId(request))),
    }),
  }),
];
