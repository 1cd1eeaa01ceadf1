import { describe, expect, test } from 'vitest';
import {
  archiveWholesaler,
  changeCredentials,
  connectWholesaler,
  removeWholesaler,
} from '../../src/supply/credentials.ts';
import { useSandbox } from './harness.ts';
import { callAs, expectedSignature, type Received, register, salt, useReceiver } from './wholesaler-world.ts';

const other = {
  ...{ clientId: 'other-client', clientSecret: 'other-secret', token: 'other-token', name: 'other' },
  ...{ permissions: [], scopes: ['wholesaler' as const] },
};
const api = useSandbox({ legacyKey: 'legacy', applications: [other], quirks: { loopbackCallbacks: true } });
const receiver = useReceiver();
const wholesaler = () => callAs(api());
const body = (fields: object = {}) => ({
  name: 'Tukku',
  webhook_callback_url: 'https://hooks.tukku.example/in',
  verification_salt: 'sixteen-letters!',
  ...fields,
});
const create = (fields: object = {}) => wholesaler().send('POST', 'available_wholesaler/', body(fields));
const refusal = { detail: 'Token does not match this wholesaler.' };

describe('practice-api "Wholesaler integration records": available_wholesaler', () => {
  test('create, list, retrieve, PATCH, DELETE; the salt is never returned, an owner in the body is ignored', async () => {
    const created = await create({ email: 'a@tukku.example', owner: 'other-client' });
    expect(created.status).toBe(201);
    const { id } = created.json;
    expect(created.json).toEqual({
      id,
      url: api().ref('available_wholesaler', id),
      created: expect.any(String),
      modified: expect.any(String),
      name: 'Tukku',
      email: 'a@tukku.example',
      register_number: null,
      webhook_callback_url: 'https://hooks.tukku.example/in',
    });
    const path = `available_wholesaler/${id}/`;
    expect((await wholesaler().get(path)).json).toEqual(created.json);
    expect((await wholesaler().get('available_wholesaler/')).json.results).toContainEqual(created.json);
    const changed = await wholesaler().send('PATCH', path, { name: 'Uusi', verification_salt: 'another-long-salt' });
    expect([changed.status, changed.json.name, changed.text.includes('salt')]).toEqual([200, 'Uusi', false]);
    expect(api().sandbox.clinic.supply.available.get(id)).toMatchObject({
      owner: 'wholesaler-client',
      verification_salt: 'another-long-salt',
    });
    const deleted = await wholesaler().send('DELETE', path);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await wholesaler().get(path)).status).toBe(404);
    expect((await wholesaler().send('PATCH', path, { name: 'x' })).status).toBe(404);
  });

  test.each([
    ['name', undefined, 'This field is required.'],
    ['name', '', 'This field may not be blank.'],
    ['verification_salt', undefined, 'This field is required.'],
    ['verification_salt', 'x'.repeat(15), 'at least 16'],
    ['verification_salt', '🐶'.repeat(15), 'at least 16'],
    ['verification_salt', 'x'.repeat(129), 'no more than 128'],
    ['webhook_callback_url', undefined, 'This field is required.'],
    ['webhook_callback_url', 'no url', 'Enter a valid URL.'],
  ])('%s as %j is refused: %s', async (field, value, message) => {
    const refused = await create({ [field]: value });
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, [field]]);
    expect(refused.json[field][0]).toContain(message);
  });

  test.each(['x'.repeat(16), 'x'.repeat(128), '🐶'.repeat(128), ' \t"ä\u0000 any character'])(
    'any 16 to 128 characters are a salt: %j',
    async (verification_salt) => {
      expect((await create({ verification_salt })).status).toBe(201);
    },
  );
});

describe('practice-api "Errors": webhook_callback_url not HTTPS or not public answers 400', () => {
  const strict = useSandbox({ invoices: 0 });
  test.each([
    'http://hooks.tukku.example/',
    'ftp://hooks.tukku.example/',
    'https://localhost/',
    'https://LOCALHOST./x',
    'https://a.localhost/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f.0.0.1/',
    'https://0.0.0.0/',
    'https://10.1.2.3/',
    'https://172.16.0.1/',
    'https://172.31.255.255/',
    'https://192.168.1.1:8443/',
    'https://169.254.169.254/latest/',
    'https://100.64.0.1/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://[::1]/',
    'https://[::]/',
    'https://[fe80::1]/',
    'https://[fd00::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[64:ff9b::a00:1]/',
    'https://intranet/',
    'https://server.internal/',
    'https://printer.local/',
    'https://user:secret@hooks.tukku.example/',
  ])('%s', async (webhook_callback_url) => {
    const call = callAs(strict());
    const refused = await call.send('POST', 'available_wholesaler/', body({ webhook_callback_url }));
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, ['webhook_callback_url']]);
    const { id } = (await call.send('POST', 'available_wholesaler/', body())).json;
    const kept = await call.send('PATCH', `available_wholesaler/${id}/`, { webhook_callback_url });
    expect(kept.status).toBe(400);
  });

  test.each([
    'https://hooks.tukku.example:8443/a?b=c',
    'https://8.8.8.8/',
    'https://172.32.0.1/',
    'https://[2606:4700::1]/',
  ])('%s is accepted', async (webhook_callback_url) => {
    expect((await create({ webhook_callback_url })).status).toBe(201);
  });

  test('the quirk loopbackCallbacks allows this machine, and says so', async () => {
    const webhook_callback_url = 'http://127.0.0.1:9/hooks';
    const refused = await callAs(strict()).send(
      'POST',
      'available_wholesaler/',
      body({ webhook_callback_url: 'https://127.0.0.1/' }),
    );
    expect(refused.json.webhook_callback_url[0]).toContain("quirk 'loopbackCallbacks'");
    const accepted = await create({ webhook_callback_url });
    expect([accepted.status, accepted.headers.get('x-sandbox-setting')]).toEqual([201, 'loopbackCallbacks']);
    expect((await create({ webhook_callback_url: 'http://10.0.0.1/' })).status).toBe(400);
  });
});

describe('practice-api "Authentication" 4 and 5', () => {
  const paths: [string, string, unknown?][] = [
    ['GET', 'available_wholesaler/'],
    ['POST', 'available_wholesaler/', body()],
    ['POST', 'wholesaler/901/catalog_upload_url/', { filename: 'a.csv' }],
    ['POST', 'wholesaler/901/receipts/', { receipt_lines: [{}] }],
    ['POST', 'order/6101/set_wholesaler_reference_number/', { wholesaler_reference_number: 'x' }],
    ['POST', 'order/6101/mark_delivered/'],
  ];
  test.each(paths)(
    '%s %s: 401 without a valid token and with the legacy key, 403 without the scope',
    async (method, path, sent) => {
      const ask = async (authorization: string) => (await api().send(method, path, sent, { authorization })).status;
      expect([await ask('Bearer wrong'), await ask('Token legacy'), await ask('Bearer sandbox-token')]).toEqual([
        401, 401, 403,
      ]);
    },
  );

  test('client credentials of the wholesaler give a token of its scope; one application has both', async () => {
    const token = await fetch(`${api().sandbox.url}/4711/oauth2/token/`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
      headers: { authorization: `Basic ${btoa('wholesaler-client:wholesaler-secret')}` },
    });
    const { access_token, scope } = (await token.json()) as Record<string, string>;
    expect(scope).toBe('wholesaler');
    const call = callAs(api(), access_token);
    expect((await call.get('available_wholesaler/')).status).toBe(200);
    expect((await call.get('invoice/')).status).toBe(403);
    const both = callAs(api(), 'explorer-token');
    expect([(await both.get('available_wholesaler/')).status, (await both.get('invoice/')).status]).toEqual([200, 200]);
  });

  test('update and delete of a wholesaler that another application registered answer 403', async () => {
    const { id } = (await create()).json;
    const call = callAs(api(), 'other-token');
    for (const refused of [
      await call.send('PATCH', `available_wholesaler/${id}/`, { name: 'Mine' }),
      await call.send('DELETE', `available_wholesaler/${id}/`),
    ]) {
      expect([refused.status, refused.json]).toEqual([403, refusal]);
    }
    expect((await call.get(`available_wholesaler/${id}/`)).json.name).toBe('Tukku');
  });
});

describe('practice-api "Wholesaler credential set" and "Events"', () => {
  const clinic = () => api().sandbox.clinic;
  const isFor = (event: string, id: number) => (one: Received) =>
    one.json.event === event && one.json.wholesaler.id === id;
  const eventsOf = (id: number) =>
    clinic()
      .supply.events.of(id)
      .map(({ event }) => event);

  test('wholesaler.created, .updated and .deleted carry exactly their payloads, signed', async () => {
    const available = await register(api(), receiver);
    const set = connectWholesaler(clinic(), available, {
      ...{ customer_number: '77', customer_username: 'kuusikko', customer_password: 'pass' },
      department: 12,
    });
    const created = await receiver.event(isFor('wholesaler.created', set.id));
    const parties = {
      available_wholesaler: {
        ...{ id: available, name: 'Tukku', email: 'api@tukku.example', register_number: '1234567-8' },
      },
    };
    expect(created.json).toEqual({
      event: 'wholesaler.created',
      event_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/),
      ...parties,
      wholesaler: {
        ...{ id: set.id, customer_number: '77', customer_username: 'kuusikko', customer_password: 'pass' },
        department: { id: 12, name: 'Ranta Veterinary Clinic' },
      },
    });
    expect(created.headers['content-type']).toBe('application/json');
    expect(created.headers['x-webhook-signature']).toBe(expectedSignature(salt, created));
    expect(JSON.stringify(created)).not.toContain(salt);

    changeCredentials(clinic(), set.id, { customer_number: ' ', customer_password: null, department: null });
    const updated = await receiver.event(isFor('wholesaler.updated', set.id));
    expect(updated.json).toEqual({
      event: 'wholesaler.updated',
      event_id: expect.any(String),
      ...parties,
      wholesaler: {
        ...{ id: set.id, customer_number: null, customer_username: 'kuusikko', customer_password: null },
        department: null,
      },
    });
    archiveWholesaler(clinic(), set.id);
    const deleted = await receiver.event(isFor('wholesaler.deleted', set.id));
    expect(deleted.json).toEqual({
      event: 'wholesaler.deleted',
      event_id: expect.any(String),
      ...parties,
      wholesaler: { id: set.id },
    });
    expect(new Set([created, updated, deleted].map((one) => one.json.event_id)).size).toBe(3);
  });

  test('a change without effect sends no event; a shared password changes every set with the username', async () => {
    const available = await register(api(), receiver);
    const shared = { customer_username: 'shared', customer_password: 'one' };
    const wide = connectWholesaler(clinic(), available, shared);
    const first = connectWholesaler(clinic(), available, { ...shared, department: 11 });
    const alone = connectWholesaler(clinic(), available, { customer_username: 'alone', department: 12 });
    changeCredentials(clinic(), wide.id, { customer_username: 'shared', customer_password: 'one' });
    expect([wide, first, alone].map(({ id }) => eventsOf(id).length)).toEqual([1, 1, 1]);
    changeCredentials(clinic(), first.id, { customer_password: 'two' });
    expect([wide, first, alone].map(({ customer_password }) => customer_password)).toEqual(['two', 'two', null]);
    expect([wide, first, alone].map(({ id }) => eventsOf(id).length)).toEqual([2, 2, 1]);
    changeCredentials(clinic(), alone.id, { customer_username: 'shared' });
    expect(alone.customer_password).toBe('two');
  });

  test('one set a location, archived with the wholesaler; an id is never issued again', async () => {
    const available = await register(api(), receiver);
    const wide = connectWholesaler(clinic(), available);
    const location = connectWholesaler(clinic(), available, { department: 13 });
    expect(() => connectWholesaler(clinic(), available, { department: 13 })).toThrow('same location');
    expect(() => changeCredentials(clinic(), location.id, { department: null })).toThrow('same location');
    removeWholesaler(clinic(), available);
    expect([wide, location].map(({ id }) => eventsOf(id))).toEqual([
      ['wholesaler.created', 'wholesaler.deleted'],
      ['wholesaler.created', 'wholesaler.deleted'],
    ]);
    const again = connectWholesaler(clinic(), available);
    expect(again.id).toBeGreaterThan(location.id);
  });

  test('"takes effect atomically for the next delivery": salt and address change together', async () => {
    const available = await register(api(), receiver);
    const set = connectWholesaler(clinic(), available);
    await receiver.event(isFor('wholesaler.created', set.id));
    await wholesaler().send('PATCH', `available_wholesaler/${available}/`, {
      webhook_callback_url: `${receiver.url}/moved`,
      verification_salt: 'the-new-salt-of-it',
    });
    changeCredentials(clinic(), set.id, { customer_number: '1' });
    const moved = await receiver.event(isFor('wholesaler.updated', set.id));
    expect([moved.path, moved.headers['x-webhook-signature']]).toEqual([
      '/moved',
      expectedSignature('the-new-salt-of-it', moved),
    ]);
  });

  test('deletion by the integration archives the sets and sends no event', async () => {
    const available = await register(api(), receiver);
    const set = connectWholesaler(clinic(), available);
    await wholesaler().send('DELETE', `available_wholesaler/${available}/`);
    expect([set.archived, eventsOf(set.id)]).toEqual([true, ['wholesaler.created']]);
    expect((await wholesaler().send('POST', `wholesaler/${set.id}/receipts/`, { receipt_lines: [{}] })).status).toBe(
      404,
    );
  });

  test('staff do the same through the control endpoints', async () => {
    const available = await register(api(), receiver);
    const control = async (method: string, path: string, sent?: object) => {
      const reply = await fetch(`${api().sandbox.url}/sandbox/${path}`, {
        method,
        ...(sent ? { body: JSON.stringify(sent) } : {}),
      });
      return reply.json() as Promise<{ id: number; has_password: boolean }>;
    };
    const set = await control('POST', 'wholesalers', { available_wholesaler: available, customer_password: 'p' });
    expect([set.has_password, 'customer_password' in set]).toEqual([true, false]);
    await control('PATCH', `wholesalers/${set.id}`, { customer_number: '5' });
    await control('DELETE', `wholesalers/${set.id}`);
    expect(eventsOf(set.id)).toEqual(['wholesaler.created', 'wholesaler.updated', 'wholesaler.deleted']);
    expect(await control('POST', 'wholesalers', { available_wholesaler: 'x' })).toHaveProperty('available_wholesaler');
    expect(await control('PATCH', `wholesalers/${set.id}`, {})).toEqual({ detail: 'Not found.' });
  });
});
