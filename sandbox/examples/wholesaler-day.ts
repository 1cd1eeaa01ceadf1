// A wholesaler's whole day with the practice API, against a running sandbox:
//
//     npx vetledger sandbox --port 8090
//     npm run client --workspace sandbox      # writes client.ts from the OpenAPI description
//     node sandbox/examples/wholesaler-day.ts http://127.0.0.1:8090
//
// The wholesaler registers, gets the clinic's credentials, uploads its catalog, receives an order, writes its reference back, marks the
// order delivered and reports what it delivered. The sandbox's control endpoints
// perform the actions of staff.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Api, type CatalogProcessed, type OrderPlaced, type WholesalerCreated } from './client.ts';

const baseUrl = process.argv[2] ?? 'http://127.0.0.1:8090';
const salt = 'known-to-both-sides-only';

/** The events that this day needs. */
type Event = WholesalerCreated | OrderPlaced | CatalogProcessed;

const say = (text: string): void => console.log(text);

/** Posts a request and returns the JSON of its successful answer. */
const post = async (url: string, body: BodyInit, headers: Record<string, string> = {}) => {
  const answer = await fetch(url, { method: 'POST', body, headers, signal: AbortSignal.timeout(30_000) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text}`);
  return text === '' ? null : JSON.parse(text);
};

/** Runs an action of staff in the clinic. */
const staff = (path: string, body: object) => post(`${baseUrl}/sandbox/${path}`, JSON.stringify(body));

const events: Event[] = [];
let noticed: () => void = () => {};

/**
 * Whether a delivery comes from the service. The signature is the HMAC of timestamp, dot and body, with the salt as
 * key.
 */
const isSigned = (headers: IncomingHttpHeaders, body: string): boolean => {
  const hmac = createHmac('sha256', salt).update(`${headers['x-webhook-timestamp']}.${body}`).digest('hex');
  const expected = Buffer.from(`v1=${hmac}`);
  const given = Buffer.from(String(headers['x-webhook-signature']));
  return expected.length === given.length && timingSafeEqual(expected, given);
};

const receiver = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  if (!isSigned(request.headers, body)) {
    response.writeHead(403).end();
    return;
  }
  response.writeHead(204).end();
  const event = JSON.parse(body) as Event;
  // A known event_id means that the event was delivered before.
  if (events.some((known) => known.event_id === event.event_id)) return;
  events.push(event);
  noticed();
});

/** Waits for the first event of a kind that matches. Fails after half a minute. */
const received = async <E extends Event>(kind: E['event'], fits: (event: E) => boolean = () => true): Promise<E> => {
  const tooLate = AbortSignal.timeout(30_000);
  for (;;) {
    const event = events.find((one): one is E => one.event === kind && fits(one as E));
    if (event) return event;
    await new Promise<void>((resolve, reject) => {
      noticed = resolve;
      tooLate.addEventListener('abort', () => reject(new Error(`${kind} did not arrive`)), { once: true });
    });
  }
};

receiver.listen(0, '127.0.0.1');
await once(receiver, 'listening');
const callback = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/webhooks`;

const credentials = btoa('wholesaler-client:wholesaler-secret');
const token = await post(`${baseUrl}/4711/oauth2/token/`, new URLSearchParams({ grant_type: 'client_credentials' }), {
  authorization: `Basic ${credentials}`,
});
say(`token of the scope ${token.scope}`);
const practice = new Api({
  baseUrl: `${baseUrl}/4711/api/0.1`,
  baseApiParams: { headers: { authorization: `Bearer ${token.access_token}` } },
  customFetch: (url, init) => fetch(url, { ...init, signal: AbortSignal.timeout(30_000) }),
});

// The service accepts only public https addresses. With this quirk, the sandbox also accepts addresses of this machine.
await staff('quirks', { loopbackCallbacks: true });
const available = await practice.availableWholesaler.availableWholesalerCreate({
  name: 'Esimerkin Tukku',
  email: 'integration@tukku.example',
  register_number: '7654321-0',
  webhook_callback_url: callback,
  verification_salt: salt,
});
say(`registered as available wholesaler ${available.id}, ${available.name}`);

await staff('wholesalers', {
  available_wholesaler: available.id,
  customer_number: '40118',
  customer_password: 'secret',
});
const { wholesaler } = await received<WholesalerCreated>('wholesaler.created');
say(`wholesaler.created: credential set ${wholesaler.id}, customer number ${wholesaler.customer_number}`);

const catalog = [
  'product_type,product_number,product_name,wholesale_price,product_price,vat,barcode',
  'Medicine,ET-100,Amoxin 50 mg 20 tablets,8.40,14.90,10,6430001000017',
  'Supply,ET-200,Elastic bandage 5 cm,1.95,4.50,25.5,6430001000024',
  'Food,ET-300,Diet food 4 kg,"21,00",,14,',
].join('\n');
const form = await practice.wholesaler.wholesalerCatalogUploadUrl(wholesaler.id, { filename: 'catalog.csv' });
const body = new FormData();
for (const [name, value] of Object.entries(form.fields)) body.append(name, value ?? '');
body.append('file', new Blob([catalog], { type: form.content_type }), 'catalog.csv');
await post(form.url, body);
const isOurs = ({ upload }: CatalogProcessed) => upload.catalog_id === form.catalog_id;
const { upload } = await received<CatalogProcessed>('catalog.processed', isOurs);
say(`catalog.processed: ${upload.status}, ${upload.rows_accepted} rows accepted, ${upload.rows_rejected} rejected`);
for (const { row, code, detail } of upload.errors ?? []) say(`  line ${row}: ${code}: ${detail}`);

const imported = await staff(`wholesalers/${wholesaler.id}/import`, { types: ['Medicine', 'Supply'] });
say(`the clinic imports the catalog: ${imported.created} new items`);
const products = ['ET-100', 'ET-200'].map((product_number) => ({ product_number, quantity: '4' }));
await staff('orders', { wholesaler: wholesaler.id, notes: 'Before Friday, please', lines: products });
const { order } = await received<OrderPlaced>('order.placed');
const ordered = order.items.map((item) => `${item.quantity} x ${item.product_name}`);
say(`order.placed: order ${order.id}, ${ordered.join(', ')}`);

const reference = `ET-${order.id}`;
await practice.order.orderSetWholesalerReferenceNumber(order.id, { wholesaler_reference_number: reference });
say(`reference number ${reference} set`);

const delivered = await practice.order.orderMarkDelivered(order.id);
say(`marked delivered: order_status ${delivered.order_status}, all_delivered ${delivered.all_delivered}`);

// Each line is a batch. The invoice number links the second line to the order.
const receipts = await practice.wholesaler.wholesalerReceipts(wholesaler.id, {
  receipt_lines: [
    { id: `${reference}-1`, quantity: '4.000', product_number: 'ET-100', order_id: order.id, batch_number: 'A17' },
    { id: `${reference}-2`, quantity: '4.000', barcode: '6430001000024', invoice_number: reference },
    { id: `${reference}-3`, quantity: '-1', product_number: 'ET-100' },
  ],
});
say(`receipts: ${receipts.lines_accepted} accepted, ${receipts.lines_rejected} rejected`);
for (const line of receipts.receipt_lines) {
  const how = line.reason ?? `order ${line.order_id}, matched by ${line.matched_by}`;
  say(`  ${line.id}: ${line.status}, ${how}`);
}
receiver.closeAllConnections();
receiver.close();
