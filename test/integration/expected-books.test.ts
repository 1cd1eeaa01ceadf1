import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Connection, execute } from '../../src/db/rows.ts';
import { useDatabase } from '../support/database.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';

const { db, owner, url } = useDatabase();
let clinic: MirroredClinic;

beforeAll(async () => {
  clinic = new MirroredClinic(db, url, { id: 1, seed: 8, invoices: 80 });
  await clinic.configure(readFileSync(new URL('../../mappings/demo.yaml', import.meta.url), 'utf8'));
  await clinic.pull();
  await clinic.post();
});
afterAll(() => clinic?.remove());

test('books that were posted are what the source asks for', async () => {
  expect(await clinic.wrongBooks()).toEqual([]);
});

const anEntry = `(select min(id) from entry where kind = 'invoice')`;
const inForceLines = `entry_id = ${anEntry}`;

/** Changes to the journal that bypass its triggers, each in a transaction that is rolled back. */
test.each([
  ['a line of another amount', `update entry_line set amount = amount + 0.01 where ${inForceLines} and line = 1`],
  [
    'a line on the other side',
    `update entry_line set side = case side when 'debit' then 'credit' else 'debit' end where ${inForceLines} and line = 1`,
  ],
  ['a line on another account', `update entry_line set account = '9999' where ${inForceLines} and line = 1`],
  ['a line of another party', `update entry_line set party_code = 'client:0' where ${inForceLines} and line = 1`],
  ['a missing line', `delete from entry_line where ${inForceLines} and line = 2`],
  ['another date', `update entry set document_date = document_date + 1 where id = ${anEntry}`],
  ['a missing entry', `delete from entry_line where ${inForceLines}`],
  [
    'a document held',
    `delete from entry_line where ${inForceLines}; update document set state = 'held' where kind = 'payment'`,
  ],
  ['a second entry in force', `${copyOf('entry', anEntry)}; ${copyOf('entry_line', anEntry)}`],
])('the oracle sees %s', async (_, sql) => {
  const undone = new Error('undone');
  let found: string[] = [];
  await owner
    .transaction(async (trx: Connection) => {
      await execute(trx, 'set local session_replication_role = replica');
      await execute(trx, sql);
      found = await clinic.wrongBooks(trx);
      throw undone;
    })
    .catch((error) => {
      if (error !== undone) throw error;
    });
  expect(found).not.toEqual([]);
});

function copyOf(table: 'entry' | 'entry_line', entry: string): string {
  const changes =
    table === 'entry'
      ? `'id', id || 'x', 'n', n + 1, 'seq', -1, 'idempotency_key', idempotency_key || 'x'`
      : `'entry_id', entry_id || 'x'`;
  const condition = table === 'entry' ? `id = ${entry}` : `entry_id = ${entry}`;
  return `insert into ${table} select (jsonb_populate_record(t, jsonb_build_object(${changes}))).* from ${table} t where ${condition}`;
}
