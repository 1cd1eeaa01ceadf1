// Pages of different lists mark the same documents. Their transactions may wait for each other, but none may fail with
// a deadlock.

import { expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { savePage } from '../../src/mirror/save-page.ts';
import type { RecordKind } from '../../src/terms.ts';
import { useDatabase } from '../support/database.ts';
import { answerTimes } from '../support/practice-list.ts';
import { query } from '../support/sql.ts';
import { waitFor } from '../workflows/support.ts';

const { db, owner } = useDatabase();
const scope = { installation: 7, timezone: 'Europe/Helsinki', dialect: loadDialect(), keepRaw: 'mapped' as const };

let minute = 0;

/** Saves a page of records in a separate transaction. Each answer is later than the one before. */
function save(kind: RecordKind, records: ({ id: number } & Record<string, unknown>)[]): Promise<unknown> {
  minute += 1;
  const sourceTime = new Date(Date.parse('2026-05-04T08:00:00Z') + minute * 60_000);
  const results = records.map((value) => ({ id: value.id, raw: JSON.stringify(value), value }));
  return db.transaction((trx) => savePage(trx, scope, kind, { results, ...answerTimes({ sourceTime }) }));
}

const waiting = async () => {
  const found = await query(
    owner,
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return found.length;
};

test.each<[string, { aside: boolean }]>([
  ['changed payments', { aside: false }],
  ['payments that had been put aside', { aside: true }],
])('a page of invoices and a page of their payments do not deadlock: %s', async (_, { aside }) => {
  const invoice = { id: 1, status: 3 };
  const payments = [
    { id: 1, invoice: 1, paid: '1.00' },
    { id: 2, invoice: 1, paid: '2.00' },
  ];
  await save('invoice', [invoice]);
  await save('payment', payments);
  await query(owner, 'update document set dirty = false');
  if (aside) {
    await query(
      owner,
      `insert into put_aside (installation, kind, record, parent_id, code, message)
       values (7, 'payment', '2', 1, 'internal_error', 'm') on conflict do nothing`,
    );
  }
  // The page of invoices has locked the invoice and waits for the first payment, while the other page begins with the
  // second payment.
  const judging = await db.transaction();
  await judging.raw(`select from document where kind = 'payment' and id = 1 for update`);
  const pages = [save('invoice', [{ ...invoice, status: 4 + minute }])];
  await waitFor('page of invoices that waits', async () => (await waiting()) === 1);
  pages.push(save('payment', [{ id: 2, invoice: 1, paid: `${minute}.00` }]));
  await waitFor('page of payments that waits', async () => (await waiting()) === 2);
  await judging.commit();
  expect((await Promise.allSettled(pages)).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  const marked = await query(db, `select kind || ' ' || id as document from document where dirty order by 1`);
  expect(marked).toEqual(['invoice 1', 'payment 1', 'payment 2'].map((document) => ({ document })));
});
