import { expect, test } from 'vitest';
import { expiryOf } from '../../src/cli/doctor/erp.ts';

const now = new Date('2026-11-22T12:00:00Z');

test.each([
  ['2027-02-20T12:00:00Z', 'ok', 'expires on 2027-02-20, in 90 days'],
  ['2026-12-06T12:00:00Z', 'ok', 'expires on 2026-12-06, in 14 days'],
  ['2026-12-06T11:59:59Z', 'warn', 'expires on 2026-12-06, in 13 days'],
  ['2026-11-22T12:00:00Z', 'warn', 'expired on 2026-11-22'],
  ['2026-11-01T00:00:00Z', 'warn', 'expired on 2026-11-01'],
])('a key of the ERP that ends at %s is %s', (at, status, told) => {
  const { todo, ...check } = expiryOf(4711, { name: 'vetledger', at: new Date(at) }, now);
  const message = `the API user’s key "vetledger" ${told}`;
  expect(check).toEqual({ installation: 4711, check: 'ERP key', status, message });
  expect(todo === null).toBe(status === 'ok');
});

test.each([
  ['2027-01-26T12:00:00Z', 'ok', '2027-01-26 (65 days)'],
  ['2026-11-25T12:00:00Z', 'warn', '2026-11-25 (3 days)'],
])('a login that ends at %s is %s', (at, status, told) => {
  const { todo, ...check } = expiryOf(4711, { name: 'Xero, Demo', at: new Date(at), isLogin: true }, now);
  const message = `the login to "Xero, Demo" ends on ${told} unless vetledger uses it before`;
  expect(check).toEqual({ installation: 4711, check: 'ERP login', status, message });
  expect(todo === null).toBe(status === 'ok');
});
