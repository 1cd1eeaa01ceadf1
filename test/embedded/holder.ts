// A program for tests: it acquires what its first argument names, prints one line, and waits to be killed.
import { acquirePostgres } from '../../src/embedded/index.ts';
import { withLock } from '../../src/embedded/lock.ts';

const [kind, path] = process.argv.slice(2) as [string, string];
const stay = new Promise<never>(() => setInterval(() => {}, 60_000));

if (kind === 'lock') {
  await withLock(path, { waitMs: 5_000 }, async () => {
    console.log('locked');
    await stay;
  });
} else {
  const { url } = await acquirePostgres({ dataDir: path, progress: () => {}, env: process.env });
  console.log(url);
  await stay;
}
