import { describe, expect, test } from 'vitest';
import { archiveWholesaler, changeCredentials, connectWholesaler } from '../../src/supply/credentials.ts';
import { recordSupplied } from '../../src/supply/imports.ts';
import { draftOrder, markDelivered, sendOrder, setDefaultDepartment } from '../../src/supply/orders.ts';
import { acceptBatch, matchReceipt } from '../../src/supply/receipts.ts';
import { useSandbox } from './harness.ts';
import { callAs, type Received, register, useReceiver } from './wholesaler-world.ts';

const other = {
  ...{ clientId: 'other-client', clientSecret: 'other-secret', token: 'other-token', name: 'other' },
  ...{ permissions: [], scopes: ['wholesaler' as const] },
};
const api = useSandbox({
  ...{ invoices: 0, applications: [other], quirks: { loopbackCallbacks: true, timestamps: 'zulu' } },
  now: () => new Date('2026-05-20T12:00:00.000Z'),
});
const receiver = useReceiver();
const clinic = () => api().sandbox.clinic;
const refusal = { detail: 'Token does not match this wholesaler.' };
const line = { product_number: 'AB-1', product_name: 'Amoxin', quantity: '3' };

/** A new credential set of the wholesaler. */
const connected = async (credentials: object = {}) =>
  connectWholesaler(clinic(), await register(api(), receiver), credentials);
const draft = (wholesaler: number, fields: object = {}) =>
  draftOrder(clinic(), { wholesaler, lines: [line], ...fields });
const placed = (wholesaler: number, fields: object = {}) => sendOrder(clinic(), draft(wholesaler, fields).id);
const orderEvents = (id: number) =>
  clinic()
    .supply.events.all()
    .map(({ body }) => JSON.parse(body))
    .filter((event) => event.order?.id === id);
const placedEvent = (id: number) => (one: Received) => one.json.order?.id === id;
const setReference = (order: number, wholesaler_reference_number: unknown, token?: string) =>
  callAs(api(), token).send('POST', `order/${order}/set_wholesaler_reference_number/`, { wholesaler_reference_number });
const deliver = (order: number, token?: string) => callAs(api(), token).send('POST', `order/${order}/mark_delivered/`);

describe('practice-api "order.placed payload"', () => {
  test('exactly the payload; the location of a set decides the department', async () => {
    const set = await connected({ customer_number: '77', department: 12 });
    const order = placed(set.id, {
      notes: 'By Friday',
      lines: [{ ...line, item: 6001, unit: 'package', barcode: '640', notes: 'cold' }, line],
    });
    const { json } = await receiver.event(placedEvent(order.id));
    expect(json).toEqual({
      event: 'order.placed',
      event_id: expect.any(String),
      available_wholesaler: { id: set.available_wholesaler, name: 'Tukku' },
      wholesaler: { id: set.id, customer_number: '77' },
      order: {
        id: order.id,
        notes: 'By Friday',
        customer: {
          ...{ name: 'Kuusikko Eläinlääkärit Oy', department: 'Ranta Veterinary Clinic' },
          ...{ postal_address: 'Havukuja 4', postal_code: '01999', city: 'Kuusniemi', country_code: 'FI' },
        },
        purchaser: { name: 'Iida Vuorela', phone: '+358 9 555 0100', email: 'iida.vuorela@kuusikko.example' },
        items: [
          { ...line, unit: 'package', barcode: '640', notes: 'cold' },
          { ...line, unit: null, barcode: null, notes: null },
        ],
      },
    });
  });

  test('customer_number is that of the department if it is set, else the clinic-wide one', async () => {
    const wide = await connected({ customer_number: 'wide' });
    const available = wide.available_wholesaler ?? 0;
    connectWholesaler(clinic(), available, { department: 12, customer_number: 'ranta' });
    const blank = connectWholesaler(clinic(), available, { department: 13 });
    const numberOf = (wholesaler: number, department: number) =>
      orderEvents(placed(wholesaler, { department }).id)[0].wholesaler.customer_number;
    expect([numberOf(wide.id, 11), numberOf(wide.id, 12), numberOf(blank.id, 13)]).toEqual(['wide', 'ranta', 'wide']);
    changeCredentials(clinic(), wide.id, { customer_number: null });
    expect(numberOf(wide.id, 11)).toBeNull();
  });

  test('a line that names only the number is the item that the wholesaler supplies under it', async () => {
    const set = await connected();
    const supplied = {
      item: 6003,
      wholesaler: set.id,
      product_type: 'Medicine',
      name: 'Known',
      codes: ['K'],
      barcode: null,
    };
    recordSupplied(clinic(), supplied);
    const order = placed(set.id, { lines: [{ product_number: 'K', quantity: '1' }] });
    expect(order.lines).toMatchObject([{ item: 6003, product_name: 'Known' }]);
  });

  test('sent again with changes: the same order id, a new event id', async () => {
    const order = placed((await connected()).id);
    sendOrder(clinic(), order.id, { lines: [{ ...line, quantity: '5' }] });
    const [first, second] = orderEvents(order.id);
    expect(first.event_id).not.toBe(second.event_id);
    expect([first, second].map((event) => event.order.items[0].quantity)).toEqual(['3', '5']);
  });

  test('an order in process and one to another type of wholesaler tell nothing', async () => {
    const byMail = clinic().supply.wholesalers.all()[0];
    expect(byMail?.type).toBe('E-mail');
    expect(orderEvents(draft((await connected()).id).id)).toEqual([]);
    expect(orderEvents(placed(byMail?.id ?? 0).id)).toEqual([]);
  });
});

describe('practice-api "Order": states, set_wholesaler_reference_number and mark_delivered', () => {
  test.each([
    ['Ordering in process', 400, 400],
    ['Ordered', 200, 200],
    ['delivered', 200, 400],
  ])('an order that is %s: reference %i, delivery %i', async (state, reference, delivery) => {
    const set = await connected();
    const order = draft(set.id);
    if (state !== 'Ordering in process') sendOrder(clinic(), order.id);
    if (state === 'delivered') await deliver(order.id);
    expect([(await setReference(order.id, 'x')).status, (await deliver(order.id)).status]).toEqual([
      reference,
      delivery,
    ]);
  });

  test('the reference: at most 63 characters, last write wins, the same again answers the same', async () => {
    const order = placed((await connected()).id);
    const longest = 'x'.repeat(63);
    for (const value of ['first', 'second', 'second', longest]) {
      const answer = await setReference(order.id, value);
      expect([answer.status, answer.json]).toEqual([200, { status: 'ok', wholesaler_reference_number: value }]);
      expect(order.wholesaler_reference_number).toBe(value);
    }
    for (const value of ['x'.repeat(64), '', undefined, 7]) {
      const refused = await setReference(order.id, value);
      expect([refused.status, Object.keys(refused.json)]).toEqual([400, ['wholesaler_reference_number']]);
    }
    expect(order.wholesaler_reference_number).toBe(longest);
  });

  test('mark_delivered answers status 2, and moves the stock as the clinic does; concurrent duplicates are serialised', async () => {
    const set = await connected();
    const lines = [{ ...line, item: 6001 }, { ...line, item: 6001 }, { ...line, item: 6002 }, line];
    const order = placed(set.id, { lines, department: 13 });
    const answers = await Promise.all([deliver(order.id), deliver(order.id), deliver(order.id)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
    const landed = answers.find(({ status }) => status === 200);
    expect(landed?.json).toEqual({
      ...{ status: 'ok', order_status: 2, all_delivered: true },
      delivery_date: '2026-05-20T12:00:00.000000Z',
    });
    for (const { json } of answers.filter(({ status }) => status === 400)) {
      expect(json).toEqual({ non_field_errors: ["The order must be in 'Ordered' status."] });
    }
    const stockOf = (id: number) =>
      clinic()
        .supply.stock.of(id)
        .map(({ item, department, quantity }) => [item, department, quantity]);
    expect(stockOf(order.id)).toEqual([
      [6001, 13, '6.000'],
      [6002, 13, '3.000'],
    ]);
    const own = placed(set.id, { lines, department: 13 });
    markDelivered(clinic(), own.id);
    expect(stockOf(own.id)).toEqual(stockOf(order.id));
  });

  test('of another integration, or without one: 403; unknown: 404', async () => {
    const byMail = clinic().supply.wholesalers.all()[0];
    const unlinked = await connected();
    const orphan = placed(unlinked.id);
    await callAs(api()).send('DELETE', `available_wholesaler/${unlinked.available_wholesaler}/`);
    const foreign = placed((await connected()).id);
    for (const [id, token] of [
      [foreign.id, 'other-token'],
      [draft((await connected()).id).id, 'other-token'],
      [placed(byMail?.id ?? 0).id, 'wholesaler-token'],
      [orphan.id, 'wholesaler-token'],
    ] as const) {
      for (const refused of [await setReference(id, 'x', token), await deliver(id, token)]) {
        expect([refused.status, refused.json]).toEqual([403, refusal]);
      }
    }
    expect([(await setReference(999_999, 'x')).status, (await deliver(999_999)).status]).toEqual([404, 404]);
  });
});

describe('practice-api "Receipts"', () => {
  const send = (set: number, receipt_lines: unknown, token?: string) =>
    callAs(api(), token).send('POST', `wholesaler/${set}/receipts/`, { receipt_lines });
  let serial = 0;
  const receipt = (fields: object = {}) => ({
    id: `r-${++serial}`,
    quantity: '1.000',
    product_number: 'none',
    ...fields,
  });
  const outcome = async (set: number, fields: object) => (await send(set, [receipt(fields)])).json.receipt_lines[0];
  const stored = (set: number) =>
    clinic()
      .supply.receiptLines.all()
      .filter(({ wholesaler }) => wholesaler === set);

  test('the summary; lines are judged one by one, and the status is 200 whatever becomes of them', async () => {
    const set = await connected();
    const good = receipt();
    const answer = await send(set.id, [good, receipt({ quantity: '-1' }), 'no object', { ...good, quantity: '9' }]);
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        ...{ lines_total: 4, lines_accepted: 1, lines_rejected: 2, lines_duplicate: 1 },
        receipt_lines: [
          { id: good.id, status: 'accepted', order_id: null, matched_item: false, matched_by: null },
          {
            ...{ id: expect.any(String), status: 'rejected', reason: 'invalid_quantity' },
            ...{ order_id: null, matched_item: false, matched_by: null },
          },
          {
            ...{ id: null, status: 'rejected', reason: 'invalid_line' },
            ...{ order_id: null, matched_item: false, matched_by: null },
          },
          { id: good.id, status: 'duplicate', order_id: null, matched_item: false, matched_by: null },
        ],
      },
    ]);
    expect(stored(set.id).map(({ quantity }) => quantity)).toEqual(['1.000']);
  });

  test.each([
    ['no receipt_lines', {}],
    ['no lines', { receipt_lines: [] }],
    ['something else', { receipt_lines: 'x' }],
    ['501 lines', { receipt_lines: Array.from({ length: 501 }, (_, n) => ({ ...receipt(), id: `many-${n}` })) }],
    ['malformed JSON', '{"receipt_lines": ['],
  ])('%s: 400, nothing stored', async (_, body) => {
    const set = await connected();
    expect((await callAs(api()).send('POST', `wholesaler/${set.id}/receipts/`, body)).status).toBe(400);
    expect(stored(set.id)).toEqual([]);
  });

  test('500 lines are taken', async () => {
    const set = await connected();
    const answer = await send(
      set.id,
      Array.from({ length: 500 }, () => receipt()),
    );
    expect([answer.json.lines_accepted, stored(set.id).length]).toEqual([500, 500]);
  });

  test('missing, archived or not an integration: 404; of another integration: 403', async () => {
    const archived = await connected();
    archiveWholesaler(clinic(), archived.id);
    for (const id of [999_999, archived.id, clinic().supply.wholesalers.all()[0]?.id ?? 0]) {
      expect((await send(id, [receipt()])).status).toBe(404);
    }
    const refused = await send((await connected()).id, [receipt()], 'other-token');
    expect([refused.status, refused.json]).toEqual([403, refusal]);
  });

  const tooLong = (length: number) => 'x'.repeat(length + 1);
  test.each([
    [{ product_number: undefined }, 'missing_product_code'],
    [{ product_number: ' ', barcode: '' }, 'missing_product_code'],
    [{ product_number: null, barcode: null }, 'missing_product_code'],
    [{ quantity: undefined }, 'invalid_quantity'],
    [{ quantity: null }, 'invalid_quantity'],
    [{ quantity: '-0.001' }, 'invalid_quantity'],
    [{ quantity: '1,5' }, 'invalid_quantity'],
    [{ quantity: '1.0001' }, 'invalid_quantity'],
    [{ quantity: '1000000000' }, 'invalid_quantity'],
    [{ quantity: 'many' }, 'invalid_quantity'],
    [{ quantity: true }, 'invalid_quantity'],
    [{ invoice_date: '2026-02-30' }, 'invalid_field'],
    [{ invoice_date: '20.5.2026' }, 'invalid_field'],
    [{ invoice_date: '2026-05-200' }, 'invalid_field'],
    [{ expiry_date: 'soon' }, 'invalid_field'],
    [{ expiry_date: 20260520 }, 'invalid_field'],
    [{ order_id: 'six' }, 'invalid_field'],
    [{ order_id: 1.5 }, 'invalid_field'],
    [{ batch_number: 5 }, 'invalid_field'],
    [{ id: undefined }, 'invalid_field'],
    [{ id: '' }, 'invalid_field'],
    [{ id: 5 }, 'invalid_field'],
    [{ id: tooLong(255) }, 'invalid_line'],
    [{ product_number: tooLong(63) }, 'invalid_line'],
    [{ barcode: tooLong(30) }, 'invalid_line'],
    [{ product_name: tooLong(255) }, 'invalid_line'],
    [{ invoice_number: tooLong(63) }, 'invalid_line'],
    [{ batch_number: tooLong(63) }, 'invalid_line'],
  ])('%j is rejected as %s and not stored', async (fields, reason) => {
    const set = await connected();
    expect(await outcome(set.id, fields)).toMatchObject({ status: 'rejected', reason });
    expect(stored(set.id)).toEqual([]);
  });

  test.each([null, [], 'text', 7, [[]]])('a line that is no object (%j) is rejected', async (sent) => {
    const [rejected] = (await send((await connected()).id, [sent])).json.receipt_lines;
    expect(rejected).toMatchObject({ id: null, status: 'rejected', reason: 'invalid_line' });
  });

  test.each([
    [{ quantity: '0' }, { quantity: '0' }],
    [{ quantity: '999999999.999' }, { quantity: '999999999.999' }],
    [{ quantity: 2.5 }, { quantity: '2.5' }],
    [{ id: 'x'.repeat(255) }, {}],
    [
      { product_number: undefined, barcode: '1'.repeat(30) },
      { product_number: null, barcode: '1'.repeat(30) },
    ],
    [
      { invoice_date: '2026-05-20', expiry_date: '2028-02-29' },
      { invoice_date: '2026-05-20', expiry_date: '2028-02-29' },
    ],
    [{ invoice_date: '2026-05-20T10:00:00Z' }, { invoice_date: null }],
    [{ invoice_date: '2026-05-20 10:00' }, { invoice_date: null }],
    [{ expiry_date: '2026-05-20+02:00' }, { expiry_date: null }],
    [
      { batch_number: 'B'.repeat(63), product_name: ' Amoxin ' },
      { batch_number: 'B'.repeat(63), product_name: 'Amoxin' },
    ],
  ])('%j is stored as %j', async (fields, expected) => {
    const set = await connected();
    expect(await outcome(set.id, fields)).toMatchObject({ status: 'accepted' });
    expect(stored(set.id)[0]).toMatchObject(expected);
  });

  test('an id that differs in case only is a duplicate, which returns the stored outcome and changes nothing', async () => {
    const set = await connected();
    const order = placed(set.id);
    const first = await outcome(set.id, { id: 'Rivi-Ä', order_id: order.id });
    const location = connectWholesaler(clinic(), set.available_wholesaler ?? 0, { department: 12 });
    for (const id of ['Rivi-Ä', 'RIVI-ä', ' rivi-ä ']) {
      const again = await outcome(location.id, { id, quantity: 'no number' });
      expect(again).toEqual({ ...first, id, status: 'duplicate' });
    }
    expect([stored(set.id).length, stored(location.id).length]).toEqual([1, 0]);
    expect(await outcome((await connected()).id, { id: 'Rivi-Ä' })).toMatchObject({
      status: 'accepted',
      order_id: null,
    });
  });

  test('a rejected line can be sent again, corrected', async () => {
    const set = await connected();
    expect((await outcome(set.id, { id: 'again', quantity: '' })).status).toBe('rejected');
    expect((await outcome(set.id, { id: 'again', quantity: '1' })).status).toBe('accepted');
  });

  test("orders: by order_id, otherwise by invoice_number; only the caller's own, placed and unambiguous", async () => {
    const set = await connected();
    const [one, two, three] = [placed(set.id), placed(set.id), placed(set.id)];
    for (const [order, number] of [
      [one, 'only'],
      [two, 'twice'],
      [three, 'twice'],
    ] as const) {
      await setReference(order.id, number);
    }
    const foreign = placed((await connected()).id);
    await setReference(foreign.id, 'foreign');
    const unsent = draft(set.id);
    const linked = async (fields: object) => (await outcome(set.id, fields)).order_id;
    expect(await linked({ order_id: two.id })).toBe(two.id);
    expect(await linked({ order_id: two.id, invoice_number: 'only' })).toBe(two.id);
    expect(await linked({ invoice_number: 'only' })).toBe(one.id);
    expect(await linked({ invoice_number: 'twice' })).toBeNull();
    expect(await linked({ invoice_number: 'unknown' })).toBeNull();
    expect(await linked({ invoice_number: 'foreign' })).toBeNull();
    expect(await linked({ order_id: foreign.id })).toBeNull();
    expect(await linked({ order_id: unsent.id })).toBeNull();
    expect(await linked({ order_id: 999_999, invoice_number: 'only' })).toBeNull();
  });

  test('products: by product_number, then by barcode; unknown and ambiguous ones are stored unmatched', async () => {
    const set = await connected();
    const foreign = await connected();
    const supplied = (wholesaler: number, item: number, codes: string[], barcode: string | null) =>
      recordSupplied(clinic(), { item, wholesaler, product_type: 'Medicine', name: 'x', codes, barcode });
    supplied(set.id, 6001, ['A', 'second', 'third'], '111');
    supplied(set.id, 6002, ['twice'], '222');
    supplied(set.id, 6003, ['twice'], '222');
    supplied(set.id, 6004, ['second-only', 'A'], null);
    supplied(foreign.id, 6005, ['F'], '555');
    const matched = async (fields: object) => {
      const { matched_item, matched_by, id } = await outcome(set.id, fields);
      const line = stored(set.id).find(({ line_id }) => line_id === id);
      expect(matched_item).toBe(line?.item !== null);
      return [line?.item, matched_by];
    };
    expect(await matched({ product_number: 'A' })).toEqual([6001, 'product_code']);
    expect(await matched({ product_number: 'third' })).toEqual([6001, 'product_code']);
    expect(await matched({ product_number: 'A', barcode: '222' })).toEqual([6001, 'product_code']);
    expect(await matched({ product_number: 'unknown', barcode: '111' })).toEqual([6001, 'barcode']);
    expect(await matched({ product_number: undefined, barcode: '111' })).toEqual([6001, 'barcode']);
    expect(await matched({ product_number: 'twice', barcode: '111' })).toEqual([6001, 'barcode']);
    expect(await matched({ product_number: 'twice' })).toEqual([null, null]);
    expect(await matched({ product_number: 'unknown', barcode: '222' })).toEqual([null, null]);
    expect(await matched({ product_number: 'F', barcode: '555' })).toEqual([null, null]);
  });

  test('the department: of the order, else of the credential set, else the default one, else department_unresolved', async () => {
    const wide = await connected();
    const location = connectWholesaler(clinic(), wide.available_wholesaler ?? 0, { department: 12 });
    const order = placed(location.id, { department: 13 });
    const departmentOf = async (set: number, fields: object = {}) => {
      await outcome(set, fields);
      return stored(set).at(-1)?.department;
    };
    expect(await departmentOf(location.id, { order_id: order.id })).toBe(13);
    expect(await departmentOf(location.id)).toBe(12);
    expect(await departmentOf(wide.id, { order_id: order.id })).toBe(13);
    expect(await departmentOf(wide.id)).toBe(11);
    setDefaultDepartment(clinic(), null);
    expect(await outcome(wide.id, {})).toMatchObject({ status: 'rejected', reason: 'department_unresolved' });
    expect((await outcome(location.id, {})).status).toBe('accepted');
    expect((await outcome(wide.id, { order_id: order.id })).status).toBe('accepted');
    setDefaultDepartment(clinic(), 11);
  });

  test('only staff put goods into stock: they match and accept batches, once, and not what the order already added', async () => {
    const set = await connected();
    const order = placed(set.id, { lines: [{ ...line, item: 6001, quantity: '5' }] });
    await outcome(set.id, { order_id: order.id, quantity: '2', batch_number: 'B1', expiry_date: '2028-01-31' });
    await outcome(set.id, { order_id: order.id, quantity: '3', batch_number: 'B2' });
    const [first, second] = stored(set.id);
    const stock = () =>
      clinic()
        .supply.stock.of(order.id)
        .map(({ quantity, batch_number }) => [quantity, batch_number]);
    expect(stock()).toEqual([]);
    expect(() => acceptBatch(clinic(), first?.id ?? 0)).toThrow('matched with an item first');
    for (const one of [first, second]) matchReceipt(clinic(), one?.id ?? 0, 6001);
    acceptBatch(clinic(), first?.id ?? 0);
    expect(() => acceptBatch(clinic(), first?.id ?? 0)).toThrow('accepted already');
    await deliver(order.id);
    acceptBatch(clinic(), second?.id ?? 0);
    expect(stock()).toEqual([
      ['2', 'B1'],
      ['3.000', null],
      ['0.000', 'B2'],
    ]);
  });
});

describe('control endpoints of the sandbox', () => {
  // biome-ignore lint/suspicious/noExplicitAny: a contract test reads whatever the wire brings.
  const staff = async (method: string, path: string, sent?: object): Promise<any> => {
    const init = { method, ...(sent ? { body: JSON.stringify(sent) } : {}) };
    return (await fetch(`${api().sandbox.url}/sandbox/${path}`, init)).json();
  };

  test('staff write, send and receive an order, and accept the batch of a receipt line', async () => {
    const set = await connected();
    expect(await staff('GET', `wholesalers/${set.id}/products`)).toEqual([]);
    const lines = [{ product_number: 'AB-1', quantity: '2', item: 6001 }];
    const draft = await staff('POST', 'orders', { wholesaler: set.id, lines, send: false });
    expect([draft.status, orderEvents(draft.id)]).toEqual([0, []]);
    const changed = [{ ...lines[0], quantity: '3' }];
    expect((await staff('POST', `orders/${draft.id}/send`, { lines: changed })).status).toBe(1);
    expect(orderEvents(draft.id)[0].order.items[0].quantity).toBe('3');
    const webhooks: { event: string }[] = await staff('GET', 'webhooks');
    expect(webhooks.at(-1)?.event).toBe('order.placed');

    await callAs(api()).send('POST', `wholesaler/${set.id}/receipts/`, {
      receipt_lines: [{ id: 'by-hand', quantity: '1', barcode: '1', order_id: draft.id }],
    });
    const receipt = (await staff('GET', 'receipts')).at(-1);
    expect(receipt).toMatchObject({ line_id: 'by-hand', item: null, batch_accepted: false });
    expect(await staff('POST', `receipts/${receipt.id}/accept`)).toHaveProperty('item');
    await staff('POST', `receipts/${receipt.id}/match`, { item: 6001 });
    expect((await staff('POST', `receipts/${receipt.id}/accept`)).batch_accepted).toBe(true);
    expect((await staff('POST', `orders/${draft.id}/deliver`)).status).toBe(2);
    expect((await staff('GET', `orders/${draft.id}`)).status).toBe(2);
    const stock: { order: number; quantity: string }[] = await staff('GET', 'stock');
    expect(stock.filter(({ order }) => order === draft.id).map(({ quantity }) => quantity)).toEqual(['1', '2.000']);
    expect(await staff('POST', `orders/${draft.id}/deliver`)).toHaveProperty('non_field_errors');
    expect(await staff('POST', 'orders', { wholesaler: set.id, lines: [] })).toHaveProperty('lines');
  });
});
