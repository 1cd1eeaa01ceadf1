import { describe, expect, test } from 'vitest';
import { Rng } from '../../sandbox/src/rng.ts';
import { loadDialect } from '../../src/config/dialect.ts';
import type { ListAnswer } from '../../src/practice/client.ts';
import { readJson } from '../../src/records/json.ts';
import { parseRecord } from '../../src/records/schema.ts';
import { furtherDimensions } from '../../src/sync/walk/dimensions.ts';
import { contradictedFilter } from '../../src/sync/walk/filter-check.ts';
import { ListUnprovable } from '../../src/sync/walk/types.ts';
import { walk } from '../../src/sync/walk/walk.ts';
import type { RecordKind } from '../../src/terms.ts';
import { answerOf, type ListOrder, type ListServerOptions, shuffle } from '../support/practice-list.ts';

const dialect = loadDialect();
const timezone = 'Europe/Helsinki';

interface Item {
  id: number;
  day?: string | null;
  /** Epoch seconds. */
  at?: number;
}

/** A list in memory whose pages end at offset 10,000 and that supports only some filters. */
function server(kind: RecordKind, items: Item[], order: ListOrder | 'shuffled', honoured: string[], pageCap = 1000) {
  const iso = (at: number) => new Date(at * 1000).toISOString();
  const records = items.map(({ id, day, at = 1_770_000_000 }) => ({
    ...{ id, raw: '{}', invoiceDate: day ?? null, modifiedMs: at * 1000 },
    value: readJson(JSON.stringify({ id, invoice_date: day ?? null, modified: iso(at), date_added: iso(at) })),
  }));
  const rng = new Rng(1, 'order');
  // Records with equal times are shuffled too, so that their order does not follow the ids.
  if (order === 'shuffled' || order === 'modified') shuffle(records, (least, most) => rng.int(least, most));
  const options: ListServerOptions = {
    isHonoured: (name) => honoured.includes(name),
    order: order === 'shuffled' ? 'as stored' : order,
    ...(order === 'random' ? { random: (least, most) => rng.int(least, most) } : {}),
    ...{ pageCap, maxOffset: 10_000 },
  };
  let weight = 0;
  const ask = (filters: Record<string, string>, pageSize: number | null, page = 1): ListAnswer => {
    const answer = answerOf(records, { filters, pageSize, page }, options, { sourceTime: new Date(1_780_000_000_000) });
    weight += answer.weight;
    return answer;
  };
  const walked = async (after: number | null = null, base: Record<string, string> = {}) => {
    const saved = new Set<number>();
    await walk(
      {
        ask: async ({ filters, pageSize, page }) => ask(filters, pageSize, page),
        contradicted: (sent, { value }) => {
          const name = contradictedFilter(sent, parseRecord(kind, value, dialect), timezone);
          return name === null ? [] : [name];
        },
        save: async ({ results }) => {
          for (const { id } of results) saved.add(id);
        },
        ignored: async () => undefined,
      },
      {
        ...{ base, after, resume: null, defaultPageSize: 50, maxPageSize: 1000, ignored: new Set<string>() },
        dimensions: furtherDimensions(kind, { dialect, timezone, style: 'offset' }),
      },
    );
    return saved;
  };
  return { walked, weight: () => weight };
}

const many = 10_400;
const day = (n: number) => new Date(1_767_225_600_000 + n * 86_400_000).toISOString().slice(0, 10);
const inOneSecond: Item[] = Array.from({ length: many }, (_, i) => ({ id: i + 1, day: day(i % 90) }));
const overTime: Item[] = inOneSecond.map((item) => ({ ...item, at: 1_770_000_000 + ((item.id * 7919) % 500_000) }));
const withDrafts: Item[] = overTime.map((item) => ({ ...item, day: item.id % 9 === 0 ? null : item.day! }));

describe('more records than offsets reach, with each way to divide them', () => {
  const cases: [string, RecordKind, Item[], ListOrder | 'shuffled', string[], number][] = [
    ['descending, id__lt ignored, id__lte honoured', 'payment', inOneSecond, 'descending', ['id__gt', 'id__lte'], 1.1],
    ['descending, id__gt ignored', 'payment', inOneSecond, 'descending', ['id__lt'], 1.1],
    ['any order, ids bounded on both sides', 'row', inOneSecond, 'shuffled', ['id__gt', 'id__lt'], 1.5],
    ['any order, other bounds of ids', 'row', inOneSecond, 'shuffled', ['id__gte', 'id__lte'], 1.6],
    ['any order, ordering honoured', 'row', inOneSecond, 'shuffled', ['id__gt', 'ordering'], 1.1],
    [
      'descending, nothing below an id',
      'invoice',
      overTime,
      'descending',
      ['id__gt', 'invoice_date__gte', 'invoice_date__lte'],
      2,
    ],
    ['no ids, days', 'invoice', inOneSecond, 'shuffled', ['invoice_date__gte', 'invoice_date__lte'], 2],
    [
      'no ids, days, of some records none',
      'invoice',
      withDrafts,
      'ascending',
      ['invoice_date__gte', 'invoice_date__lte', 'invoice_date__is_null'],
      2,
    ],
    ['no ids, times', 'prepayment', overTime, 'modified', ['modified__gte', 'modified__lt'], 2],
    ['no ids, times with the other bound', 'payment', overTime, 'modified', ['date_added__gte', 'date_added__lte'], 2],
  ];
  test.each(cases)('%s', async (_name, kind, items, order, honoured, dearer) => {
    const source = server(kind, items, order, honoured);
    const saved = await source.walked();
    expect(saved.size).toBe(many);
    expect(source.weight()).toBeLessThanOrEqual((many / 50) * dearer + 60);
  });

  /** As in a replay, the walk divides within the bounds of the list, and never beyond them. */
  const asPast = new Date((1_770_000_000 + 250_000) * 1000).toISOString().slice(0, 19);
  test.each<[string, RecordKind, ListOrder | 'shuffled', string[], Record<string, string>, (item: Item) => boolean]>([
    [
      'ids, any order',
      'row',
      'shuffled',
      ['id__gt', 'id__lt'],
      { id__lt: '6001' },
      ({ id }) => id > 1_000 && id <= 6_000,
    ],
    [
      'ids, descending',
      'payment',
      'descending',
      ['id__gt', 'id__lt'],
      { id__lt: '6001' },
      ({ id }) => id > 1_000 && id <= 6_000,
    ],
    [
      'ids, ascending',
      'payment',
      'ascending',
      ['id__gt', 'id__lt'],
      { id__lt: '6001' },
      ({ id }) => id > 1_000 && id <= 6_000,
    ],
    [
      'times, by times alone',
      'prepayment',
      'modified',
      ['modified__gte', 'modified__lt'],
      { modified__lt: `${asPast}Z` },
      ({ id, at }) => id > 1_000 && at! < 1_770_250_000,
    ],
  ])('a list with an upper bound of %s', async (_name, kind, order, honoured, base, isWanted) => {
    const source = server(kind, overTime, order, honoured);
    const saved = await source.walked(1_000, base);
    const wanted = overTime.filter(isWanted);
    expect(wanted.filter(({ id }) => !saved.has(id))).toEqual([]);
    // Without a filter on ids, the pages also have the ids up to `after`.
    expect(saved.size).toBeLessThanOrEqual(wanted.length + 1_000);
    expect(source.weight()).toBeLessThanOrEqual((wanted.length / 50) * 2.5 + 60);
  });

  test('no filter and no order at all: passes taken together', async () => {
    const saved = await server('payment', inOneSecond, 'random', []).walked();
    expect(saved.size).toBe(many);
  });

  test('above a cursor, where only an upper bound is honoured', async () => {
    const saved = await server('payment', inOneSecond, 'descending', ['id__lt']).walked(many - 10);
    expect([...saved].filter((id) => id > many - 10)).toHaveLength(10);
  });

  test('if no way works, the error names the ways that were tried', async () => {
    const beyond = Array.from({ length: 11_500 }, (_, i) => ({ id: i + 1 }));
    const walked = server('payment', beyond, 'shuffled', []).walked();
    await expect(walked).rejects.toBeInstanceOf(ListUnprovable);
    await expect(walked).rejects.toThrow(
      /^11500 records cannot be proven complete; these ways were tried: ids in order, ranges of id \(id__gt.+\), ranges of date_added .+, pages by offset, which end at 10000$/,
    );
  });
});
