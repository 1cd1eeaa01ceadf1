import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Option } from 'commander';
import { z } from 'zod';
import { type Config, loadConfig } from '../../config/load-config.ts';
import { ConfigError, codeOf } from '../../domain/errors.ts';
import { PracticeError } from '../../domain/practice-error.ts';
import { visible } from '../../domain/text.ts';
import { propose } from '../../mapping/propose.ts';
import { listAccountNumbers } from '../../practice/account-numbers.ts';
import { sourceUsage } from '../../queries/source-usage.ts';
import type { AccountNumber } from '../../records/types.ts';
import { type App, chosenInstallations, installationOf, openApp } from '../../runtime/app.ts';
import { mappingTexts } from '../../texts/commands/mapping.ts';
import { commandErrors } from '../../texts/errors/commands.ts';
import { count } from '../../wording/words.ts';
import { type Definition, installation } from '../command.ts';
import type { CommandContext } from '../context.ts';

const schema = fileURLToPath(new URL('../../../mappings/mapping.schema.json', import.meta.url));

interface Options {
  installation?: number;
  out?: string;
}

const answer = z.strictObject({
  installation: z.number(),
  file: z.string().nullable(),
  to_choose: z.array(z.string()),
  /** The proposed mapping. Null if it was written to a file. */
  yaml: z.string().nullable(),
});

export const command: Definition<Options> = {
  description:
    'Reads the account number list of the practice software, and the VAT groups, payment types and departments in the mirror. Accounts with names of gift cards or vouchers are proposed as liabilities. Values that the accountant must choose are empty and marked. Documents that need such a value are held until it is filled in.',
  options: [installation, new Option('--out <file>', 'write to this new file (default: stdout)')],
  examples: [
    ['vetledger mapping init', 'show a proposal'],
    ['vetledger mapping init --installation 4711 --out mappings/4711.yaml', 'a file to fill in'],
  ],
  answer,
  run: init,
};

async function init(context: CommandContext, { installation, out }: Options): Promise<number> {
  const path = out === undefined ? null : resolve(out);
  if (path !== null && existsSync(path)) throw alreadyThere(path);
  // The mapping file of the configuration may not exist yet, because this command writes it.
  const config = await loadConfig(context.configPath, context.env, { mappingMayBeMissing: true });
  const one = onlyInstallation(config, installation);
  const app = await openApp(config, { temporal: false, progress: context.note, env: context.env });
  try {
    const { yaml, toChoose } = propose({
      installation: one.id,
      schemaPath: path === null ? './mapping.schema.json' : schemaFrom(path),
      accounts: await accountNumbers(context, app, one.id),
      uses: await sourceUsage(app.db, one),
    });
    if (path !== null) await write(path, yaml);
    await context.result(
      { installation: one.id, file: path, to_choose: toChoose, yaml: path === null ? yaml : null },
      () =>
        path === null
          ? yaml
          : mappingTexts.written({ path, places: count(toChoose.length, 'place'), list: list(toChoose) }),
    );
    if (path === null && !context.json)
      context.note(mappingTexts.toChoose({ places: count(toChoose.length, 'place') }));
    return 0;
  } finally {
    await app.close();
  }
}

function onlyInstallation(config: Config, id: number | undefined) {
  const chosen = chosenInstallations(config, id);
  const [only, ...more] = chosen;
  if (only && more.length === 0) return only;
  throw new ConfigError(commandErrors.severalInstallations({ ids: chosen.map((each) => each.id).join(' or ') }));
}

/** The source's account numbers. Null without permission for the list; the proposal then uses only the mirror. */
async function accountNumbers(
  context: CommandContext,
  app: App,
  installation: number,
): Promise<AccountNumber[] | null> {
  try {
    const { dialect } = installationOf(app.config, installation);
    return await listAccountNumbers(app.practice(installation).forWindow({ signal: context.signal }), dialect);
  } catch (error) {
    if (!(error instanceof PracticeError) || (error.code !== 'forbidden' && error.code !== 'not_found')) throw error;
    context.note(mappingTexts.noAccountNumbers(error));
    return null;
  }
}

async function write(path: string, yaml: string): Promise<void> {
  try {
    await writeFile(path, yaml, { flag: 'wx' });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') throw alreadyThere(path);
    throw new ConfigError(commandErrors.fileUnwritable({ path, reason: String(code) }), error);
  }
}

function alreadyThere(path: string): ConfigError {
  return new ConfigError(commandErrors.fileExists({ path }));
}

/** The path of the JSON schema, relative to the new file. */
function schemaFrom(path: string): string {
  const found = relative(dirname(path), schema).replaceAll('\\', '/');
  return found.startsWith('.') || found.startsWith('/') ? found : `./${found}`;
}

function list(places: string[]): string {
  return places.map((place) => `  ${visible(place)}`).join('\n');
}
