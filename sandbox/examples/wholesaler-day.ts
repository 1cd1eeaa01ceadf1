// A wholesaler's whole day with the practice API, against a running sandbox:
//
//     npx vetledger sandbox --port 8090
//     node sandbox/examples/wholesaler-day.ts http://127.0.0.1:8090
//
// The wholesaler registers, is told the clinic's credentials, uploads its catalog, receives an order, writes its reference back, marks the
// order delivered and reports what it delivered. What staff do in the clinic goes through the sandbox's control endpoints.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

const baseUrl = process.argv[2] ?? 'http://127.0.0.1:8090';
const installation = process.argv[3] ?? '4711';
const api = `${baseUrl}/${installation}/api/0.1`;
const salt = 'known-to-both-sides-only';

type Json = Record<string, unknown>;
/** An event as the wholesaler keeps it: only what this day needs is named. */
interface Event extends Json {
  event: string;
  event_id: string;
  wholesaler: { id: number; customer_number?: string };
  upload?: { catalog_id: string; status: string; rows_accepted: number; rows_rejected: number; errors: Json[] };
  order?: { id: number; items: { product_number: string; product_name: string; quantity: string }[] };
}

const say = (text: string): void => console.log(text);

/** Calls and expects success; the answer's JSON. */
const call = async <T = Json>(url: string, init: RequestInit = {}): Promise<T> => {
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(30_000) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${init.method ?? 'GET'} ${url} answered ${answer.status}: ${text}`);
  return (text === '' ? null : JSON.parse(text)) as T;
};

/** What staff do in the clinic. */
const staff = <T = Json>(path: string, body: object): Promise<T> =>
  call(`${baseUrl}/sandbox/${path}`, { method: 'POST', body: JSON.stringify(body) });

const events: Event[] = [];
let noticed: () => void = () => {};

/** Whether a delivery comes from the service: the HMAC of timestamp, dot and body, keyed by the salt. */
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
  // A known event_id is a redundant delivery.
  if (events.some((known) => known.event_id === event.event_id)) return;
  events.push(event);
  noticed();
});

/** The first event of a kind that fits; fails after half a minute. */
const received = async (kind: string, fits: (event: Event) => boolean = () => true): Promise<Event> => {
  const tooLate = AbortSignal.timeout(30_000);
  for (;;) {
    const event = events.find((one) => one.event === kind && fits(one));
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

const token = await call<{ access_token: string; scope: string }>(`${baseUrl}/${installation}/oauth2/token/`, {
  method: 'POST',
  body: new URLSearchParams({ grant_type: 'client_credentials' }),
  headers: { authorization: `Basic ${btoa('wholesaler-client:wholesaler-secret')}` },
});
say(`token of the scope ${token.scope}`);
const headers = { authorization: `Bearer ${token.access_token}`, 'content-type': 'application/json' };
const post = <T = Json>(path: string, body?: object): Promise<T> =>
  call(`${api}/${path}`, { method: 'POST', headers, ...(body ? { body: JSON.stringify(body) } : {}) });

// The service takes only public https addresses. The sandbox makes an exception for this machine, when it is told to.
await staff('quirks', { loopbackCallbacks: true });
const available = await post<{ id: number; name: string }>('available_wholesaler/', {
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
const created = await received('wholesaler.created');
const set = created.wholesaler.id;
say(`wholesaler.created: credential set ${set}, customer number ${created.wholesaler.customer_number}`);

const catalog = [
  'product_type,product_number,product_name,wholesale_price,product_price,vat,barcode',
  'Medicine,ET-100,Amoxin 50 mg 20 tablets,8.40,14.90,10,6430001000017',
  'Supply,ET-200,Elastic bandage 5 cm,1.95,4.50,25.5,6430001000024',
  'Food,ET-300,Diet food 4 kg,"21,00",,14,',
].join('\n');
const form = await post<{ url: string; fields: Record<string, string>; catalog_id: string; content_type: string }>(
  `wholesaler/${set}/catalog_upload_url/`,
  { filename: 'catalog.csv' },
);
const body = new FormData();
for (const [name, value] of Object.entries(form.fields)) body.append(name, value);
body.append('file', new Blob([catalog], { type: form.content_type }), 'catalog.csv');
await call(form.url, { method: 'POST', body });
const { upload } = await received('catalog.processed', (event) => event.upload?.catalog_id === form.catalog_id);
say(`catalog.processed: ${upload?.status}, ${upload?.rows_accepted} rows accepted, ${upload?.rows_rejected} rejected`);
for (const { row, code, detail } of upload?.errors ?? []) say(`  line ${row}: ${code}: ${detail}`);

const imported = await staff(`wholesalers/${set}/import`, { types: ['Medicine', 'Supply'] });
say(`the clinic imports the catalog: ${imported.created} new items`);
const products = ['ET-100', 'ET-200'].map((product_number) => ({ product_number, quantity: '4' }));
await staff('orders', { wholesaler: set, notes: 'Before Friday, please', lines: products });
const { order } = await received('order.placed');
if (!order) throw new Error('order.placed without an order');
say(
  `order.placed: order ${order.id}, ${order.items.map((item) => `${item.quantity} x ${item.product_name}`).join(', ')}`,
);

const reference = `ET-${order.id}`;
await post(`order/${order.id}/set_wholesaler_reference_number/`, { wholesaler_reference_number: reference });
say(`reference number ${reference} set`);

const delivered = await post(`order/${order.id}/mark_delivered/`);
say(`marked delivered: order_status ${delivered.order_status}, all_delivered ${delivered.all_delivered}`);

// One line a batch; the invoice number links the second line to the order.
const receipts = await post<{ lines_accepted: number; lines_rejected: number; receipt_lines: Json[] }>(
  `wholesaler/${set}/receipts/`,
  {
    receipt_lines: [
      { id: `${reference}-1`, quantity: '4.000', product_number: 'ET-100', order_id: order.id, batch_number: 'A17' },
      { id: `${reference}-2`, quantity: '4.000', barcode: '6430001000024', invoice_number: reference },
      { id: `${reference}-3`, quantity: '-1', product_number: 'ET-100' },
    ],
  },
);
say(`receipts: ${receipts.lines_accepted} accepted, ${receipts.lines_rejected} rejected`);
for (const line of receipts.receipt_lines) {
  const how = line.reason ?? `order ${line.order_id}, matched by ${line.matched_by}`;
  say(`  ${line.id}: ${line.status}, ${how}`);
}
receiver.closeAllConnections();
receiver.close();
