import { resolve } from 'node:path';
import { Option } from 'commander';
import { z } from 'zod';
import { applyMapping } from '../../bookkeeping/mapping-versions.ts';
import { loadMapping } from '../../config/mapping-files.ts';
import { mappingVersionText } from '../../ledger/journal/entry-records.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import { mappingTexts } from '../../texts/commands/mapping.ts';
import { usageTexts } from '../../texts/commands/usage.ts';
import { actedBy, statedBy } from '../acting.ts';
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
  /** `applied` is false if the file was already in force. */
  installations: z.array(z.strictObject({ installation: z.number(), applied: z.boolean() })),
});

export const command: Definition<Options> = {
  description:
    'The database stores the mapping in force, and every process uses it. If `mapping.follow_file` is on, a start puts a changed mapping file in force, but never one that was in force before. This command puts any file in force, for the installations that use it in the configuration, or for the one of --installation. Running processes need no restart. Posted entries do not change until `vetledger repost`. The name and the reason are recorded.',
  options: [
    option('--installation <id>', 'this installation (default: those that use the file)', wholeNumber),
    new Option('--reason <text>', 'the reason; it is recorded').makeOptionMandatory(),
    by,
  ],
  examples: [
    ['vetledger mapping apply mappings/finland.yaml --reason "agreed with the accountant"', 'put a proposal in force'],
    [
      'vetledger mapping apply mappings/before.yaml --installation 4711 --reason "2026-2 was wrong" --by "A. Laine"',
      'return to an earlier mapping',
    ],
  ],
  answer,
  run: (context, options, [file = '']) => apply(context, options, file),
};

async function apply(context: CommandContext, options: Options, file: string): Promise<number> {
  const stated = statedBy(options, 'mapping apply');
  const path = resolve(file);
  const { mapping, mappingHash: hash, mappingFile } = await loadMapping(path);
  return withApp(context, { temporal: false }, async ({ db, config }) => {
    const because = await actedBy(db, stated);
    const chosen = chosenInstallations(config, options.installation).filter(
      ({ mappingPath }) => options.installation !== undefined || mappingPath === path,
    );
    if (chosen.length === 0) {
      throw usageError(usageTexts.noMappingOf({ path }), 'mapping apply');
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
            ? mappingTexts.inForce({
                installation,
                mapping: mappingVersionText({ hash, version }),
                by: because.actedBy,
              })
            : mappingTexts.alreadyInForce({ installation, mapping: mappingVersionText({ hash, version }) }),
        )
        .join('\n'),
    );
    return 0;
  });
}
