import { describe, expect, test } from 'vitest';
import type { FoundEntry } from '../../../src/erp/erp-entry.ts';
import type { KeyedText } from '../../../src/erp/targets/api/erp-api.ts';
import { allOf, type ListedPage, provedPages } from '../../../src/erp/targets/api/pages.ts';
import { rangeOf, scanFor } from '../../../src/erp/targets/api/scan.ts';

type Page = [ids: string, total: number | null, isLast: boolean];

/** Each letter of `ids` is an item. */
function listOf(pages: readonly Page[]) {
  return ({ number }: { number: number }): Promise<ListedPage<{ id: string }>> => {
    const [ids, total, isLast] = pages[number - 1] ?? ['', null, true];
    return Promise.resolve({ items: [...ids].map((id) => ({ id })), count: total, isLast });
  };
}

describe('pages of a list are complete', () => {
  test.each<[name: string, pages: Page[], found: string | null]>([
    ['with one page', [['ab', 2, true]], 'ab'],
    ['without items', [['', 0, true]], ''],
    [
      'if they have as many items as each of them states',
      [
        ['ab', 3, false],
        ['c', 3, true],
      ],
      'abc',
    ],
    ['at the total, whatever the page says', [['ab', 2, false]], 'ab'],
    [
      'without a total, up to the last page',
      [
        ['ab', null, false],
        ['c', null, false],
        ['', null, true],
      ],
      'abc',
    ],
    [
      'not with a repeated item',
      [
        ['ab', 3, false],
        ['bc', 3, true],
      ],
      null,
    ],
    [
      'not with another total on a later page',
      [
        ['ab', 3, false],
        ['cd', 4, true],
      ],
      null,
    ],
    [
      'not with fewer items than the total',
      [
        ['ab', 4, false],
        ['c', 4, true],
      ],
      null,
    ],
    ['not with more items than the total', [['abc', 2, true]], null],
    [
      'not if a page is empty before the end',
      [
        ['ab', 4, false],
        ['', 4, false],
      ],
      null,
    ],
  ])('%s', async (_, pages, found) => {
    const read = allOf(provedPages(listOf(pages)));
    if (found === null) await expect(read).rejects.toMatchObject({ name: 'ListChanged' });
    else expect((await read).map(({ id }) => id).join('')).toBe(found);
  });

  test('not if an item was deleted and another added meanwhile', async () => {
    let list = 'abcdef';
    const read = async ({ number }: { number: number }) => {
      const items = [...list.slice(2 * number - 2, 2 * number)].map((id) => ({ id }));
      if (number === 1) list = 'bcdefg';
      return { items, count: 6, isLast: number === 3 };
    };
    await expect(allOf(provedPages(read))).rejects.toMatchObject({ name: 'ListChanged' });
    expect((await allOf(provedPages(read))).map(({ id }) => id).join('')).toBe('bcdefg');
  });

  test('each page begins after the last item of the one before', async () => {
    const afters: (string | null)[] = [];
    const list = listOf([
      ['ab', null, false],
      ['c', null, false],
      ['', null, true],
    ]);
    await allOf(
      provedPages((page) => {
        afters.push(page.after);
        return list(page);
      }),
    );
    expect(afters).toEqual([null, 'b', 'c']);
  });
});

describe('a scan', () => {
  const since = new Date('2026-03-05T10:30:00Z');
  const dates = ['2026-03-02', '2026-03-03'];

  test.each([
    ['a day before the first attempt', [{ key: 'A', dates, since }], '2026-03-04T10:30:00.000Z'],
    [
      'a day before the earliest',
      [
        { key: 'A', dates, since },
        { key: 'B', dates, since: null },
      ],
      '2026-03-01T00:00:00.000Z',
    ],
    [
      'a day before the date of an entry whose attempt is unknown',
      [{ key: 'A', dates, since: null }],
      '2026-03-01T00:00:00.000Z',
    ],
  ])('begins %s', (_, keys, begin) => {
    const { since: begun, dates: range } = rangeOf(keys);
    expect(begun.toISOString()).toBe(begin);
    expect(range).toEqual({ from: '2026-03-02', through: '2026-03-03' });
  });

  const key = 'A'.repeat(20);
  const listed = (id: string, text: string): KeyedText => ({
    id,
    text,
    number: null,
    state: 'draft',
    date: '2026-03-02',
  });
  const reader = (pages: Page[]) => ({
    read: async (ids: readonly string[]) => ids.map((id) => ({ id }) as FoundEntry),
    scan: async function* () {
      for await (const page of provedPages(listOf(pages)))
        yield page.map(({ id }) => listed(id, id === 'b' ? `invoice · 1/invoice/1/1 [${key}]` : 'another entry'));
    },
  });
  const request = { signal: new AbortController().signal, priority: 0 };

  test.each<[name: string, pages: Page[], isComplete: boolean]>([
    [
      'is complete if its pages are',
      [
        ['ab', 3, false],
        ['c', 3, true],
      ],
      true,
    ],
    [
      'finds entries also in a list that changes, but proves no absence',
      [
        ['ab', 3, false],
        ['cd', 4, true],
      ],
      false,
    ],
  ])('%s', async (_, pages, isComplete) => {
    const answer = await scanFor([{ key, dates, since }], reader(pages), request);
    expect(answer).toEqual({ found: [{ id: 'b' }], isComplete });
  });
});
