// Writes src/db/schema.sql: the schema that the migrations create, read from PostgreSQL's catalogues. Run: `node
// scripts/schema.ts`. With --check it writes nothing, and fails if the file differs.
import { readFileSync, writeFileSync } from 'node:fs';
import { migrate } from '../src/db/migrate.ts';
import { openDatabase } from '../src/db/pool.ts';
import { schemaText } from '../src/db/schema-text.ts';
import { startEphemeralPostgres } from '../src/embedded/index.ts';

const file = new URL('../src/db/schema.sql', import.meta.url);
const postgres = await startEphemeralPostgres();
const db = openDatabase(postgres.ownerUrl);
try {
  await migrate(db);
  const text = await schemaText(db);
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    console.error('src/db/schema.sql is not what the migrations make; run `node scripts/schema.ts`.');
    process.exitCode = 1;
  }
} finally {
  await db.destroy();
  await postgres.release();
}
