import { afterEach, expect, test } from 'vitest';
import { documentProblems } from '../../src/queries/problems.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { changeRecords, startTamperingProxy, type TamperingProxy } from '../support/tampering.ts';

/** Records without an id that serves, and records of another tenant: they are put aside by name, and all others are posted. */

let clinic: TestClinic;
let proxy: TamperingProxy;
afterEach(async () => {
  await clinic.stop();
  await proxy.stop();
});

type Change = (raw: string, record: Record<string, unknown>) => string;

async function clinicBehindProxy(): Promise<void> {
  proxy = await startTamperingProxy();
  clinic = await startTestClinic({ seed: 5, invoices: 60, settings: { base_url: proxy.url } });
  proxy.target = clinic.sandbox.url;
}

const withId = (id: string): Change => {
  return (raw) => raw.replace(/"id":\d+/, id === '' ? '"no_id":1' : `"id":${id}`);
};

const problems = () => documentProblems(clinic.app.db, clinic.app.config.installations);

const dayPasses = () => clinic.rows('update installation_state set census_taken_at = null');

const unusable: [string, Change, RegExp][] = [
  ['2^53 + 1', withId('9007199254740993'), /its id is 9007199254740993/],
  ['-7', withId('-7'), /its id is -7/],
  ['0', withId('0'), /its id is 0/],
  ['a text', withId('"x7"'), /its id is "x7"/],
  ['a fraction', withId('7.5'), /its id is 7.5/],
  ['null', withId('null'), /it has no id/],
  ['no member', withId(''), /it has no id/],
  ['null in place of the record', () => 'null', /it is no record but null/],
  ['a text in place of the record', () => '"Aino Virtanen"', /it is no record but a text/],
  ['a list in place of the record', () => '[1]', /it is no record but a list/],
  [
    'an address of another installation',
    (raw) => raw.replace(/("url":"[^"]*)\/\d+\/api/, '$1/999999/api'),
    /its url names another installation or another resource/,
  ],
  [
    'an address of another resource',
    (raw) => raw.replace(/("url":"[^"]*\/0\.1)\/\w+\//, '$1/banana/'),
    /its url names another installation or another resource/,
  ],
];

test.each(unusable)('%s for an id: put aside by name, all others are posted', async (_, change, says) => {
  await clinicBehindProxy();
  const source = clinic.sandbox.clinic;
  const lists = {
    invoice: source.invoices,
    invoicepayment: source.invoicePayments,
    unallocatedpayment: source.prepayments,
  };
  const culprits = Object.entries(lists).map(([list, table]) => [list, table.all().at(2)?.id] as const);
  proxy.tamper = (answer, request) => {
    for (const [list, id] of culprits) {
      if (!request.path.split('?')[0]?.endsWith(`/${list}/`)) continue;
      return changeRecords(list, (raw, record) => (record.id === id ? change(raw, record) : raw))(answer, request);
    }
    return answer;
  };
  const window = await clinic.sync();
  expect(window.error ?? null).toBeNull();
  const aside = (await problems()).filter(({ code }) => ['record_unusable', 'foreign_record'].includes(code));
  expect(aside.map(({ document }) => document.split(' ')[0]).sort()).toEqual(['invoice', 'payment', 'prepayment']);
  for (const { message } of aside) {
    expect(message).toMatch(says);
    expect(message).toMatch(/record \d+ of the (first )?page/);
    expect(message).not.toMatch(/Aino/);
  }
  const { installations } = await clinic.reconcile();
  const [found] = installations;
  expect(found?.equations.E6).toMatchObject({ ok: true });
  expect(found?.complete).toBe(false);
  for (const kind of ['invoices', 'payments', 'prepayments'] as const) {
    expect(found?.states[kind].put_aside).toBe(1);
    expect(Object.values(found?.states[kind] ?? {}).reduce((a, b) => a + b, 0)).toBe(
      { invoices: lists.invoice, payments: lists.invoicepayment, prepayments: lists.unallocatedpayment }[kind].all()
        .length,
    );
  }

  // Another window changes nothing; the record as it should be ends it.
  clinic.sandbox.live(1);
  expect((await clinic.sync()).error ?? null).toBeNull();
  expect((await clinic.rows('select from put_aside')).length).toBe(3);
  proxy.tamper = (answer) => answer;
  await dayPasses();
  expect((await clinic.sync()).error ?? null).toBeNull();
  expect((await clinic.sync()).error ?? null).toBeNull();
  expect(await clinic.rows('select from put_aside')).toEqual([]);
  expect(await clinic.wrongBooks()).toEqual([]);
  expect((await clinic.reconcile()).installations[0]?.equations.E6).toMatchObject({ ok: true });
});
