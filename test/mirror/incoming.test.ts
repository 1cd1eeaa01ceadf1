// What the mirror notes of a record beside its text, for searches and problems.
import { expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { incomingRecord } from '../../src/mirror/incoming.ts';
import { readJson } from '../../src/records/json.ts';
import type { RecordKind } from '../../src/terms.ts';

const scope = { installation: 4711, timezone: 'Europe/Helsinki', dialect: loadDialect(), keepRaw: 'mapped' as const };

function noted(kind: RecordKind, facts: object) {
  const value = readJson(JSON.stringify({ id: 7, ...facts }));
  const { numberKey, idNeedsLook } = incomingRecord(scope, kind, { id: 7, value });
  return { numberKey, idNeedsLook };
}

test.each([
  ['KU-', '1001', '1001'],
  [null, ' 20/äb-7 ', '20ÄB7'],
  ['KU', '-', null],
  ['KU', null, null],
])('an invoice with prefix %s and number %s is searched by %s', (invoice_prefix, invoice_number, numberKey) => {
  expect(noted('invoice', { invoice_prefix, invoice_number })).toEqual({ numberKey, idNeedsLook: false });
});

test.each([
  ['the id of one of its entries', { external_info: { external_id: '4711/prepayment/7/2' } }, false],
  ['the id of another prepayment', { external_info: { external_id: '4711/prepayment/71/2' } }, true],
  ['the id of another installation', { external_info: { external_id: '4712/prepayment/7/2' } }, true],
  ['something after the id', { external_info: { external_id: '4711/prepayment/7/2x' } }, true],
  ['an empty id', { external_info: { external_id: '' } }, true],
  ['no id', { external_info: { note: 'staff' } }, true],
  ['no external_info', {}, false],
])('a prepayment with %s: problems look at it or not', (_, facts, idNeedsLook) => {
  expect(noted('prepayment', facts)).toEqual({ numberKey: null, idNeedsLook });
});
