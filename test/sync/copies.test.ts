import { beforeEach, expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import type { ListAnswer } from '../../src/practice/client.ts';
import { pullByIds } from '../../src/sync/by-id.ts';
import { readDefaultPageSizes } from '../../src/sync/capabilities/server.ts';
import { pullList } from '../../src/sync/pull-list.ts';
import { useDatabase } from '../support/database.ts';
import { answerOf } from '../support/practice-list.ts';
import { pullContextOf } from '../support/pull-context.ts';

const { db, truncate } = useDatabase();
beforeEach(truncate);

/**
 * A source with pages of at most 20 records that shows every fifth record of a page twice without counting the copies.
 */
function source(ids: number[]) {
  const records = ids.map((id) => ({ id, raw: `{"id":${id}}`, value: { id } }));
  const dialect = loadDialect();
  const context = pullContextOf({
    ...{ db, dialect },
    client: {
      list: async (_kind, filters, pageSize, options = {}): Promise<ListAnswer> => {
        const server = { isHonoured: () => true, order: 'ascending', defaultPageSize: 20, pageCap: 20 } as const;
        const request = { filters, pageSize, page: options.page };
        const answer = answerOf(records, request, server, { sourceTime: new Date('2026-05-04T08:00:00Z') });
        return { ...answer, results: answer.results.flatMap((one, at) => (at % 5 === 0 ? [one, one] : [one])) };
      },
    },
  });
  return { context, dialect };
}

test('a record that a page left out for copies of others is not taken for gone', async () => {
  // With its copies, a page is as long as the list.
  const ids = Array.from({ length: 24 }, (_, i) => i + 1);
  const { context } = source(ids);
  expect(await pullByIds(context, 'prepayment', ids)).toEqual(new Set(ids));
});

test('a page with copies does not show how many records a page has', async () => {
  const { context, dialect } = source(Array.from({ length: 30 }, (_, i) => i + 1));
  await pullList(context, 'prepayment', {}, null, { keepWalk: false });
  expect((await readDefaultPageSizes(db, 1, dialect)).prepayment).toBe(dialect.default_page_size);
});
