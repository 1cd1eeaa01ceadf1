import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Option } from 'commander';
import { z } from 'zod';
import { runSpecs } from '../../bookkeeping/run-specs.ts';
import { loadDialect } from '../../config/dialect.ts';
import { isDelivered } from '../../config/erp.ts';
import { type Config, loadConfig } from '../../config/load-config.ts';
import { chartOfErp, loadChart, loadMapping, loadSpecs, specsPathOf } from '../../config/mapping-files.ts';
import { ConfigError } from '../../domain/errors.ts';
import { postgresFolder } from '../../embedded/postgres.ts';
import { accountsNamed } from '../../mapping/accounts-written.ts';
import { checkAgainstChart, sharedAccounts } from '../../mapping/check-chart.ts';
import type { Mapping } from '../../mapping/schema.ts';
import { vatAccountWarnings } from '../../mapping/vat-accounts-check.ts';
import { vatDueFaults, vatDueWarnings } from '../../mapping/vat-due-check.ts';
import { checkErp, type ErpCheck } from '../../queries/erp-check.ts';
import { compareMapping, type MappingComparison } from '../../queries/mapping-check.ts';
import { chosenInstallations, openApp } from '../../runtime/app.ts';
import { mappingCheckTexts } from '../../texts/commands/mapping.ts';
import { usageTexts } from '../../texts/commands/usage.ts';
import { nothingDelivered } from '../books.ts';
import { type Definition, installation } from '../command.ts';
import { type CommandContext, usageError } from '../context.ts';
import { erpChecksAnswer, erpChecksDocument, erpCheckText } from '../render/erp-check.ts';
import {
  chartText,
  comparisonsAnswer,
  comparisonsDocument,
  comparisonText,
  specsText,
} from '../render/mapping-check.ts';

interface Options {
  installation?: number;
  erp?: true;
}

const answer = z.strictObject({
  ok: z.boolean(),
  file: z.string(),
  specs: z
    .strictObject({
      file: z.string(),
      cases: z.number(),
      failed: z.array(z.strictObject({ name: z.string(), ok: z.literal(false), differences: z.array(z.string()) })),
    })
    .nullable(),
  /** Whether a database was available for the comparison. */
  compared: z.boolean(),
  chart: z.strictObject({ file: z.string(), accounts: z.number() }).nullable(),
  faults: z.array(z.strictObject({ code: z.string(), path: z.string(), account: z.string(), message: z.string() })),
  /** Settings that `policies` require and the rest of the mapping lacks. */
  policy_faults: z.array(z.string()),
  warnings: z.array(z.string()),
  ...comparisonsAnswer,
  /** Present with --erp or `chart: erp`. */
  erp: erpChecksAnswer.optional(),
});

export const command: Definition<Options> = {
  description:
    'Checks the file and runs its cases (`NAME.specs.yaml` in the same folder). Exit code 2 if one of these files is invalid. If the file has a `chart`, it reports accounts that are missing or closed in the chart or have the wrong type, and warns of two roles on one account. With a configuration and a database, it lists accounts, VAT groups, payment types and roles of the source that are missing in the file, with counts and exact amounts. Exit code 1 if a case fails, or if something is missing or wrong. With --erp or `chart: erp`, it also compares the file with the chart of the ERP, without writing there.',
  options: [
    installation,
    new Option('--erp', 'compare also with accounts, tax codes, dimensions, journals and parties of the ERP'),
  ],
  examples: [
    ['vetledger mapping check mappings/demo.yaml', 'before you use it'],
    ['vetledger mapping check mappings/finland.yaml --installation 4711 --json', 'for one installation, as JSON'],
    ['vetledger mapping check mappings/tryton-demo.yaml --erp', 'also compare it with the chart of the ERP'],
  ],
  answer,
  run: (context, options, [file = '']) => check(context, options, file),
};

/**
 * Checks a mapping file, runs its cases, and compares it with its chart, the source and the ERP. Exit code 1 on a failed case, a gap
 * or a fault.
 */
async function check(context: CommandContext, { installation, erp }: Options, file: string): Promise<number> {
  const path = resolve(file);
  const { mapping } = await loadMapping(path);
  const specs = await loadSpecs(path);
  const cases = specs === null ? null : runSpecs(specs, mapping, loadDialect());
  const failed = cases?.filter(({ ok }) => !ok) ?? [];
  const chart = await loadChart(mapping, path);
  const config = await knownConfig(context);
  const withErp = erp === true || mapping.chart === chartOfErp;
  if (withErp && config === null) {
    throw usageError(usageTexts.erpNeedsConfiguration({ option: erp ? '--erp' : '`chart: erp`' }), 'mapping check');
  }
  const { compared, inErp } = config
    ? await compare(context, config, installation, mapping, withErp)
    : { compared: [], inErp: [] };
  const written = [...accountsNamed(mapping), ...compared.flatMap(({ accounts }) => accounts)];
  const faults = chart === null ? [] : checkAgainstChart(written, chart.chart);
  const warnings = [...sharedAccounts(written), ...vatDueWarnings(mapping), ...vatAccountWarnings(mapping)];
  const policyFaults = vatDueFaults(mapping);
  const ok =
    failed.length === 0 &&
    faults.length === 0 &&
    policyFaults.length === 0 &&
    compared.every(({ gaps }) => gaps.length === 0) &&
    inErp.every(({ results }) => results.every((result) => result.ok));
  const report = {
    ok,
    file: path,
    specs: cases && { file: specsPathOf(path), cases: cases.length, failed },
    compared: config !== null,
    chart: chart && { file: chart.path, accounts: chart.chart.size },
    faults,
    policy_faults: policyFaults,
    warnings,
    ...comparisonsDocument(compared),
    ...(withErp ? { erp: erpChecksDocument(inErp) } : {}),
  };
  await context.result(report, () =>
    [
      mappingCheckTexts.valid({ path }),
      specsText(specsPathOf(path), cases),
      ...policyFaults.map((message) => mappingCheckTexts.policyFault({ message })),
      ...chartText(chart && { path: chart.path, size: chart.chart.size }, faults, warnings),
      ...compared.map(comparisonText),
      ...inErp.map(erpCheckText),
    ].join('\n'),
  );
  return ok ? 0 : 1;
}

/** The configuration, if it exists and has a database. Otherwise null, and only the file itself is checked. */
async function knownConfig(context: CommandContext): Promise<Config | null> {
  try {
    const config = await loadConfig(context.configPath, context.env);
    if (config.databaseUrl || existsSync(postgresFolder(config.dataDir))) return config;
    context.note(mappingCheckTexts.noDatabase);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    context.note(mappingCheckTexts.fileOnly(error));
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
