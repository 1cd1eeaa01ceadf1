import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { runSpecs } from '../../bookkeeping/run-specs.ts';
import { loadDialect } from '../../config/dialect.ts';
import { type Config, loadConfig } from '../../config/load.ts';
import { loadMapping, loadSpecs, specsPathOf } from '../../config/mapping-files.ts';
import { ConfigError } from '../../domain/errors.ts';
import { postgresFolder } from '../../embedded/postgres.ts';
import type { Mapping } from '../../mapping/schema.ts';
import { compareMapping, type MappingComparison } from '../../queries/mapping-check.ts';
import { chosenInstallations, openApp } from '../../runtime/app.ts';
import type { CommandContext } from '../context.ts';
import { comparisonsDocument, comparisonText, specsText } from '../render/mapping-check.ts';

/** Checks a mapping file, runs its cases, and compares it with what the source uses; exit code 1 on a failed case or a gap. */
export async function check(
  context: CommandContext,
  { installation }: { installation?: number },
  file: string,
): Promise<number> {
  const path = resolve(file);
  const { mapping } = await loadMapping(path);
  const specs = await loadSpecs(path);
  const cases = specs === null ? null : runSpecs(specs, mapping, loadDialect());
  const failed = cases?.filter(({ ok }) => !ok) ?? [];
  const config = await knownConfig(context);
  const compared = config ? await compare(context, config, installation, mapping) : [];
  const ok = failed.length === 0 && compared.every(({ gaps }) => gaps.length === 0);
  const report = {
    ok,
    file: path,
    specs: cases && { file: specsPathOf(path), cases: cases.length, failed },
    compared: config !== null,
    ...comparisonsDocument(compared),
  };
  await context.result(report, () =>
    [`${path}: the file is valid.`, specsText(specsPathOf(path), cases), ...compared.map(comparisonText)].join('\n'),
  );
  return ok ? 0 : 1;
}

/** The configuration, if there is one with a database; without, only the file itself is checked. */
async function knownConfig(context: CommandContext): Promise<Config | null> {
  try {
    const config = await loadConfig(context.configPath, context.env);
    if (config.databaseUrl || existsSync(postgresFolder(config.dataDir))) return config;
    context.note('Only the file itself is checked: there is no database yet to compare with.');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    context.note(`Only the file itself is checked. ${error.message}`);
  }
  return null;
}

async function compare(
  context: CommandContext,
  config: Config,
  installation: number | undefined,
  mapping: Mapping,
): Promise<MappingComparison[]> {
  const app = await openApp(config, { temporal: false, progress: context.note, env: context.env });
  try {
    const compared: MappingComparison[] = [];
    for (const one of chosenInstallations(config, installation))
      compared.push(await compareMapping(app.db, one, mapping));
    return compared;
  } finally {
    await app.close();
  }
}
