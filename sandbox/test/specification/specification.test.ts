// Compares every fact of the specification with the sandbox, and changes the text in ways that the comparison must
// find.
import { describe, expect, test } from 'vitest';
import { type NotAField, notFields } from './not-fields.ts';
import { markdown, useWorld } from './world.ts';

const world = useWorld();

test('every row, name and number of the specification is as the schemas say, or listed with a reason', () => {
  const { problems, compared: count, listed } = world().compared();
  expect(problems).toEqual([]);
  expect(count).toBeGreaterThan(5 * listed);
});

describe('a change of the specification is found', () => {
  const planted: [what: string, from: string, to: string][] = [
    ['a renamed field', '| prescription_items | array |', '| items | array |'],
    [
      'a new field',
      '| type_code | integer | 0 Landline, 1 Mobile |',
      '| type_code | integer | 0 Landline, 1 Mobile |\n| extension | string | |',
    ],
    ['a new field in a sentence', 'picture, patient_extras.', 'picture, patient_extras, chip_maker.'],
    ['a changed type', '| no_sms, no_email | boolean |', '| no_sms, no_email | integer |'],
    ['an unknown type', '| email | string | exact-match filter |', '| email | address | exact-match filter |'],
    ['a field that is required', '| complaint | string | |', '| complaint | string | required |'],
    ['a field that is optional', '| name | string | required; case', '| name | string | optional; case'],
    ['a field that is read-only', '| archived | boolean | soft delete |', '| archived | boolean | read-only |'],
    ['a new value', '0 Landline, 1 Mobile', '0 Landline, 1 Mobile, 2 Satellite'],
    ['a new status', '11 Draft. `status`', '11 Draft, 12 Lost. `status`'],
    ['another default', 'optional, default 1 |', 'optional, default 2 |'],
    ['another length', 'string, at most 63 characters, shown', 'string, at most 64 characters, shown'],
    ['another length of a line', 'at most 30 characters |', 'at most 40 characters |'],
    ['a new filter', '`credit_note__is`, `countersale__is`.', '`credit_note__is`, `countersale__is`, `total__gte`.'],
    ['a new filter in words', 'exact email, phone', 'exact email, exact country, phone'],
    ['a new flag', 'flag `expose_invoicerow_vat_group` |', 'flag `expose_invoicerow_item` |'],
    ['a new key of an answer', 'delivery_date: timestamp}', 'delivery_date: timestamp, lines: integer}'],
    [
      'a new key of an event',
      '{product_number, product_name, quantity',
      '{product_number, lot, product_name, quantity',
    ],
    ['null', '| complaint | string | |', '| complaint | string or null | |'],
    ['a new endpoint', '| GET | /item/ |', '| DELETE | /item/{id}/ | | 204 |\n| GET | /item/ |'],
    ['another status of an answer', '201 with `payment_link`', '202 with `payment_link`'],
    ['another status of an error', '| 503; no record', '| 502; no record'],
    ['a new error', '| Rate limit exceeded |', '| Practice closed | 423 |\n| Rate limit exceeded |'],
    ['another limit', '| 300 requests per minute |', '| 400 requests per minute |'],
    ['a new limit', '| Catalog errors delivered', '| Clients | 5 |\n| Catalog errors delivered'],
    [
      'a new table',
      '### Phone number\n',
      '### Pet passport\n\n| Field | Type | Notes |\n|---|---|---|\n| number | string | |\n\n### Phone number\n',
    ],
    [
      'a new sentence with a name',
      'Phone numbers are not part',
      'A client has a `loyalty_card`. Phone numbers are not part',
    ],
    ['a new note', 'company/organisation name; partial', 'company/organisation name; must be unique; partial'],
    ['a listed sentence that changed', 'Dates are `YYYY-MM-DD`.', 'Dates are `DD.MM.YYYY`.'],
  ];

  test.each(planted)('%s', (_case, from, to) => {
    expect(markdown).toContain(from);
    expect(world().compared({ text: markdown.replace(from, to) }).problems).not.toEqual([]);
  });
});

test('a fact that is neither compared nor listed fails, and so does an entry that matches nothing', () => {
  const [first, ...others] = notFields as [NotAField, ...NotAField[]];
  const { problems } = world().compared({ list: others });
  expect(problems.toSorted()).toEqual(
    first.facts.map(([section, text]) => `neither compared nor listed: ${section}: ${text}`).toSorted(),
  );
  const more: NotAField = { reason: 'none', facts: [['Errors', 'No such sentence.']] };
  expect(world().compared({ list: [...notFields, more] }).problems).toEqual([
    'listed and not in the specification: Errors: No such sentence.',
  ]);
});
