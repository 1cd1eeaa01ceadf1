// The OpenAPI description from its readers' view: the names of its schemas, and the payloads of webhooks.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { describeApi, startSandbox } from '../src/index.ts';
import type { OutgoingWebhook } from '../src/outgoing.ts';
import { triggers, WebhookSender } from '../src/webhooks.ts';
import { sentEvents } from './specification/events.ts';

type Json = Record<string, unknown>;
interface Media {
  content?: { 'application/json': { schema: { $ref?: string } } };
}
interface Operation {
  operationId: string;
  parameters?: { in: string; name: string; description?: string }[];
  requestBody?: Media;
  responses: Record<string, Media>;
}

const description = (await describeApi()) as {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: { parameters?: { name: string }[]; requestBody: Media } }>;
  components: { schemas: Record<string, Json> };
};
const operations = Object.values(description.paths).flatMap((methods) => Object.values(methods));
const nameOf = (media: Media | undefined) =>
  media?.content?.['application/json'].schema.$ref?.replace('#/components/schemas/', '');
/** The names of an operation's body and of its successful answers. */
const namesOf = (operationId: string) => {
  const { requestBody, responses } = operations.find((one) => one.operationId === operationId) as Operation;
  return [requestBody && nameOf(requestBody), nameOf(responses[200] ?? responses[201])];
};

test.each<[operation: string, takes: string | undefined, answers: string]>([
  ['invoice_list', undefined, 'InvoiceList'],
  ['invoice_partial_update', 'InvoiceChange', 'Invoice'],
  ['invoice_full_refund', 'FullRefundInput', 'Invoice'],
  ['invoicerow_list', undefined, 'InvoiceRowList'],
  ['invoicepayment_create', 'InvoicePaymentInput', 'InvoicePayment'],
  ['unallocatedpayment_create', 'PrepaymentInput', 'Prepayment'],
  ['client_retrieve', undefined, 'Client'],
  ['accountnumber_update', 'AccountNumberInput', 'AccountNumber'],
  ['accountnumber_partial_update', 'AccountNumberChange', 'AccountNumber'],
  ['codelist_breeds_list', undefined, 'CodeListEntryList'],
  ['consultation_foods_create', 'ConsultationFoodInput', 'ConsultationItem'],
  ['countersale_create', 'CounterSaleInput', 'Invoice'],
  ['prescription_create', 'PrescriptionInput', 'Prescription'],
  ['appointment_create', 'AppointmentBookingInput', 'AppointmentBooking'],
  ['appointment_retrieve', undefined, 'Appointment'],
  ['wholesaler_receipts', 'ReceiptReportInput', 'ReceiptReport'],
])('%s takes %s and answers %s', (operation, takes, answers) => {
  expect(namesOf(operation)).toEqual([takes, answers]);
});

test('every body and every answer is a component, and every component is used', () => {
  const media = operations.flatMap(({ requestBody, responses }) => [
    ...(requestBody ? [requestBody] : []),
    ...Object.values(responses).filter(({ content }) => content),
  ]);
  expect(media.filter((one) => nameOf(one) === undefined)).toEqual([]);
  const text = JSON.stringify(description);
  const { schemas } = description.components;
  expect(Object.keys(schemas).filter((name) => !text.includes(`"#/components/schemas/${name}"`))).toEqual([]);
});

/** True if the description allows this body for the webhook. */
const isAsDescribed = (webhook: string, body: unknown): boolean => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const { schemas } = description.components;
  const name = nameOf(description.webhooks[webhook]?.post.requestBody) ?? '';
  return ajv.validate({ components: { schemas }, $ref: `#/components/schemas/${name}` }, body) as boolean;
};

test('practice-api "Events": every event that is sent is as described, and carries a signature', async () => {
  const sandbox = await startSandbox({ invoices: 10 });
  try {
    const events = await sentEvents(sandbox.clinic);
    const kinds = [
      'catalog.processed',
      'order.placed',
      'wholesaler.created',
      'wholesaler.deleted',
      'wholesaler.updated',
    ];
    expect([...new Set(events.map(({ event }) => event))].toSorted()).toEqual(kinds);
    expect(events.filter((sent) => !isAsDescribed(sent.event, sent))).toEqual([]);
    // The check must fail for an additional field and for a missing one.
    for (const sent of events) {
      const { event_id: _left, ...less } = sent as { event: string; event_id?: string };
      expect([isAsDescribed(sent.event, { ...sent, more: 1 }), isAsDescribed(sent.event, less)]).toEqual([
        false,
        false,
      ]);
    }
    for (const kind of kinds) {
      const headers = description.webhooks[kind]?.post.parameters?.map(({ name }) => name);
      expect(headers).toEqual(['X-Webhook-Timestamp', 'X-Webhook-Signature']);
    }
  } finally {
    await sandbox.stop();
  }
});

test('every webhook for a record change is as described, as JSON and as a form', async () => {
  const sandbox = await startSandbox({ invoices: 10 });
  const { clinic, installation } = sandbox;
  const sent: { webhook: string; body: unknown }[] = [];
  const send = async ({ url, body, headers }: OutgoingWebhook) => {
    const isForm = headers['content-type'] === 'application/x-www-form-urlencoded';
    const fields = Object.fromEntries([...new URLSearchParams(body)].map(([name, id]) => [name, Number(id)]));
    sent.push({ webhook: new URL(url).pathname.slice(1), body: isForm ? fields : JSON.parse(body) });
    return 200;
  };
  try {
    const sender = new WebhookSender(clinic, installation, { send, after: () => () => {} });
    const targets = Object.entries(triggers).flatMap(([name, trigger]) =>
      (['form', 'json'] as const).map((format) => ({
        ...{ url: `https://hook.example/record_change.${name}`, format, triggers: [trigger] },
      })),
    );
    sender.subscribe(targets);
    const draft = clinic.createInvoice({ status: 0, rows: [{ sum: '1.00' }] });
    const invoice = clinic.createInvoice({ rows: [{ sum: '1.00' }] });
    const others = [
      'client',
      'patient',
      'invoicepayment',
      'unallocatedpayment',
      'accountingreport',
      'extra_fee',
      'tag',
    ];
    sender.send([
      ...[...others, 'department'].map((kind) => ({ kind, id: 11 })),
      ...[draft, invoice].map(({ id }) => ({ kind: 'invoice', id })),
      { kind: 'invoicerow', id: 1, isDeleted: true },
    ]);
    await expect.poll(() => sent.length).toBe(targets.length);
    expect(sent.filter(({ webhook, body }) => !isAsDescribed(webhook, body))).toEqual([]);
    expect(sent.filter(({ webhook }) => isAsDescribed(webhook, { other_id: 1 }))).toEqual([]);
  } finally {
    await sandbox.stop();
  }
});

/** A schema and all schemas inside it, with their paths. */
const inside = (schema: unknown, path: string): [string, Json][] =>
  typeof schema !== 'object' || schema === null
    ? []
    : [[path, schema as Json], ...Object.entries(schema).flatMap(([key, one]) => inside(one, `${path}.${key}`))];

test('every number that is a code says what it means', () => {
  const { schemas } = description.components;
  const all = Object.entries(schemas).flatMap(([name, schema]) => inside(schema, name));
  const codes = all.filter(([, { type, ...schema }]) => type === 'number' && ('enum' in schema || 'const' in schema));
  const nameless = codes.filter(([path, { description: meaning, ...schema }]) => {
    const [, outer] = all.find(([other]) => other === path.replace(/\.anyOf\.\d+$/, '')) as [string, Json];
    const numbers = (schema.enum ?? [schema.const]) as number[];
    return !numbers.every((one) => new RegExp(`(^|, )${one} [A-Z]`).test(String(meaning ?? outer.description)));
  });
  expect(nameless.map(([path]) => path)).toEqual(['CatalogUpload.properties.max_size_bytes']);
  const payment = schemas.InvoicePaymentInput?.properties as Record<string, Json>;
  expect(payment.payment_type?.description).toMatch(/^0 Card, 1 Cash, 2 Bank payment, .*, 15 Insurance claim$/);
});

test('every parameter of a query says what it is', () => {
  const parameters = operations.flatMap(({ parameters = [] }) => parameters).filter((one) => one.in === 'query');
  expect(parameters.filter((one) => !one.description)).toEqual([]);
  expect(parameters.find(({ name }) => name === 'client__is')?.description).toBe('Equal to: an id or a url-reference');
});
