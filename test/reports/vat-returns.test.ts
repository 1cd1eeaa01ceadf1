// Filed VAT returns over random books. For each month, the filed lines, the changes since and the late lines add up to the
// balance of the VAT accounts.
import { expect, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';
import { liveThrough } from './filed-books.ts';

const used = useDatabase();
const { db, owner } = used;

test('random books and filings', async () => {
  const { filings, corrections } = await liveThrough(used, [1, 2]);
  expect(filings).toBeGreaterThan(2);
  expect(corrections).toBeGreaterThan(0);
});

test('the database takes no late line twice, and changes no return', async () => {
  const [late] = await query<{ entry_id: string }>(
    db,
    'select entry_id from vat_return_line where is_late and not is_change limit 1',
  );
  const again = owner.raw(
    `insert into vat_return_line select * from vat_return_line where entry_id = ? and is_late and not is_change`,
    [late!.entry_id] as never[],
  );
  await expect(again).rejects.toMatchObject({ constraint: 'vat_return_line_once' });
  for (const statement of [
    'update vat_return_line set tax = 0',
    'delete from vat_return_line',
    'delete from vat_return',
  ])
    await expect(owner.raw(statement)).rejects.toThrow();
});
