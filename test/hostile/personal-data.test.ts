// Names of people: a changed name is posted, and names can be erased while the books stay intact.

import { describe, expect, onTestFinished, test } from 'vitest';
import { post } from '../../src/posting/index.ts';
import { vetledger } from '../cli/support.ts';
import { booksAfter, contextOf, invoice1001, nothingBefore, paymentFacts, paymentOf } from '../posting/support.ts';
import { startTestClinic } from '../support/clinic.ts';

const payer = (name: string | null, vatNumber: string | null = null) => ({ name, vatNumber, countryCode: 'FI' });
const context = contextOf();
const invoiceOf = (name: string | null) => invoice1001({ payer: payer(name) });
const documents = {
  invoice: invoiceOf,
  payment: (name: string | null) => paymentFacts(paymentOf(0, '100.00'), invoiceOf(name).invoice),
};

describe.each(Object.entries(documents))('a payer whose name changes: the %s', (_, facts) => {
  const posted = booksAfter(post(facts('Aino Virtanen'), nothingBefore, context));

  test('posts nothing; its remark names no person', () => {
    const decision = post(facts('Aino Harjula'), posted, context);
    expect(decision).toMatchObject({ state: 'posted', entries: [] });
    expect(decision.reports.map(({ code }) => code)).toContain('payer_name_changed');
    expect(JSON.stringify(decision.reports)).not.toMatch(/Virtanen|Harjula/);
    expect(post(facts('Aino Virtanen'), posted, context).reports).toEqual([]);
    expect(post(facts(null), posted, context)).toMatchObject({ entries: [], reports: [] });
  });
});

test('a VAT number or a country is a posted fact', () => {
  const posted = booksAfter(post(invoiceOf('A'), nothingBefore, context));
  expect(post(invoice1001({ payer: payer('A', 'FI1') }), posted, context).entries).toHaveLength(2);
});

test('the names of a client are erased for good; the books stay whole, and the same record brings no name back', async () => {
  const clinic = await startTestClinic({ invoices: 40 });
  onTestFinished(() => clinic.stop());
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
  const [one] = await clinic.rows<{ client: number; name: string }>(
    `select substring(raw ->> 'client' from '([0-9]+)/*$')::int as client, max(raw ->> 'payer_name') as name from mirror_record
     where kind = 'invoice' and raw ->> 'status' = '3' and raw ->> 'payer_name' <> '' and raw ->> 'client' is not null
     group by 1 order by count(*) desc, 1 limit 1`,
  );
  const { client, name } = one!;
  const run = (...args: string[]) => vetledger([...args, '--config', clinic.config], clinic.env);
  const entries = () => clinic.rows('select id, hash, input_hash from entry order by seq');
  const before = await entries();
  const named = async () => {
    const found = await clinic.rows<{ n: number }>(
      `select (select count(*) from mirror_record where strpos(raw::text, ?) > 0 and substring(raw ->> 'client' from '([0-9]+)/*$')::int = ?)::int
         + (select count(*) from mirror_version where strpos(raw::text, ?) > 0 and substring(raw ->> 'client' from '([0-9]+)/*$')::int = ?)::int
         + (select count(*) from entry_party_name where party_code = ?)::int as n`,
      [name, client, name, client, `client:${client}`],
    );
    return found[0]?.n;
  };
  expect(await named()).toBeGreaterThan(1);
  expect(await run('erase', 'client', String(client), '--reason', 'asked for')).toMatchObject({ code: 2 });
  expect(await named()).toBeGreaterThan(1);
  // The client's name was written into a reason.
  const words = name.split(' ').reverse().join(' – ').toUpperCase();
  expect(await run('pause', '--yes', '--reason', `${words} called`, '--by', 'M')).toMatchObject({ code: 0 });
  expect(await run('resume', '--reason', 'all is well')).toMatchObject({ code: 0 });
  const ran = await run('erase', 'client', String(client), '--reason', 'asked for', '--by', 'M', '--yes', '--json');
  expect(ran.stdout).not.toContain('"error"');
  expect(ran.json()).toMatchObject({ client, reason: 'asked for', reasons: 1 });
  expect(await clinic.rows('select reason from action_done order by id')).toEqual(
    ['(erased)', 'all is well', 'asked for'].map((reason) => ({ reason })),
  );
  expect(await named()).toBe(0);
  expect(await run('ledger', 'verify')).toMatchObject({ code: 0 });
  const csv = await run('export', '--format', 'csv', '--documents');
  expect(csv.stdout).toContain(`client:${client}`);
  expect(csv.stdout.split('\r\n').filter((line) => line.includes(`client:${client},`) && line.includes(name))).toEqual(
    [],
  );
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed', posted: 0 });
  expect(await named()).toBe(0);
  expect(await entries()).toEqual(before);
  expect(await clinic.rows(`select input, reason, acted_by from action_done where kind = 'erase_client'`)).toEqual([
    { input: `{"client":${client}}`, reason: 'asked for', acted_by: 'M' },
  ]);
  await expect(clinic.rows('delete from action')).rejects.toThrow();
});

describe.each(['mapped', 'all'])('erasing a client, keep_raw: %s', (keepRaw) => {
  test('reaches prepayments, payments and rows, and their earlier versions; other clients keep theirs', async () => {
    const clinic = await startTestClinic({ invoices: 60, settings: { keep_raw: keepRaw } });
    onTestFinished(() => clinic.stop());
    const source = clinic.sandbox.clinic;
    const { invoices, invoicePayments, invoiceRows, prepayments } = source;
    const paidBy = (id: number) => invoices.get(invoicePayments.get(id)!.invoice)?.client;
    const final = invoices.all().filter(({ status }) => status === 3);
    // A client with paid invoices and prepayments, and another client with the same.
    const [client, other] = [...new Set(prepayments.all().map((one) => one.client))].filter((each) =>
      final.some((one) => one.client === each && invoicePayments.of(one.id).length > 0),
    ) as [number, number];
    const personal = (of: number | null | undefined) => `Musti, dog of ${of} in Siltakatu`;
    const describe = (when: string) => {
      for (const one of invoices.all())
        source.update(invoices, one, { payer_name: `${personal(one.client)}, ${when}` });
      for (const one of prepayments.all()) {
        source.update(prepayments, one, { description: `${personal(one.client)}, ${when}` });
      }
      for (const one of invoicePayments.all()) {
        Object.assign(one, { info: personal(paidBy(one.id)), payer_name: personal(paidBy(one.id)) });
      }
      for (const one of invoiceRows.all()) {
        const extra = { ...one.invoice_row_extra, patient: `${personal(invoices.get(one.invoice)?.client)}, ${when}` };
        source.update(invoiceRows, one, { invoice_row_extra: extra });
      }
    };
    describe('at first');
    expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
    describe('later');
    expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
    const named = async (of: number) => {
      const found = await clinic.rows<{ place: string }>(
        `select distinct 'mirror_record ' || kind as place from mirror_record where strpos(raw::text, ?) > 0
         union select distinct 'mirror_version ' || kind from mirror_version where strpos(raw::text, ?) > 0
         union select 'entry_party_name' from entry_party_name where strpos(name, ?) > 0 order by 1`,
        [personal(of), personal(of), personal(of)],
      );
      return found.map(({ place }) => place);
    };
    const everywhere = [
      'entry_party_name',
      ...['mirror_record', 'mirror_version'].flatMap((table) => [`${table} invoice`, `${table} prepayment`]),
    ];
    const whole = ['mirror_record payment', 'mirror_record row', 'mirror_version row'];
    const places = (keepRaw === 'all' ? [...everywhere, ...whole] : everywhere).sort();
    expect((await named(client)).sort()).toEqual(places);
    const others = await named(other);
    const raws = () =>
      clinic.rows(
        `select kind, id, raw #>> '{external_info}' as info, raw ->> 'paid' as paid from mirror_record order by 1, 2`,
      );
    const before = await raws();
    const entries = await clinic.rows('select id, hash from entry order by seq');

    const args = ['erase', 'client', String(client), '--reason', 'asked for', '--yes', '--config', clinic.config];
    expect(await vetledger(args, clinic.env)).toMatchObject({ code: 0 });
    expect(await named(client)).toEqual([]);
    expect(await named(other)).toEqual(others);
    expect(await raws()).toEqual(before);
    expect(await clinic.sync('again')).toMatchObject({ outcome: 'closed', posted: 0 });
    expect(await named(client)).toEqual([]);
    expect(await clinic.rows('select id, hash from entry order by seq')).toEqual(entries);
    expect(await clinic.wrongBooks()).toEqual([]);
  });
});

describe.each([
  ['mapped', []],
  ['all', ['mirror_record']],
])('keep_raw: %s', (keepRaw, where) => {
  test(`a field that nothing reads is ${where.length === 0 ? 'in no table' : 'in the mirror'}`, async () => {
    const clinic = await startTestClinic({ invoices: 40, settings: { keep_raw: keepRaw } });
    onTestFinished(() => clinic.stop());
    const { invoices, invoicePayments, invoiceRows, prepayments } = clinic.sandbox.clinic;
    const unread = 'Siltakatu 4711';
    for (const invoice of invoices.all()) invoice.payer_street_address = unread;
    for (const payment of invoicePayments.all()) payment.info = unread;
    for (const row of invoiceRows.all())
      Object.assign(row, { invoice_row_extra: { ...row.invoice_row_extra, patient: unread } });
    // A field that is sent back as a whole is stored as a whole.
    expect(JSON.stringify(prepayments.all())).not.toContain(unread);
    expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
    const tables = await clinic.rows<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind in ('r', 'p') and n.nspname = 'vetledger'`,
    );
    expect(tables.map(({ name }) => name)).toContain('mirror_record');
    const found: string[] = [];
    for (const { name } of tables) {
      const [table] = await clinic.rows<{ n: number }>(
        `select count(*)::int as n from ${name} t where strpos(t::text, ?) > 0`,
        [unread],
      );
      if (table!.n > 0) found.push(name);
    }
    expect(found).toEqual(where);
    const ran = await vetledger(['ledger', 'verify', '--config', clinic.config], clinic.env);
    expect(ran).toMatchObject({ code: 0 });
    expect(await clinic.wrongBooks()).toEqual([]);
  });
});
