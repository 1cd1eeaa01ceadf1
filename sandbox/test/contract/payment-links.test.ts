import { beforeEach, describe, expect, test } from 'vitest';
import { inventClient } from '../../src/catalogue.ts';
import type { Invoice } from '../../src/index.ts';
import { Rng } from '../../src/rng.ts';
import { type Reply, refTo, useSandbox } from './harness.ts';

const start = Date.parse('2026-05-20T12:00:00.000Z');
let nowMs = start;
const api = useSandbox({ now: () => new Date(nowMs), quirks: { timestamps: 'zulu' } });
const clinic = () => api().sandbox.clinic;
let invoice: Invoice;

beforeEach(() => {
  nowMs = start;
  clinic().department(11).allow_nhp_processing = true;
  const client = clinic().clients.get(2001);
  if (client) clinic().update(clinic().clients, client, { no_sms: false, no_email: false });
  invoice = clinic().createInvoice({ department: 11, client: 2001, rows: [{ sum: '80.00' }] });
});

interface Changes {
  fields?: object;
  data?: object;
}

const invoiceLink = ({ fields = {}, data = {} }: Changes = {}) => ({
  amount: '80.00',
  terminal_id: 0,
  payment_type: 5003,
  transaction_type: 4,
  department: api().ref('department', 11),
  invoice: api().ref('invoice', invoice.id),
  payment_link_data: { duration: 60, invoice_id: invoice.id, description: 'Visit of Rekku', ...data },
  ...fields,
});
const prepaymentLink = ({ fields = {}, data = {} }: Changes = {}) => ({
  ...invoiceLink({ fields: { invoice: undefined }, data: { invoice_id: undefined, ...data } }),
  prepayment_data: { client_id: 2001, department_id: 11, description: 'Deposit' },
  ...fields,
});
const post = (body: object) => api().send('POST', 'postransaction/', body);
const create = async (body: object): Promise<Reply['json']> => {
  const created = await post(body);
  expect([created.status, created.text]).toEqual([201, expect.any(String)]);
  return created.json;
};
const shown = async (link: { id: number }) => (await api().get(`postransaction/${link.id}/`)).json;
const open = (link: Reply['json']) => fetch(link.payment_link.url);
const submit = (link: Reply['json'], form: Record<string, string>) =>
  fetch(link.payment_link.url, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' });
const messagesAfter = async (id: number) =>
  ((await (await fetch(`${api().sandbox.url}/sandbox/messages?after=${id}`)).json()) as Reply['json']).messages;
const lastMessage = () => clinic().online.messages.all().at(-1)?.id ?? 0;
const paymentsOf = (id: number) => clinic().invoicePayments.of(id);

describe('practice-api "Postransaction (payment link)": create', () => {
  test('an invoice link answers 201 with every field, and a pending link', async () => {
    const link = await create(invoiceLink());
    expect(link).toEqual({
      id: expect.any(Number),
      task_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      created: '2026-05-20T12:00:00.000000Z',
      modified: '2026-05-20T12:00:00.000000Z',
      amount: '80.00',
      terminal_id: 0,
      payment_type: 5003,
      transaction_type: 4,
      creator: expect.stringMatching(/\/user\/\d+\/$/),
      department: api().ref('department', 11),
      invoice: api().ref('invoice', invoice.id),
      prepayment_data: null,
      aborted: false,
      cashier_desk: null,
      payment_method: null,
      payment: null,
      unallocated_payment: null,
      refunded_transaction: null,
      payment_link: {
        external_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/4711\/pay\/[0-9a-f-]+$/),
        expiration_time: '2026-05-20T13:00:00.000000Z',
        payment_status: 1,
        delivery_status: 2,
      },
    });
    expect(await shown(link)).toEqual(link);
  });

  test('a prepayment link has prepayment_data and no invoice', async () => {
    const link = await create(prepaymentLink());
    expect(link).toMatchObject({
      invoice: null,
      prepayment_data: { client_id: 2001, department_id: 11, description: 'Deposit' },
    });
  });

  test('`creator` is the user that the request names; by default the application itself', async () => {
    const staff = clinic().registers.users.all()[0];
    const named = await create(invoiceLink({ fields: { creator: api().ref('user', staff?.id ?? 0) } }));
    expect(named.creator).toBe(api().ref('user', staff?.id ?? 0));
    const [one, two] = [await create(invoiceLink()), await create(invoiceLink())];
    expect([one.creator === two.creator, one.creator === named.creator]).toEqual([true, false]);
  });

  const nested = (changes: object) => ({ data: changes });
  test.each<[string, Changes, string]>([
    ['terminal_id other than 0', { fields: { terminal_id: 1 } }, 'terminal_id'],
    ['no terminal_id', { fields: { terminal_id: undefined } }, 'terminal_id'],
    ['payment_type other than 5003', { fields: { payment_type: 0 } }, 'payment_type'],
    ['transaction_type other than 4', { fields: { transaction_type: 5003 } }, 'transaction_type'],
    ['no amount', { fields: { amount: undefined } }, 'amount'],
    ['an amount of zero', { fields: { amount: '0.00' } }, 'amount'],
    ['a negative amount', { fields: { amount: '-1.00' } }, 'amount'],
    ['more than is due', { fields: { amount: '80.01' } }, 'amount'],
    ['more decimals than the currency has', { fields: { amount: '1.001' } }, 'amount'],
    ['no department', { fields: { department: undefined } }, 'department'],
    ['a department that does not exist', { fields: { department: refTo('department', 99) } }, 'department'],
    ['another department than the invoice has', { fields: { department: refTo('department', 12) } }, 'department'],
    ['an unknown creator', { fields: { creator: refTo('user', 999_999) } }, 'creator'],
    ['no invoice and no prepayment_data', { fields: { invoice: undefined } }, 'invoice'],
    [
      'an invoice that does not exist',
      { fields: { invoice: refTo('invoice', 1) }, data: { invoice_id: 1 } },
      'invoice',
    ],
    ['no payment_link_data', { fields: { payment_link_data: undefined } }, 'payment_link_data'],
    ['no invoice_id', nested({ invoice_id: undefined }), 'payment_link_data'],
    ['an invoice_id of another invoice', nested({ invoice_id: 10_001 }), 'payment_link_data'],
    ['no duration', nested({ duration: undefined }), 'payment_link_data'],
    ['a duration of 0 minutes', nested({ duration: 0 }), 'payment_link_data'],
    ['an unknown delivery_method', nested({ delivery_method: 4 }), 'payment_link_data'],
    ['an e-mail address that is none', nested({ email: 'somebody' }), 'payment_link_data'],
    ['a phone number that is not international', nested({ phone: '0401234567' }), 'payment_link_data'],
    ['tokenize other than yes, no, ask', nested({ tokenize: 'maybe' }), 'payment_link_data'],
    ['an unknown recurring_model', nested({ recurring_model: 'weekly' }), 'payment_link_data'],
    ['a return_url without https', nested({ return_url: 'http://shop.example/' }), 'payment_link_data'],
    ['a return_url that is a script', nested({ return_url: 'javascript:alert(1)' }), 'payment_link_data'],
    ['a return_url with a user name', nested({ return_url: 'https://me@shop.example/' }), 'payment_link_data'],
    ['a return_url with a line break', nested({ return_url: 'https://a.example/\r\nx: y' }), 'payment_link_data'],
    [
      'prepayment_data beside an invoice',
      { fields: { prepayment_data: { client_id: 2001, department_id: 11, description: '' } } },
      'prepayment_data',
    ],
  ])('%s is refused, and nothing is made or sent', async (_case, changes, field) => {
    const before = [clinic().online.postransactions.size, clinic().online.messages.size];
    const refused = await post(invoiceLink(changes));
    expect([refused.status, refused.json]).toEqual([400, { [field]: [expect.any(String)] }]);
    expect([clinic().online.postransactions.size, clinic().online.messages.size]).toEqual(before);
  });

  test.each<[string, object]>([
    ['without client_id', { department_id: 11, description: '' }],
    ['of a client that does not exist', { client_id: 1, department_id: 11, description: '' }],
    ['without department_id', { client_id: 2001, description: '' }],
    ['of another department', { client_id: 2001, department_id: 12, description: '' }],
  ])('prepayment_data %s is refused', async (_case, prepayment_data) => {
    const refused = await post(prepaymentLink({ fields: { prepayment_data } }));
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, ['prepayment_data']]);
  });

  test.each([0, 1, 2, 4, 99])('a link for an invoice of status %i is refused', async (status) => {
    clinic().updateInvoice(invoice.id, { status });
    expect((await post(invoiceLink())).json).toEqual({ invoice: [expect.any(String)] });
  });

  test('"Department settings": without allow_nhp_processing there are no links', async () => {
    clinic().department(11).allow_nhp_processing = false;
    expect((await post(invoiceLink())).json).toEqual({ department: [expect.any(String)] });
    expect((await post(prepaymentLink())).json).toEqual({ department: [expect.any(String)] });
  });
});

describe('practice-api "payment_link_data": delivery', () => {
  const mobile = '+358401112233';
  const rows: [string, object, object, number, string[]][] = [
    ['0 Do not send', { delivery_method: 0 }, {}, 1, []],
    ['the default sends both', { phone: mobile }, {}, 2, ['email client1@example.org', `sms ${mobile}`]],
    ['1 sends both', { delivery_method: 1, phone: mobile }, {}, 2, ['email client1@example.org', `sms ${mobile}`]],
    ['2 Email only', { delivery_method: 2, phone: mobile }, {}, 2, ['email client1@example.org']],
    ['3 SMS only', { delivery_method: 3, phone: '+358 40 1112233' }, {}, 2, [`sms ${mobile}`]],
    [
      'a given address replaces the default',
      { delivery_method: 2, email: 'a@b.example' },
      {},
      2,
      ['email a@b.example'],
    ],
    ['an address that does not exist', { delivery_method: 2, email: 'a@b.invalid' }, {}, 3, ['email a@b.invalid']],
    ['no_email leaves the SMS', { phone: mobile }, { no_email: true }, 2, [`sms ${mobile}`]],
    ['no_sms leaves the e-mail', { phone: mobile }, { no_sms: true }, 2, ['email client1@example.org']],
    ['neither is wanted', { phone: mobile }, { no_sms: true, no_email: true }, 1, []],
  ];
  test.each(rows)('%s', async (_case, data, wishes, status, sent) => {
    const client = clinic().clients.get(2001);
    if (client) clinic().update(clinic().clients, client, wishes);
    const before = lastMessage();
    const link = await create(invoiceLink({ data }));
    expect(link.payment_link.delivery_status).toBe(status);
    const messages = await messagesAfter(before);
    expect(messages.map((one: Reply['json']) => `${one.channel} ${one.recipient}`)).toEqual(sent);
    for (const one of messages) expect(one.payment_link).toBe(link.payment_link.url);
  });

  test("the phone defaults to the client's first mobile number; without one the delivery by SMS fails", async () => {
    const client = clinic().insert(clinic().clients, inventClient(new Rng(1, 'payer'), 1));
    clinic().update(clinic().clients, client, { no_sms: false });
    const prepayment_data = { client_id: client.id, department_id: 11, description: '' };
    const body = prepaymentLink({ fields: { prepayment_data }, data: { delivery_method: 3 } });
    expect((await create(body)).payment_link.delivery_status).toBe(3);
    const { phoneNumbers } = clinic().people;
    clinic().insert(phoneNumbers, { client: client.id, phone_number: '+358912345', type_code: 0 });
    clinic().insert(phoneNumbers, { client: client.id, phone_number: '+358501234567', type_code: 1 });
    expect((await create(body)).payment_link.delivery_status).toBe(2);
    expect(clinic().online.messages.all().at(-1)?.recipient).toBe('+358501234567');
  });
});

describe('practice-api "Payment link": the page and the payment statuses', () => {
  test('the page shows what is to be paid, in plain HTML that loads nothing', async () => {
    const link = await create(invoiceLink({ data: { description: '<b>Rekku & "co"</b>' } }));
    const page = await open(link);
    const html = await page.text();
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none';/);
    expect(html).toContain('<dd>80.00</dd>');
    expect(html).toContain('&#60;b&#62;Rekku &#38; &#34;co&#34;&#60;/b&#62;');
    expect(html).toContain('2026-05-20 16:00');
    expect(html).not.toMatch(/<script|<link|<img|src=|<b>/);
  });

  test.each([
    ['card', 0],
    ['mobile', 7],
  ])('paid by %s: Accepted, and the invoice has a payment of type %i', async (method, type) => {
    const link = await create(invoiceLink());
    const paid = await submit(link, { action: 'pay', method });
    expect([paid.status, await (await open(link)).text()]).toEqual([303, expect.stringContaining('accepted')]);
    const after = await shown(link);
    expect(after).toMatchObject({ payment_method: method, aborted: false, payment_link: { payment_status: 5 } });
    const { results } = (await api().get('invoicepayment/', { invoice__is: invoice.id })).json;
    expect(results).toMatchObject([{ url: after.payment, payment_type: type, paid: '80.00' }]);
    expect(results[0].info).toContain(link.payment_link.external_id);
    expect(clinic().invoice(invoice.id)).toMatchObject({ due_sum: '0.00', date_paid: start });
  });

  test('a prepayment link paid makes the prepayment', async () => {
    const link = await create(prepaymentLink({ fields: { amount: 25 } }));
    await submit(link, { action: 'pay', method: 'card' });
    const after = await shown(link);
    const { results } = (await api().get('unallocatedpayment/', { client__is: 2001, page_size: 1000 })).json;
    const made = results.find((one: { url: string }) => one.url === after.unallocated_payment);
    expect(made).toMatchObject({
      paid: '25.00',
      unused_amount: '25.00',
      description: 'Deposit',
      department: link.department,
      payment_type: 0,
      status: 'Ready',
    });
    expect([after.payment, after.payment_link.payment_status]).toEqual([null, 5]);
  });

  test('the form posted twice, at the same moment or again later, pays once', async () => {
    const link = await create(invoiceLink({ fields: { amount: '40.00' } }));
    const twice = [submit(link, { action: 'pay' }), submit(link, { action: 'pay' })];
    expect((await Promise.all(twice)).map(({ status }) => status)).toEqual([303, 303]);
    await submit(link, { action: 'pay' });
    const deposit = await create(prepaymentLink());
    const before = clinic().prepayments.size;
    await Promise.all([submit(deposit, { action: 'pay' }), submit(deposit, { action: 'pay' })]);
    expect([paymentsOf(invoice.id).length, clinic().prepayments.size - before]).toEqual([1, 1]);
  });

  const ends: [string, Record<string, string> | null, number, string][] = [
    ['refused', { action: 'fail' }, 2, 'The payment failed'],
    ['left until it expires', null, 3, 'The link has expired'],
    ['aborted', { action: 'abort' }, 4, 'The payment was aborted'],
    ['paid', { action: 'pay' }, 5, 'accepted'],
  ];
  test.each(ends)('a link that is %s stays so, whatever is posted next', async (_case, form, status, text) => {
    const link = await create(invoiceLink());
    if (form) await submit(link, form);
    else nowMs = start + 3_600_000;
    expect(await (await open(link)).text()).toContain(text);
    for (const action of ['pay', 'fail', 'abort']) await submit(link, { action });
    const after = await shown(link);
    expect([after.payment_link.payment_status, after.aborted]).toEqual([status, status === 4]);
    expect(paymentsOf(invoice.id).length).toBe(status === 5 ? 1 : 0);
  });

  test('it can be paid until the last millisecond of its minutes', async () => {
    const link = await create(invoiceLink({ data: { duration: 1 } }));
    nowMs = start + 59_999;
    expect((await shown(link)).payment_link.payment_status).toBe(1);
    await submit(link, { action: 'pay' });
    nowMs = start + 60_000;
    expect((await shown(link)).payment_link.payment_status).toBe(5);
  });

  test.each<[string, () => unknown]>([
    ['was paid at the desk', () => clinic().pay(invoice.id, { payment_type: 1 })],
    ['was voided', () => clinic().voidInvoice(invoice.id)],
    ['is gone', () => clinic().deleteRecord('invoice', invoice.id)],
  ])('an invoice that %s meanwhile takes no payment: Failed', async (_case, meanwhile) => {
    const link = await create(invoiceLink());
    meanwhile();
    const before = clinic().invoicePayments.size;
    await submit(link, { action: 'pay' });
    expect(await (await open(link)).text()).toContain('role="alert"');
    const after = await shown(link);
    expect([after.payment_link.payment_status, after.payment, clinic().invoicePayments.size]).toEqual([
      2,
      null,
      before,
    ]);
  });

  test('of two links for all that is due, only the first is accepted', async () => {
    const [first, second] = [await create(invoiceLink()), await create(invoiceLink())];
    await Promise.all([submit(first, { action: 'pay' }), submit(second, { action: 'pay' })]);
    const ended = [(await shown(first)).payment_link.payment_status, (await shown(second)).payment_link.payment_status];
    expect([ended.sort(), paymentsOf(invoice.id).length]).toEqual([[2, 5], 1]);
  });

  test('return_url: the browser goes there after an accepted payment, and only then', async () => {
    const return_url = 'https://shop.example/thanks?order=7&x=%22';
    const paid = await create(invoiceLink({ data: { return_url } }));
    expect((await open(paid)).headers.get('content-security-policy')).toContain(
      "form-action 'self' https://shop.example;",
    );
    const answers = [await submit(paid, { action: 'pay' }), await submit(paid, { action: 'pay' })];
    expect(answers.map((one) => one.headers.get('location'))).toEqual([return_url, return_url]);
    const other = clinic().createInvoice({ department: 11, client: 2001, rows: [{ sum: '80.00' }] });
    const fields = { invoice: refTo('invoice', other.id) };
    const aborted = await create(invoiceLink({ fields, data: { return_url, invoice_id: other.id } }));
    const answer = await submit(aborted, { action: 'abort' });
    expect(new URL(answer.headers.get('location') ?? '', aborted.payment_link.url).href).toBe(aborted.payment_link.url);
    expect(await (await open(aborted)).text()).toContain('href="https://shop.example/thanks?order=7&#38;x=%22"');
    expect((await create(prepaymentLink({ data: { return_url: 'http://127.0.0.1:9/x' } }))).id).toBeGreaterThan(0);
  });

  test('tokenize: details are saved with consent only; `yes` needs it', async () => {
    const link = await create(invoiceLink({ data: { tokenize: 'yes', recurring_model: 'subscription' } }));
    const refused = await submit(link, { action: 'pay' });
    expect([refused.status, (await shown(link)).payment_link.payment_status]).toEqual([400, 1]);
    expect((await submit(link, { action: 'pay', consent: 'yes' })).status).toBe(303);
    expect(await (await open(link)).text()).toContain('saved for later payments');
    const asked = await create(prepaymentLink({ data: { tokenize: 'ask' } }));
    expect(await (await open(asked)).text()).toContain('(optional)');
    await submit(asked, { action: 'pay' });
    expect(await (await open(asked)).text()).not.toContain('saved for later payments');
    const never = await create(prepaymentLink());
    await submit(never, { action: 'pay', consent: 'yes' });
    expect(clinic().online.postransactions.get(never.id)?.link.consent).toBe(false);
  });

  test.each([{}, { action: 'refund' }, { action: 'pay', method: 'cash' }])(
    'a form of %o is refused and changes nothing',
    async (form) => {
      const link = await create(invoiceLink());
      expect((await submit(link, form as Record<string, string>)).status).toBe(400);
      expect((await shown(link)).payment_link.payment_status).toBe(1);
    },
  );

  test('an address that leads nowhere is a page with 404', async () => {
    const link = await create(invoiceLink());
    for (const url of [`${link.payment_link.url}0`, link.payment_link.url.replace('4711', '4712')]) {
      const page = await fetch(url);
      expect([page.status, await page.text()]).toEqual([404, expect.stringContaining('No such payment link')]);
      expect((await fetch(url, { method: 'POST', body: new URLSearchParams({ action: 'pay' }) })).status).toBe(404);
    }
  });
});

describe('practice-api "Endpoints: Payment links"', () => {
  test("an invoice's links are listed; a link that does not exist is 404", async () => {
    const links = [await create(invoiceLink()), await create(invoiceLink({ fields: { amount: '1.00' } }))];
    await create(prepaymentLink());
    const listed = (await api().get(`invoice/${invoice.id}/postransactions/`)).json;
    expect([listed.count, listed.results]).toEqual([2, links]);
    const second = (await api().get(`invoice/${invoice.id}/postransactions/`, { page_size: 1, page: 2 })).json;
    expect(second.results).toEqual([links[1]]);
    expect((await api().get('invoice/1/postransactions/')).status).toBe(404);
    expect((await api().get('postransaction/1/')).status).toBe(404);
    expect((await api().send('DELETE', `postransaction/${links[0].id}/`)).status).toBe(405);
  });
});
