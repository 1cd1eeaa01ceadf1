import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { type CaseResult, runSpecs } from '../../bookkeeping/run-specs.ts';
import { loadDialect } from '../../config/dialect.ts';
import { type Config, loadConfig } from '../../config/load.ts';
import { loadMapping, loadSpecs, specsPathOf } from '../../config/mapping-files.ts';
import { ConfigError } from '../../domain/errors.ts';
import type { Money } from '../../domain/money.ts';
import { postgresFolder } from '../../embedded/postgres.ts';
import { type MappingGap, mappingGaps, type UnnamedValue, unnamedValues } from '../../mapping/check.ts';
import type { Mapping } from '../../mapping/schema.ts';
import { sourceUsage } from '../../queries/source-usage.ts';
import { chosenInstallations, openApp } from '../../runtime/app.ts';
import type { CommandContext } from '../context.ts';
import { count, table } from '../render/text.ts';

/** What was found of one installation. */
interface Comparison {
  installation: number;
  lacks: MappingGap[];
  remarks: UnnamedValue[];
}

/** `mapping check`: the file, its cases, and what the source uses and it lacks. */
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
  const lacks = compared.flatMap((one) => one.lacks.map((lack) => ({ installation: one.installation, ...lack })));
  const remarks = compared.flatMap((one) =>
    one.remarks.map((remark) => ({ installation: one.installation, ...remark })),
  );
  const ok = failed.length === 0 && lacks.length === 0;
  const report = {
    ok,
    file: path,
    specs: cases && { file: specsPathOf(path), cases: cases.length, failed },
    compared: config !== null,
    lacks: lacks.map((lack) => ({
      ...lack,
      net: lack.net?.toFixed() ?? null,
      vat: lack.vat?.toFixed() ?? null,
      gross: lack.gross.toFixed(),
      uses: lack.uses.map((use) => ({ ...use, gross: use.gross.toFixed() })),
    })),
    remarks: remarks.map((remark) => ({ ...remark, net: remark.net.toFixed() })),
  };
  await context.result(report, () =>
    [
      `${path}: the file is valid.`,
      specsText(specsPathOf(path), cases),
      ...(config ? compared.map(comparisonText) : []),
    ].join('\n'),
  );
  return ok ? 0 : 1;
}

function specsText(path: string, cases: CaseResult[] | null): string {
  const file = basename(path);
  if (cases === null) return `It has no cases: write some into ${file} to prove what it does.`;
  const failed = cases.filter(({ ok }) => !ok);
  if (failed.length === 0) return `${count(cases.length, 'case')} of ${file}: all post as they are written.`;
  return [
    `${failed.length} of ${count(cases.length, 'case')} of ${file} do not post as they are written (- expected, + posted):`,
    ...failed.flatMap(({ name, differences }) => [`  ${name}`, ...differences.map((line) => `    ${line}`)]),
  ].join('\n');
}

/** Of each lack, this many places where it is used; the others are in the JSON. */
const shownUses = 5;

function comparisonText({ installation, lacks, remarks }: Comparison): string {
  const lines: string[] = [];
  if (lacks.length === 0) {
    lines.push(`Installation ${installation}: it maps everything that the source has used so far.`);
  } else {
    const amounts = lacks.flatMap(({ net, vat, gross, uses }) => [net, vat, gross, ...uses.map((use) => use.gross)]);
    // Exact: as many decimals as the finest of them has, so that they stand below one another.
    const decimals = Math.max(2, ...amounts.map((each) => each?.decimalPlaces() ?? 0));
    const amount = (money: Money | null) => money?.toFixed(decimals).padStart(decimals + 10) ?? '';
    const rows = lacks.flatMap((lack) => {
      const hidden = lack.uses.length - shownUses;
      return [
        [lack.count, amount(lack.net), amount(lack.vat), amount(lack.gross), lack.code, lack.message],
        ...lack.uses.slice(0, shownUses).map((use) => [use.count, '', '', amount(use.gross), '', `  ${use.what}`]),
        ...(hidden > 0 ? [['', '', '', '', '', `  and ${hidden} more; --json lists them`]] : []),
      ];
    });
    lines.push(
      `Installation ${installation} uses what it does not map; documents that need it are held:`,
      table(['records', 'net', 'VAT', 'gross', 'code', 'what is missing, and where it is used'], rows),
    );
  }
  for (const { message, count: rows, net } of remarks) {
    lines.push(`Installation ${installation}, a remark: ${message} (${count(rows, 'row')}, net ${net.toFixed()}).`);
  }
  return lines.join('\n');
}

/** The configuration, where there is one with a database to compare with; the file can be checked without. */
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
): Promise<Comparison[]> {
  const app = await openApp(config, { temporal: false, progress: context.note, env: context.env });
  try {
    const compared: Comparison[] = [];
    for (const one of chosenInstallations(config, installation)) {
      const uses = await sourceUsage(app.db, one);
      compared.push({ installation: one.id, lacks: mappingGaps(uses, mapping), remarks: unnamedValues(uses, mapping) });
    }
    return compared;
  } finally {
    await app.close();
  }
}
