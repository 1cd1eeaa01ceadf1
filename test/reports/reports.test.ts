import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Money } from '../../src/domain/money.ts';
import { section } from '../../src/reports/report.ts';
import { vetledger } from '../cli/support.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { SourceFigures } from '../support/source-figures.ts';

const timezone = 'Europe/Helsinki';
const farDay = '2100-12-31';

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

let clinic: TestClinic;
let source: SourceFigures;
beforeAll(async () => {
  clinic = await startTestClinic({ seed: 31, invoices: 120 });
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

/** Every figure of a report is the sum of its documents, and the total the sum of all. */
function addsUp({ figures, total }: Figures): void {
  for (const [name, sum] of Object.entries(total)) {
    const of = (rows: Record<string, unknown>[]) =>
      rows.reduce((all, row) => all.plus(String(row[name])), new Money(0)).toFixed(2);
    for (const figure of figures) expect(`${name} ${of(figure.documents)}`).toBe(`${name} ${figure[name]}`);
    expect(`${name} ${of(figures)}`).toBe(`${name} ${sum}`);
  }
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
  const later = await startTestClinic({ seed: 31, invoices: 120, settings: { start_date: start } });
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
    expect(asked.open.size).toBeGreaterThan(0);
    expect(asked.unused.size).toBeGreaterThan(0);
  } finally {
    await later.stop();
  }
});
