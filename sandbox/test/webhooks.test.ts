// Webhooks for record changes: their triggers and their delivery, without a network and with a simulated clock.
import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../src/index.ts';
import type { OutgoingWebhook } from '../src/outgoing.ts';
import { addClient, addPatient, changeClient, changePatient } from '../src/people.ts';
import { triggers, triggerTypes, WebhookSender, type WebhookTarget } from '../src/webhooks.ts';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startSandbox({ invoices: 30, rateWindowSeconds: 0, now: () => new Date('2026-05-20T12:00:00Z') });
});
afterEach(() => sandbox.stop());

/** A sender with simulated receivers and a simulated clock, which only the test advances. */
const senderTo = (
  targets: WebhookTarget | WebhookTarget[],
  answer: (webhook: OutgoingWebhook, attempt: number) => number | Error | Promise<number> = () => 200,
) => {
  const sent: { at: number; url: string; body: string; type: string | undefined }[] = [];
  const timers = new Map<() => void, number>();
  let nowMs = 0;
  const sender = new WebhookSender(sandbox.clinic, 4711, {
    send: async (webhook) => {
      sent.push({ at: nowMs, url: webhook.url, body: webhook.body, type: webhook.headers['content-type'] });
      const status = await answer(webhook, sent.length);
      if (status instanceof Error) throw status;
      return status;
    },
    after: (ms, act) => {
      timers.set(act, nowMs + ms);
      return () => timers.delete(act);
    },
  });
  sender.subscribe(targets);
  sandbox.clinic.onChange = (changed) => sender.send(changed);
  /** Runs everything that needs no time. */
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  /** Advances the time until no timer is left. */
  const pass = async () => {
    await settle();
    while (timers.size > 0) {
      const [act, at] = [...timers].sort(([, a], [, b]) => a - b)[0]!;
      timers.delete(act);
      nowMs = at;
      act();
      await settle();
    }
  };
  return { sender, sent, settle, pass, timers };
};
const hook = 'https://hook.example/';

/** Events in the clinic, and the webhooks that each subscription to a single trigger gets. */
const events: [what: string, act: () => unknown, expected: Record<number, string[]>][] = [
  ['a client is added', () => addClient(sandbox.clinic, { lastname: 'New' }), { 1: ['client_id=2401'] }],
  [
    'a client is changed',
    () =>
      sandbox.clinic.commit(() =>
        changeClient(sandbox.clinic, sandbox.clinic.clients.get(2001)!, { email: 'a@example.org' }),
      ),
    { 1: ['client_id=2001'] },
  ],
  [
    'a patient is added',
    () =>
      addPatient(sandbox.clinic, {
        client: 2001,
        name: 'New',
        species_code: sandbox.clinic.people.species.all()[0]!.id,
      }),
    { 2: ['patient_id=NEW'] },
  ],
  [
    'a patient is changed',
    () => changePatient(sandbox.clinic, sandbox.clinic.registers.patients.get(20_001)!, { name: 'Other' }),
    { 2: ['patient_id=20001'] },
  ],
  [
    'a draft is made',
    () => sandbox.clinic.createInvoice({ status: 0, rows: [{ sum: '1.00' }] }),
    { 10: ['invoice_id=NEW'] },
  ],
  ['an invoice is made', () => sandbox.clinic.createInvoice({ rows: [{ sum: '1.00' }] }), { 9: ['invoice_id=NEW'] }],
  [
    'a payment is taken, which changes its invoice',
    () => {
      const invoice = sandbox.clinic.createInvoice({ rows: [{ sum: '1.00' }] });
      sandbox.clinic.pay(invoice.id, { payment_type: 1 });
    },
    { 9: ['invoice_id=NEW'], 11: ['invoicepayment_id=NEW'] },
  ],
  [
    'a prepayment is taken',
    () => sandbox.clinic.takePrepayment({ payment_type: 1, paid: '5.00' }),
    { 12: ['unallocatedpayment_id=NEW'] },
  ],
  [
    'a day is reported',
    () => {
      const zero = { invoices: 0, total: '0.00', total_vat: '0.00', total_with_vat: '0.00' };
      const { clinic } = sandbox;
      clinic.insert(clinic.accountingReports, { department: 11, date: '2026-05-19', ...zero });
    },
    { 14: ['accountingreport_id=NEW'] },
  ],
  [
    'a row of a draft is deleted',
    () => {
      const draft = sandbox.clinic.createInvoice({ status: 0, rows: [{ sum: '1.00' }, { sum: '2.00' }] });
      const row = sandbox.clinic.invoiceRows.of(draft.id)[1]!;
      sandbox.clinic.deleteRecord('invoicerow', row.id);
    },
    { 10: ['invoice_id=NEW'], 23: ['invoicerow_id=NEW'] },
  ],
  [
    'a fee is added to a final invoice',
    () => {
      const invoice = sandbox.clinic.createInvoice({ rows: [{ sum: '1.00' }] });
      sandbox.clinic.addRow(invoice.id, { sum: '3.00', name: 'Late fee' });
    },
    { 9: ['invoice_id=NEW'], 60: ['invoice_id=NEW'] },
  ],
  [
    'a definition of a custom field is added',
    () => {
      const { clinic } = sandbox;
      clinic.insert(clinic.people.customFields, { label: 'Diet', data_type: 'text', model: 'patient', options: [] });
    },
    { 70: ['installation_id=4711'] },
  ],
];

describe('field notes "Webhooks for record changes": triggers', () => {
  test.each(events)('%s', async (_what, act, expected) => {
    const { clinic } = sandbox;
    const before = new Map([...clinic.tables].map(([name, table]) => [`${name}_id`, table.nextId]));
    const { sent, settle } = senderTo(triggerTypes.map((one) => ({ url: `${hook}${one}`, triggers: [one] })));
    clinic.commit(act);
    await settle();
    const received: Record<number, string[]> = {};
    for (const { url, body } of sent) {
      const [name = '', id] = body.split('=');
      const isNew = Number(id) >= (before.get(name) ?? Number.POSITIVE_INFINITY) && name !== 'client_id';
      const trigger = Number(url.slice(hook.length));
      received[trigger] = [...(received[trigger] ?? []), isNew ? `${name}=NEW` : body];
    }
    expect(received).toEqual(expected);
  });

  test('63: the settings of a department are changed by the API', async () => {
    const { sent, settle } = senderTo({ url: hook, triggers: [triggers.departmentSettings] });
    const path = `${sandbox.url}/4711/api/0.1/settings/department/11/`;
    const headers = { authorization: 'Bearer sandbox-token', 'content-type': 'application/json' };
    const patch = (body: object) => fetch(path, { method: 'PATCH', headers, body: JSON.stringify(body) });
    expect((await patch({ financial_period_lock_date: 'never' })).status).toBe(400);
    expect((await patch({ enable_communication_preferences: true })).status).toBe(200);
    await settle();
    expect(sent.map(({ body }) => body)).toEqual(['department_id=11']);
  });

  test('without trigger types: invoices, drafts, payments and prepayments', async () => {
    const { sent, settle } = senderTo({ url: hook });
    for (const [, act] of events) sandbox.clinic.commit(act);
    await settle();
    const names = new Set(sent.map(({ body }) => body.split('=')[0]));
    expect(names).toEqual(new Set(['invoice_id', 'invoicepayment_id', 'unallocatedpayment_id']));
  });

  test('several subscriptions, each in its format', async () => {
    const { sent, settle } = senderTo([
      { url: `${hook}form` },
      { url: `${hook}json`, format: 'json', triggers: [triggers.prepayment, triggers.client] },
    ]);
    const { id } = sandbox.clinic.takePrepayment({ payment_type: 1, paid: '5.00' });
    await settle();
    expect(sent).toEqual([
      { at: 0, url: `${hook}form`, body: `unallocatedpayment_id=${id}`, type: 'application/x-www-form-urlencoded' },
      { at: 0, url: `${hook}json`, body: `{"unallocatedpayment_id":${id}}`, type: 'application/json' },
    ]);
  });
});

describe('field notes "Webhooks for record changes": delivery', () => {
  const change = (id = 2001) => {
    const { clinic } = sandbox;
    clinic.commit(() => changeClient(clinic, clinic.clients.get(id)!, {}));
  };
  const clients: WebhookTarget = { url: hook, triggers: [triggers.client] };

  test.each([
    ['201', 201],
    ['a redirect', 302],
    ['500', 500],
    ['no answer', new Error('reset')],
  ])('%s is retried, up to 10 times in all', async (_what, answer) => {
    const { sender, sent, pass } = senderTo(clients, () => answer);
    change();
    await pass();
    expect(sent.map(({ at }) => at / 1000)).toEqual([0, 1, 3, 6, 10, 15, 21, 28, 36, 45]);
    expect(sender.counts()).toEqual({ delivered: 0, givenUp: 1, dropped: 0, waiting: 0 });
  });

  test('200 ends the attempts', async () => {
    const { sender, sent, pass } = senderTo(clients, (_webhook, attempt) => (attempt < 3 ? 503 : 200));
    change();
    await pass();
    expect(sent).toHaveLength(3);
    expect(sender.counts()).toMatchObject({ delivered: 1, waiting: 0 });
  });

  test('the webhooks of one record arrive in order: the next waits for the first; other records do not wait', async () => {
    let open: (status: number) => void = () => {};
    const isBlocked = ({ body }: OutgoingWebhook) => body === 'client_id=2001';
    const { sent, settle } = senderTo(clients, (webhook) =>
      isBlocked(webhook) ? new Promise<number>((resolve) => (open = resolve)) : 200,
    );
    change(2001);
    change(2001);
    change(2002);
    await settle();
    expect(sent.map(({ body }) => body)).toEqual(['client_id=2001', 'client_id=2002']);
    open(200);
    await settle();
    expect(sent.map(({ body }) => body)).toEqual(['client_id=2001', 'client_id=2002', 'client_id=2001']);
  });

  test('a subscription sends eight at once, and drops what comes while 10,000 wait', async () => {
    const { sender, sent, settle } = senderTo(clients, () => new Promise<number>(() => {}));
    for (let n = 0; n < 10_010; n++) change(2001 + (n % 400));
    await settle();
    expect(sent).toHaveLength(8);
    expect(sender.counts()).toEqual({ delivered: 0, givenUp: 0, dropped: 10, waiting: 10_000 });
  });

  test('a removed subscription gets nothing more', async () => {
    const { sender, sent, pass, timers } = senderTo(clients, () => 500);
    change();
    await new Promise((resolve) => setImmediate(resolve));
    sender.subscribe(null);
    change();
    await pass();
    expect([sent.length, timers.size, sender.counts().waiting]).toEqual([1, 0, 0]);
  });
});

test('over the net: POST /sandbox/subscriptions subscribes, and a change by the API reaches the receiver', async () => {
  const received: string[] = [];
  let arrived = () => {};
  const receiver = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    received.push(`${request.method} ${request.url} ${request.headers['content-type']} ${body}`);
    response.end();
    arrived();
  });
  await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = receiver.address() as { port: number };
    const post = (path: string, body: unknown) =>
      fetch(`${sandbox.url}${path}`, {
        method: 'POST',
        headers: { authorization: 'Bearer sandbox-token', 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    expect((await post('/sandbox/subscriptions', [{ url: 'nowhere' }])).status).toBe(400);
    expect((await post('/sandbox/subscriptions', [{ url: 'http://127.0.0.1/', triggers: [13] }])).status).toBe(400);
    const url = `http://127.0.0.1:${port}/in`;
    expect((await post('/sandbox/subscriptions', [{ url, format: 'json', triggers: [1] }])).status).toBe(200);
    const isReceived = new Promise<void>((resolve) => (arrived = resolve));
    const created = (await (await post('/4711/api/0.1/client/', { lastname: 'Hooked' })).json()) as { id: number };
    await isReceived;
    expect(received).toEqual([`POST /in application/json {"client_id":${created.id}}`]);
  } finally {
    receiver.closeAllConnections();
    await new Promise((resolve) => receiver.close(resolve));
  }
});
