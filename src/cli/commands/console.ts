import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { isLoopback } from '../../config/insecure.ts';
import { type Config, type ListenAddress, loadConfig } from '../../config/load-config.ts';
import { addressOf } from '../../config/schema.ts';
import { checkSchema } from '../../db/migrate.ts';
import { openDatabase } from '../../db/pool.ts';
import { acquirePostgres, type PostgresHandle } from '../../embedded/postgres.ts';
import { createLog } from '../../runtime/log.ts';
import { ownVersion } from '../../runtime/version.ts';
import { valueTexts } from '../../texts/commands/usage.ts';
import { userTexts } from '../../texts/console/users.ts';
import { type Definition, option } from '../command.ts';
import type { CommandContext } from '../context.ts';

/** A statement of a page ends before the time limit of its request. */
const statementTimeoutMs = 10_000;

interface Options {
  listen?: ListenAddress;
}

export const command: Definition<Options> = {
  description:
    'Serves the console until Ctrl-C or SIGTERM. It signs in to the database with `console.database_url`, reads no secret of a practice or an ERP, and does not use Temporal. Add users with `vetledger user add`. Put a proxy with TLS in front of it, and name its host in `console.hosts`.',
  options: [option('--listen <address>', 'host:port (default: `console.listen`, or 127.0.0.1:8095)', listenAddress)],
  examples: [
    ['vetledger console', 'serve the console'],
    ['vetledger console --listen 127.0.0.1:9000', 'at another port'],
  ],
  answer: z.strictObject({ url: z.string() }),
  run: serve,
};

function listenAddress(value: string): ListenAddress {
  const address = addressOf(value);
  if (address === null) throw new InvalidArgumentError(valueTexts.address);
  return address;
}

async function serve(context: CommandContext, { listen }: Options): Promise<number> {
  const config = await loadConfig(context.configPath, context.env, { secrets: false });
  const log = createLog(context.env.VETLEDGER_LOG ?? 'info');
  const postgres = await databaseOf(context, config);
  const url = postgres.consoleUrl ?? postgres.url;
  const db = openDatabase(url, {
    ...{ max: 10, statementTimeoutMs },
    report: (line) => log.warn({ database: true }, line),
  });
  try {
    await checkSchema(db);
    // Loaded here, so that `--help` of other commands does not load it.
    const { startConsole } = await import('../../console/server.ts');
    const address = listen ?? config.console ?? { host: '127.0.0.1', port: 8095 };
    if (!isLoopback(address.host)) context.note(userTexts.exposed({ address: `${address.host}:${address.port}` }));
    const temporalUi = config.console?.temporalUi ?? (await embeddedUi(config));
    const site = { config, temporalUi, db, log, clock: () => new Date(), version: ownVersion() };
    const server = await startConsole(site, address);
    try {
      await context.result({ url: server.url }, () => userTexts.listening({ url: server.url }));
      await aborted(context.signal);
    } finally {
      await server.close();
    }
    return 0;
  } finally {
    await db.destroy();
    await postgres.release();
  }
}

/** The UI of the embedded Temporal server. Null with other servers, so that they do not load the client of Temporal (30 MB). */
async function embeddedUi({ console: configured, dataDir }: Config): Promise<string | null> {
  if (configured?.databaseUrl) return null;
  const { recordedTemporal } = await import('../../embedded/temporal.ts');
  return recordedTemporal(dataDir)?.uiUrl ?? null;
}

function databaseOf(context: CommandContext, { console: configured, dataDir }: Config): Promise<PostgresHandle> {
  return acquirePostgres({
    dataDir,
    databaseUrl: configured?.databaseUrl ?? undefined,
    progress: context.note,
    env: context.env,
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
