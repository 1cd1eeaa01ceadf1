// A credit note depends on the first original of its chain (ACCOUNTING, remark `vat_rate_expired`, P6), so a change of
// the original marks it.

import { beforeEach, expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { savePage } from '../../src/mirror/save-page.ts';
import { useDatabase } from '../support/database.ts';
import { answerTimes } from '../support/practice-list.ts';
import { query } from '../support/sql.ts';

const { db, owner, truncate } = useDatabase();
const scope = { installation: 7, timezone: 'Europe/Helsinki', dialect: loadDialect(), keepRaw: 'mapped' as const };
let minute = 0;

type Invoice = { id: number } & Record<string, unknown>;

async function save(...invoices: Invoice[]): Promise<void> {
  minute += 1;
  const sourceTime = new Date(Date.parse('2026-05-04T08:00:00Z') + minute * 60_000);
  const results = invoices.map((value) => ({ id: value.id, raw: JSON.stringify(value), value }));
  await db.transaction((trx) => savePage(trx, scope, 'invoice', { results, ...answerTimes({ sourceTime }) }));
}

const note = (id: number, original: number): Invoice => ({
  ...{ id, status: 3, credit_note: true, credit_note_original_invoice: original },
});
const marked = async () =>
  (await query<{ id: number }>(db, 'select id from document where dirty order by id')).map(({ id }) => Number(id));

beforeEach(async () => {
  await truncate();
});

test.each<[string, Invoice[], Invoice, number[]]>([
  ['its credit note', [{ id: 1, status: 3 }, note(2, 1)], { id: 1, status: 3, invoice_date: '2026-04-15' }, [1, 2]],
  [
    'those of the whole chain, and no others',
    [{ id: 1, status: 3 }, note(2, 1), note(3, 2), { id: 4, status: 3 }, note(5, 4)],
    { id: 1, status: 3, invoice_date: '2026-04-15' },
    [1, 2, 3],
  ],
  ['those of a circle that it ends', [note(1, 2), note(2, 1), note(3, 1)], note(2, 4), [1, 2, 3]],
  ['those that waited for it', [note(2, 1)], { id: 1, status: 3 }, [1, 2]],
  ['none where it credits nothing any more', [{ id: 1, status: 3 }, note(2, 1)], { id: 2, status: 3 }, [2]],
])('a changed invoice marks %s', async (_, known, changed, expected) => {
  await save(...known);
  await query(owner, 'update document set dirty = false');
  await save(changed);
  expect(await marked()).toEqual(expected);
});
