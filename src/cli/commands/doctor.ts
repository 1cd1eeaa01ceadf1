import { Connection } from '@temporalio/client';
import { type Config, loadConfig } from '../../config/load.ts';
import { acquireTemporal, ensureSearchAttributes } from '../../embedded/index.ts';
import { type App, chosenInstallations, openApp } from '../../runtime/app.ts';
import { toUserError } from '../../runtime/user-errors.ts';
import { latestNudge } from '../../sync/capabilities/facts.ts';
import type { CommandContext } from '../context.ts';
import { instant } from '../render/text.ts';
import { checkPractice } from './doctor-practice.ts';

/** One thing that was tried. */
export interface Check {
  installation: number | null;
  check: string;
  status: 'ok' | 'warn' | 'fail';
  message: string;
  todo: string | null;
  /** A service is out of reach, or refuses us: exit code 3. */
  unreachable?: true;
}

/** Tries each dependency, credential, permission and filter for real; exit code 1 when one fails, 3 when one is out of reach. */
export async function doctor(context: CommandContext, options: { installation?: number }): Promise<number> {
  const config = await loadConfig(context.configPath, context.env);
  const chosen = chosenInstallations(config, options.installation);
  const checks: Check[] = [
    {
      installation: null,
      check: 'configuration',
      status: 'ok',
      message: `${config.file} and its mapping files are valid`,
      todo: null,
    },
  ];
  const { app, check } = await tryPostgres(context, config);
  checks.push(check);
  try {
    checks.push(...(await tryTemporal(context, config)));
    for (const installation of chosen) {
      context.signal.throwIfAborted();
      if (app) checks.push(...(await checkPractice(app, installation)), ...(await webhookChecks(app, installation.id)));
      else checks.push(untried(installation.id));
    }
  } finally {
    await app?.close();
  }
  const failed = checks.filter(({ status }) => status === 'fail');
  await context.result({ ok: failed.length === 0, checks: checks.map(({ unreachable: _, ...shown }) => shown) }, () =>
    textOf(checks),
  );
  if (failed.length === 0) return 0;
  return failed.some(({ unreachable }) => unreachable) ? 3 : 1;
}

async function tryPostgres(context: CommandContext, config: Config): Promise<{ app: App | null; check: Check }> {
  const name = 'PostgreSQL';
  try {
    const app = await openApp(config, { temporal: false, progress: context.note, env: context.env, logLevel: 'error' });
    const { rows } = await app.db.raw<{ rows: { version: string }[] }>(
      `select current_setting('server_version') as version`,
    );
    const which = config.databaseUrl ? 'the one of database_url' : `embedded, under ${config.dataDir}`;
    const message = `version ${rows[0]!.version}, ${which}; its schema is up to date`;
    return { app, check: { installation: null, check: name, status: 'ok', message, todo: null } };
  } catch (error) {
    return { app: null, check: failure(null, name, error) };
  }
}

async function tryTemporal(context: CommandContext, config: Config): Promise<Check[]> {
  const { address, namespace } = config.temporal;
  const name = 'Temporal';
  try {
    const service = await acquireTemporal({
      dataDir: config.dataDir,
      temporalAddress: address ?? undefined,
      progress: context.note,
      env: context.env,
    });
    try {
      return await tryNamespace(service.address, namespace);
    } finally {
      await service.release();
    }
  } catch (error) {
    return [failure(null, name, error)];
  }
}

async function tryNamespace(address: string, namespace: string): Promise<Check[]> {
  const connection = await Connection.connect({ address, connectTimeout: '5 seconds' });
  try {
    await connection.withDeadline(Date.now() + 5_000, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    let refused: string | null = null;
    const registered = await ensureSearchAttributes(connection, namespace, (line) => {
      refused = line;
    });
    return [
      {
        installation: null,
        check: 'Temporal',
        status: 'ok',
        message: `${address}, namespace ${namespace}`,
        todo: null,
      },
      registered
        ? { installation: null, check: 'search attributes', status: 'ok', message: 'registered', todo: null }
        : {
            installation: null,
            check: 'search attributes',
            status: 'warn',
            message: refused ?? 'not registered',
            todo: 'Let an administrator register them; until then windows cannot be searched by installation and health.',
          },
    ];
  } finally {
    await connection.close();
  }
}

/** Whether webhooks have ever come: they come from outside, so that nothing here can be tried. */
async function webhookChecks({ config, db }: App, installation: number): Promise<Check[]> {
  if (!config.webhooks) return [];
  const latest = await latestNudge(db, installation);
  const message = latest
    ? `the latest came ${instant(latest.toISOString())}`
    : `none has come yet; they are sent to /webhooks/${installation}/<secret> while \`vetledger run\` is up`;
  return [{ installation, check: 'webhooks', status: 'ok', message, todo: null }];
}

/** The failed check of what threw `error`. */
export function failure(installation: number | null, check: string, error: unknown): Check {
  const { message, todo, exitCode } = toUserError(error);
  return { installation, check, status: 'fail', message, todo, ...(exitCode === 3 ? { unreachable: true } : {}) };
}

function untried(installation: number): Check {
  return {
    installation,
    check: 'practice API',
    status: 'warn',
    message: 'not tried: the rate budget is kept in PostgreSQL',
    todo: 'Mend PostgreSQL first.',
  };
}

function textOf(checks: Check[]): string {
  const lines = checks.flatMap(({ installation, check, status, message, todo }) => [
    `${status.padEnd(4)}  ${installation === null ? '' : `${installation} `}${check}: ${message}`,
    ...(todo && status !== 'ok' ? [`      what to do: ${todo}`] : []),
  ]);
  const count = (wanted: Check['status']) => checks.filter(({ status }) => status === wanted).length;
  return [...lines, '', `${count('ok')} ok, ${count('warn')} warnings, ${count('fail')} failed`].join('\n');
}
