import { beforeEach, expect, it } from 'vitest';
import { execute } from '../../src/db/rows.ts';
import { appendEntries } from '../../src/ledger/journal/append-entries.ts';
import { draft } from '../ledger/drafts.ts';
import { useDatabase } from '../support/database.ts';

const { db } = useDatabase();
let installation = 950;
beforeEach(() => {
  installation += 1;
});

/** Inserts an entry and its lines exactly as given. */
const insertEntry = (id: string, lines: [side: string, amount: string][]) =>
  execute(
    db,
    `with line as (
       insert into entry_line (entry_id, line, account, role, side, amount, rule, mapped_by)
       select ?, n, '1700', 'receivable', side, amount, 'R1', 'x'
       from unnest(?::text[], ?::numeric[]) with ordinality as t(side, amount, n))
     insert into entry (id, installation, kind, document_id, n, seq, entry_date, document_date, reason, description,
       idempotency_key, input_hash, previous_hash, hash, vat_period, is_late)
     values (?, ?, 'invoice', 1, 1, 1, '2026-01-15', '2026-01-15', 'posted', '', ?, 'x', 'x', 'x', '2026-01', false)`,
    [id, lines.map(([side]) => side), lines.map(([, amount]) => amount), id, installation, id],
  );

it('an entry that does not balance is refused by the database itself, and named', async () => {
  const id = `${installation}/invoice/1/1`;
  const posting = insertEntry(id, [
    ['debit', '100.00'],
    ['credit', '99.99'],
  ]);
  await expect(posting).rejects.toThrow(`entry ${id} does not balance: debit less credit is 0.01`);
});

it('an entry without lines is refused', async () => {
  const id = `${installation}/invoice/1/1`;
  await expect(insertEntry(id, [])).rejects.toThrow(`entry ${id} has no lines`);
});

it('an entry in the books takes no more lines, even if they balance', async () => {
  const id = `${installation}/invoice/1/1`;
  const sale = draft({
    kind: 'invoice',
    id: 1,
    date: '2026-01-15',
    lines: [
      ['1700', 'receivable', '1.00'],
      ['3000', 'revenue', '-1.00'],
    ],
  });
  await db.transaction((trx) => appendEntries(trx, installation, [sale], { decimals: 2, windowId: null }));
  const adding = execute(
    db,
    `insert into entry_line (entry_id, line, account, role, side, amount, rule, mapped_by)
     values (:id, 8, '1700', 'receivable', 'debit', 5, 'R1', 'x'), (:id, 9, '1700', 'receivable', 'credit', 5, 'R1', 'x')`.replaceAll(
      ':id',
      `'${id}'`,
    ),
  );
  await expect(adding).rejects.toThrow(`entry ${id} is in the books`);
});

it.each([
  [
    'a line',
    `insert into entry_line (entry_id, line, account, role, side, amount, rule, mapped_by)
     values (:id, 1, '1700', 'receivable', 'debit', 1, 'R1', 'x')`,
  ],
  [
    'the name of a party',
    `insert into entry_party_name (installation, entry_id, party_code, name) values (1, :id, 'client:1', 'x')`,
  ],
  [
    'a voucher',
    `insert into voucher (entry_id, installation, journal, fiscal_year, number) values (:id, 1, 'S', 2026, 1)`,
  ],
])('%s of no entry is refused', async (_name, sql) => {
  const id = `${installation}/invoice/1/1`;
  await expect(execute(db, sql.replace(':id', `'${id}'`))).rejects.toThrow(`there is no entry ${id}`);
});
