import { resolve } from 'node:path';
import { Option } from 'commander';
import { z } from 'zod';
import { applyMapping } from '../../bookkeeping/mapping-versions.ts';
import { loadMapping } from '../../config/mapping-files.ts';
import { mappingVersionText } from '../../ledger/journal/entry-records.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import { actedBy } from '../acting.ts';
import { by, type Definition, option, wholeNumber } from '../command.ts';
import { type CommandContext, usageError } from '../context.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
  reason: string;
  by?: string;
}

const answer = z.strictObject({
  file: z.string(),
  hash: z.string(),
  version: z.string().nullable(),
  /** `applied` is false where it was in force already. */
  installations: z.array(z.strictObject({ installation: z.number(), applied: z.boolean() })),
});

export const command: Definition<Options> = {
  description:
    'The mapping in force is kept in the database, and every process posts by it. A start follows a changed mapping file by itself, unless `mapping.follow_file` is off; it never follows a file that was in force before. This puts any file in force, for the installations that name it in the configuration, or for the one that --installation names. Processes at work need no restart. What is in the books stays until `vetledger repost`. The name and the reason are recorded.',
  options: [
    option('--installation <id>', 'this installation (default: those that name the file)', wholeNumber),
    new Option('--reason <text>', 'why; it is recorded').makeOptionMandatory(),
    by,
  ],
  examples: [
    ['vetledger mapping apply mappings/finland.yaml --reason "agreed with the accountant"', 'a proposal is agreed'],
    [
      'vetledger mapping apply mappings/before.yaml --installation 4711 --reason "2026-2 was wrong" --by "A. Laine"',
      'back to an earlier mapping',
    ],
  ],
  answer,
  run: (context, options, [file = '']) => apply(context, options, file),
};

/** Puts a mapping file in force, whatever was in force before: for the installations that name it, or for one. */
async function apply(context: CommandContext, options: Options, file: string): Promise<number> {
  const because = actedBy(options, 'mapping apply');
  const path = resolve(file);
  const { mapping, mappingHash: hash, mappingFile } = await loadMapping(path);
  return withApp(context, { temporal: false }, async ({ db, config }) => {
    const chosen = chosenInstallations(config, options.installation).filter(
      ({ mappingPath }) => options.installation !== undefined || mappingPath === path,
    );
    if (chosen.length === 0) {
      throw usageError(`No installation has ${path} as its mapping; name one with --installation ID.`, 'mapping apply');
    }
    const installations: { installation: number; applied: boolean }[] = [];
    for (const { id } of chosen) {
      installations.push({ installation: id, applied: await applyMapping(db, { id, mappingFile }, because) });
    }
    const version = mapping.version ?? null;
    await context.result({ file: path, hash, version, installations }, () =>
      installations
        .map(({ installation, applied }) =>
          applied
            ? `Installation ${installation}: ${mappingVersionText({ hash, version })} is in force, by ${because.actedBy}. What is in the books stays; \`vetledger repost --dry-run\` shows what it would post differently.`
            : `Installation ${installation}: ${mappingVersionText({ hash, version })} is in force already.`,
        )
        .join('\n'),
    );
    return 0;
  });
}
