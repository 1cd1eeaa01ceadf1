import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { schemaText } from '../../src/db/schema-text.ts';
import { useDatabase } from '../support/database.ts';

const { owner: db } = useDatabase();

test('src/db/schema.sql is the schema that the migrations make (run `node scripts/schema.ts`)', async () => {
  expect(await schemaText(db)).toBe(readFileSync(new URL('../../src/db/schema.sql', import.meta.url), 'utf8'));
});
