// POST /sandbox/requests/verify: checks that the expected number of requests arrived, and explains a difference.
import { expect, test } from 'vitest';
import { type Controlled, start } from './support.ts';

const form = 'application/x-www-form-urlencoded';
const payment = { invoice: 'https://x/invoice/7/', paid: '10.00', tags: [{ id: 1, name: 'a' }, { id: 2 }], note: null };

/** A sandbox that has received the requests 1 to 5. */
const filled = async (): Promise<Controlled> => {
  const api = await start({ invoices: 1 });
  await api.send('POST', 'invoicepayment/', payment);
  await api.send('POST', 'invoicepayments/', payment);
  await api.get('user/', { page_size: 1 });
  await api.get('user/');
  await fetch(`${api.sandbox.url}/4711/oauth2/token/`, {
    ...{ method: 'POST', headers: { 'content-type': form }, body: 'grant_type=password&scope=read+write' },
  });
  return api;
};
const posted = { method: 'POST', path: '/invoicepayment/' };

test.each([
  ['at least one without a count', posted, true, [1]],
  ['exactly one', { ...posted, count: 1 }, true, [1]],
  ['two, where there is one', { ...posted, count: 2 }, false, [1]],
  ['one, where there are two', { path: '/user/', count: 1 }, false, [3, 4]],
  ['none', { method: 'DELETE', count: 0 }, true, []],
  ['at least two', { action: 'user.list', at_least: 2 }, true, [3, 4]],
  ['at least three', { action: 'user.list', at_least: 3 }, false, [3, 4]],
  ['at most two', { path: '/user/', at_most: 2 }, true, [3, 4]],
  ['at most one', { path: '/user/', at_most: 1 }, false, [3, 4]],
  ['at most, and there is none', { method: 'DELETE', at_most: 2 }, true, []],
  ['between', { path: '/4711/*', at_least: 1, at_most: 4 }, false, [1, 2, 3, 4, 5]],
  ['an application', { application: 'accounting', method: 'post' }, true, [1]],
  ['a status', { status: 404 }, true, [2]],
  ['anything', {}, true, [1, 2, 3, 4, 5]],
  ['the whole body', { ...posted, body: payment }, true, [1]],
  ['a member', { ...posted, body: { paid: '10.00' } }, true, [1]],
  ['an empty object', { ...posted, body: {} }, true, [1]],
  ['null', { ...posted, body: { note: null } }, true, [1]],
  ['an element of an array', { ...posted, body: { tags: [{ id: 2 }] } }, true, [1]],
  ['elements in another order', { ...posted, body: { tags: [{ id: 2 }, { name: 'a' }] } }, true, [1]],
  ['another element', { ...posted, body: { tags: [{ id: 2, name: 'a' }] } }, false, []],
  ['a number is no text', { ...posted, body: { paid: 10 } }, false, []],
  ['no such member', { ...posted, body: { toString: null } }, false, []],
  ['a form', { action: 'oauth2.token', body: { scope: 'read write' } }, true, [5]],
])('%s: %j', async (_, expected, ok, ids) => {
  const api = await filled();
  const { status, json } = await api.control('POST', 'requests/verify', expected);
  expect([status, json.ok, json.count]).toEqual([200, ok, ids.length]);
  expect(json.requests.map(({ id }: { id: number }) => id)).toEqual(ids);
});

test.each([
  [
    { ...posted, count: 2 },
    'Expected exactly 2 POST /invoicepayment/; found 1.',
    [[2, 'the path is /4711/api/0.1/invoicepayments/, not /invoicepayment/']],
  ],
  [
    { ...posted, body: { paid: '11.00' } },
    'Expected at least 1 POST /invoicepayment/, a body with {"paid":"11.00"}; found 0.',
    [
      [1, 'body.paid is "10.00", not "11.00"'],
      [2, 'the path is /4711/api/0.1/invoicepayments/, not /invoicepayment/', 'body.paid is "10.00", not "11.00"'],
    ],
  ],
  [
    { ...posted, status: 201 },
    'Expected at least 1 POST /invoicepayment/, status 201; found 0.',
    [
      [1, 'the status is 400, not 201'],
      [2, 'the path is /4711/api/0.1/invoicepayments/, not /invoicepayment/', 'the status is 404, not 201'],
    ],
  ],
  [
    { method: 'PUT', path: '/user/', at_least: 1, at_most: 3 },
    'Expected 1 to 3 PUT /user/; found 0.',
    [
      [4, 'the method is GET, not PUT'],
      [3, 'the method is GET, not PUT'],
    ],
  ],
  [{ path: '/user/', at_most: 1 }, 'Expected at most 1 request of any method /user/; found 2.', []],
  [
    { action: 'x', application: 'y' },
    'Expected at least 1 request of any method to any path, action x, application y; found 0.',
    [],
  ],
])('%j: %s', async (expected, message, misses) => {
  const { json } = await (await filled()).control('POST', 'requests/verify', expected);
  expect([json.ok, json.message]).toEqual([false, message]);
  const shown = json.near_misses.map((miss: { request: { id: number }; differences: string[] }) => [
    miss.request.id,
    ...miss.differences,
  ]);
  expect(shown).toEqual(misses);
});

test('a body that is cut is said to be', async () => {
  const api = await start({ invoices: 1 });
  await api.send('POST', 'client/', { last_name: 'x'.repeat(20_000) });
  const { json } = await api.control('POST', 'requests/verify', { path: '/client/', body: { last_name: 'x' } });
  expect(json.near_misses[0].differences).toEqual(['the journal keeps only the beginning of the body']);
});

test.each([
  [{ count: 1, at_least: 1 }, 'Send \\"count\\", or \\"at_least\\" and \\"at_most\\".'],
  [{ count: -1 }, 'count'],
  [{ status: '201' }, 'status'],
  [{ paths: '/x/' }, 'paths'],
])('%j is refused', async (expected, text) => {
  const answer = await (await start({ invoices: 1 })).control('POST', 'requests/verify', expected);
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(text)]);
});
