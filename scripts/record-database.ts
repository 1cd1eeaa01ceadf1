// Stores a database of this version and the state of its sandbox clinic in test/upgrade/VERSION. Every later version
// must upgrade it (test/upgrade/upgrade.test.ts). Run: `node scripts/record-database.ts`, and commit the files.
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { startSandbox } from '../sandbox/src/index.ts';
import { openDatabase } from '../src/db/pool.ts';
import { startEphemeralPostgres, startEphemeralTemporal } from '../src/embedded/index.ts';
import { migrateAsOwner } from '../src/runtime/database.ts';
import { run, start } from '../test/deploy/processes.ts';
import { runAlone } from '../test/support/server.ts';
import { storeDatabase } from '../test/support/stored-database.ts';
import { databaseClock, machineTime } from '../test/support/today.ts';
import { clockAt, configOfStored } from '../test/upgrade/config.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const target = join(root, 'test/upgrade', version);
const folder = mkdtempSync(join(tmpdir(), 'vetledger-record-'));
const stateFile = join(folder, 'clinic.ndjson');
const postgres = await startEphemeralPostgres();
const temporal = await startEphemeralTemporal();
const clock = clockAt('2026-07-01T09:00:00Z');
const through = '2026-06-30';
await runAlone(postgres.ownerUrl, databaseClock(clock.byMs));
const now = () => new Date(machineTime() + clock.byMs);
const sandbox = await startSandbox({ seed: 61, invoices: 60, rateWindowSeconds: 1, stateFile, now });
const owner = openDatabase(postgres.ownerUrl);
try {
  await migrateAsOwner(postgres);
  const config = join(folder, 'vetledger.yaml');
  writeFileSync(config, configOfStored(sandbox));
  const { privateKey } = generateKeyPairSync('ed25519');
  const env = {
    ...process.env,
    ...clock.env,
    PRACTICE_TOKEN: sandbox.token,
    DATABASE_URL: postgres.url,
    MIGRATE_DATABASE_URL: postgres.ownerUrl,
    CONSOLE_DATABASE_URL: postgres.consoleUrl ?? '',
    TEMPORAL_ADDRESS: temporal.address,
    SEAL_KEY: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    VETLEDGER_DATA_DIR: join(folder, 'data'),
  };
  const vetledger = async (...args: string[]) => {
    const ended = await run(process.execPath, [join(root, 'bin/vetledger.js'), ...args, '--config', config], { env });
    if (ended.code !== 0) throw new Error(`vetledger ${args.join(' ')}: ${ended.code} ${ended.stdout}${ended.stderr}`);
    return ended.stdout;
  };
  const by = ['--by', 'M. Virtanen'];
  await vetledger('sync');
  await vetledger('deliver', '--approve', '--through', through, '--yes');
  await vetledger('ledger', 'close', '--through', through, ...by, '--yes');
  const filing = ['report', 'vat', '--month', through.slice(0, 7), '--mark-filed'];
  const shown = /"shown":"([0-9a-f]{64})"/.exec(await vetledger(...filing, '--dry-run', '--json'))?.[1] ?? '';
  await vetledger(...filing, '--shown', shown, '--reason', 'filed', ...by);
  // A payment of a closed day is cancelled, and a prepayment is used and refunded in part.
  const { clinic } = sandbox;
  const payments = [...clinic.invoicePayments.all()];
  const payment = payments.find(
    ({ id, cancels }) => cancels === null && !payments.some((other) => other.cancels === id),
  );
  if (payment) clinic.cancelPayment(payment.id, 'wrong invoice');
  const prepayment = clinic.takePrepayment({ payment_type: 1, paid: '50.00' });
  clinic.refundPrepayment(prepayment.id, '20.00');
  sandbox.live(30);
  await vetledger('sync');
  const { documents } = JSON.parse(await vetledger('late', '--json')) as { documents: { id: string }[] };
  const [late] = documents;
  if (late) await vetledger('late', 'decide', late.id, '--redate', '--reason', 'after the close', ...by);
  await vetledger('backfill');
  await vetledger('deliver');
  await vetledger('user', 'add', 'm.virtanen');
  await vetledger('user', 'role', 'm.virtanen', 'accountant', '--installation', String(sandbox.installation));
  await vetledger('deliver', 'pause', '--reason', 'a holiday', ...by);
  await vetledger('deliver', 'resume', ...by);
  await vetledger('sync');
  await vetledger('reconcile');
  const daemon = start(process.execPath, [join(root, 'bin/vetledger.js'), 'run', '--json', '--config', config], {
    env,
  });
  await daemon.says(/"outcome":"closed"/);
  sandbox.live(10);
  await sleep(15_000);
  await daemon.stop();

  mkdirSync(target, { recursive: true });
  const file = join(target, 'database.gz');
  const counts = await storeDatabase(owner, file);
  await sandbox.stop();
  writeFileSync(join(target, 'clinic.gz'), gzipSync(readFileSync(stateFile), { level: 9 }));
  for (const name of ['database.gz', 'clinic.gz']) console.log(`${name}: ${statSync(join(target, name)).size} bytes`);
  const empty = [...counts].filter(([, count]) => count === 0).map(([table]) => table);
  console.log(`${counts.size - empty.length} of ${counts.size} tables have rows; empty: ${empty.join(' ')}`);
} finally {
  await owner.destroy();
  await sandbox.stop();
  await temporal.release();
  await postgres.release();
  rmSync(folder, { recursive: true, force: true });
}
