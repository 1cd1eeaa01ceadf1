// The screen Delivery: counts, lists and files of units, and no text of the ERP for operators.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { execute } from '../../src/db/rows.ts';
import { useDatabase } from '../support/database.ts';
import { type Browser, clinics, openTestConsole, type TestConsole } from './support.ts';

const database = useDatabase();
const [own, ledgerOnly, inXero] = clinics;
let site: TestConsole;
let operator: Browser;
let accountant: Browser;

const addUnit = (n: number, state: string, given: { approval?: boolean; day?: string; message?: string } = {}) =>
  execute(
    database.owner,
    `insert into erp_unit (installation, unit_id, kind, seq, unit_date, erp_key, company, state, needs_approval, problem_code, problem_message, batch)
     values (?, ?, 'entry', ?, ?, ?, 'c', ?, ?, ?, ?, ?)`,
    [
      ...[own, `${own}/invoice/${n}/1`, n, given.day ?? '2026-03-02', `key${n}`, state, given.approval ?? false],
      ...[
        given.message === undefined ? null : 'erp_refused',
        given.message ?? null,
        state === 'handed_over' ? 7 : null,
      ],
    ],
  );

beforeAll(async () => {
  site = await openTestConsole(database, {
    [own]: { erp: '{kind: csv, folder: /tmp/vetledger-none}' },
    [inXero]: { erp: `{kind: xero, company: Vets Ltd, client_id: us, client_secret: "\${XERO_SECRET}"}` },
  });
  await site.user('operator', [
    ['operator', own],
    ['operator', ledgerOnly],
    ['operator', inXero],
  ]);
  await site.user('accountant', [['accountant', own]]);
  operator = await site.signedIn('operator');
  accountant = await site.signedIn('accountant');
});
afterAll(() => site.close());

const tables = (body: string) => body.match(/<tbody>.*?<\/tbody>/gs) ?? [];
const rowsOf = (body: string | undefined) => (body ?? '').match(/<tr>/g)?.length ?? 0;

test('a clinic without delivery, and one without units, have a page', async () => {
  expect((await operator.get(`/${ledgerOnly}/delivery`)).body).toContain('are not delivered to an ERP');
  const { body, statusCode } = await operator.get(`/${own}/delivery`);
  expect([statusCode, tables(body).length]).toEqual([200, 0]);
});

test('the number of a journal in Xero is a link to its page there', async () => {
  await execute(
    database.owner,
    `insert into erp_unit (installation, unit_id, kind, seq, unit_date, erp_key, company, state, erp_id, erp_number)
     values (?, ?, 'entry', 1, '2026-03-02', 'key of Xero', 'x', 'delivered', 'a-b', 'a-b')`,
    [inXero, `${inXero}/invoice/1/1`],
  );
  const { body } = await operator.get(`/${inXero}/delivery`);
  expect(body).toContain('<a href="https://go.xero.com/Journal/View.aspx?invoiceID=a-b" rel="noreferrer">a-b</a>');
});

test('counts, filters, pages and the file have the same units', async () => {
  for (let n = 1; n <= 120; n += 1) await addUnit(n, 'delivered');
  await addUnit(201, 'pending', { day: '2026-03-05' });
  await addUnit(202, 'pending', { approval: true });
  await addUnit(203, 'refused', { message: 'Aino Hietala is <b>blocked</b>' });
  await addUnit(204, 'handed_over');
  await execute(database.owner, `update erp_unit set erp_number = 'ERP-7' where erp_key = 'key7'`);
  await database.owner.transaction(async (trx) => {
    await execute(trx, 'set local session_replication_role = replica');
    for (const [line, side] of ['debit', 'credit'].entries())
      await execute(
        trx,
        `insert into entry_line (entry_id, line, account, role, side, amount, rule, mapped_by)
         values (?, ?, '1700', 'receivable', ?, 12.5, 'R1', 'test')`,
        [`${own}/invoice/201/1`, line + 1, side],
      );
    await execute(
      trx,
      `insert into entry (id, installation, kind, document_id, n, seq, entry_date, document_date, reason, description,
         idempotency_key, input_hash, previous_hash, hash, vat_period, is_late)
       values (?, ?, 'invoice', 203, 1, 203, '2026-03-02', '2026-03-02', 'posted', 'test', 'test', 'x', 'x', 'x', '2026-03', false)`,
      [`${own}/invoice/203/1`, own],
    );
  });
  await execute(
    database.owner,
    `insert into erp_batch (installation, number, format, file, sha256, units, manifest, created_at, written_at)
     values (?, 7, 'csv', '000007.csv', 'x', 1, '{}', now(), now())`,
    [own],
  );

  const first = await operator.get(`/${own}/delivery`);
  const [batches, totals, list] = tables(first.body);
  expect(rowsOf(totals)).toBe(5);
  expect(totals).toMatch(/delivered<\/a><\/td><td class="number">120</);
  expect(totals).toMatch(/to deliver<\/a><\/td><td class="number">1<\/td><td class="number">12\.50</);
  expect(first.body).toMatch(/<tfoot><tr><td>Total<\/td><td[^>]*>124</);
  expect(rowsOf(list)).toBe(100);
  expect(batches).toContain('000007.csv');
  const next = /href="([^"]+)" rel="next"/.exec(first.body)?.[1]?.replaceAll('&amp;', '&');
  const second = await operator.get(next ?? '');
  expect(rowsOf(tables(second.body)[2])).toBe(24);

  for (const [query, expected] of [
    ['state=unapproved', 1],
    ['state=pending', 1],
    ['state=handed_over', 1],
    ['state=acknowledged', 0],
    ['state=delivered&q=ERP-7', 1],
    ['from=2026-03-05', 1],
    ['through=2026-03-01', 0],
    ['q=203', 1],
    ['q=invoice/203', 1],
    [`q=${own}/invoice/203/1`, 1],
    ['q=payment/203', 0],
    ['q=ERP-7', 1],
    ['batch=7', 1],
  ] as const) {
    const { body } = await operator.get(`/${own}/delivery?${query}`);
    expect([query, rowsOf(tables(body)[expected === 0 ? 9 : 2])]).toEqual([query, expected]);
    const file = await operator.get(`/${own}/delivery?csv=1&${query}`);
    expect(file.body.trimEnd().split('\r\n')).toHaveLength(expected + 1);
  }
});

test('an operator sees no text of the ERP, because it may name a client; an accountant does', async () => {
  for (const query of ['', '?csv=1']) {
    expect((await operator.get(`/${own}/delivery${query}`)).body).not.toContain('Hietala');
    expect((await accountant.get(`/${own}/delivery${query}`)).body).toContain('Hietala');
  }
  const { body } = await accountant.get(`/${own}/delivery?state=refused`);
  expect(body).toContain('Aino Hietala is &lt;b');
  expect(body).toContain(`/${own}/documents/invoice/203`);
  expect((await operator.get(`/${own}/delivery?state=refused`)).body).not.toContain('/documents/');
});

test('differences to the ERP are those of the last reading', async () => {
  expect((await operator.get(`/${inXero}/delivery`)).body).toContain('was not read back yet');
  // Files cannot be read back, so nothing asks for it.
  expect((await operator.get(`/${own}/delivery`)).body).not.toContain('was not read back yet');
  await execute(
    database.owner,
    'insert into erp_books_reading (installation, run, began_at, full_began_at) values (?, 1, now(), now())',
    [own],
  );
  const [differences] = tables((await accountant.get(`/${own}/delivery`)).body);
  expect(rowsOf(differences)).toBe(120);
  expect(differences).toContain(`/${own}/documents/invoice/120`);
});
