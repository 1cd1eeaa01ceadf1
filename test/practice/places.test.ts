import { expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { readerOf, sortPage } from '../../src/practice/raw-record.ts';

/**
 * The place at which a record without a usable id is searched again. `x` is such a record, between the ids of its page.
 */

const read = readerOf(loadDialect({}, 4711), 'payment');
const since = { modified__gte: '2026-03-06T06:00:00Z' };

test.each([
  ['a page of a longer list, in order of id', [3, 'x', 9], 50, { id__gt: '2' }, [3, 9]],
  ['at its beginning', ['x', 3, 9], 50, { id__gt: '2' }, [2, 3]],
  ['at its end', [3, 9, 'x'], 50, { id__gt: '2', id__lt: '70' }, [9, 70]],
  ['a page of a longer list, in another order', [9, 'x', 3], 50, { id__gt: '2' }, [2, null]],
  ['with one known id', [3, 'x'], 50, {}, [null, null]],
  // The list may be in order of `modified`: then 2 may be the id of x, because an old record was changed last.
  ['a whole list whose ids ascend', [3, 9, 'x'], 3, since, [null, null]],
  ['a whole range whose ids ascend', [3, 'x', 9], 3, { ...since, id__gt: '2', id__lt: '70' }, [2, 70]],
  ['a whole list that counts one record twice', [3, 3, 'x', 9], 3, since, [null, null]],
])('%s', (_, ids, count, { id__gt, id__lt, ...filters }: Record<string, string>, [above, below]) => {
  const page = ids.map((id) => read(id === 'x' ? { paid: '1.00' } : { id, paid: '1.00' }));
  const request = { ...(id__gt ? { id__gt } : {}), ...(id__lt ? { id__lt } : {}), ...filters };
  const { unusable } = sortPage(page, count, '', request);
  expect(unusable.map(({ place }) => place)).toEqual([{ above, below, filters }]);
});
