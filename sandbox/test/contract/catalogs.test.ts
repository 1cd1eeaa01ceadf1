import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { archiveWholesaler, connectWholesaler } from '../../src/supply/credentials.ts';
import { importProducts, offeredProducts, recordSupplied } from '../../src/supply/imports.ts';
import { useSandbox } from './harness.ts';
import { callAs, register, useReceiver } from './wholesaler-world.ts';

let nowMs = Date.parse('2026-05-20T12:00:00.000Z');
let clockReads = 0;
const now = () => {
  clockReads++;
  return new Date(nowMs);
};
const other = {
  ...{ clientId: 'other-client', clientSecret: 'other-secret', token: 'other-token', name: 'other' },
  ...{ permissions: [], scopes: ['wholesaler' as const] },
};
const api = useSandbox({
  invoices: 0,
  applications: [other],
  quirks: { loopbackCallbacks: true },
  now,
});
const receiver = useReceiver();
const clinic = () => api().sandbox.clinic;
const header = 'product_type,product_number,product_name,wholesale_price';

interface Descriptor {
  upload_id: number;
  catalog_id: string;
  filename: string;
  object_key: string;
  url: string;
  fields: Record<string, string>;
  expected_columns: string[];
  content_type: string;
  max_size_bytes: number;
}

/** A new credential set of the wholesaler. */
const connected = async () => connectWholesaler(clinic(), await register(api(), receiver));
const ask = (set: number, body: object = { filename: 'catalog.csv' }, token?: string) =>
  callAs(api(), token).send('POST', `wholesaler/${set}/catalog_upload_url/`, body);
const descriptorOf = async (set: number): Promise<Descriptor> => (await ask(set)).json;

/** Posts a form to storage like a wholesaler: first the fields, then the file. */
const upload = async (
  { url, fields }: Descriptor,
  file: string | Blob | null,
  changes: Record<string, string | null> = {},
): Promise<{ status: number; text: string }> => {
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...fields, ...changes })) if (value !== null) form.append(name, value);
  if (file !== null) form.append('file', new Blob([file]), 'catalog.csv');
  const answer = await fetch(url, { method: 'POST', body: form });
  return { status: answer.status, text: await answer.text() };
};
const processed = async (catalogId: string) =>
  (await receiver.event(({ json }) => json.upload?.catalog_id === catalogId)).json;
/** Uploads a catalog and waits until it is processed. */
const publish = async (set: number, text: string) => {
  const descriptor = await descriptorOf(set);
  expect((await upload(descriptor, text)).status).toBe(204);
  return processed(descriptor.catalog_id);
};

describe('practice-api "Catalog upload URL request"', () => {
  test('the descriptor', async () => {
    const set = await connected();
    const answer = await ask(set.id, { filename: '  Kevät 2026.CSV ', content_type: 'application/csv' });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      upload_id: expect.any(Number),
      catalog_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      filename: 'Kevät 2026.CSV',
      object_key: expect.stringContaining('Kevät 2026.CSV'),
      url: `${api().sandbox.url}/storage/4711/`,
      fields: {
        key: answer.json.object_key,
        'Content-Type': 'application/csv',
        policy: expect.any(String),
        signature: expect.any(String),
        AWSAccessKeyId: expect.any(String),
      },
      expected_columns: expect.arrayContaining([...header.split(','), 'product_price', 'vat', 'barcode']),
      content_type: 'application/csv',
      max_size_bytes: 104_857_600,
    });
  });

  test.each([
    [{}, 'filename'],
    [{ filename: '' }, 'filename'],
    [{ filename: '   ' }, 'filename'],
    [{ filename: 7 }, 'filename'],
    [{ filename: 'catalog.txt' }, 'filename'],
    [{ filename: 'catalog.csv.gz' }, 'filename'],
    [{ filename: 'a/b.csv' }, 'filename'],
    [{ filename: 'a\\b.csv' }, 'filename'],
    [{ filename: '..csv' }, 'filename'],
    [{ filename: 'a..b.csv' }, 'filename'],
    [{ filename: 'a\n..\nb.csv' }, 'filename'],
    [{ filename: 'a.csv', content_type: 'text/plain' }, 'content_type'],
    [{ filename: 'a.csv', content_type: null }, 'content_type'],
  ])('%j is refused', async (body, field) => {
    const set = await connected();
    const refused = await ask(set.id, body);
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, [field]]);
    // The API validates the request before it looks for the credential set.
    expect((await ask(999_999, body)).status).toBe(400);
    expect(clinic().supply.uploads.of(set.id)).toEqual([]);
  });

  test('checks run in order: missing, archived, not an integration or unlinked: 404; of another application: 403', async () => {
    const archived = await connected();
    archiveWholesaler(clinic(), archived.id);
    const byMail = clinic()
      .supply.wholesalers.all()
      .find(({ type }) => type === 'E-mail');
    const unlinked = await connected();
    await callAs(api()).send('DELETE', `available_wholesaler/${unlinked.available_wholesaler}/`);
    for (const id of [999_999, archived.id, byMail?.id ?? 0, unlinked.id]) {
      for (const token of ['wholesaler-token', 'other-token']) {
        expect((await ask(id, undefined, token)).json).toEqual({ detail: 'Not found.' });
      }
    }
    const set = await connected();
    const refused = await ask(set.id, undefined, 'other-token');
    expect([refused.status, refused.json]).toEqual([403, { detail: 'Token does not match this wholesaler.' }]);
  });

  test('a request while an upload is pending returns the same pending upload', async () => {
    const set = await connected();
    const first = await descriptorOf(set.id);
    const again = (await ask(set.id, { filename: 'other.csv', content_type: 'application/csv' })).json;
    expect(again).toMatchObject({
      ...{ upload_id: first.upload_id, catalog_id: first.catalog_id, object_key: first.object_key },
      ...{ filename: 'catalog.csv', content_type: 'text/csv' },
    });
    const others = await descriptorOf((await connected()).id);
    expect(others.upload_id).not.toBe(first.upload_id);
  });

  test('503 when it cannot be generated: no record is kept, a retry starts fresh', async () => {
    const set = await connected();
    api().sandbox.setFaults({ catalogUrl503: { count: 1 } });
    const refused = await ask(set.id);
    expect([refused.status, refused.json]).toEqual([503, { detail: expect.any(String) }]);
    expect(clinic().supply.uploads.of(set.id)).toEqual([]);
    expect((await ask(set.id)).status).toBe(200);
  });
});

describe('practice-api "Errors": object-storage upload', () => {
  const csv = `${header}\nFood,1,x,1\n`;
  const coded = (code: string, message: string) =>
    expect.stringMatching(new RegExp(`^<\\?xml[^]*<Error><Code>${code}</Code><Message>${message}`));

  test('each refusal leaves the upload pending', async () => {
    const set = await connected();
    const descriptor = await descriptorOf(set.id);
    const refused = async (file: string | Blob | null, changes: Record<string, string | null> = {}) => {
      const { status, text } = await upload(descriptor, file, changes);
      expect((await ask(set.id)).json.upload_id).toBe(descriptor.upload_id);
      return [status, text];
    };
    expect(await refused('')).toEqual([400, coded('EntityTooSmall', '')]);
    const wrong = { 'Content-Type': 'text/plain' };
    expect(await refused(csv, wrong)).toEqual([403, coded('AccessDenied', 'Invalid according to Policy')]);
    expect(await refused(csv, { key: 'elsewhere' })).toEqual([
      403,
      coded('AccessDenied', 'Invalid according to Policy'),
    ]);
    for (const name of Object.keys(descriptor.fields)) {
      expect(await refused(csv, { [name]: null })).toEqual([403, coded('AccessDenied', `.*${name}`)]);
    }
    const forged = Buffer.from(Buffer.from(descriptor.fields.policy!, 'base64').toString().replace('2026', '2099'));
    const policy = forged.toString('base64');
    expect(await refused(csv, { policy })).toEqual([403, coded('SignatureDoesNotMatch', '')]);
    expect(await refused(csv, { AWSAccessKeyId: 'x' })).toEqual([403, coded('InvalidAccessKeyId', '')]);
    expect(await refused(null)).toEqual([400, coded('InvalidArgument', '')]);
    const json = await fetch(descriptor.url, { method: 'POST', body: '{}', headers: { 'content-type': 'text/csv' } });
    expect([json.status, await json.text()]).toEqual([412, coded('PreconditionFailed', '')]);
    expect((await upload(descriptor, csv)).status).toBe(204);
    expect((await processed(descriptor.catalog_id)).upload.status).toBe('accepted');
  });

  test('all fields must come before the file, which is last', async () => {
    const { url, fields } = await descriptorOf((await connected()).id);
    const form = new FormData();
    form.append('file', new Blob([csv]), 'catalog.csv');
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    const answer = await fetch(url, { method: 'POST', body: form });
    expect([answer.status, await answer.text()]).toEqual([403, coded('AccessDenied', '')]);
  });

  test('a file larger than 104857600 bytes is EntityTooLarge; one of exactly that size is stored', async () => {
    const set = await connected();
    const descriptor = await descriptorOf(set.id);
    const million = new Uint8Array(1_048_576).fill(0xff);
    const hundred = Array.from({ length: 100 }, () => million);
    const large = await upload(descriptor, new Blob([...hundred, 'x']));
    expect([large.status, large.text]).toEqual([400, coded('EntityTooLarge', '')]);
    expect((await upload(descriptor, new Blob(hundred))).status).toBe(204);
    expect((await processed(descriptor.catalog_id)).upload).toMatchObject({
      status: 'rejected',
      errors: [{ row: null, code: 'invalid_file', field: null }],
    });
  });

  test('a request that says it is far larger is refused before it is read', async () => {
    const { url } = await descriptorOf((await connected()).id);
    const request = httpRequest(url, {
      ...{ method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=b', 'content-length': 2e9 } },
    });
    request.flushHeaders();
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of answer) text += chunk;
    request.on('error', () => {}).destroy();
    expect([answer.statusCode, text]).toEqual([400, coded('EntityTooLarge', '')]);
  });

  test('a URL older than five minutes is refused; a transfer begun in time completes', async () => {
    const set = await connected();
    const descriptor = await descriptorOf(set.id);
    nowMs += 299_999;
    const form = new FormData();
    for (const [name, value] of Object.entries(descriptor.fields)) form.append(name, value);
    form.append('file', new Blob([csv]), 'catalog.csv');
    const whole = new Response(form);
    const bytes = new Uint8Array(await whole.clone().arrayBuffer());
    // The clock passes the limit of five minutes during the upload.
    const readBefore = clockReads;
    const slow = new ReadableStream({
      start: (controller) => controller.enqueue(bytes.subarray(0, 200)),
      pull: async (controller) => {
        // The server reads the clock twice: for the Date header, and at the start of the upload.
        while (clockReads < readBefore + 2) await new Promise(setImmediate);
        nowMs += 60_000;
        controller.enqueue(bytes.subarray(200));
        controller.close();
      },
    });
    const begun = await fetch(descriptor.url, {
      ...{ method: 'POST', body: slow, duplex: 'half' },
      headers: { 'content-type': whole.headers.get('content-type')! },
    } as RequestInit);
    expect(begun.status).toBe(204);
    await processed(descriptor.catalog_id);

    const late = await descriptorOf(set.id);
    nowMs += 300_000;
    const refused = await upload(late, csv);
    expect([refused.status, refused.text]).toEqual([403, coded('AccessDenied', 'Policy expired<')]);
    const again = await descriptorOf(set.id);
    expect(again.upload_id).toBe(late.upload_id);
    expect((await upload(again, csv)).status).toBe(204);
    await processed(again.catalog_id);
  });

  test('a second file for a finished upload is taken and changes nothing', async () => {
    const set = await connected();
    const descriptor = await descriptorOf(set.id);
    await upload(descriptor, csv);
    await processed(descriptor.catalog_id);
    expect((await upload(descriptor, `${header}\nFood,2,y,1\n`)).status).toBe(204);
    expect(offeredProducts(clinic(), set.id).map(({ product_number }) => product_number)).toEqual(['1']);
    expect((await descriptorOf(set.id)).upload_id).toBeGreaterThan(descriptor.upload_id);
  });
});

describe('practice-api "Catalog upload" states and "catalog.processed payload"', () => {
  test('accepted: exactly the payload, and the catalog replaces the one before', async () => {
    const set = await connected();
    const descriptor = await descriptorOf(set.id);
    await upload(descriptor, `${header}\nFood,1,x,1\nFood,2,y,2\n`);
    expect(await processed(descriptor.catalog_id)).toEqual({
      event: 'catalog.processed',
      event_id: expect.any(String),
      available_wholesaler: { id: set.available_wholesaler, name: 'Tukku' },
      wholesaler: { id: set.id },
      upload: {
        ...{ id: descriptor.upload_id, catalog_id: descriptor.catalog_id, filename: 'catalog.csv', status: 'accepted' },
        ...{ rows_total: 2, rows_accepted: 2, rows_rejected: 0, errors: [], errors_truncated: false },
      },
    });
    await publish(set.id, `${header}\nFood,2,y,2\nFood,3,z,3\n`);
    expect(offeredProducts(clinic(), set.id).map(({ product_number }) => product_number)).toEqual(['2', '3']);
  });

  test('partially accepted: usable rows replace the catalog; rejected: the one before stays live', async () => {
    const set = await connected();
    const { upload: partly } = await publish(set.id, `${header}\nFood,1,x,1\nFood,2,y,"1,5"\n`);
    expect(partly).toMatchObject({ status: 'partially_accepted', rows_total: 2, rows_accepted: 1, rows_rejected: 1 });
    expect(partly.errors).toEqual([
      { row: 3, code: 'invalid_value', field: 'wholesale_price', detail: expect.any(String) },
    ]);
    const { upload: rejected } = await publish(set.id, `${header}\nFood,9,y,\n`);
    expect([rejected.status, rejected.errors[0].code]).toEqual(['rejected', 'missing_required_field']);
    expect(offeredProducts(clinic(), set.id).map(({ product_number }) => product_number)).toEqual(['1']);
  });

  test('more than 100 errors: truncated, with exact counts and a report that can be fetched', async () => {
    const set = await connected();
    const bad = Array.from({ length: 150 }, (_, n) => (n < 40 ? `Food,,x,1` : `Toy,${n},x,1`)).join('\n');
    const { upload: outcome } = await publish(set.id, `${header}\nFood,1,x,1\n${bad}\n`);
    expect(outcome).toMatchObject({
      ...{ status: 'partially_accepted', rows_total: 151, rows_accepted: 1, rows_rejected: 150 },
      ...{ errors: null, errors_truncated: true },
      error_summary: [
        { code: 'missing_required_field', count: 40 },
        { code: 'invalid_value', count: 110 },
      ],
    });
    const report = await fetch(outcome.error_report_url);
    expect([report.status, report.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    const lines = (await report.text()).trimEnd().split('\n');
    expect([lines.length, lines[1], lines[150]]).toEqual([
      151,
      '3,missing_required_field,product_number,"product_number must not be empty."',
      '152,invalid_value,product_type,"product_type must be one of Medicine, Supply, Food."',
    ]);
    expect((await fetch(outcome.error_report_url.replace(/.{5}\.csv$/, 'xxxxx.csv'))).status).toBe(404);
  });

  test('each credential set has its own catalog', async () => {
    const wide = await connected();
    const location = connectWholesaler(clinic(), wide.available_wholesaler ?? 0, { department: 12 });
    await publish(wide.id, `${header}\nFood,1,x,1\n`);
    await publish(location.id, `${header}\nFood,2,x,1\n`);
    expect([wide, location].map(({ id }) => offeredProducts(clinic(), id)[0]?.product_number)).toEqual(['1', '2']);
  });
});

describe('practice-api "Catalog rule"', () => {
  test('an import creates and updates items that GET /item/ shows, and marks missing ones discontinued, within its terms', async () => {
    const set = await connected();
    await publish(
      set.id,
      `${header},product_price,vat\nFood,1,Cat food,1,10,14\nFood,2,Dog food,2,,14\nSupply,3,Cat collar,3,,24\nMedicine,4,Cat pills,4,,10\n`,
    );
    const types = ['Food', 'Supply'];
    expect(importProducts(clinic(), set.id, { types })).toEqual({ created: 3, updated: 0, discontinued: 0 });
    const supplied = () =>
      clinic()
        .supply.suppliedItems.of(set.id)
        .map(({ name, discontinued }) => [name, discontinued]);
    expect(supplied()).toEqual([
      ['Cat food', false],
      ['Dog food', false],
      ['Cat collar', false],
    ]);
    const [catFood, dogFood] = clinic().supply.suppliedItems.of(set.id);
    expect(clinic().registers.items.get(catFood?.item ?? 0)).toMatchObject({
      ...{ name: 'Cat food', type_code: 4, price_with_vat: '11.40', vat_percentage: '14' },
    });
    expect(clinic().registers.items.get(dogFood?.item ?? 0)?.price_with_vat).toBe('2.28');

    const own = { item: 6001, wholesaler: set.id, product_type: 'Food', name: 'Cat tin', codes: [''], barcode: null };
    recordSupplied(clinic(), own);
    await publish(set.id, `${header}\nMedicine,4,Cat pills,4\n`);
    // Nothing changes before staff run an import. The import changes only products with its types and search term.
    expect(supplied().some(([, discontinued]) => discontinued)).toBe(false);
    expect(importProducts(clinic(), set.id, { types: ['Food'], search: 'cat' }).discontinued).toBe(2);
    expect(supplied()).toEqual([
      ['Cat food', true],
      ['Dog food', false],
      ['Cat collar', false],
      ['Cat tin', true],
    ]);
    expect(importProducts(clinic(), set.id, { types: ['Food'], search: 'cat' }).discontinued).toBe(0);
    await publish(set.id, `${header}\nFood,1,Cat food,5\n`);
    expect(importProducts(clinic(), set.id, { types: ['Food'] })).toEqual({ created: 0, updated: 1, discontinued: 1 });
    expect(supplied()[0]).toEqual(['Cat food', false]);
  });

  test.each([
    ['primary code', ['7', 'x', 'x'], null, false],
    ['secondary code', ['x', '7', 'x'], null, false],
    ['tertiary code', ['x', 'y', '7'], null, false],
    ['barcode, when its matching is enabled', ['', '', ''], '6400007', true],
  ])('an item is found by its %s, within its type', async (_, codes, barcode, matchBarcodes) => {
    const set = await connected();
    const item = { item: 6001, wholesaler: set.id, name: 'Old name', codes, barcode };
    recordSupplied(clinic(), { ...item, product_type: 'Food' });
    recordSupplied(clinic(), { ...item, item: 6002, product_type: 'Supply' });
    await publish(set.id, `${header},barcode\nFood,7,New name,1,6400007\n`);
    const result = importProducts(clinic(), set.id, { types: ['Food', 'Supply'], matchBarcodes });
    expect(result).toEqual({ created: 0, updated: 1, discontinued: 1 });
    expect(clinic().supply.suppliedItems.of(set.id)).toMatchObject([
      { name: 'New name', discontinued: false },
      { name: 'Old name', discontinued: true },
    ]);
  });
});
