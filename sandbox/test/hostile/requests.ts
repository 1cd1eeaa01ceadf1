// Seeded hostile requests, as the bytes of a connection. The API must not carry out any of them.
import type { Rng } from '../../src/rng.ts';

const api = '/4711/api/0.1/';
const token = 'Bearer explorer-token';

/** Endpoints that write. Paths with an id name records that do not exist. */
const writes: readonly (readonly [method: string, path: string])[] = [
  ['POST', 'client/'],
  ['POST', 'phonenumber/'],
  ['POST', 'patient/'],
  ['POST', 'patient/bulk/'],
  ['POST', 'consultation/'],
  ['POST', 'consultation/1/medicines/'],
  ['POST', 'invoicepayment/'],
  ['POST', 'invoicepayment/1/cancel_payment/'],
  ['POST', 'unallocatedpayment/'],
  ['PATCH', 'unallocatedpayment/1/'],
  ['POST', 'invoice/1/partial_refund/'],
  ['PATCH', 'settings/department/1/'],
  ['POST', 'postransaction/'],
  ['POST', 'eprescription/prescription/'],
  ['POST', 'appointment/'],
  ['POST', 'onlinebookingclient/'],
  ['POST', 'accountnumber/'],
  ['PUT', 'alternative_payer/1/'],
  ['POST', 'available_wholesaler/'],
  ['POST', 'wholesaler/1/receipts/'],
  ['POST', 'wholesaler/1/catalog_upload_url/'],
];
const lists = ['client/', 'patient/', 'invoice/', 'invoicerow/', 'unallocatedpayment/', 'consultation/', 'item/'];
const fields = [
  'client',
  'name',
  'paid',
  'invoice',
  'external_info',
  'patients',
  'receipt_lines',
  'number',
  'amount',
  'fields_rel',
];
const controls = [
  'quirks',
  'faults',
  'fixtures',
  'clock',
  'subscriptions',
  'orders',
  'wholesalers',
  'snapshots',
  'requests/verify',
];

const request = (method: string, target: string, headers: string[] = [], body: Buffer | string = ''): Buffer => {
  const bytes = Buffer.from(body);
  const length = bytes.length > 0 || method !== 'GET' ? [`content-length: ${bytes.length}`] : [];
  const lines = [`${method} ${target} HTTP/1.1`, 'host: 127.0.0.1', `authorization: ${token}`, ...length, ...headers];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]);
};
const json = ['content-type: application/json'];
const write = (rng: Rng, body: Buffer | string, headers: string[] = json): Buffer => {
  const [method, path] = rng.pick(writes) as (typeof writes)[number];
  return request(method, `${api}${path}`, headers, body);
};
const bytesOf = (rng: Rng, length: number): Buffer => Buffer.from(Array.from({ length }, () => rng.int(0, 255)));

const deep = (rng: Rng): Buffer => {
  const levels = rng.pick([40, 500, 5000, 60_000]) ?? 40;
  const [open, close] = rng.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['[{"a":', '}]'],
  ]) ?? ['[', ']'];
  const isClosed = rng.chance(0.7);
  const inner = `${open.repeat(levels)}1${isClosed ? close.repeat(levels) : ''}`;
  return write(rng, rng.chance(0.5) ? inner : `{"${rng.pick(fields)}":${inner}}`);
};

const numbers = [
  '1e400',
  '-1e400',
  '1e-400',
  '9'.repeat(400),
  '0.'.padEnd(300, '3'),
  '-0',
  '1e308',
  '0x10',
  'NaN',
  '+1',
];
const hugeNumbers = (rng: Rng): Buffer => {
  const number = rng.pick(numbers);
  const ids = ['99999999999999999999', '1e9', '-1', '0x1', '1.0', '٣', '1'.repeat(190), '1'.repeat(250)];
  return rng.pick([
    () => write(rng, `{"${rng.pick(fields)}":${number}}`),
    () => write(rng, `{"paid":"${number}","amount":"${number}"}`),
    () => request('GET', `${api}client/${Buffer.from(rng.pick(ids) ?? '').toString('latin1')}/`),
    () => request('GET', `${api}${rng.pick(lists)}?page=${number}&page_size=${number}&id__gt=${number}`),
  ])?.() as Buffer;
};

const encodings = (rng: Rng): Buffer => {
  const wrong = rng.pick([
    Buffer.from([0xff]),
    Buffer.from([0xc0, 0xaf]),
    Buffer.from([0xed, 0xa0, 0x80]),
    Buffer.from([0xf5, 0x80, 0x80, 0x80]),
    Buffer.from('\\ud800'),
    Buffer.from('\\u0000'),
    bytesOf(rng, rng.int(1, 50)),
  ]) as Buffer;
  const text = Buffer.concat([Buffer.from(`{"${rng.pick(fields)}":"`), wrong, Buffer.from('"}')]);
  return rng.pick([
    () => write(rng, text),
    () => write(rng, Buffer.from('{"name":"x"}', 'utf16le')),
    () => write(rng, text, ['content-type: application/json; charset=utf-7']),
    () => write(rng, bytesOf(rng, rng.int(1, 300)), ['content-type: multipart/form-data; boundary=x']),
    () => write(rng, `a=%${rng.pick(['FF', 'zz', '', 'C0%AF'])}`, ['content-type: application/x-www-form-urlencoded']),
    () => write(rng, bytesOf(rng, 200), ['content-type: application/json', 'content-encoding: gzip']),
    () => request('GET', `${api}client/?firstname__icontains=%${rng.pick(['FF', 'zz', 'C0%AF', 'ED%A0%80', ''])}`),
  ])?.() as Buffer;
};

const paths = (rng: Rng): Buffer => {
  const part = () =>
    rng.pick([
      '..',
      '.',
      '%2e%2e',
      '%2F',
      '',
      ';x=1',
      '\\',
      '4711',
      'api',
      '0.1',
      'client',
      '%00',
      '2001',
      '~',
      '*',
      'docs',
      'static',
      'etc',
      'passwd',
      'storage',
      'pay',
      '%zz',
    ]);
  const walk = Array.from({ length: rng.int(1, 12) }, part).join('/');
  const start = rng.pick([
    '/',
    api,
    '/docs/static/',
    '/storage/4711/reports/',
    '/4711/pay/',
    'http://127.0.0.1/',
    '//evil.example/',
    '',
  ]);
  return request('GET', `${start}${walk}${rng.chance(0.5) ? '/' : ''}` || '*');
};

const headers = (rng: Rng): Buffer => {
  const tricks: string[][] = [
    ['content-length: 5', 'content-length: 6'],
    ['transfer-encoding: chunked', 'content-length: 3'],
    ['transfer-encoding: gzip, chunked'],
    ['transfer-encoding: xchunked'],
    ['content-length: -1'],
    ['content-length: 99999999999999999999'],
    ['content-length: 0x10'],
    ['host: evil.example'],
    [`host: ${'a'.repeat(5000)}`],
    ['host: "><script>'],
    [`x: ${'y'.repeat(20_000)}`],
    ['x: a\0b'],
    [' folded: yes'],
    ['x\t: y'],
    ['no colon'],
    ['authorization: Bearer explorer-token'],
    ['authorization: Basic \xff\xfe'],
    ['accept: text/html;q=x, */*;q=-1'],
    [`accept: ${'a/b,'.repeat(3000)}`],
    ['expect: 100-continue'],
    ['expect: everything'],
    ['upgrade: websocket', 'connection: upgrade'],
    ['connection: keep-alive, close'],
    ['x-http-method-override: DELETE'],
    ['x-forwarded-host: evil.example', 'x-forwarded-for: 127.0.0.1'],
    ['x-sandbox-fault: {"http500":'],
    ['range: bytes=0-1,0-1,5-'],
    ['cookie: __proto__=1'],
    Array.from({ length: 500 }, (_, n) => `x${n}: ${n}`),
  ];
  return request('GET', `${api}${rng.pick(lists)}?page_size=1`, rng.pick(tricks));
};

const keys = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__', 'length', ''];
const prototypes = (rng: Rng): Buffer => {
  const key = rng.pick(keys);
  const value = rng.pick(['{"x":1}', 'null', '[]', '"y"', '{"prototype":{"isAdmin":true}}']);
  return rng.pick([
    () => write(rng, `{"${key}":${value}}`),
    () => write(rng, `{"client":1,"client":{"${key}":${value}},"client":null}`),
    () => write(rng, `[{"${key}":${value}}]`),
    () => write(rng, `${key}=1&${key}[x]=2&a[${key}]=3`, ['content-type: application/x-www-form-urlencoded']),
    () => request('GET', `${api}${rng.pick(lists)}?${key}=1&${key}__is=2&${key}[x]=3&id__in=${key}`),
    () => request('POST', `/sandbox/${rng.pick(controls)}`, json, `{"${key}":${value}}`),
  ])?.() as Buffer;
};

const lengths = (rng: Rng): Buffer => {
  const body = '{"lastname":1}';
  const claimed = rng.pick([0, 1, 5, 100, 100_000, 6_000_000, 2 ** 40]);
  const [method, path] = rng.pick(writes) as (typeof writes)[number];
  const head = `${method} ${api}${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${token}\r\ncontent-type: application/json\r\n`;
  return Buffer.from(`${head}content-length: ${claimed}\r\n\r\n${body}`);
};

const chunked = (rng: Rng): Buffer => {
  const chunks = rng.pick([
    'zz\r\nx\r\n0\r\n\r\n',
    '-1\r\nx\r\n0\r\n\r\n',
    'ffffffffffffffff\r\nx',
    `1;${'e'.repeat(20_000)}\r\nx\r\n0\r\n\r\n`,
    '5\r\n{"a":\r\n',
    '1\r\n{\r\n1\r\n}\r\n0\r\n\r\n',
    '2\r\n{}0\r\n\r\n',
    '0\r\nx: y\r\n\r\n',
    `${'1\r\n[\r\n'.repeat(2000)}0\r\n\r\n`,
  ]);
  const [method, path] = rng.pick(writes.slice(1)) as (typeof writes)[number];
  const head = `${method} ${api}${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${token}\r\ncontent-type: application/json\r\n`;
  return Buffer.from(`${head}transfer-encoding: chunked\r\n\r\n${chunks}`);
};

const pipelined = (rng: Rng): Buffer =>
  Buffer.concat(
    Array.from({ length: rng.int(2, 20) }, () =>
      rng.chance(0.8) ? request('GET', `${api}${rng.pick(lists)}?page_size=1`) : write(rng, '{"x":'),
    ),
  );

const queries = (rng: Rng): Buffer => {
  const name = rng.pick([
    'page',
    'id__in',
    'client__is',
    'modified__gte',
    'filter_type',
    'x',
    'expose_invoicerow_vat_group',
  ]);
  const query = rng.pick([
    `${name}=${'9,'.repeat(rng.int(1000, 7000))}`,
    `${name}=1&`.repeat(1000),
    `${name}=${'a'.repeat(rng.int(10_000, 100_000))}`,
    '&'.repeat(10_000),
    `${'='.repeat(5000)}`,
    `${name}=${encodeURIComponent(`http://x${'/4711'.repeat(1500)}/api/0.1/client/1/`)}`,
    `client__is=${'http://a/'.repeat(1200)}`,
  ]);
  return request('GET', `${api}${rng.pick(lists)}?${query}`);
};

const methods = (rng: Rng): Buffer =>
  request(
    rng.pick([
      'TRACE',
      'CONNECT',
      'PROPFIND',
      'LOCK',
      'get',
      'GET\t',
      'X'.repeat(300),
      'PUT',
      'DELETE',
      'OPTIONS',
      'HEAD',
    ]) ?? '',
    `${api}${rng.pick(['client/', 'invoicepayment/', 'item/', 'user/1/'])}`,
  );

const values = ['null', 'true', '""', '[]', '{}', '1', '"x"', '[null]', '[[[]]]', '{"id":1}', '-1', '1.5', '"\\u0000"'];
const types = (rng: Rng): Buffer => {
  const object = fields.map((name) => `"${name}":${rng.pick(values)}`).join(',');
  return write(
    rng,
    rng.chance(0.2) ? (rng.pick(['null', 'true', '1', '"x"', '[1]', '', '{', 'nul']) ?? '') : `{${object},"client":1}`,
  );
};

const elsewhere = (rng: Rng): Buffer => {
  const garbage = rng.pick(['{', 'null', '[1]', '{"a":1}', '"x"', `${'['.repeat(50_000)}`, '\xff']) ?? '';
  return rng.pick([
    () => request('POST', '/4711/oauth2/token/', rng.chance(0.5) ? json : [], garbage),
    () =>
      request(
        'POST',
        '/4711/oauth2/token/',
        ['content-type: application/x-www-form-urlencoded'],
        'grant_type=x&grant_type=client_credentials',
      ),
    () => request('POST', `/sandbox/${rng.pick(controls)}`, json, garbage === '[1]' ? '{"x":1}' : garbage),
    () => request('POST', '/sandbox/live?events=x', json, garbage),
    () => request('POST', '/sandbox/reset', ['host: evil.example', 'origin: http://evil.example']),
    () => request('GET', `/4711/pay/${rng.pick(['%00', '__proto__', 'x'.repeat(190), '..'])}`),
    () =>
      request('POST', '/4711/pay/x', ['content-type: application/x-www-form-urlencoded'], 'action=pay&action=abort'),
    () =>
      request(
        'POST',
        '/storage/4711/',
        [`content-type: multipart/form-data; boundary=${rng.pick(['x', '"', '', 'y'.repeat(300)])}`],
        bytesOf(rng, 200),
      ),
    () =>
      request(
        'POST',
        '/storage/4711/',
        ['content-type: multipart/form-data; boundary=x'],
        `--x\r\ncontent-disposition: form-data; name="${'k'.repeat(300)}"\r\n\r\nv\r\n--x--`,
      ),
    () =>
      request(
        'GET',
        `/storage/${rng.pick(['4711', '0x1267', '-1', '4711.0'])}/reports/${rng.pick(['..', 'null.csv', 'undefined.csv', '%2e%2e'])}`,
      ),
  ])?.() as Buffer;
};

const kinds = {
  deep,
  hugeNumbers,
  encodings,
  paths,
  headers,
  prototypes,
  lengths,
  chunked,
  pipelined,
  queries,
  methods,
  types,
  elsewhere,
};
export type Kind = keyof typeof kinds;
export const kindNames = Object.keys(kinds) as Kind[];

/** The bytes of one connection. */
export const hostile = (rng: Rng, kind: Kind): Buffer => kinds[kind](rng);
