// The journal of webhook attempts of both kinds, and sending an attempt again.
import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ShownAttempt } from '../../src/journal/attempts.ts';
import { connectWholesaler } from '../../src/supply/credentials.ts';
import { type Controlled, start } from './support.ts';

/** The receiver answers with these statuses in order, and then with 200. */
let statuses: number[] = [];
let received: { headers: NodeJS.Dict<string | string[]>; body: string }[] = [];
let receiver: Server;
let hook = '';
beforeEach(async () => {
  [statuses, received] = [[], []];
  receiver = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    received.push({ headers: request.headers, body });
    response.writeHead(statuses.shift() ?? 200).end();
  });
  await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve));
  hook = `http://127.0.0.1:${(receiver.address() as { port: number }).port}/in`;
});
afterEach(async () => {
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
});

const now = () => new Date('2026-05-20T12:00:00Z');
const attempts = async (api: Controlled, query = ''): Promise<ShownAttempt[]> =>
  (await api.control('GET', `webhook_attempts${query}`)).json.webhook_attempts;

const salt = 'salt-of-sixteen-characters';
/** An installation with a wholesaler whose events go to the receiver. */
const withWholesaler = async () => {
  const api = await start({ now, quirks: { loopbackCallbacks: true } });
  const { clinic } = api.sandbox;
  const available = clinic.commit(() =>
    clinic.insert(clinic.supply.available, {
      ...{ name: 'Tukku', email: null, register_number: null, owner: 'wholesaler-client' },
      ...{ webhook_callback_url: hook, verification_salt: salt },
    }),
  );
  connectWholesaler(clinic, available.id);
  await expect.poll(async () => (await attempts(api)).length).toBe(1);
  return { api, available };
};
const signature = (headers: Record<string, unknown>, body: string, key = salt) =>
  `v1=${createHmac('sha256', key).update(`${headers['x-webhook-timestamp']}.${body}`).digest('hex')}`;

describe('attempts of record changes', () => {
  test('each attempt is there, with what was sent and answered', async () => {
    statuses = [503];
    const api = await start({ now, webhooks: { url: hook, triggers: [1], format: 'json' } });
    const { id } = (await api.send('POST', 'client/', { lastname: 'New' })).json;
    await expect.poll(async () => (await attempts(api)).length, { timeout: 5000 }).toBe(2);
    const both = {
      ...{ at: '2026-05-20T12:00:00.000Z', kind: 'record_change', trigger: 1, event: null, redelivery_of: null },
      ...{ url: hook, headers: { 'content-type': 'application/json' }, body: `{"client_id":${id}}`, body_cut: false },
      ...{ error: null, duration_ms: 0 },
    };
    expect(await attempts(api)).toEqual([
      { ...both, id: 1, attempt: 1, status: 503 },
      { ...both, id: 2, attempt: 2, status: 200 },
    ]);
  });

  test('no answer has its reason', async () => {
    const api = await start({ webhooks: { url: 'http://127.0.0.1:1/', triggers: [1] } });
    await api.send('POST', 'client/', { lastname: 'New' });
    await expect
      .poll(async () => (await attempts(api))[0])
      .toMatchObject({ status: null, error: expect.stringMatching(/ECONNREFUSED|bad port/) });
  });

  test('redelivered as it was, also after its subscription has ended; the counts stay', async () => {
    const api = await start({ now, webhooks: { url: hook, triggers: [1] } });
    const { id } = (await api.send('POST', 'client/', { lastname: 'New' })).json;
    await expect.poll(async () => (await attempts(api)).length).toBe(1);
    await api.control('POST', 'subscriptions', []);
    const before = (await api.control('GET', 'subscriptions')).json;
    statuses = [500];
    const { status, json } = await api.control('POST', 'webhook_attempts/1/redeliver');
    expect([status, json]).toEqual([
      200,
      expect.objectContaining({ id: 2, attempt: 1, redelivery_of: 1, status: 500 }),
    ]);
    expect(received.map(({ body }) => body)).toEqual([`client_id=${id}`, `client_id=${id}`]);
    expect((await api.control('GET', 'subscriptions')).json).toEqual(before);
    expect(await attempts(api)).toHaveLength(2);
  });
});

describe('attempts of events for wholesalers', () => {
  test('with the signature', async () => {
    const { api } = await withWholesaler();
    const [attempt] = await attempts(api);
    expect(attempt).toMatchObject({ kind: 'wholesaler', event: 'wholesaler.created', trigger: null, attempt: 1 });
    expect(attempt?.headers['x-webhook-signature']).toBe(signature(attempt!.headers, attempt!.body));
    expect(attempt?.body).toBe(received[0]?.body);
    expect((await api.control('GET', 'webhooks')).json).toMatchObject([{ attempts: 1, state: 'delivered' }]);
  });

  test('without passwords, which are sent all the same', async () => {
    const { api, available } = await withWholesaler();
    connectWholesaler(api.sandbox.clinic, available.id, { department: 11, customer_password: 'very-secret' });
    await expect.poll(async () => (await attempts(api)).length).toBe(2);
    expect(JSON.parse((await attempts(api))[1]!.body).wholesaler.customer_password).toBe('[replaced]');
    await api.control('POST', 'webhook_attempts/2/redeliver');
    expect(received.slice(1).map(({ body }) => JSON.parse(body).wholesaler.customer_password)).toEqual([
      'very-secret',
      'very-secret',
    ]);
  });

  test('redelivered with the same body, signed with the salt and the time of now', async () => {
    const { api, available } = await withWholesaler();
    const { clinic } = api.sandbox;
    clinic.commit(() => clinic.update(clinic.supply.available, available, { verification_salt: 'quite-another-salt' }));
    await api.control('POST', 'clock', { advance: 'PT1H' });
    const { json } = await api.control('POST', 'webhook_attempts/1/redeliver');
    expect(json).toMatchObject({ id: 2, redelivery_of: 1, status: 200, event: 'wholesaler.created' });
    const [first, again] = received;
    expect(again?.body).toBe(first?.body);
    expect(Number(again?.headers['x-webhook-timestamp']) - Number(first?.headers['x-webhook-timestamp'])).toBe(3600);
    expect(again?.headers['x-webhook-signature']).toBe(signature(again!.headers, again!.body, 'quite-another-salt'));
    expect((await api.control('GET', 'webhooks')).json).toMatchObject([{ attempts: 1, state: 'delivered' }]);
  });

  test('not after the registration is deleted', async () => {
    const { api, available } = await withWholesaler();
    api.sandbox.clinic.supply.available.delete(available.id);
    const { status, json } = await api.control('POST', 'webhook_attempts/1/redeliver');
    expect([status, json.id[0]]).toEqual([400, expect.stringContaining('registration')]);
  });
});

describe('GET /sandbox/webhook_attempts', () => {
  test.each([
    ['', [1, 2, 3]],
    ['?after=1', [2, 3]],
    ['?limit=2', [1, 2]],
    ['?after=1&limit=1', [2]],
    ['?event=wholesaler.created', [1]],
    ['?event=order.placed', []],
    ['?trigger=1', [2, 3]],
    ['?trigger=9', []],
  ])('%s', async (query, ids) => {
    const { api } = await withWholesaler();
    await api.control('POST', 'subscriptions', [{ url: hook, triggers: [1] }]);
    for (const lastname of ['One', 'Two']) await api.send('POST', 'client/', { lastname });
    await expect.poll(async () => (await attempts(api)).length).toBe(3);
    expect((await attempts(api, query)).map(({ id }) => id)).toEqual(ids);
  });

  test.each([
    ['GET', 'webhook_attempts?limit=0', 400],
    ['GET', 'webhook_attempts?events=x', 400],
    ['POST', 'webhook_attempts/7/redeliver', 404],
  ])('%s %s: %i', async (method, path, status) => {
    expect((await (await start({ invoices: 1 })).control(method, path)).status).toBe(status);
  });

  test.each([
    ['DELETE', 'webhook_attempts'],
    ['POST', 'reset'],
  ])('%s %s empties it', async (method, path) => {
    const { api } = await withWholesaler();
    await api.control(method, path);
    expect(await attempts(api)).toEqual([]);
  });
});
