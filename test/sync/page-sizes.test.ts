import { beforeEach, expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { PracticeError } from '../../src/domain/practice-error.ts';
import { readDefaultPageSizes } from '../../src/sync/capabilities/server.ts';
import { pullList } from '../../src/sync/pull-list.ts';
import type { RecordKind } from '../../src/terms.ts';
import { useDatabase } from '../support/database.ts';
import { answerOf } from '../support/practice-list.ts';
import { pullContextOf } from '../support/pull-context.ts';
import { query } from '../support/sql.ts';

const { db, truncate } = useDatabase();
beforeEach(truncate);

const at = new Date('2026-05-04T08:00:00Z');
const records = Array.from({ length: 200 }, (_, i) => {
  const value = { id: i + 1, invoice: 'http://127.0.0.1/1/api/0.1/invoice/1/' };
  return { id: i + 1, raw: JSON.stringify(value), value };
});
const sizes = { payment: 20, prepayment: 100 };

/**
 * A source whose lists have different default page sizes. It records the requests and the size by which it weighs them.
 */
function source() {
  const asked: { kind: RecordKind; pageSize: number | null; unit: number | undefined }[] = [];
  const dialect = loadDialect();
  const context = pullContextOf({
    ...{ db, dialect },
    client: {
      list: async (kind, filters, pageSize, options = {}) => {
        const list = kind === 'payment' ? 'payment' : 'prepayment';
        asked.push({ kind: list, pageSize, unit: options.defaultPageSize });
        const server = { isHonoured: () => true, order: 'ascending', defaultPageSize: sizes[list] } as const;
        return answerOf(records, { filters, pageSize, page: options.page }, server, { sourceTime: at });
      },
    },
  });
  return { context, dialect, asked };
}

test('each list keeps its own default page size, and the shared description of the practice API stays as it is', async () => {
  const { context, dialect } = source();
  for (let n = 0; n < 2; n++) {
    await pullList(context, 'payment', {}, null, { keepWalk: false });
    await pullList(context, 'prepayment', {}, null, { keepWalk: false });
  }
  expect(await readDefaultPageSizes(db, 1, dialect)).toEqual({ invoice: 50, row: 50, payment: 20, prepayment: 100 });
  expect(dialect.default_page_size).toBe(50);
  expect(Object.isFrozen(dialect)).toBe(true);
});

test('later requests of a list ask for, and are weighed by, multiples of its page size', async () => {
  const { context, asked } = source();
  for (let n = 0; n < 2; n++) {
    for (const kind of ['payment', 'prepayment'] as const) await pullList(context, kind, {}, null, { keepWalk: false });
  }
  const again = asked.slice(asked.length / 2);
  for (const { kind, pageSize, unit } of again) {
    const size = kind === 'payment' ? 20 : 100;
    expect(unit).toBe(size);
    if (pageSize !== null) expect(pageSize % size).toBe(0);
  }
});

test('a page by offset that is too large is asked for in smaller pages', async () => {
  const asked: number[] = [];
  const context = pullContextOf({
    ...{ db, dialect: loadDialect() },
    client: {
      list: async (_, filters, pageSize, { page = 1 } = {}) => {
        if (page > 1) asked.push(pageSize ?? 0);
        if (page > 1 && (pageSize ?? 50) > 15) throw new PracticeError('answer_too_large', 'it is too large');
        const server = { isHonoured: () => false, order: 'ascending' } as const;
        return answerOf(records, { filters, pageSize, page }, server, { sourceTime: at });
      },
    },
  });
  await pullList(context, 'payment', {}, null, { keepWalk: false });
  expect(await query(db, 'select count(*)::int as n from mirror_record', [])).toEqual([{ n: records.length }]);
  expect(asked.filter((size) => size > 15).length).toBeLessThan(4);
});
