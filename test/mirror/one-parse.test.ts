// A record is parsed once on its way into the mirror, and read once when its facts are posted.

import { afterEach, expect, test, vi } from 'vitest';
import { loadFacts } from '../../src/bookkeeping/facts.ts';
import { loadDialect } from '../../src/config/dialect.ts';
import { savePageOrAside } from '../../src/mirror/put-aside.ts';
import { staticToken } from '../../src/practice/auth.ts';
import { createPracticeClient } from '../../src/practice/client.ts';
import { useDatabase } from '../support/database.ts';
import { hastyClock, keptLog, roomyBudget, startServer } from '../support/practice-fakes.ts';
import { sandboxRecords } from '../support/sandbox-records.ts';

const { db } = useDatabase();
const installation = 1;
const transact = db.transaction.bind(db);
const invoices = sandboxRecords({ invoices: 20 }).invoice;

afterEach(() => vi.restoreAllMocks());

/** A dialect that counts how many invoices it converted to facts: each conversion looks up the due date's name once. */
function countingDialect() {
  const dialect = loadDialect({}, installation);
  let facts = 0;
  const invoice = Object.defineProperty({ ...dialect.fields.invoice }, 'due_date', {
    enumerable: true,
    get: () => {
      facts += 1;
      return dialect.fields.invoice.due_date;
    },
  });
  return { dialect: { ...dialect, fields: { ...dialect.fields, invoice } }, facts: () => facts };
}

test('a page is parsed once, and each stored text once', async () => {
  const parse = vi.spyOn(JSON, 'parse');
  const parsed = () => parse.mock.calls.filter(([text]) => /"invoice_due_date"/.test(text)).length;
  const { dialect, facts } = countingDialect();
  const server = await startServer((_, response) => {
    response.end(`{"count":${invoices.length},"results":[${invoices.join(',')}]}`);
  });
  const client = createPracticeClient({
    ...{ installation, baseUrl: server.url, auth: staticToken('token'), dialect },
    ...{ budget: roomyBudget(), log: keptLog(), clock: hastyClock() },
  });
  const scope = { installation, timezone: 'Europe/Helsinki', dialect, keepRaw: 'mapped' } as const;

  const answer = await client.list('invoice', {}, null);
  expect(answer.results.length).toBe(invoices.length);
  const save = () =>
    savePageOrAside(
      transact,
      scope,
      'invoice',
      answer,
      async () => new Set(),
      async () => undefined,
    );
  await save();
  // The names of all fields are looked up once more for the list of fields.
  expect({ parsed: parsed(), facts: facts() }).toEqual({ parsed: 1, facts: invoices.length + 1 });

  await save();
  expect({ parsed: parsed(), facts: facts() }).toEqual({ parsed: 1, facts: invoices.length + 1 });

  const loaded = await loadFacts(
    db,
    installation,
    dialect,
    answer.results.map(({ id }) => ({ kind: 'invoice', id })),
  );
  expect(loaded.length).toBe(invoices.length);
  expect({ parsed: parsed(), facts: facts() }).toEqual({
    parsed: 1 + invoices.length,
    facts: 2 * invoices.length + 1,
  });
  client.close();
  await server.close();
});
