import { z } from 'zod';
import { changedIdentity } from '../../bookkeeping/identity.ts';
import { type Config, loadConfig } from '../../config/load-config.ts';
import { postgresMajor, supportedPostgres } from '../../db/migrate.ts';
import type { Db } from '../../db/pool.ts';
import { currentRole, rightsBeyondRuntime } from '../../db/roles.ts';
import { visible } from '../../domain/text.ts';
import { shown } from '../../languages/language.ts';
import { latestNudge } from '../../mirror/installation-state.ts';
import { serverVersion } from '../../queries/database.ts';
import { type App, chosenInstallations, openApp } from '../../runtime/app.ts';
import { tryWriting } from '../../runtime/presence.ts';
import { checkTemporal } from '../../runtime/temporal-check.ts';
import { checkNames, doctorTexts } from '../../texts/commands/doctor.ts';
import { checkWords } from '../../texts/commands/labels.ts';
import { resultTexts } from '../../texts/commands/results.ts';
import { type Definition, installation } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { type Check, failure, passed } from '../doctor/check.ts';
import { checkErp } from '../doctor/erp.ts';
import { checkMail } from '../doctor/mail.ts';
import { checkOwed } from '../doctor/owed.ts';
import { checkPractice } from '../doctor/practice.ts';
import { instant as instantText } from '../render/text.ts';

interface Options {
  installation?: number;
}

const answer = z.strictObject({
  ok: z.boolean(),
  checks: z.array(
    z.strictObject({
      installation: z.number().nullable(),
      check: z.string(),
      status: z.enum(['ok', 'warn', 'fail']),
      message: z.string(),
      todo: z.string().nullable(),
    }),
  ),
});

export const command: Definition<Options> = {
  options: [installation],
  examples: [['vetledger doctor', 'after setting up, and when something is wrong']],
  answer,
  run: doctor,
};

/**
 * Tries each dependency, credential, permission and filter; exit code 1 when a check fails, 3 when a service cannot be
 * reached.
 */
async function doctor(context: CommandContext, options: Options): Promise<number> {
  const config = await loadConfig(context.configPath, context.env);
  const chosen = chosenInstallations(config, options.installation);
  const checks = [passed(null, checkNames.configuration, doctorTexts.configurationValid(config))];
  checks.push(...config.warnings.map(({ message, todo }) => warning(checkNames.secrets, { message, todo })));
  const { app, check } = await checkPostgres(context, config);
  checks.push(check);
  try {
    if (app) checks.push(...(await databaseChecks(app.db)));
    checks.push(...(await temporalChecks(context, config)));
    checks.push(...(await checkMail(config, context.signal)));
    for (const installation of chosen) {
      context.signal.throwIfAborted();
      const changed = app && (await changedIdentity(app.db, installation));
      if (changed)
        checks.push({
          installation: installation.id,
          check: checkNames.identity,
          status: 'fail',
          message: changed.message,
          todo: changed.todo,
        });
      else if (app)
        checks.push(
          ...(await checkPractice(app, installation)),
          ...(await checkOwed(app, installation)),
          ...(await webhookChecks(app, installation.id)),
          ...(await checkErp(app, installation, context.signal)),
        );
      else checks.push(untried(installation.id));
    }
  } finally {
    await app?.close();
  }
  const failed = checks.filter(({ status }) => status === 'fail');
  await context.result({ ok: failed.length === 0, checks: checks.map(({ unreachable: _, ...shown }) => shown) }, () =>
    checksText(checks),
  );
  if (failed.length === 0) return 0;
  return failed.some(({ unreachable }) => unreachable) ? 3 : 1;
}

async function checkPostgres(context: CommandContext, config: Config): Promise<{ app: App | null; check: Check }> {
  const name = checkNames.postgres;
  let app: App | null = null;
  try {
    app = await openApp(config, { temporal: false, progress: context.note, env: context.env, logLevel: 'error' });
    await tryWriting(app.db);
    const which = config.databaseUrl ? doctorTexts.fromUrl : doctorTexts.embedded({ folder: config.dataDir });
    const message = doctorTexts.postgres({ version: await serverVersion(app.db), which });
    return { app, check: passed(null, name, message) };
  } catch (error) {
    await app?.close();
    return { app: null, check: failure(null, name, error) };
  }
}

/** Checks that this version of PostgreSQL was tested, and that the role of the program cannot change the journal. */
async function databaseChecks(db: Db): Promise<Check[]> {
  const name = checkNames.databaseRole;
  const role = await currentRole(db);
  const beyond = await rightsBeyondRuntime(db);
  const major = await postgresMajor(db);
  const { oldest, newestTried } = supportedPostgres;
  return [
    ...(major > newestTried
      ? [warning(checkNames.postgresVersion, doctorTexts.postgresTooNew({ major, oldest, newest: newestTried }))]
      : []),
    beyond.length === 0
      ? passed(null, name, doctorTexts.roleLimited({ role }))
      : warning(name, doctorTexts.roleTooStrong({ role, rights: listed(beyond) })),
  ];
}

function warning(check: string, { message, todo }: { message: string; todo: string }): Check {
  return { installation: null, check, status: 'warn', message, todo };
}

function listed(parts: readonly string[]): string {
  return new Intl.ListFormat('en').format(parts);
}

async function temporalChecks(context: CommandContext, config: Config): Promise<Check[]> {
  const name = checkNames.temporal;
  const attributes = checkNames.searchAttributes;
  try {
    const { address, namespace, searchAttributes } = await checkTemporal(config, {
      progress: context.note,
      env: context.env,
    });
    return [
      passed(null, name, doctorTexts.temporal({ address, namespace })),
      searchAttributes.registered
        ? passed(null, attributes, doctorTexts.registered)
        : {
            installation: null,
            check: attributes,
            status: 'warn',
            message: searchAttributes.reason,
            todo: doctorTexts.registerAttributes,
          },
    ];
  } catch (error) {
    return [failure(null, name, error)];
  }
}

/**
 * Shows when the latest webhook came. The practice software sends webhooks, so vetledger cannot test them with a
 * request.
 */
async function webhookChecks({ config, db }: App, installation: number): Promise<Check[]> {
  if (!config.webhooks) return [];
  const latest = await latestNudge(db, installation);
  const message = latest
    ? doctorTexts.latestWebhook({ at: instantText(latest.toISOString()) })
    : doctorTexts.noWebhook({ installation });
  return [passed(installation, checkNames.webhooks, message)];
}

function untried(installation: number): Check {
  return {
    installation,
    check: checkNames.practice,
    status: 'warn',
    ...doctorTexts.practiceUntried(),
  };
}

function checksText(checks: Check[]): string {
  const width = Math.max(checkWords.ok.length, checkWords.warn.length, checkWords.fail.length);
  const lines = checks.flatMap(({ installation, check, status, message, todo }) => [
    `${checkWords[status].padEnd(width)}  ${installation === null ? '' : `${installation} `}${shown(check)}: ${visible(shown(message))}`,
    ...(todo && status !== 'ok' ? [`${' '.repeat(width)}  ${resultTexts.todo({ todo: shown(todo) })}`] : []),
  ]);
  const count = (wanted: Check['status']) => checks.filter(({ status }) => status === wanted).length;
  return [...lines, '', doctorTexts.counts({ ok: count('ok'), warnings: count('warn'), failed: count('fail') })].join(
    '\n',
  );
}
