// Stored progress of the sync is checked when it is read: the error names a damaged row.

import { expect, test } from 'vitest';
import { fieldMaps } from '../../src/mirror/field-maps.ts';
import { unusablePlaces } from '../../src/mirror/put-unusable-aside.ts';
import { readCursors } from '../../src/sync/cursors.ts';
import { readWalks } from '../../src/sync/saved-walks.ts';
import { useDatabase } from '../support/database.ts';

const { db } = useDatabase();
const owner = 'window:1';

test.each([
  [
    'sync_cursor.value',
    `insert into sync_cursor (installation, stream, value) values (1, 'invoice', '{"watermark":"yesterday"}')`,
    () => readCursors(db, 1),
  ],
  [
    'sync_walk.state',
    `insert into sync_walk (installation, stream, owner, state) values (1, 'invoice', '${owner}', '{"question":"[]"}')`,
    () => readWalks({ db, installation: 1, owner, run: 'run' } as unknown as Parameters<typeof readWalks>[0]),
  ],
  [
    'put_aside.filters',
    `insert into put_aside (installation, kind, record, code, message, filters) values (1, 'invoice', '-7', 'record_unusable', '', '[1]')`,
    () => unusablePlaces(db, 1, 'invoice', 10),
  ],
  ['field_map.kept', `insert into field_map (version, kept) values ('x', '{"id":"some"}')`, () => fieldMaps(db, ['x'])],
])('%s', async (place, insert, read) => {
  await db.raw(insert);
  await expect(read()).rejects.toMatchObject({
    code: 'stored_row_damaged',
    message: expect.stringContaining(place),
  });
});
