import { afterEach, expect, test } from 'vitest';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { changeRecords, startTamperingProxy, type Tamper, type TamperingProxy } from '../support/tampering.ts';

let clinic: TestClinic;
let proxy: TamperingProxy;
afterEach(async () => {
  await clinic.stop();
  await proxy.stop();
});

async function hostileClinic(tamper: (of: TestClinic) => Tamper): Promise<void> {
  proxy = await startTamperingProxy();
  clinic = await startTestClinic({ seed: 5, invoices: 60, settings: { base_url: proxy.url } });
  proxy.target = clinic.sandbox.url;
  proxy.tamper = tamper(clinic);
}

const problems = () =>
  clinic.rows<{ document: string; code: string; message: string }>(
    `select kind || ' ' || id as document, problem_code as code, problem_message as message from document
     where problem_code is not null order by 1`,
  );

async function paymentsOf(invoice: number | null): Promise<string[]> {
  const found = await clinic.rows<{ id: number }>(
    `select id from mirror_record where kind = 'payment' and parent_id = ?`,
    [invoice],
  );
  return found.map(({ id }) => `payment ${id}`);
}

interface Poison {
  list: string;
  /** Fields of the record as JSON text, which replace the original ones. */
  fields: Record<string, string>;
  document: 'invoice' | 'payment' | 'prepayment';
  code: string;
  says: RegExp;
}

const poisons: [string, Poison][] = [
  [
    'a payment of the last second of 9999, which is in the year 10000 in Helsinki',
    {
      list: 'invoicepayment',
      fields: { date_added: '"9999-12-31T23:59:59Z"' },
      ...{ document: 'payment', code: 'date_invalid', says: /9999-12-31T23:59:59Z/ },
    },
  ],
  [
    'an invoice due then',
    {
      list: 'invoice',
      fields: { invoice_due_date: '"9999-12-31T23:59:59Z"' },
      ...{ document: 'invoice', code: 'date_invalid', says: /due date/ },
    },
  ],
  [
    'a VAT rate of 17,000 decimals',
    {
      list: 'invoicerow',
      fields: {
        invoicerow_vat_group: `{"id":1,"name":"x","account_number":"2930","percentage":"0.${'1'.repeat(17_000)}"}`,
      },
      ...{ document: 'invoice', code: 'amount_invalid', says: /more than 30 digits/ },
    },
  ],
  [
    'an amount of 140,000 digits',
    {
      list: 'unallocatedpayment',
      fields: { paid: '9'.repeat(140_000) },
      ...{ document: 'prepayment', code: 'amount_invalid', says: /more than 30 digits/ },
    },
  ],
  [
    'an amount that is NaN, which is no JSON',
    {
      list: 'unallocatedpayment',
      fields: { paid: 'NaN', description: '"NaN, \\"-Infinity"' },
      ...{ document: 'prepayment', code: 'amount_invalid', says: /paid is not a decimal number/ },
    },
  ],
  [
    'a client whose id is beyond 2^53',
    {
      list: 'unallocatedpayment',
      fields: { client: '"http://x/client/90071992547409930000/"' },
      ...{ document: 'prepayment', code: 'field_invalid', says: /client is not a reference/ },
    },
  ],
];

test.each(poisons)('%s holds its own document and no other', async (_, poison) => {
  let culprit: number | null = null;
  const idOf = (record: Record<string, unknown>) =>
    poison.list === 'invoicerow' ? Number(/\/(\d+)\/$/.exec(String(record.invoice))?.[1]) : Number(record.id);
  await hostileClinic((of) => {
    const final = new Set(
      of.sandbox.clinic.invoices
        .all()
        .filter(({ status }) => status === 3)
        .map(({ id }) => id),
    );
    return changeRecords(poison.list, (raw, record) => {
      if (culprit === null && (poison.document !== 'invoice' || final.has(idOf(record)))) culprit = idOf(record);
      if (idOf(record) !== culprit) return raw;
      const { ...others } = record;
      for (const name of Object.keys(poison.fields)) delete others[name];
      const parts = Object.entries(poison.fields).map(([name, text]) => `"${name}":${text}`);
      return `${JSON.stringify(others).slice(0, -1)},${parts.join(',')}}`;
    });
  });
  const window = await clinic.sync();
  expect(window.error ?? null).toBeNull();
  const found = await problems();
  const own = found.filter(({ document }) => document === `${poison.document} ${culprit}`);
  expect(own, JSON.stringify(found)).toEqual([
    { document: `${poison.document} ${culprit}`, code: poison.code, message: expect.stringMatching(poison.says) },
  ]);
  expect(own[0]?.message.length).toBeLessThan(400);
  // The payments of a held invoice wait for it, because they need its receivable.
  const waiting = poison.document === 'invoice' ? await paymentsOf(culprit) : [];
  expect(found.filter(({ document }) => !waiting.includes(document))).toEqual(own);
});

test('a NUL and half a character in a text stop neither the window nor a question about the mirror', async () => {
  await hostileClinic(() => changeRecords('invoice', (raw) => `${raw.slice(0, -1)},"payer_name":"a\\u0000b\\ud83d"}`));
  const window = await clinic.sync();
  expect(window.error ?? null).toBeNull();
  expect(
    await clinic.rows(`select count(*) from mirror_record where raw ->> 'payer_name' is null and kind = 'invoice'`),
  ).toEqual([{ count: 0 }]);
  expect(await problems()).toEqual([]);
});

test('a refusal with a NUL in it is recorded, and the window closes', async () => {
  await hostileClinic(
    () =>
      (answer, { method }) =>
        method === 'PATCH'
          ? {
              ...answer,
              status: 400,
              body: '{"detail":"bad \\u0000 \\ud83d"}',
              headers: { 'content-type': 'application/json' },
            }
          : answer,
  );
  const window = await clinic.sync();
  expect(window.error ?? null).toBeNull();
  const refused = await clinic.rows<{ error: string }>(
    `select distinct left(error, 400) as error from write_back where state = 'failed'`,
  );
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]?.error).toContain('refused (400)');
});
