import { afterEach, expect, test } from 'vitest';
import type { InstallationConfig } from '../../src/config/load-config.ts';
import { documentProblems } from '../../src/queries/problems.ts';
import { pullById } from '../../src/sync/by-id.ts';
import type { SourceKind } from '../../src/terms.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { pullContextOf } from '../support/pull-context.ts';
import { changeRecords, startTamperingProxy, type TamperingProxy } from '../support/tampering.ts';

/**
 * Records without a usable id, and records of another installation, are put aside by name, and all others are posted.
 */

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
  ['null in place of the record', () => 'null', /it is null, not a record/],
  ['a text in place of the record', () => '"Aino Virtanen"', /it is a text, not a record/],
  ['a list in place of the record', () => '[1]', /it is a list, not a record/],
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

  // Another window changes nothing; the corrected record ends the problem.
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

test('every record of a page is another tenant’s: the window stops with a plain error, and nothing is stored', async () => {
  await clinicBehindProxy();
  proxy.tamper = (answer) => ({ ...answer, body: answer.body.replaceAll(/\/4711\/api/g, '/4712/api') });
  const window = await clinic.sync();
  expect(window).toMatchObject({ outcome: 'failed', error: { code: 'other_tenant' } });
  expect(window.error?.message).toMatch(/every record of a page of the \w+ list belongs to another installation/);
  expect(await clinic.rows('select from mirror_record')).toEqual([]);
  proxy.tamper = (answer) => answer;
  expect((await clinic.sync()).error ?? null).toBeNull();
  expect(await clinic.wrongBooks()).toEqual([]);
});

const references: [string, string, string, string][] = [
  ['a client of another installation', 'unallocatedpayment', 'client', 'prepayment'],
  ['a department of another installation', 'invoice', 'department', 'invoice'],
  ['an invoice of another installation', 'invoicepayment', 'invoice', 'payment'],
];

test.each(references)('%s holds the document, and an entry in force stays', async (_, list, field, kind) => {
  await clinicBehindProxy();
  const source = clinic.sandbox.clinic;
  const final = source.invoices.all().find(({ status, credit_note }) => status === 3 && !credit_note);
  const id = {
    unallocatedpayment: source.prepayments.all().at(1)?.id,
    invoice: final?.id,
    invoicepayment: source.invoicePayments.all().at(1)?.id,
  }[list];
  const held = () =>
    clinic.rows<{ document: string; state: string; code: string }>(
      `select kind || ' ' || id as document, state, problem_code as code from document
       where problem_code = 'foreign_reference' and kind = ? order by 1`,
      [kind],
    );
  const abroad = changeRecords(list, (raw, record) =>
    record.id === id ? raw.replace(new RegExp(`("${field}":"[^"]*)/4711/api`), '$1/4712/api') : raw,
  );
  proxy.tamper = abroad;
  expect((await clinic.sync()).error ?? null).toBeNull();
  expect(await held()).toEqual([{ document: `${kind} ${id}`, state: 'held', code: 'foreign_reference' }]);
  const entries = () => clinic.rows('select from entry where kind = ? and document_id = ?', [kind, id ?? 0]);
  expect(await entries()).toEqual([]);
  const { db, config, practice } = clinic.app;
  const [{ id: installation, dialect, keepRaw }] = config.installations as [InstallationConfig];
  const context = pullContextOf({ db, installation, dialect, keepRaw, client: practice(installation) });
  const askAgain = async () => {
    await pullById(context, kind as SourceKind, id ?? 0);
    expect((await clinic.sync()).error ?? null).toBeNull();
  };
  proxy.tamper = (answer) => answer;
  await askAgain();
  expect(await held()).toEqual([]);
  expect(await entries()).toHaveLength(1);
  proxy.tamper = abroad;
  await askAgain();
  expect(await held()).toEqual([{ document: `${kind} ${id}`, state: 'posted', code: 'foreign_reference' }]);
  expect(await entries()).toHaveLength(1);
});

test('a row whose invoice is of another installation belongs to no document: it is named, and its invoice is held', async () => {
  await clinicBehindProxy();
  const source = clinic.sandbox.clinic;
  const final = new Set(source.invoices.all().flatMap(({ id, status }) => (status === 3 ? id : [])));
  const row = source.invoiceRows.all().find(({ invoice }) => final.has(invoice));
  const abroad = changeRecords('invoicerow', (raw, record) =>
    record.id === row?.id ? raw.replace(/("invoice":"[^"]*)\/4711\/api/, '$1/4712/api') : raw,
  );
  proxy.tamper = abroad;
  expect((await clinic.sync()).error ?? null).toBeNull();
  const found = await problems();
  expect(found.filter(({ code }) => code === 'foreign_reference')).toMatchObject([{ document: `row ${row?.id}` }]);
  expect(found.filter(({ document }) => document === `invoice ${row?.invoice}`)).toMatchObject([
    { code: expect.stringMatching(/totals_disagree|rows_missing/) },
  ]);
  proxy.tamper = (answer) => answer;
  await dayPasses();
  expect((await clinic.sync()).error ?? null).toBeNull();
  expect((await clinic.sync()).error ?? null).toBeNull();
  expect(await problems()).toEqual([]);
  expect(await clinic.wrongBooks()).toEqual([]);
});
