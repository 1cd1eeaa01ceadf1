// Plants mistakes in the schemas and constants of the sandbox. The comparison with the specification must find each.
import { describe, expect, test } from 'vitest';
import { written } from './compare.ts';
import type { Facts } from './context.ts';
import { answersOf, type Operation, objectAt, recordsOf, type Schema } from './schemas.ts';
import { useWorld } from './world.ts';

const world = useWorld();

describe('a mistake in the schemas is found', () => {
  type Change = (operation: Operation) => void;
  const body = (operation: Operation, ...path: string[]): Schema =>
    written(new Map([['POST /', operation]]), ['POST /', ...path].join(' ')) ?? {};
  const record = (operation: Operation, ...path: string[]): Schema =>
    objectAt(recordsOf(answersOf(operation)[0] ?? {}), path) ?? {};
  const rename = (object: Schema, from: string, to: string): void => {
    object.properties = { ...object.properties, [to]: object.properties?.[from] ?? {} };
    delete object.properties[from];
    object.required = object.required?.map((name) => (name === from ? to : name)) ?? [];
  };
  const loosen = (object: Schema, name: string): void => {
    object.required = object.required?.filter((one) => one !== name) ?? [];
  };
  const put = (object: Schema, name: string, schema: Schema): void => {
    object.properties = { ...object.properties, [name]: schema };
  };
  const member = (object: Schema, name: string): Schema => object.properties?.[name] ?? {};
  const withoutParameter =
    (name: string): Change =>
    (operation) => {
      operation.parameters = operation.parameters?.filter((one) => one.name !== name) ?? [];
    };
  const withoutLast = (schema: Schema): void => {
    for (const one of schema.anyOf ?? [schema]) one.enum?.pop();
  };
  const prescription = 'POST /eprescription/prescription/';

  test.each<[string, string, Change, string]>([
    ['a renamed field', prescription, (op) => rename(body(op), 'prescription_items', 'items'), 'prescription_items'],
    [
      'a renamed field of an item',
      prescription,
      (op) => rename(body(op, 'prescription_items'), 'strength', 'power'),
      'strength',
    ],
    [
      'a renamed field of an answer',
      'GET /invoice/',
      (op) => rename(record(op), 'date_paid', 'paid_date'),
      'date_paid',
    ],
    [
      'a required field that is optional',
      prescription,
      (op) => loosen(body(op), 'issue_time'),
      'issue_time is optional',
    ],
    [
      'an optional field that is required',
      prescription,
      (op) => body(op).required?.push('remarks'),
      'remarks is required',
    ],
    [
      'a change that requires a field',
      'PATCH /client/{id}/',
      (op) => (body(op).required = ['email']),
      'requires email',
    ],
    [
      'a field that only some answers have',
      'GET /invoice/',
      (op) => loosen(record(op), 'status'),
      'status is not in every',
    ],
    [
      'a read-only field that a body takes',
      'POST /client/',
      (op) => put(body(op), 'modified', { type: 'string' }),
      'takes modified',
    ],
    [
      'an answered field that a body takes',
      prescription,
      (op) => put(body(op), 'uuid', { type: 'string' }),
      'takes uuid',
    ],
    [
      'a status that create takes',
      'POST /consultation/',
      (op) => put(body(op), 'status', { type: 'integer' }),
      'takes status',
    ],
    [
      'a write-only field that is answered',
      'GET /available_wholesaler/',
      (op) => put(record(op), 'verification_salt', {}),
      'written only',
    ],
    [
      'a changed type of a body',
      'POST /patient/',
      (op) => put(body(op), 'weight', { type: 'boolean' }),
      'weight takes no decimal',
    ],
    [
      'a changed type of an answer',
      'GET /invoice/',
      (op) => put(record(op), 'credit_note', { type: 'string' }),
      'no boolean',
    ],
    ['a type that is anything', 'GET /client/', (op) => put(record(op), 'email', {}), 'email takes 7'],
    [
      'a timestamp that is any text',
      prescription,
      (op) => put(body(op), 'issue_time', { type: 'string' }),
      'no timestamp',
    ],
    [
      'an id in place of a url-reference',
      'GET /patient/',
      (op) => put(record(op), 'client', { type: 'integer' }),
      'client',
    ],
    [
      'an array of another type',
      'GET /consultation/',
      (op) => (member(record(op), 'patients').items = { type: 'integer' }),
      'element',
    ],
    [
      'a missing value of a body',
      'POST /invoicepayment/',
      (op) => withoutLast(member(body(op), 'payment_type')),
      'payment_type has the values',
    ],
    [
      'a missing value of an answer with more',
      'GET /invoicepayment/',
      (op) => withoutLast(member(record(op), 'payment_type')),
      'payment_type has the values',
    ],
    [
      'a renamed field inside an object',
      'PATCH /unallocatedpayment/{id}/',
      (op) => rename(body(op, 'external_info'), 'external_id', 'id'),
      'external_id',
    ],
    [
      'a key of a shape that is optional',
      'POST /consultation/{id}/update_status/',
      (op) => loosen(body(op), 'status'),
      'status is optional',
    ],
    [
      'null in place of a value',
      'POST /invoicepayment/',
      (op) => put(body(op), 'paid', { type: ['number', 'string', 'null'] as never }),
      'paid may be null',
    ],
    [
      'a body where none is',
      'DELETE /alternative_payer/{id}/',
      (op) => (op.responses['204'] = { content: { 'application/json': { schema: {} } } }),
      'answers a body',
    ],
    [
      'a missing value of an answer',
      'GET /invoice/',
      (op) => withoutLast(member(record(op), 'status')),
      'status has the values',
    ],
    [
      'a value that is none',
      prescription,
      (op) => put(body(op), 'status', { type: 'integer', default: 1 }),
      'status has the values',
    ],
    [
      'a missing text value',
      'POST /postransaction/',
      (op) => withoutLast(member(body(op, 'payment_link_data'), 'tokenize')),
      'tokenize',
    ],
    ['a missing default', prescription, (op) => delete member(body(op), 'status').default, 'status has the default'],
    [
      'another greatest length',
      'POST /order/{id}/set_wholesaler_reference_number/',
      (op) => (member(body(op), 'wholesaler_reference_number').maxLength = 64),
      'greatest length',
    ],
    [
      'null where a value is',
      'GET /client/',
      (op) => put(record(op), 'archived', { type: ['boolean', 'null'] as never }),
      'may be null',
    ],
    [
      'a value where null may be',
      'GET /invoice/',
      (op) => put(record(op), 'invoice_number', { type: 'integer' }),
      'may not be null',
    ],
    ['a missing filter', 'GET /invoice/', withoutParameter('date_paid__gte'), 'date_paid__gte'],
    ['a missing filter of a table', 'GET /patient/', withoutParameter('microchip__is'), 'microchip__is'],
    [
      'a missing filter that is told in words',
      'GET /client/',
      withoutParameter('phone_number__icontains'),
      'phone_number__icontains',
    ],
    [
      'a missing flag',
      'GET /invoicerow/',
      withoutParameter('expose_invoicerow_vat_group'),
      'expose_invoicerow_vat_group',
    ],
    ['a list without pages', 'GET /phonenumber/', withoutParameter('page_size'), 'page_size'],
    [
      'a missing key of an answer',
      'POST /order/{id}/mark_delivered/',
      (op) => loosen(record(op), 'all_delivered'),
      'all_delivered',
    ],
    [
      'a missing key of a line',
      'POST /wholesaler/{id}/receipts/',
      (op) => rename(record(op, 'receipt_lines'), 'matched_by', 'by'),
      'matched_by',
    ],
    [
      'more than two fields that PATCH takes',
      'PATCH /eprescription/prescription/{id}/',
      (op) => put(body(op), 'issue_time', {}),
      'takes',
    ],
    ['a missing status of success', 'POST /patient/bulk/', (op) => delete op.responses['207'], '207'],
    [
      'a missing status of an error',
      'POST /wholesaler/{id}/catalog_upload_url/',
      (op) => delete op.responses['503'],
      '503',
    ],
    ['a missing header', 'GET /invoice/', (op) => delete op.responses['429']?.headers, 'Retry-After'],
    [
      'a missing field of an event',
      'EVENT order.placed',
      (op) => rename(record(op, 'order', 'items'), 'barcode', 'ean'),
      'barcode',
    ],
    [
      'another type in an event',
      'EVENT catalog.processed',
      (op) => put(record(op, 'upload'), 'rows_total', { enum: ['3'] }),
      'rows_total',
    ],
  ])('%s', (_case, key, change, found) => {
    const operation = structuredClone(world().operations.get(key)) as Operation;
    change(operation);
    const { problems } = world().compared({ operations: new Map([...world().operations, [key, operation]]) });
    expect(problems.filter((problem) => problem.includes(found))).not.toEqual([]);
  });

  test('an endpoint that is not served', () => {
    const fewer = new Map(world().operations);
    fewer.delete('POST /invoice/{id}/partial_refund/');
    expect(world().compared({ operations: fewer }).problems.join('\n')).toContain(
      'POST /invoice/{id}/partial_refund/ is not served',
    );
  });

  test.each<[string, Partial<Facts>, string]>([
    ['a limit', { limits: { 'Receipt lines per call': [501] } }, '501'],
    ['a permission', { permissionOf: () => 'Settings: Items' }, 'another permission'],
    ['a trigger', { prepaymentTrigger: 13 }, '13'],
    ['the text of a refusal', { messages: ['No.'] }, 'Token does not match'],
  ])('%s', (_case, change, found) => {
    const { facts, compared } = world();
    const limits = { ...facts.limits, ...change.limits };
    expect(compared({ facts: { ...change, limits } }).problems.join('\n')).toContain(found);
  });
});
