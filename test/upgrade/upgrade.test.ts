/** Databases of earlier versions, from scripts/record-database.ts: this version upgrades them and continues. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, inject, test } from 'vitest';
import { startSandbox } from '../../sandbox/src/index.ts';
import { migrate } from '../../src/db/migrate.ts';
import { migrationNames } from '../../src/db/migrations.ts';
import { openDatabase } from '../../src/db/pool.ts';
import { run } from '../deploy/processes.ts';
import { bin } from '../support/daemon-process.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { runAlone } from '../support/server.ts';
import { query } from '../support/sql.ts';
import { migrationsIn, restoreDatabase } from '../support/stored-database.ts';
import { databaseClock, machineTime } from '../support/today.ts';
import { clockAt, configOfStored } from './config.ts';

const stored = fileURLToPath(new URL('./', import.meta.url));
const versions = readdirSync(stored).filter((name) => /^\d/.test(name));
const folder = mkdtempSync(join(tmpdir(), 'vetledger-upgrade-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(versions)('a database of %s is upgraded, proven whole, and continued', async (version) => {
  const file = join(stored, version, 'database.gz');
  const database = await createEmptyDatabase();
  const owner = openDatabase(database.ownerUrl);
  const stateFile = join(folder, `${version}.ndjson`);
  writeFileSync(stateFile, gunzipSync(readFileSync(join(stored, version, 'clinic.gz'))));
  const clock = clockAt('2026-07-15T09:00:00Z');
  await runAlone(database.ownerUrl, databaseClock(clock.byMs));
  const now = () => new Date(machineTime() + clock.byMs);
  const sandbox = await startSandbox({ rateWindowSeconds: 1, stateFile, now });
  try {
    await migrate(owner, { known: migrationsIn(file) });
    await restoreDatabase(owner, file);
    const config = join(folder, `${version}.yaml`);
    writeFileSync(config, configOfStored(sandbox));
    const { privateKey } = generateKeyPairSync('ed25519');
    const env = {
      ...process.env,
      ...clock.env,
      PRACTICE_TOKEN: sandbox.token,
      DATABASE_URL: database.url,
      MIGRATE_DATABASE_URL: database.ownerUrl,
      CONSOLE_DATABASE_URL: database.consoleUrl,
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      SEAL_KEY: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
      VETLEDGER_DATA_DIR: join(folder, 'data'),
    };
    const done = async (...args: string[]) => {
      const { code, stdout, stderr } = await run(process.execPath, [bin, ...args, '--config', config], { env });
      expect({ args, code, said: code === 0 ? '' : `${stdout}${stderr}` }).toEqual({ args, code: 0, said: '' });
      return stdout;
    };
    const facts = async () => {
      const [found] = await query<{ entries: number; documents: number }>(
        owner,
        'select (select count(*)::int from entry) as entries, (select count(*)::int from document) as documents',
      );
      return found ?? { entries: 0, documents: 0 };
    };

    const before = await facts();
    expect(before.entries).toBeGreaterThan(100);
    await done('migrate');
    const applied = await query<{ name: string }>(owner, 'select name from migration order by 1');
    expect(applied.map(({ name }) => name)).toEqual(migrationNames());
    expect(await facts()).toEqual(before);
    await done('ledger', 'verify');
    // A restored database counts as another one until an operator adopts it.
    await done('adopt', '--restored', '--reason', 'restored', '--yes');
    const id = String(sandbox.installation);
    await done('adopt', '--installation', id, '--reason', 'the sandbox has another port', '--yes');
    sandbox.live(20);
    await done('sync');
    expect((await facts()).entries).toBeGreaterThan(before.entries);
    const reconciled = JSON.parse(await done('reconcile', '--json')) as { ok: boolean };
    expect(reconciled.ok).toBe(true);
    await done('ledger', 'verify');
    await done('deliver');
    await done('user', 'list');
  } finally {
    await owner.destroy();
    await sandbox.stop();
    await database.drop();
  }
});
