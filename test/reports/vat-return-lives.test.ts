// Many more random books and filings than `vat-returns.test.ts`.
import { expect, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { liveThrough } from './filed-books.ts';

const used = useDatabase();

test('random books and filings', { timeout: 600_000 }, async () => {
  const { filings } = await liveThrough(
    used,
    Array.from({ length: 60 }, (_, n) => n + 100),
  );
  expect(filings).toBeGreaterThan(100);
});
