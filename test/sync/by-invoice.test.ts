import { expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { savePage } from '../../src/mirror/save-page.ts';
import { readJson } from '../../src/records/json.ts';
import { pullPayments } from '../../src/sync/payments.ts';
import { ListUnprovable } from '../../src/sync/walk/types.ts';
import { useDatabase } from '../support/database.ts';
import { answerOf, answerTimes } from '../support/practice-list.ts';
import { pullContextOf } from '../support/pull-context.ts';
import { query } from '../support/sql.ts';

const { db } = useDatabase();
const invoices = 200;
const payments = Array.from({ length: 11_600 }, (_, i) => {
  const raw = JSON.stringify({
    id: i + 1,
    invoice: (i % invoices) + 1,
    paid: '1.00',
    date_added: '2026-05-01T08:00:00Z',
  });
  return { id: i + 1, parent: (i % invoices) + 1, raw, value: readJson(raw) };
}).sort((a, b) => ((a.id * 7919) % 11_601) - ((b.id * 7919) % 11_601));

/**
 * Pulls from an unordered list of payments that is longer than the highest offset and supports only the given filters.
 */
async function pull(installation: number, honoured: string[], known = invoices) {
  const now = new Date('2026-05-04T08:00:00Z');
  const scope = { installation, timezone: 'Europe/Helsinki', dialect: loadDialect(), keepRaw: 'mapped' as const };
  const mirrored = Array.from({ length: known }, (_, i) => {
    const raw = `{"id":${i + 1},"status":3}`;
    return { id: i + 1, raw, value: readJson(raw) };
  });
  await db.transaction((trx) =>
    savePage(trx, scope, 'invoice', { results: mirrored, ...answerTimes({ sourceTime: now }) }),
  );
  const questions: string[] = [];
  const context = pullContextOf({
    ...scope,
    db,
    client: {
      list: async (_kind, filters, pageSize, options = {}) => {
        questions.push(...Object.keys(filters));
        return answerOf(
          payments,
          { filters, pageSize, page: options.page },
          { isHonoured: (filter) => honoured.includes(filter), order: 'as stored', maxOffset: 10_000 },
          { sourceTime: now },
        );
      },
    },
  });
  const failure = await pullPayments(context, null).then(
    () => null,
    (error: unknown) => error,
  );
  const [row] = await query<{ n: number }>(
    db,
    `select count(*) as n from mirror_record where installation = ? and kind = 'payment'`,
    [installation],
  );
  return { failure, held: row!.n, questions };
}

test.each([
  ['many at a time', ['invoice__in'], 'invoice__in'],
  ['one by one', ['invoice__is'], 'invoice__is'],
])('payments that nothing divides come by their invoices, %s', async (_name, honoured, filter) => {
  const { failure, held, questions } = await pull(honoured.length + filter.charCodeAt(10), honoured);
  expect(failure).toBeNull();
  expect(held).toBe(payments.length);
  expect(questions).toContain(filter);
});

test('an invoice that the mirror lacks is known from those of its payments that came', async () => {
  expect(await pull(91, ['invoice__in'], invoices - 1)).toMatchObject({ failure: null, held: payments.length });
});

test('a list that honours nothing is an error that names the list and what was tried', async () => {
  const nothing = await pull(92, []);
  expect(nothing.failure).toBeInstanceOf(ListUnprovable);
  expect(String(nothing.failure)).toMatch(
    /the list of payments: .*11600 records cannot be proven complete; these ways were tried: /,
  );
});
