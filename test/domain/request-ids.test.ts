import { expect, test } from 'vitest';
import { keepSecret } from '../../src/domain/redact.ts';
import { requestIds, serverRequestId } from '../../src/domain/request-ids.ts';

const secret = 'opensesame-qwertzuiop-9';
keepSecret(secret);

test.each<[string, Record<string, string | string[]>, string | null]>([
  ['none', { date: 'Mon, 04 May 2026 09:00:00 GMT' }, null],
  ['its own', { 'x-request-id': '7f3a-91' }, '7f3a-91'],
  ['the first of two', { 'x-request-id': ['one-1', 'two-2'] }, 'one-1'],
  ['a proxy’s, where the server’s is no id', { 'x-request-id': 'Aino Virtanen', 'cf-ray': '8c1-HEL' }, '8c1-HEL'],
  [
    'a trace',
    { 'x-amzn-trace-id': 'Root=1-67891233-abcdef012345678912345678' },
    'Root=1-67891233-abcdef012345678912345678',
  ],
  ['a word', { 'x-request-id': 'virtanen' }, null],
  ['an address', { 'x-request-id': 'aino1@example.fi' }, null],
  ['what moves a cursor', { 'x-request-id': '\u001b[2J1' }, null],
  ['our secret', { 'x-request-id': secret }, null],
  ['our secret in a long text, at the place where it is cut', { 'x-request-id': '1'.repeat(50) + secret }, null],
  ['a long one', { 'x-request-id': '12345678'.repeat(100) }, '12345678'.repeat(8)],
  ['nothing', { 'x-request-id': ' ' }, null],
])('the id that a server gives a request: %s', (_name, headers, id) => {
  expect(serverRequestId(headers)).toBe(id);
  expect(requestIds('ours', headers)).toEqual(
    id === null ? { request: 'ours' } : { request: 'ours', server_request: id },
  );
});
