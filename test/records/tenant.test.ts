import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { readJson } from '../../src/records/json.ts';
import { parseRecord } from '../../src/records/schema.ts';
import { unusableOf } from '../../src/records/unusable.ts';
import { runs } from '../support/runs.ts';

const dialect = loadDialect({}, 4711);
const api = 'https://clinic.example/4711/api/0.1';

function clientOf(client: string, of = dialect) {
  const json = `{"id":90,"paid":"1.00","client":${JSON.stringify(client)}}`;
  const { clientId, defects } = parseRecord('prepayment', readJson(json), of);
  return defects.length === 0 ? clientId : defects.map(({ code, field }) => `${code} ${field}`).join();
}

const foreign = 'foreign_reference client';
const unreadable = 'field_invalid client';

describe('an address that is ours', () => {
  test.each([
    ['as the source writes it', `${api}/client/5/`],
    ['without its last slash', `${api}/client/5`],
    ['with a query', `${api}/client/5/?format=json`],
    ['with a fragment', `${api}/client/5/#top`],
    ['on another host, as behind a proxy', 'http://10.0.0.1:8000/4711/api/0.1/client/5/'],
    ['below another path, as behind a proxy', 'https://proxy.example/vets/4711/api/0.1/client/5/'],
    ['as a path alone', '/4711/api/0.1/client/5/'],
    ['as a path below the API', 'client/5'],
    ['of an API without an installation', 'http://10.0.0.1/api/0.1/client/5/'],
    ['with dots that lead back to it', `${api}/patient/../client/5/`],
    ['with dots out of another installation', 'https://clinic.example/9/../4711/api/0.1/client/5/'],
    ['with encoded dots', `${api}/patient/%2e%2e/client/5/`],
    ['with an encoded letter', `${api}/%63lient/5/`],
    ['with a slash too many', `${api}//client//5//`],
    ['with backslashes', 'https:\\\\clinic.example\\4711\\api\\0.1\\client\\5'],
    ['with blanks around it', ` ${api}/client/5/ `],
    ['a bare id', '5'],
  ])('%s', (_, address) => expect(clientOf(address)).toBe(5));
});

describe('another tenant’s address', () => {
  test.each([
    ['of another installation', 'https://clinic.example/4712/api/0.1/client/5/'],
    ['of an installation that begins alike', 'https://clinic.example/47110/api/0.1/client/5/'],
    ['of an installation with a zero before it', 'https://clinic.example/04711/api/0.1/client/5/'],
    ['of another resource', `${api}/patient/5/`],
    ['of a resource that begins alike', `${api}/clients/5/`],
    ['of a resource in other letters', `${api}/Client/5/`],
    ['of something', 'banana/2001'],
    ['of another version of the API', 'https://clinic.example/4711/api/0.2/client/5/'],
    ['with our path before another one', `${api}/client/5/../../../../9/api/0.1/client/6/`],
    ['with dots into another installation', `${api}/../../../4712/api/0.1/client/5/`],
    ['with encoded dots into another one', `${api}/%2e%2e/%2E%2E/%2e./4712/api/0.1/client/5/`],
    ['with an encoded slash', 'https://clinic.example/4712%2F4711/api/0.1/client/5/'],
    ['with an encoded backslash', `${api}/patient%5Cclient/5/`],
    ['encoded twice', `https://clinic.example/%252e%252e/4711/api/0.1/client/5/`],
    ['with our path as a query', 'https://clinic.example/4712/api/0.1/client/5/?x=/4711/api/0.1/client/5/'],
    ['with our path as a fragment', 'https://clinic.example/4712/api/0.1/client/5/#/4711/api/0.1/client/5/'],
    ['with another scheme', 'file:///4711/api/0.1/client/5'],
    ['longer than any', `https://clinic.example/${'a/'.repeat(2_000)}4711/api/0.1/client/5/`],
  ])('%s', (_, address) => expect(clientOf(address)).toBe(foreign));
});

test.each([
  ['without an id', `${api}/client/`],
  ['with an id that is none', `${api}/client/five/`],
  ['with an encoded slash before its id', `${api}/client%2F5`],
])('an address %s cannot be read', (_, address) => expect([unreadable, foreign]).toContain(clientOf(address)));

test('a department has a page of settings, too', () => {
  const read = (department: string) => {
    const json = `{"id":90,"paid":"1.00","department":"${api}/${department}/2/"}`;
    return parseRecord('prepayment', readJson(json), dialect).departmentId;
  };
  expect([read('department'), read('settings/department'), read('settings'), read('client')]).toEqual([
    2,
    2,
    null,
    null,
  ]);
});

test.each([
  ['an id and our address', `{"id":5,"url":"${api}/client/5/"}`, 5],
  ['an id and another tenant’s address', '{"id":5,"url":"https://x/4712/api/0.1/client/5/"}', foreign],
  ['an id and the address of another one', `{"id":5,"url":"${api}/client/6/"}`, unreadable],
  ['neither', '{}', unreadable],
])('a reference that is an object with %s', (_, client, expected) => {
  const { clientId, defects } = parseRecord('prepayment', readJson(`{"id":9,"paid":"1","client":${client}}`), dialect);
  expect(defects.length === 0 ? clientId : `${defects[0]?.code} ${defects[0]?.field}`).toBe(expected);
});

test('property: whatever an address looks like, it is ours only where its last segments are', () => {
  const segment = fc.oneof(
    fc.constantFrom('4711', '4712', 'api', '0.1', 'client', 'invoice', '..', '.', '%2e%2e', '%2F', '5', '', 'a'),
    fc.string({ maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(segment, { maxLength: 9 }), (segments) => {
      const found = clientOf(`https://clinic.example/${segments.join('/')}`);
      if (typeof found !== 'number') return;
      // Parsed with the URL standard alone, without our code.
      const { pathname } = new URL(`https://clinic.example/${segments.join('/')}`);
      const path = decodeURIComponent(pathname).replace(/\/+/g, '/').replace(/\/$/, '');
      expect(path).toMatch(new RegExp(`(^|/4711)(/api/0[.]1)?/client/0*${found}$`));
      if (/api/.test(path)) expect(path).toMatch(/(^|4711)\/api\/0[.]1\/client/);
    }),
    { numRuns: runs(2_000) },
  );
});

describe('records of which no document can be made', () => {
  const read = (json: string) => unusableOf('payment', readJson(json), dialect);

  test.each([
    ['an id that serves', '{"id":7,"paid":"1.00"}', null],
    ['our address', `{"id":7,"url":"${api}/invoicepayment/7/"}`, null],
    ['an address that is none', '{"id":7,"url":"soon"}', null],
    ['another installation', '{"id":7,"url":"https://x/9/api/0.1/invoicepayment/7/"}', 'foreign_record'],
    ['another resource', `{"id":7,"url":"${api}/invoice/7/"}`, 'foreign_record'],
    ['another installation and no id', '{"id":-7,"url":"https://x/9/api/0.1/invoicepayment/7/"}', 'foreign_record'],
    ['-7', '{"id":-7}', 'record_unusable'],
    ['0', '{"id":0}', 'record_unusable'],
    ['2^53 + 1', '{"id":9007199254740993}', 'record_unusable'],
    ['1e400', '{"id":1e400}', 'record_unusable'],
    ['a fraction', '{"id":7.5}', 'record_unusable'],
    ['a truth', '{"id":true}', 'record_unusable'],
    ['an object', '{"id":{"id":7}}', 'record_unusable'],
    ['null', '{"id":null}', 'record_unusable'],
    ['none', '{"paid":"1.00"}', 'record_unusable'],
    ['no object', '[7]', 'record_unusable'],
    ['no object but null', 'null', 'record_unusable'],
  ])('%s', (_, json, code) => expect(read(json)?.code ?? null).toBe(code));

  test('their message is short and has no personal data or secrets', () => {
    const json = JSON.stringify({
      ...{ id: -7, status: 3, total: '12.50', payer_name: 'Aino Virtanen', payer_organization_name: 'Talli Oy' },
      ...{
        payer_vat_number: 'FI1',
        payer_register_number: '010101-123A',
        remark: 'Aino',
        invoice_number: 'x'.repeat(999),
      },
    });
    const why = unusableOf('invoice', readJson(json), dialect)?.why ?? '';
    expect(why).toContain('its id is -7, not a positive integer (status 3');
    expect(why).toContain('total "12.50"');
    expect(why).not.toMatch(/Aino|Talli|FI1|010101/);
    expect(why.length).toBeLessThan(400);
  });

  test('equal records have the same key, different records different keys, and no key is an id of a record', () => {
    const keys = ['{"id":-7,"paid":"1"}', '{"id":-7,"paid":"2"}', '{"id":-8,"paid":"1"}', '7', '"7"'].map(
      (json) => read(json)?.key ?? 0,
    );
    expect(new Set(keys).size).toBe(keys.length);
    for (const key of keys) expect(Number.isSafeInteger(key) && key < 0).toBe(true);
    // Members that are not read do not matter.
    expect(read('{"id":-7,"paid":"1","seen":"12:00"}')?.key).toBe(keys[0]);
  });
});
