import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { runSpecs } from '../../bookkeeping/run-specs.ts';
import { loadDialect } from '../../config/dialect.ts';
import { isDelivered } from '../../config/erp.ts';
import { type Config, loadConfig } from '../../config/load.ts';
import { chartOfErp, loadChart, loadMapping, loadSpecs, specsPathOf } from '../../config/mapping-files.ts';
import { ConfigError } from '../../domain/errors.ts';
import { postgresFolder } from '../../embedded/postgres.ts';
import { accountsNamed } from '../../mapping/accounts-written.ts';
import { checkAgainstChart, sharedAccounts } from '../../mapping/check-chart.ts';
import type { Mapping } from '../../mapping/schema.ts';
import { checkErp, type ErpCheck } from '../../queries/erp-check.ts';
import { compareMapping, type MappingComparison } from '../../queries/mapping-check.ts';
import { chosenInstallations, openApp } from '../../runtime/app.ts';
import { nothingDelivered } from '../books.ts';
import { type CommandContext, usageError } from '../context.ts';
import { erpChecksDocument, erpCheckText } from '../render/erp-check.ts';
import { chartText, comparisonsDocument, comparisonText, specsText } from '../render/mapping-check.ts';

export interface MappingCheckOptions {
  installation?: number;
  erp?: true;
}

/**
 * Checks a mapping file, runs its cases, and compares it with its chart, with what the source uses and, with --erp or `chart: erp`,
 * with what the ERP has; exit code 1 on a failed case, a gap or a fault.
 */
export async function check(
  context: CommandContext,
  { installation, erp }: MappingCheckOptions,
  file: string,
): Promise<number> {
  const path = resolve(file);
  const { mapping } = await loadMapping(path);
  const specs = await loadSpecs(path);
  const cases = specs === null ? null : runSpecs(specs, mapping, loadDialect());
  const failed = cases?.filter(({ ok }) => !ok) ?? [];
  const chart = await loadChart(mapping, path);
  const config = await knownConfig(context);
  const withErp = erp === true || mapping.chart === chartOfErp;
  if (withErp && config === null) {
    throw usageError(
      `${erp ? '--erp' : '`chart: erp`'} needs a configuration and a database: they tell which ERP, and what is used.`,
      'mapping check',
    );
  }
  const { compared, inErp } = config
    ? await compare(context, config, installation, mapping, withErp)
    : { compared: [], inErp: [] };
  const written = [...accountsNamed(mapping), ...compared.flatMap(({ accounts }) => accounts)];
  const faults = chart === null ? [] : checkAgainstChart(written, chart.chart);
  const warnings = sharedAccounts(written);
  const ok =
    failed.length === 0 &&
    faults.length === 0 &&
    compared.every(({ gaps }) => gaps.length === 0) &&
    inErp.every(({ results }) => results.every((result) => result.ok));
  const report = {
    ok,
    file: path,
    specs: cases && { file: specsPathOf(path), cases: cases.length, failed },
    compared: config !== null,
    chart: chart && { file: chart.path, accounts: chart.chart.size },
    faults,
    warnings,
    ...comparisonsDocument(compared),
    ...(withErp ? { erp: erpChecksDocument(inErp) } : {}),
  };
  await context.result(report, () =>
    [
      `${path}: the file is valid.`,
      specsText(specsPathOf(path), cases),
      ...chartText(chart && { path: chart.path, size: chart.chart.size }, faults, warnings),
      ...compared.map(comparisonText),
      ...inErp.map(erpCheckText),
    ].join('\n'),
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
  withErp: boolean,
): Promise<{ compared: MappingComparison[]; inErp: ErpCheck[] }> {
  const app = await openApp(config, { temporal: false, progress: context.note, env: context.env });
  try {
    const compared: MappingComparison[] = [];
    const inErp: ErpCheck[] = [];
    for (const one of chosenInstallations(config, installation)) {
      compared.push(await compareMapping(app, one, mapping));
      if (!withErp || !isDelivered(one.erp)) continue;
      const ports = { db: app.db, delivery: app.delivery, clock: app.clock, signal: context.signal };
      inErp.push(await checkErp(ports, one, mapping, { writes: false, withBooks: false }));
    }
    if (withErp && inErp.length === 0) throw nothingDelivered(installation);
    return { compared, inErp };
  } finally {
    await app.close();
  }
}
