import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reportText } from '../../src/cli/commands/report-text.ts';
import { Money } from '../../src/domain/money.ts';
import { section } from '../../src/reports/report-sections.ts';
import { vetledger } from '../cli/support.ts';
import { clockFrom, startTestClinic, type TestClinic } from '../support/clinic.ts';
import { SourceFigures } from '../support/source-figures.ts';

const timezone = 'Europe/Helsinki';
const farDay = '2100-12-31';
/** The clinic's creation day decides which months have gift cards and sales to the EU. */
const now = clockFrom('2026-09-13T09:00:00Z');

interface Figures {
  figures: ({ documents: Record<string, string>[] } & Record<string, string>)[];
  total: Record<string, string>;
}

test('figures are sums of their documents, and the total is the sum of the figures', () => {
  const shape = {
    ...{ name: 's', title: 's', facts: [] },
    keys: [{ name: 'customer', title: 'customer' }],
    amounts: [{ name: 'open', title: 'open' }],
  };
  const item = (customer: string | null, id: number, open: string) => ({
    ...{ keys: { customer }, document: `invoice ${id}`, facts: {}, amounts: { open: new Money(open) } },
  });
  const made = section(shape, [item('b', 1, '1.10'), item(null, 2, '-3'), item('b', 3, '0.90')]);
  expect(
    made.figures.map(({ keys, amounts, items }) => [keys.customer, amounts.open?.toFixed(2), items.length]),
  ).toEqual([
    ['b', '2.00', 2],
    [null, '-3.00', 1],
  ]);
  expect(made.total.open?.toFixed(2)).toBe('-1.00');
});

test('as text, a figure whose documents offset each other stands only with its documents', async () => {
  const shape = {
    ...{ name: 's', title: 'Open items', facts: [] },
    keys: [{ name: 'customer', title: 'customer' }],
    amounts: [{ name: 'open', title: 'open' }],
  };
  const item = (customer: string, id: number, open: string) => ({
    ...{ keys: { customer }, document: `invoice ${id}`, facts: {}, amounts: { open: new Money(open) } },
  });
  const made = section(shape, [item('a', 1, '1.00'), item('b', 2, '-3'), item('b', 3, '3.00')]);
  const installation = { id: 4711, name: null, currency: 'EUR', decimals: 2, timezone, startDate: null };
  const report = {
    report: 's',
    installation,
    period: { from: null, through: farDay },
    of: 'day' as const,
    recordedBy: null,
    outside: {},
  };
  const text = async (sections: (typeof made)[], documents: boolean) => {
    let all = '';
    for await (const piece of reportText([{ ...report, sections }], { documents })) all += piece;
    return all;
  };
  expect(await text([made], false)).toBe(
    `Installation 4711, at the end of ${farDay}, EUR

Open items
  customer  open
  a         1.00
  total     1.00
  1 line of 0.00 not shown; \`--documents\` shows them`,
  );
  expect(await text([made], true)).toContain('b                     0.00\n            invoice 2  -3.00\n');
  expect(await text([section(shape, [item('b', 2, '-3'), item('b', 3, '3.00')])], false)).toMatch(
    /nothing\n {2}1 line of 0\.00/,
  );
});

let clinic: TestClinic;
let source: SourceFigures;
beforeAll(async () => {
  clinic = await startTestClinic({ now, seed: 31, invoices: 90 });
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed', held: 0 });
  source = new SourceFigures(clinic.sandbox.clinic, timezone);
});
afterAll(() => clinic.stop());

const command = (line: string, of: TestClinic = clinic) =>
  vetledger([...line.split(' '), '--config', of.config], of.env);

async function sections(line: string, of: TestClinic = clinic): Promise<Record<string, Figures>> {
  const ran = await command(`report ${line} --json`, of);
  expect(ran.stderr).toBe('');
  return ran.json().installations[0].sections;
}

/** Every figure of a report must be the sum of its documents, and the total the sum of all. */
function addsUp({ figures, total }: Figures): void {
  for (const [name, sum] of Object.entries(total)) {
    const of = (rows: Record<string, unknown>[]) =>
      rows.reduce((all, row) => all.plus(String(row[name])), new Money(0)).toFixed();
    const plain = (text: string | undefined) => new Money(text ?? 'none').toFixed();
    for (const figure of figures) expect(`${name} ${of(figure.documents)}`).toBe(`${name} ${plain(figure[name])}`);
    expect(`${name} ${of(figures)}`).toBe(`${name} ${plain(sum)}`);
  }
}

/** The entries' figure must equal the source's figure plus the difference and the part that is not compared. */
function isExplained({ figures, total }: Figures): void {
  const of = (row: Record<string, unknown>, name: string) => new Money(String(row[name] ?? 'none'));
  for (const row of [...figures.flatMap((figure) => [figure, ...figure.documents]), total] as Record<string, unknown>[])
    for (const name of ['base', 'tax']) {
      const explained = ['source_', '', ''].map((before, at) =>
        of(row, `${before}${name}${['', '_difference', '_not_compared'][at]}`),
      );
      const [source, difference, notCompared] = explained as [Money, Money, Money];
      expect(source.plus(difference).plus(notCompared).toFixed()).toBe(of(row, name).toFixed());
    }
}

/** The payer's name on the client's newest invoice, from the source's records. */
function payerOf({ sandbox }: TestClinic, client: number): string | null {
  const own = sandbox.clinic.invoices.all().filter((invoice) => invoice.client === client);
  return own.at(-1)?.payer_organization_name || own.at(-1)?.payer_name || null;
}

describe('report receivables', () => {
  test('is what the source says is open, and what E2 has in the books', async () => {
    const { receivables } = (await sections(`receivables --as-of ${farDay}`)) as { receivables: Figures };
    addsUp(receivables);
    const got = receivables.figures.flatMap(({ customer, documents }) =>
      documents.map(({ document, open }) => ({ document, customer, open })),
    );
    const asked = source.openItems(farDay).map(({ invoice, client, open }) => ({
      ...{ document: `invoice ${invoice}`, customer: client === null ? expect.any(String) : `client:${client}`, open },
    }));
    const byDocument = (a: { document: string | undefined }, b: { document: string | undefined }) =>
      a.document! < b.document! ? -1 : 1;
    expect(got.toSorted(byDocument)).toEqual(asked.toSorted(byDocument));
    const [{ sum }] = (await clinic.rows<{ sum: string }>(
      `select sum(case side when 'debit' then amount else -amount end)::text from entry_line where role = 'receivable'`,
    )) as [{ sum: string }];
    expect(receivables.total.open).toBe(new Money(sum).toFixed(2));
  });

  test('each open amount stands in the column of its age, counted in days from the due date', async () => {
    const { receivables } = (await sections(`receivables --as-of ${farDay}`)) as { receivables: Figures };
    expect(receivables.total).toMatchObject({ not_due: '0.00', days_1_30: '0.00', over_90: receivables.total.open });
    const due = receivables.figures[0]!.documents[0]!.due_date!;
    const then = (await sections(`receivables --as-of ${due}`)).receivables!;
    addsUp(then);
    const own = then.figures.flatMap(({ documents }) => documents).filter(({ due_date }) => due_date === due);
    expect(own.length).toBeGreaterThan(0);
    for (const { open, not_due, days_overdue } of own) expect([not_due, days_overdue]).toEqual([open, 0]);
  });

  test('as text, with the documents, and as a table whose lines add up', async () => {
    const text = (await command(`report receivables --as-of ${farDay} --documents`)).stdout;
    expect(text).toMatch(/^Installation .*at the end of 2100-12-31, EUR\n\nOpen items per customer/);
    expect(text).toMatch(/\n {2}total .*\d+\.\d\d\n$/);
    const { receivables } = (await sections(`receivables --as-of ${farDay}`)) as { receivables: Figures };
    const csv = (await command(`report receivables --as-of ${farDay} --csv`)).stdout.trimEnd().split('\r\n');
    const [header, ...lines] = csv.map((line) => line.split(','));
    const column = header!.indexOf('open');
    const sum = lines.reduce((all, cells) => all.plus(cells[column]!), new Money(0));
    expect(sum.toFixed(2)).toBe(receivables.total.open);
    expect(lines).toHaveLength(receivables.figures.flatMap(({ documents }) => documents).length);
  });
});

describe('report prepayments', () => {
  test('is what the source says is unused, and E3 in the books', async () => {
    const { prepayments, clients } = (await sections(`prepayments --as-of ${farDay}`)) as Record<string, Figures>;
    addsUp(prepayments!);
    addsUp(clients!);
    expect(prepayments!.total.unused).toBe(source.unusedNow());
    expect(clients!.total).toEqual(prepayments!.total);
    const [{ sum }] = (await clinic.rows<{ sum: string }>(
      `select sum(case side when 'credit' then amount else -amount end)::text from entry_line where role = 'prepayment_liability'`,
    )) as [{ sum: string }];
    expect(prepayments!.total.in_books).toBe(new Money(sum).toFixed(2));
    expect(prepayments!.total.in_books).toBe(prepayments!.total.unused);
  });

  test('has as many unused prepayments as the note of the VAT report says', async () => {
    for (const month of ['2026-01', '2026-02', '2026-03']) {
      const [{ vat_return: _, through, unused_prepayments_without_vat: note }] = (
        await command(`report vat --month ${month} --json`)
      ).json().installations;
      const { prepayments } = (await sections(`prepayments --as-of ${through}`)) as { prepayments: Figures };
      const open = prepayments.figures.filter(({ unused }) => !new Money(unused!).isZero());
      const amount = open.reduce((all, { unused }) => all.plus(unused!), new Money(0)).toFixed(2);
      expect(note).toEqual({ prepayments: open.length, amount });
    }
  });

  test('each prepayment with its uses and refunds to a day, where its uses could be matched', async () => {
    const days = await clinic.rows<{ day: string }>(
      `select distinct document_date::text as day from document where kind = 'prepayment' and document_date is not null order by 1`,
    );
    let compared = 0;
    for (const { day } of [days[Math.floor(days.length / 2)]!, days.at(-1)!]) {
      const { prepayments } = (await sections(`prepayments --as-of ${day}`)) as { prepayments: Figures };
      addsUp(prepayments);
      const asked = source.prepayments(day);
      const unmatched = new Set(prepayments.figures.map(({ unmatched: document }) => document));
      const figures = new Map(prepayments.figures.map((figure) => [Number(figure.prepayment), figure]));
      for (const [id, { client, day: date, uses, ...amounts }] of asked) {
        // An unmatched use is listed separately and lowers no prepayment.
        if (uses.some((use) => unmatched.has(`payment ${use}`))) continue;
        compared += 1;
        const { documents: _, name: _name, unmatched: __, in_books: _books, ...figure } = figures.get(id)!;
        const age_days = (Date.parse(day) - Date.parse(date)) / 86_400_000;
        const keys = { customer: `client:${client}`, prepayment: id, date_received: date, age_days };
        expect(figure).toEqual({ ...keys, ...amounts });
      }
      const sumOf = (texts: (string | undefined)[]) =>
        texts.reduce((all, one) => all.plus(one!), new Money(0)).toFixed(2);
      expect(prepayments.total.unused).toBe(sumOf([...asked.values()].map(({ unused }) => unused)));
    }
    expect(compared).toBeGreaterThan(3);
  });
});

describe('report vat', () => {
  test('of each month: the source’s rows by group and rate, and its VAT to the cent', async () => {
    const months = await clinic.rows<{ month: string }>(
      `select distinct to_char(entry_date, 'YYYY-MM') as month from entry where kind = 'invoice' order by 1`,
    );
    expect(months.length).toBeGreaterThan(2);
    for (const { month } of months) {
      const { vat, late } = (await sections(`vat --month ${month}`)) as { vat: Figures; late: Figures };
      addsUp(vat);
      isExplained(vat);
      expect(vat.total).toMatchObject({ base_not_compared: '0.00', tax_not_compared: '0.00' });
      expect(late.figures).toEqual([]);
      const asked = source.vat(month);
      const shown = vat.figures.map((one): [string, { base: string; tax: string }] => {
        expect([one.period, one.documents_of]).toEqual([month, 'invoices']);
        return [
          `${one.group} ${one.rate}`,
          { base: new Money(one.source_base!).toFixed(2), tax: new Money(one.source_tax!).toFixed(2) },
        ];
      });
      const isShown = ([, { base, tax }]: [string, { base: string; tax: string }]) => base !== '0.00' || tax !== '0.00';
      expect(new Map(shown.filter(isShown).toSorted())).toEqual(new Map([...asked].filter(isShown).toSorted()));
      expect(vat.total.tax).toBe(source.totalVat(month));
      for (const { documents } of vat.figures)
        for (const { tax_difference, base_difference } of documents)
          for (const difference of [tax_difference!, base_difference!])
            expect(new Money(difference).abs().lessThanOrEqualTo('0.01')).toBe(true);
    }
  });

  test('a change of a posted invoice in the same month is one figure; one of a closed month is late, by its own period', async () => {
    const [{ id, month }] = (await clinic.rows(
      `select document_id as id, to_char(entry_date, 'YYYY-MM') as month from entry where kind = 'invoice' order by entry_date limit 1`,
    )) as [{ id: number; month: string }];
    const before = (await sections(`vat --month ${month}`)) as { vat: Figures; late: Figures };
    await clinic.asOwner(
      `with own as (
       insert into entry (id, installation, kind, document_id, n, seq, entry_date, document_date, reason, description, reverses,
         idempotency_key, input_hash, previous_hash, hash, vat_period, is_late)
       select id || 'x', installation, kind, document_id, 99, 1000000, entry_date, document_date, 'source_changed', 'undone', id,
         'x', 'x', repeat('0', 64), repeat('0', 64), '${month}', true
       from entry where kind = 'invoice' and document_id = ${id})
       insert into entry_line (entry_id, line, account, role, side, amount, rule, mapped_by, vat_group, vat_rate, vat_base, has_vat)
       select entry_id || 'x', line, account, role, case side when 'debit' then 'credit' else 'debit' end, amount, rule, mapped_by,
         vat_group, vat_rate, vat_base, has_vat
       from entry_line where entry_id = (select id from entry where kind = 'invoice' and document_id = ${id} and n = 1)`,
    );
    try {
      const { vat, late } = (await sections(`vat --month ${month}`)) as { vat: Figures; late: Figures };
      addsUp(late);
      isExplained(vat);
      isExplained(late);
      expect([vat.total.base, vat.total.tax]).toEqual([before.vat.total.base, before.vat.total.tax]);
      // The entries of the invoice differ from its current rows, so they are listed separately, on time and late.
      expect(vat.total.base_not_compared).toBe(new Money(late.total.base!).negated().toFixed(2));
      const text = (await command(`report vat --month ${month}`)).stdout;
      expect(text).toMatch(/^ {2}VAT period .*difference: tax +not compared: base +not compared: tax$/m);
      const documents = late.figures.flatMap((figure) => figure.documents);
      expect(new Set(documents.map(({ document }) => document))).toEqual(new Set([`invoice ${id}`]));
      expect(new Set(late.figures.map(({ period }) => period))).toEqual(new Set([month]));
      expect(late.total.tax_difference).toBe('0.00');
    } finally {
      await clinic.asOwner(
        `set session_replication_role = replica; delete from entry_line where entry_id like '%x'; delete from entry where id like '%x'`,
      );
    }
  });

  test('a prepayment with the id of an invoice is not taken for it', async () => {
    const [{ id, month }] = (await clinic.rows(
      `select document_id as id, to_char(entry_date, 'YYYY-MM') as month from entry e join entry_line l on l.entry_id = e.id
       where kind = 'invoice' and l.role = 'vat' order by entry_date limit 1`,
    )) as [{ id: number; month: string }];
    const before = (await sections(`vat --month ${month}`)) as { vat: Figures };
    await clinic.asOwner(
      `with own as (
       insert into entry (id, installation, kind, document_id, n, seq, entry_date, document_date, reason, description,
         idempotency_key, input_hash, previous_hash, hash, vat_period, is_late)
       select 'taken', installation, 'prepayment', document_id, 98, 1000001, entry_date, '${month}-01', 'posted', 'taken',
         'y', 'y', repeat('0', 64), repeat('1', 64), '${month}', false
       from entry where kind = 'invoice' and document_id = ${id} and n = 1)
       insert into entry_line (entry_id, line, account, role, side, amount, rule, mapped_by, vat_group, vat_rate, vat_base, has_vat)
       select 'taken', line, account, role, side, amount, rule, mapped_by, vat_group, vat_rate, vat_base, has_vat
       from entry_line where entry_id = (select id from entry where kind = 'invoice' and document_id = ${id} and n = 1)`,
    );
    try {
      const { vat } = (await sections(`vat --month ${month}`)) as { vat: Figures };
      isExplained(vat);
      const ofInvoices = vat.figures.filter(({ documents_of }) => documents_of === 'invoices');
      expect(ofInvoices).toEqual(before.vat.figures);
      const ofPrepayments = vat.figures.filter(({ documents_of }) => documents_of === 'prepayments');
      expect(ofPrepayments.length).toBeGreaterThan(0);
      for (const { source_base, source_tax } of ofPrepayments)
        expect([source_base, source_tax]).toEqual(['0.00', '0.00']);
    } finally {
      await clinic.asOwner(
        `set session_replication_role = replica; delete from entry_line where entry_id = 'taken'; delete from entry where id = 'taken'`,
      );
    }
  });
});

test('report eu-sales: the source’s rows of that group, by the buyer’s VAT number', async () => {
  const months = await clinic.rows<{ month: string }>(
    `select distinct to_char(entry_date, 'YYYY-MM') as month from entry where kind = 'invoice' order by 1`,
  );
  let sales = 0;
  for (const { month } of months) {
    const { eu_sales } = (await sections(`eu-sales --month ${month}`)) as { eu_sales: Figures };
    addsUp(eu_sales);
    const shown = eu_sales.figures.map(({ vat_number, base }): [string, string] => [vat_number ?? '', base!]);
    expect(new Map(shown.toSorted())).toEqual(new Map([...source.salesTo(month, 'EU sales 0 %')].toSorted()));
    sales += shown.length;
  }
  expect(sales).toBeGreaterThan(0);
});

test('what is held is in no figure, and each report that lacks it says so; those of other months do not', async () => {
  const own = await startTestClinic({ now, seed: 31, invoices: 5 });
  try {
    expect(await own.sync()).toMatchObject({ outcome: 'closed' });
    const { clinic: practice } = own.sandbox;
    const sale = practice.createInvoice({
      invoice_date: '2026-02-10',
      rows: [{ sum: '100.00', vat_percentage: '14', account_number: '3000' }],
    });
    // Proof P1 fails, because the totals differ from the rows.
    practice.update(practice.invoices, practice.invoice(sale.id), {
      total: '90.00',
      total_vat: '14.00',
      total_with_vat: '104.00',
    });
    expect(await own.sync()).toMatchObject({ outcome: 'closed', held: 1 });
    const told =
      'Missing in these figures, because not in the books of 4711: 1 invoice (104.00, VAT 14.00, oldest 2026-02-10), dated';
    for (const [line, dated] of [
      ['vat --month 2026-02', 'from 2026-02-01 to 2026-02-28'],
      ['eu-sales --month 2026-02', 'from 2026-02-01 to 2026-02-28'],
      ['receivables --as-of 2026-02-10', 'up to 2026-02-10'],
      ['vouchers --as-of 2026-12-31', 'up to 2026-12-31'],
    ]) {
      const ran = await command(`report ${line}`, own);
      expect(ran.stdout).toContain(`${told} ${dated} or without a date yet; \`vetledger problems\``);
    }
    for (const line of ['vat --month 2026-03', 'receivables --as-of 2026-02-09', 'clearing --month 2026-02'])
      expect((await command(`report ${line}`, own)).stdout).not.toContain('Missing in these figures');
    const json = (await command('report vat --month 2026-02 --json', own)).json();
    expect(json.installations[0].not_in_books).toMatchObject({
      invoices: { documents: 1, amount: '104.00', vat: '14.00' },
    });
    const csv = await command('report vat --month 2026-02 --csv vat', own);
    expect(csv.stdout).not.toContain('Not in');
    expect(csv.stderr).toContain(told);
  } finally {
    await own.stop();
  }
});

test('report clearing: the balance of each account before and after the month is that of the ledger', async () => {
  const months = await clinic.rows<{ month: string }>(
    `select distinct to_char(entry_date, 'YYYY-MM') as month from entry where kind = 'payment' order by 1`,
  );
  let others = 0;
  for (const { month } of months.slice(1)) {
    const { accounts, clearing } = (await sections(`clearing --month ${month}`)) as Record<string, Figures>;
    addsUp(accounts!);
    const balances = await clinic.rows<{ key: string; before: string; balance: string }>(
      `select l.account || ' ' || l.role as key,
         sum(case when e.entry_date >= '${month}-01' then 0 when l.side = 'debit' then l.amount else -l.amount end)::numeric(12,2)::text as before,
         sum(case when l.side = 'debit' then l.amount else -l.amount end)::numeric(12,2)::text as balance
       from entry e join entry_line l on l.entry_id = e.id
       where e.entry_date < '${month}-01'::date + interval '1 month' group by 1`,
    );
    const asked = new Map(balances.map(({ key, ...each }) => [key, each]));
    for (const { account, role, before, balance, received, paid_back, other } of accounts!.figures) {
      expect({ before, balance }).toEqual(asked.get(`${account} ${role}`));
      const moved = new Money(before!).plus(received!).minus(paid_back!).plus(other!);
      expect(moved.toFixed(2)).toBe(balance);
      // These roles come from invoices and prepayments, not from payments.
      if (role === 'gift_card_liability' || role === 'prepayment_liability') others += Number(other !== '0.00');
      else expect(other).toBe('0.00');
    }
    // An account without movements in the month is listed too, because the checklist of the close uses it.
    const shown = accounts!.figures.map(({ account, role }) => `${account} ${role}`);
    const open = balances.filter(
      ({ key, balance }) => /cash|_clearing|[ei]_receivable/.test(key) && balance !== '0.00',
    );
    expect(shown).toEqual(expect.arrayContaining(open.map(({ key }) => key)));
    const total = (figures: Figures, name: string) => figures.total[name];
    expect(total(accounts!, 'received')).toBe(total(clearing!, 'received'));
    expect(total(accounts!, 'paid_back')).toBe(total(clearing!, 'paid_back'));
  }
  expect(others).toBeGreaterThan(0);
});

test('report clearing: what the source received of each type on each day of a month', async () => {
  const [{ month }] = (await clinic.rows(
    `select to_char(entry_date, 'YYYY-MM') as month from entry where kind = 'payment' group by 1 order by count(*) desc limit 1`,
  )) as [{ month: string }];
  const { clearing } = (await sections(`clearing --month ${month}`)) as { clearing: Figures };
  addsUp(clearing);
  const got = new Map<string, Money>();
  for (const { payment_type, date, open } of clearing.figures) {
    if (payment_type === null) continue;
    const key = `${payment_type} ${date}`;
    got.set(key, (got.get(key) ?? new Money(0)).plus(open!));
  }
  const shown = [...got]
    .filter(([, sum]) => !sum.isZero())
    .map(([key, sum]): [string, string] => [key, sum.toFixed(2)]);
  expect(new Map(shown.toSorted())).toEqual(new Map([...source.received(month)].toSorted()));
});

test('a month that is none, two ways to print, and a cut-over that there is none of are refused in words', async () => {
  expect((await command('report clearing --month 2026-13')).stderr).toMatch(/a month like 2026-01/);
  expect((await command('report receivables --csv --json')).code).toBe(2);
  const none = await command(`report cutover --installation ${clinic.sandbox.installation}`);
  expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/no start_date/)]);
});

test('report cutover: what the source had open on the evening before start_date', async () => {
  const dates = clinic.sandbox.clinic.invoices.all().map(({ invoice_date }) => invoice_date);
  const start = dates.toSorted()[Math.floor(dates.length * 0.6)]!;
  const later = await startTestClinic({ now, seed: 31, invoices: 90, settings: { start_date: start } });
  try {
    expect(await later.sync()).toMatchObject({ outcome: 'closed' });
    const { receivables, prepayments } = (await sections('cutover', later)) as Record<string, Figures>;
    addsUp(receivables!);
    addsUp(prepayments!);
    const asked = new SourceFigures(later.sandbox.clinic, timezone).cutover(start);
    const open = receivables!.figures.flatMap(({ documents }) =>
      documents.map(({ document, open }): [number, string] => [Number(document!.replace('invoice ', '')), open!]),
    );
    expect(new Map(open.toSorted(([a], [b]) => a - b))).toEqual(asked.open);
    const unused = prepayments!.figures.map(({ customer, unused }): [number, string] => [
      Number(customer!.replace('client:', '')),
      unused!,
    ]);
    expect(new Map(unused)).toEqual(new Map([...asked.unused].toSorted(([a], [b]) => a - b)));
    // The client's name and the printed number, with which opening balances are entered.
    for (const { customer, name, documents } of receivables!.figures) {
      if (customer !== null) expect(name).toBe(payerOf(later, Number(customer!.replace('client:', ''))));
      for (const { number } of documents) expect(number).toMatch(/^[A-Z]+-\d+$/);
    }
    expect(asked.open.size).toBeGreaterThan(0);
    expect(asked.unused.size).toBeGreaterThan(0);
    const { vouchers } = (await sections('cutover', later)) as Record<string, Figures>;
    addsUp(vouchers!);
    const giftCards = new SourceFigures(later.sandbox.clinic, timezone).giftCardsBefore(start);
    expect(new Money(giftCards.sold).greaterThan(0) && new Money(giftCards.redeemed).greaterThan(0)).toBe(true);
    expect(vouchers!.figures.filter(({ role }) => role === 'gift_card_liability')).toMatchObject([giftCards]);

    // The report has the amounts of E9. Opening balance and sales make up the liability.
    const reconciled = (await command('reconcile --json', later)).json().installations[0];
    expect(reconciled.equations.E9.ok).toBe(true);
    const cards = reconciled.listed.vouchers.find(({ role }: { role: string }) => role === 'gift_card_liability');
    expect(cards.opening).toBe(giftCards.unused);
    const sold = (await sections(`vouchers --as-of ${farDay}`, later)) as Record<string, Figures>;
    expect(sold.opening!.figures).toEqual(vouchers!.figures);
    addsUp(sold.vouchers!);
    const own = sold.vouchers!.figures.filter(({ role }) => role === 'gift_card_liability');
    const sumOf = (name: string) => own.reduce((all, figure) => all.plus(figure[name]!), new Money(0)).toFixed(2);
    expect([sumOf('sold'), sumOf('redeemed'), sumOf('unused')]).toEqual([
      cards.sold,
      cards.redeemed.replace('-', ''),
      cards.balance,
    ]);
  } finally {
    await later.stop();
  }
});
